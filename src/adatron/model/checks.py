"""What the numbers of a model must be: compiled code trusts their types, sizes and ends; others mean nothing.

A check is what is said of a fault, and a function that returns whether there is none, or what it is. It relies on the
checks before it. ``RELIED_ON`` checks each model when it is made. ``FOREIGN`` also checks one that somebody else may
have written: from a file, a pickle or a file of skops.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import is_sparse
from ..quoted import plain_numbers
from .layout import misfit
from .readout import Classes

LARGEST_SUPPORT = 2**31 - 1  # Largest number of a support vector.
LARGEST_COUNT = 2**62  # Whole numbers up to which sums of a few do not overflow.
Checks = tuple[tuple[str, Callable[..., Any]], ...]


def first_fault(checks: Checks, *values: Any) -> str:
    """Return the first fault of some values, or nothing."""
    for printed, holds in checks:
        found = holds(*values)
        if bool(found) == isinstance(found, str):
            with plain_numbers():
                return printed.format(*values, found=found)
    return ""


def of_solution(gamma: Any, proofs: Any, n: int) -> str:
    """Return what no fit makes in the gamma and the proofs of n problems, or nothing."""
    return first_fault(SOLUTION, gamma, proofs, n)


def is_distance(value: Any) -> bool:
    """Return whether a value is a number from 0 on, or there is none."""
    return value is None or (_is_number(value) and 0 <= value < np.inf)


def is_vector(values: Any, kinds: str) -> bool:
    """Return whether a value is a vector of whole numbers ('i', 'u') or of float64 ('d')."""
    if not isinstance(values, np.ndarray) or values.ndim != 1 or not values.dtype.isnative:
        return False
    return values.dtype.kind in kinds or ("d" in kinds and values.dtype.char == "d")


def unreadable(matrix: Any, kinds: str) -> str:
    """Return what is wrong with a table of numbers of some types, or nothing."""
    if is_sparse(matrix):
        fault = invalid_csr(matrix)
        if fault:
            return fault
    elif not isinstance(matrix, np.ndarray):
        return "is no array"
    real = matrix.ndim == 2 and matrix.dtype.char in kinds and matrix.dtype.isnative
    return "" if real else "is no table of real numbers"


def invalid_csr(matrix: Any) -> str:
    """Return what is wrong with the columns and the ends of the rows of a sparse matrix, or nothing."""
    if matrix.format != "csr" or matrix.ndim != 2:
        return f"is a sparse matrix of another form ({matrix.format})"
    ends, columns = matrix.indptr, matrix.indices
    if not (is_vector(ends, "i") and is_vector(columns, "i") and len(ends) == matrix.shape[0] + 1):
        return "has no whole numbers of columns and ends of rows"
    if ends[0] != 0 or (ends[1:] < ends[:-1]).any() or ends[-1] > min(len(columns), len(matrix.data)):
        return "has rows that end outside of its values"
    inside = not len(columns) or 0 <= columns.min() <= columns.max() < matrix.shape[1]
    return "" if inside else f"has columns beyond its {matrix.shape[1]}"


def meaningless(values: Any, bounded: bool = False) -> str:
    """Return what is wrong with the numbers of a table that can be read, or nothing.

    bounded : whether the sum of the squares must be finite
    """
    if is_sparse(values) and not values.has_canonical_format:
        return "has columns that are not in order, or that come twice"
    numbers = values.data if is_sparse(values) else values
    if not np.isfinite(numbers).all():
        return "holds NaN or infinity"
    largest = max(float(numbers.max(initial=0.0)), -float(numbers.min(initial=0.0)))
    too_large = bounded and largest > np.sqrt(np.finfo(np.float64).max / max(1, numbers.size))
    return "holds numbers whose squares have no sum" if too_large else ""


def _different(labels: NDArray[Any]) -> int:
    try:
        return len(set(labels.tolist()))
    except TypeError:  # lists cannot be classes
        return 0


def _fits(one: Any) -> str:
    """Return what is wrong with the shapes of the parts of a model, or nothing."""
    m = int(one.counts.sum()) if (one.counts >= 0).all() else -1
    if fault := misfit(one.dual, one.intercepts, m, one.counts if one.of_pairs else None):
        return fault
    if not one.values and one.vectors.shape != (m, one.width):
        return f"support_vectors_ has the shape {one.vectors.shape}, not {(m, one.width)}"
    if (one.values or not one.compact) and len(one.support) != m:
        return f"support_ has {len(one.support)} numbers for {m} support vectors"
    return ""


def _numbers_columns(one: Any) -> bool:
    """Return whether numbers of support vectors are columns of kernel values, if the model takes these."""
    if not one.values or one.samples is not None or not (m := int(one.counts.sum())):
        return True
    most = m if one.compact else 2**31 if one.width is None else int(one.width)
    return 0 <= one.columns.min() <= one.columns.max() < most


def _are_tilts(one: Any) -> bool:
    tilts, problem, m = one.tilts, one.problem, one.vectors.shape[0]
    tables = isinstance(tilts, np.ndarray) and not unreadable(tilts, "d") and is_vector(problem, "iu")
    fitting = tables and len(problem) == len(tilts) == m and tilts.shape == one.vectors.shape
    return fitting and set(problem.tolist()) <= set(range(one.readout.n_problems))


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


def _are_traces(trace: Any, n: int) -> bool:
    from ..solvers.results import Traces

    several = isinstance(trace, (list, Traces)) and len(trace) == n
    return (several and (isinstance(trace, Traces) or all(map(_is_trace, trace)))) or (n == 1 and _is_trace(trace))


def _bounds(name: str) -> Callable[[Any, Any, int], bool]:
    """Return the check of a number of the proofs, one for each problem."""

    def check(_: Any, proofs: Any, n: int) -> bool:
        found = getattr(proofs, name)
        return (is_vector(found, "d") and len(found) == n) or (n == 1 and _is_number(found))

    return check


def _counts(_: Any, proofs: Any, n: int) -> bool:
    counts = proofs.n_iter
    whole = is_vector(counts, "i") and len(counts) == n and counts.min(initial=0) >= 0
    return whole or (n == 1 and _is_count(counts))


def _of_classes(one: Any) -> str:
    return first_fault(CLASSES, one.readout) if isinstance(one.readout, Classes) else ""


CLASSES: Checks = (
    ("classes_ is no vector of different classes", lambda one: isinstance(one.labels, np.ndarray)
     and one.labels.ndim == 1 and 2 <= _different(one.labels) == len(one.labels)),
    ("_columns is no number of labels", lambda one: one.columns is None
     or (type(one.columns) is int and one.columns > 1 and len(one.labels) == 2)),
    ("_in_pairs is neither true nor false", lambda one: isinstance(one.in_pairs, bool)),
    ("_slope is no number", lambda one: one.slope is None or isinstance(one.slope, Real)),
)  # fmt: skip
TILTS = "tilts_ and problem_ are not those of the support vectors"
RELIED_ON: Checks = (
    ("compact_ is neither true nor false", lambda one: isinstance(one.compact, bool)),
    ("kernel_ is no kernel", lambda one: hasattr(one.kernel, "terms")),
    ("n_features_in_ is missing, or no whole number",
     lambda one: isinstance(one.width, Integral) or (one.width is None and one.values)),
    ("{found}", _of_classes),
    ("center_norm_ is no distance of a centre: {0.center_norm!r}",
     lambda one: (one.center_norm is not None) == bool(one.readout.diagonal) and is_distance(one.center_norm)),
    ("_radius is no radius of a ball: {0.own_radius!r}", lambda one: one.own_radius is None
     or bool(one.readout.diagonal and one.kernel.bilinear and is_distance(one.own_radius))),
    ("support_vectors_ {found}", lambda one: unreadable(one.vectors, "fd")),
    ("dual_coef_ {found}", lambda one: unreadable(one.dual, "d")),
    ("support_ is no vector of whole numbers", lambda one: is_vector(one.support, "iu")),
    ("n_support_ is no vector of whole numbers", lambda one: is_vector(one.counts, "iu")),
    ("intercept_ is no vector of real numbers", lambda one: is_vector(one.intercepts, "d")),
    ("intercept_ is not that of {0.readout.n_problems} problems",
     lambda one: len(one.intercepts) == one.readout.n_problems),
    ("{found}", _fits),
    ("support_ does not number columns of kernel values", _numbers_columns),
    (TILTS, lambda one: (one.tilts is None and one.problem is None) or _are_tilts(one)),
    ("dual_coef_ of tilted bases is no array", lambda one: one.tilts is None or isinstance(one.dual, np.ndarray)),
    ("tilts_ need a kernel with a derivative; kernel_ is {0.kernel!r}",
     lambda one: one.tilts is None or (not one.values and one.kernel.differentiable)),
)  # fmt: skip
SOLUTION: Checks = (
    ("_gamma is no number from 0 on: {0!r}", lambda gamma, *_: _is_number(gamma) and 0 <= gamma < np.inf),
    ("duality_gap_ is not that of {2} problems", _bounds("gap")),
    ("kkt_violation_ is not that of {2} problems", _bounds("violation")),
    ("dual_objective_ is not that of {2} problems", _bounds("dual")),
    ("primal_objective_ is not that of {2} problems", _bounds("primal")),
    ("fit_status_ must be 0 or 1", lambda _, proofs, n: type(proofs.status) is int and proofs.status in (0, 1)),
    ("n_iter_ does not count the steps of {2} problems", _counts),
    ("trace_ is not that of {2} problems", lambda _, proofs, n: _are_traces(proofs.trace, n)),
    ("route_ is not that of {2} problems", lambda _, proofs, n: proofs.route is None or len(proofs.route.ways) == n),
)  # fmt: skip
FOREIGN: Checks = (
    ("support_vectors_ {found}", lambda one: meaningless(one.vectors, one.kernel.compiled)),
    ("dual_coef_ {found}", lambda one: meaningless(one.dual)),  # a function may be given numbers of any size
    ("intercept_ {found}", lambda one: meaningless(one.intercepts)),
    ("tilts_ {found}", lambda one: "" if one.tilts is None else meaningless(one.tilts, True)),
    ("shape_fit_ is not the shape of a training set",
     lambda one: isinstance(one.shape, tuple) and len(one.shape) == 2 and all(map(_is_count, one.shape))),
    ("n_support_ does not count {0.columns.size} support vectors in its groups",  # their sum may wrap round
     lambda one: len(one.counts) == (one.readout.groups if not one.compact and one.tilts is None else 1)
     and one.counts.max(initial=0) <= len(one.columns)),
    ("support_ holds {found}", lambda one: ""
     if not len(one.support) or 0 <= one.support.min() <= one.support.max() <= LARGEST_SUPPORT
     else f"{one.support.min()} to {one.support.max()}"),
    ("support_ has {0.support.size} numbers for {0.columns.size} support vectors",
     lambda one: not one.compact or len(one.support) in (0, len(one.columns))),
    ("n_features_in_ is {0.width}; there are {0.columns.size} support vectors",
     lambda one: not (one.compact and one.values) or one.width in (None, len(one.columns))),
    ("classes_ holds NaN or infinity", lambda one: not isinstance(one.readout, Classes)
     or one.readout.labels.dtype.kind != "f" or bool(np.isfinite(one.readout.labels).all())),
    ("_slope is no number from 0 on: {0.readout.slope!r}",
     lambda one: not isinstance(one.readout, Classes) or is_distance(one.readout.slope)),
    ("{found}", lambda one: of_solution(one.gamma, one.proofs, one.readout.n_problems)),
)  # fmt: skip
