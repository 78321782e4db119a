"""Models of one machine and of a cluster, compared to the last bit."""

import logging

import numpy as np
from scipy import sparse

import adatron

SOLVED = ("support_", "dual_coef_", "intercept_", "n_iter_", "n_support_", "support_vectors_")
PROVEN = ("duality_gap_", "kkt_violation_", "dual_objective_", "primal_objective_")


def bits(model):
    """The bytes of all that a fit has found. Of equal samples a cluster has one row; signs of its zeros may differ."""
    values = [getattr(model, name) for name in (*SOLVED, *PROVEN)]
    vectors = model.support_vectors_
    values[SOLVED.index("support_vectors_")] = (
        vectors if sparse.issparse(vectors) else np.where(vectors == 0, 0, vectors)
    )
    return [np.asarray(v.toarray() if sparse.issparse(v) else v).tobytes() for v in values]


def alone(machine, X, y=None, weight=None, **parameters):
    """The bits of a fit on one machine."""
    more = {} if weight is None else {"sample_weight": weight}
    return bits(getattr(adatron, machine)(**parameters).fit(X, y, **more))


def blobs(n=3000, d=5, k=2, seed=0):
    rng = np.random.default_rng([seed, n, d, k])
    y = np.arange(n) % k
    X = rng.normal(size=(n, d))
    X[:, :k] += 1.2 * np.eye(k)[y][:, : min(k, d)]
    return X, y


def cluster_of(workers, **how):
    """A cluster on this machine; workers have one thread, and no server for a dashboard."""
    from distributed import LocalCluster

    how = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL, **how}
    return LocalCluster(n_workers=workers, **how)
