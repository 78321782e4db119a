"""The classes that skops must trust to load a model of adatron from a skops file.

skops checks the classes in a file. Each machine checks the sizes of its arrays. All else in a file is taken as it is,
so load skops files only from people whom you trust; ``adatron.load`` checks every value of its own files.
"""

from __future__ import annotations

from scipy import sparse

from ..kernels.table import COMPOSED, LEAVES
from ..solvers.found import Traces
from ..solvers.route import Route
from ..solvers.table import SOLVERS
from .models.contents import MACHINES

_KINDS: list[type[object]] = [
    *MACHINES,
    *LEAVES.values(),
    *COMPOSED.values(),
    *SOLVERS.values(),
    Traces,
    Route,
    sparse.csr_matrix,
]

#: Names for ``skops.io.load(file, trusted=...)``.
skops_types: list[str] = sorted(f"{kind.__module__}.{kind.__qualname__}" for kind in _KINDS)
