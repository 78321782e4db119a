"""Compile everything once, for containers and read-only installs."""

from __future__ import annotations

import numpy as np


def warmup() -> None:
    """Compile all that is otherwise compiled by the first fits, and keep it in the cache folder.

    Small fits and predictions in both precisions, dense and sparse, through each compiled loop. Later processes load
    the machine code from the cache (``ADATRON_CACHE_DIR``, else the user's cache folder).
    """
    from scipy import sparse

    from .compiled.cholesky import invert_factor
    from .estimators import SVC

    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 3))  # more rows than a small problem has: float32 tiles
    y = (X[:, 0] > 0.1 * X[:, 1]).astype(int)
    for dtype in (np.float64, np.float32):
        for data in (X.astype(dtype), sparse.csr_matrix(X.astype(dtype))):
            for rows in (slice(None), slice(0, 50)):
                for bias in ("explicit", "none"):
                    SVC(bias=bias).fit(data[rows], y[rows]).predict(data[:2])
    invert_factor(np.eye(2), 0.0)  # large C only
