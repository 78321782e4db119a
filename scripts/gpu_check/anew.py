"""What the processor finds about a fit, by itself, in float64, from the public attributes alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from adatron import SVR, NuSVC, OneClassSVM
from adatron.certificates import best_multipliers, duality_gap, kkt_violation, relative
from adatron.model.layout import from_dual_coef
from adatron.problems import Dual, csvc, nusvc, svr
from adatron.problems.oneclass import oneclass

CHECKED = 2000  # Rows whose gradient is computed if there are more.
AT_ONCE = 1 << 24  # Kernel values at a time.


class Part(NamedTuple):
    """A program of a model, the samples of its variables, and where it is."""

    dual: Dual
    members: Any
    beta: Any


def parts(model: Any, X: Any, y: Any) -> Iterator[Part]:
    """Return the programs of a model."""
    every, coefficients = np.arange(len(X)), np.asarray(model.dual_coef_)
    bias = getattr(model, "bias", "explicit"), getattr(model, "augment", 1.0)  # the cases give a number

    def at(dual: Dual, members: Any, row: Any) -> Part:
        beta = np.zeros(len(X))
        beta[model.support_] = row
        return Part(dual, members, beta[members])

    if isinstance(model, OneClassSVM):
        yield at(oneclass(np.ones(len(X)), model.nu), every, coefficients[0])
    elif isinstance(model, SVR):
        yield at(svr(y, np.full(len(X), model.C), model.epsilon, *bias), every, coefficients[0])
    else:
        codes = np.searchsorted(model.classes_, y)
        if len(model.classes_) == 2:
            found = [((0, 1), coefficients[0])]
        elif model.multi_class == "ovr":
            found = [((-1, code), row) for code, row in enumerate(coefficients)]
        else:
            pairs = combinations(range(len(model.classes_)), 2)
            table = from_dual_coef(coefficients, codes[model.support_], len(model.classes_))
            found = [((second, first), row) for (first, second), row in zip(pairs, table, strict=True)]
        for (negative, positive), row in found:
            members = every if negative < 0 else np.flatnonzero((codes == negative) | (codes == positive))
            sign = np.where(codes[members] == positive, 1.0, -1.0)
            if isinstance(model, NuSVC):
                part = at(nusvc(sign, np.ones(len(sign)), model.nu, *bias), members, row)
                size = sum(abs(total) for total in part.dual.totals)
                yield part._replace(beta=part.beta * size / np.abs(part.beta).sum())  # divided by half of the margin
            else:
                yield at(csvc(sign, np.full(len(sign), model.C), *bias), members, row)


def proven(model: Any, X: Any, y: Any) -> tuple[float, float]:
    """Return the largest violation and relative gap; of many rows the violation of some, and no gap."""
    violations, gaps = [0.0], [0.0]
    for dual, members, given in parts(model, X, y):
        beta = np.clip(given, dual.lower, dual.upper)
        some = _looked_at(dual, beta)
        g = _gradient(model, X, dual, members, beta, some)
        whole = len(some) == len(dual)
        part = dual if whole else dual.take(some)
        violations.append(kkt_violation(part, beta[some], g))
        if whole:
            gap, value = duality_gap(dual, beta, g, best_multipliers(dual, beta, g)), -dual.objective(beta, g)
            gaps.append(relative(gap, value))
        else:
            gaps.append(np.nan)
    return max(violations), float(np.max(gaps))


def _looked_at(dual: Dual, beta: Any) -> Any:
    """Return the variables to look at: some of the free ones, and some of all."""
    n = len(dual)
    if n <= 3 * CHECKED:
        return np.arange(n)
    free = np.flatnonzero(dual.free(beta))
    return np.unique(np.concatenate([free[:: max(1, len(free) // CHECKED)], np.arange(0, n, n // CHECKED)]))


def _gradient(model: Any, X: Any, dual: Dual, members: Any, beta: Any, some: Any) -> Any:
    used = np.flatnonzero(beta)
    Z, rows = np.asarray(X[members[used]], np.float64), members[some]
    step = max(1, AT_ONCE // max(1, len(used)))
    sums = [model.kernel_(np.asarray(X[rows[a : a + step]], np.float64), Z) @ beta[used]
            for a in range(0, len(rows), step)]  # fmt: skip
    return np.concatenate(sums) + dual.lambda2 * beta.sum() - dual.t[some]
