"""Given matrices that are positive on the samples a fit looks at, and not elsewhere.

A fit looks at 512 samples for negative eigenvalues: support vectors first, then others. A clean fit tells which these
are; two others are then given a value that no kernel has. Their coefficients are 0, so that no sum shows it. Such a
matrix must be found out, or the certificate must not call the gap proven.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.twins.checker import lowest_eigenvalue
from tests.twins.fitted import Task, programs
from tests.twins.values import L

from .attack_programs import ESTIMATORS, MAX_TIME, SHARES, Rng, one_of, power
from .attack_verdict import LOOKED_AT, NEGATIVE_CURVATURE, Verdict, fitted, weighed

PLACES = ["unseen", "unseen", "anywhere", "support vectors"]


def given(seed: int, number: int) -> Verdict:
    """Spoil two values of a matrix, and compare what the certificate says with the lowest eigenvalue."""
    rng = np.random.default_rng([seed, number])
    name, place = one_of(rng, SHARES), str(rng.choice(PLACES))
    n = int(rng.integers(LOOKED_AT + 8, 600)) if rng.random() < 0.75 else int(rng.integers(20, LOOKED_AT + 1))
    X = rng.normal(size=(n, 3))
    K = np.exp(-power(rng, -1.5, 0.5) * np.square(X[:, None] - X).sum(axis=2)) if rng.random() < 0.7 else X @ X.T
    y = None if name == "OneClassSVM" else (X[:, 0] > 0).astype(int) if "SVC" in name else np.sin(X[:, 0])
    parameters: dict[str, Any] = {"C": power(rng, -2, 2)} if name in ("SVC", "SVR", "NuSVR") else {}
    parameters |= {"nu": float(rng.uniform(0.05, 0.4))} if name in ("NuSVC", "NuSVR", "OneClassSVM") else {}
    parameters |= {"epsilon": float(rng.choice([0.05, 0.3]))} if name == "SVR" else {}
    parameters |= {"tol": power(rng, -6, -2)}
    model = ESTIMATORS[name](kernel="precomputed", max_time=MAX_TIME, **parameters)
    order = np.arange(n) if "SVC" not in name else np.argsort(y, kind="stable")  # a fit sorts samples by class
    support = np.flatnonzero(np.isin(order, model.fit(K, y).support_))
    pair, bump = order[_pair(rng, support, n, place)], power(rng, -6, 3)
    K[pair, pair[::-1]] += bump * (1.0 if rng.random() < 0.5 else -1.0)
    traits = [place, "512 or fewer" if n <= LOOKED_AT else "more than 512"]
    told = f"{name} {K.shape} {parameters} {pair.tolist()} off by {bump:.1e}, {', '.join(traits)}"
    verdict = Verdict(number, name, "given", traits, told)
    model = fitted(partial(model.fit, K, y), verdict)
    if model is None:
        return verdict
    tasks = programs(Task(name, parameters, None, y), model)
    exact = K.astype(L)
    weighed(tasks, model, parameters, (exact, np.zeros_like(exact)), verdict, may_bend=True)
    lowest, proof = lowest_eigenvalue(exact), model.certificate_
    verdict.claims += 1
    if lowest < -NEGATIVE_CURVATURE * n * float(np.finfo(float).eps) and np.isfinite(proof.gap):
        text = f"{proof}; the lowest eigenvalue is {lowest:.1e} of the largest value"
        (verdict.false if proof.proven else verdict.undecided).append(("convex", text))
    return verdict


def _pair(rng: Rng, first: NDArray[Any], n: int, place: str) -> NDArray[np.int64]:
    """Return two samples that are looked at, or are not as far as there are such."""
    if place == "support vectors" and len(first) > 1:
        return rng.choice(first, 2, replace=False)
    rest, count = np.setdiff1d(np.arange(n), first), LOOKED_AT - min(len(first), LOOKED_AT)
    if place == "unseen" and len(rest) > count + 1:
        seen = rest[np.arange(count) * len(rest) // max(1, count)]
        return rng.choice(np.setdiff1d(rest, seen), 2, replace=False)
    return rng.choice(n, 2, replace=False)
