"""Kernel machines on a Dask cluster: the solution of one machine, to the last bit, for any number of workers.

Each estimator has the parameters and attributes of its one-machine namesake, and ``client``. ``fit`` takes Dask arrays,
Dask data frames, or arrays in memory.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .estimators import DaskNuSVC, DaskNuSVR, DaskOneClassSVM, DaskQuantileSVR, DaskSVC, DaskSVDD, DaskSVR
    from .search import DaskGridSearchCV

# Two threads of a worker may unpickle at the same time. If they enter packages from different ends, Python finds a
# deadlock and gives one thread half a module. Pickles name modules of this package. So the first import of this package
# imports everything that these modules need from other packages, and none of these modules.
for _name in ("scipy.sparse", "sklearn.utils.sparsefuncs", "adatron.estimators", "adatron.selection"):
    import_module(_name)

__all__ = [
    "DaskGridSearchCV",
    "DaskNuSVC",
    "DaskNuSVR",
    "DaskOneClassSVM",
    "DaskQuantileSVR",
    "DaskSVC",
    "DaskSVDD",
    "DaskSVR",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(".search" if name == "DaskGridSearchCV" else ".estimators", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
