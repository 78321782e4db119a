"""Values of a model from elsewhere that no fit makes: code reads nothing out of bounds for them, but they mean nothing.

A file, a pickle and a file of skops bring models that somebody else may have written.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..solvers.found import Traces
from .heads import Classes
from .model import Model, Proofs
from .sound import is_vector, meaningless

LARGEST_SUPPORT = 2**31 - 1  # Largest number of a support vector.
LARGEST_COUNT = 2**62  # Whole numbers up to which sums of a few do not overflow.


def foreign(model: Model) -> str:
    """Return what no fit makes in a model, or nothing."""
    return next(_faults(model), "")


def _faults(model: Model) -> Iterator[str]:
    head, m = model.head, len(model.columns)
    rows = model.kernel.compiled  # a function may be given numbers of any size
    parts = (
        ("support_vectors_", model.vectors, rows), ("dual_coef_", model.dual, False),
        ("intercept_", model.intercepts, False), ("tilts_", model.tilts, True),
    )  # fmt: skip
    for name, part, bounded in parts:
        if part is not None and (fault := meaningless(part, bounded)):
            yield f"{name} {fault}"
    shape: Any = model.shape
    if not (isinstance(shape, tuple) and len(shape) == 2 and all(map(_is_count, shape))):
        yield "shape_fit_ is not the shape of a training set"
    groups = head.groups if not model.compact and model.tilts is None else 1
    if len(model.counts) != groups or model.counts.max(initial=0) > m:  # their sum may wrap round
        yield f"n_support_ does not count {m} support vectors in {groups} groups"
    if len(model.support) and not 0 <= model.support.min() <= model.support.max() <= LARGEST_SUPPORT:
        yield f"support_ holds {model.support.min()} to {model.support.max()}"
    if model.compact and len(model.support) not in (0, m):
        yield f"support_ has {len(model.support)} numbers for {m} support vectors"
    if model.compact and model.values and model.width not in (None, m):
        yield f"n_features_in_ is {model.width}; there are {m} support vectors"
    if isinstance(head, Classes):
        yield from _of_classes(head)
    yield from _of_solution(model.gamma, model.proofs, head.n_problems)


def _of_classes(head: Classes) -> Iterator[str]:
    if head.labels.dtype.kind == "f" and not np.isfinite(head.labels).all():
        yield "classes_ holds NaN or infinity"
    if head.slope is not None and not 0 <= head.slope < np.inf:
        yield f"_slope is no number from 0 on: {head.slope!r}"


def of_solution(gamma: Any, proofs: Proofs, n: int) -> str:
    """Return what no fit makes in the gamma and the proofs of n problems, or nothing."""
    return next(_of_solution(gamma, proofs, n), "")


def _of_solution(gamma: Any, proofs: Proofs, n: int) -> Iterator[str]:
    if not (_is_number(gamma) and 0 <= gamma < np.inf):
        yield f"_gamma is no number from 0 on: {gamma!r}"
    numbers = {"duality_gap_": proofs.gap, "kkt_violation_": proofs.violation,
               "dual_objective_": proofs.dual, "primal_objective_": proofs.primal}  # fmt: skip
    for name, found in numbers.items():
        if not (is_vector(found, "d") and len(found) == n) and not (n == 1 and _is_number(found)):
            yield f"{name} is not that of {n} problems"
    if type(proofs.status) is not int or proofs.status not in (0, 1):
        yield "fit_status_ must be 0 or 1"
    counts = proofs.n_iter
    whole = is_vector(counts, "i") and len(counts) == n and counts.min(initial=0) >= 0
    if not (whole or (n == 1 and _is_count(counts))):
        yield f"n_iter_ does not count the steps of {n} problems"
    trace = proofs.trace
    several = isinstance(trace, (list, Traces)) and len(trace) == n
    several = several and (isinstance(trace, Traces) or all(map(_is_trace, trace)))
    if not several and not (n == 1 and _is_trace(trace)):
        yield f"trace_ is not that of {n} problems"
    if proofs.route is not None and len(proofs.route.ways) != n:
        yield f"route_ is not that of {n} problems"


def _is_number(value: Any) -> bool:
    return type(value) is not bool and isinstance(value, Real)


def _is_count(value: Any) -> bool:
    return type(value) is not bool and isinstance(value, Integral) and 0 <= int(value) <= LARGEST_COUNT


def _is_trace(trace: Any) -> bool:
    """Return whether a trace has lines of as many numbers each."""
    if not isinstance(trace, dict):
        return False
    columns = list(trace.values())
    return all(is_vector(one, "d") and len(one) == len(columns[0]) for one in columns)
