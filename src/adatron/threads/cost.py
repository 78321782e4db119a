"""How many threads there may be, and how many some work is worth.

Work is counted in multiply-adds of kernel values. A thread costs time before it gains any: a new pool starts it, and
each part of the work calls it. Bits never depend on the number of threads.
"""

from __future__ import annotations

import os

import joblib

# The cost of one more thread, in multiply-adds.
NEW_POOL = 1e7  # If a pool is opened for some work alone.
CALL = 1 << 22  # If a pool is open.
FIT_MATRIX, FIT, FIT_BATCHES = 1e8, 1e9, 3e8  # For a fit: of its largest matrix, of all problems, of all in batches.

# The cost of other work, in multiply-adds.
COMPARED = 2.5  # Of an entry of a matrix that is compared with its mirror image.
GATHERED = 32.0  # Of an entry of a given matrix, whose row and column are looked up.
COPIED = 2.5  # Of a byte that is copied to memory which is touched for the first time.


def allowed_threads(n_jobs: int | None) -> int:
    """Return the threads that this process may use: affinity, cgroup and joblib's limits for its workers.

    ``None`` and -1 mean all allowed ones; other negative numbers leave some out, as in scikit-learn.
    """
    allowed = joblib.cpu_count()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        limit = os.environ.get(name, "")
        if limit.isdigit() and int(limit) > 0:
            allowed = min(allowed, int(limit))
    if n_jobs is None:
        return allowed
    return max(1, n_jobs if n_jobs > 0 else allowed + 1 + n_jobs)


def threads_worth(work: float, cost: float) -> int:
    """Return how many threads some work is worth if each one beside the first costs so much: 1 if it costs more."""
    return 1 + int(min(work / cost, 1e6))


def threads_for(work: float, n_jobs: int | None) -> int:
    """Return the threads of a pool that is opened for some work: all that are allowed, or 1."""
    return allowed_threads(n_jobs) if threads_worth(work, NEW_POOL) > 1 else 1
