"""Compile everything once, for containers and read-only installs."""

from __future__ import annotations

from itertools import product
from warnings import catch_warnings

import numpy as np


def warmup() -> None:
    """Compile all that is otherwise compiled by the first fits, and keep it in the cache folder.

    Small fits and predictions in both precisions, dense and sparse, through each compiled loop. Later processes load
    the machine code from the cache (``ADATRON_CACHE_DIR``, else the user's cache folder).
    """
    from scipy import sparse

    from .compiled.cholesky import invert_factor
    from .estimators import SVC
    from .selection import kernel_path

    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 3))  # more rows than a small problem has: float32 tiles
    y = (X[:, 0] > 0.1 * X[:, 1]).astype(int)
    for dtype in (np.float64, np.float32):
        for data in (X.astype(dtype), sparse.csr_matrix(X.astype(dtype))):
            for rows in (slice(None), slice(0, 50)):
                for bias in ("explicit", "none"):
                    SVC(bias=bias).fit(data[rows], y[rows]).predict(data[:2])
        with catch_warnings(action="ignore"):  # two iterations are not to converge
            for rows, solver in product((slice(None), slice(0, 50)), ("kernel_adatron", "isda")):
                SVC(solver=solver, max_iter=2).fit(X[rows].astype(dtype), y[rows])
    invert_factor(np.eye(2), 0.0)  # large C only
    kernel_path(X[:50], y[:50], [1.0])
