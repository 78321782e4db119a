"""What predictions and compiled loops trust in a machine's state: a state from elsewhere must have all of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier

from ...fitting.layout import misfit

FITTED = ("fit_status_", "support_vectors_", "_tracks")  # a state with one of them is that of a fitted machine
SUM = ("support_", "support_vectors_", "dual_coef_", "intercept_", "_n_support")
LEARNED = ("_store", "_tracks", "_fitted", "_fixed")
CLASSES = ("classes_", "_fitted_multi_class")


def complete(machine: Any) -> None:
    """Add parameters that a state of another version lacks, and make float64 vectors of what users may have set."""
    state = vars(machine)
    for name, value in type(machine)().get_params(deep=False).items():
        state.setdefault(name, value)
    for name in ("intercept_", "offset_"):
        value = np.asarray(state.get(name))
        if value.dtype.char in "fd" and (value.ndim == 1 or (name == "offset_" and value.size == 1)):
            state[name] = value.astype(np.float64, copy=False).reshape(-1)


def refuse_torn(machine: Any) -> None:
    """Fail if a machine is fitted and its attributes do not fit each other.

    Raises
    ------
    ValueError
    """
    fault = next(_faults(machine, vars(machine)), None)
    if fault is not None:
        raise ValueError(f"This is no valid state of a fitted {type(machine).__name__}: {fault}.")


def _faults(machine: Any, state: dict[str, Any]) -> Iterator[str]:
    """Yield faults, the first of which is true; the others may follow from it."""
    if not any(name in state for name in FITTED):
        return
    if not isinstance(machine.compact_, bool):
        yield "compact_ is neither true nor false"
    learned = "_tracks" in state and not machine.compact_
    needed = ["kernel_", *(LEARNED if learned else SUM), *(CLASSES if is_classifier(machine) else ())]
    needed += ["tilts_", "problem_"] * ("algorithm" in state)
    needed += ["offset_"] * (hasattr(machine, "score_samples") and not learned)
    yield from (f"{name} is missing" for name in needed if name not in state)
    if not hasattr(state["kernel_"], "terms"):
        yield "kernel_ is no kernel"
    width = state.get("n_features_in_")
    if not (isinstance(width, Integral) or (width is None and machine._values)):  # LIBSVM's text has no width of values
        yield "n_features_in_ is missing, or no whole number"
    if is_classifier(machine) and (fault := _of_classes(machine)):
        yield fault
    yield from _of_samples(machine, width) if learned else _of_sum(machine, width)


def _of_classes(machine: Any) -> str:
    classes = machine.classes_
    many = 0
    with suppress(TypeError):  # lists are no classes
        many = len(set(classes.tolist())) if isinstance(classes, np.ndarray) and classes.ndim == 1 else 0
    if not 2 <= many == len(classes):
        return "classes_ is no vector of different classes"
    if machine._fitted_multi_class not in ("ovo", "ovr"):
        return "_fitted_multi_class is neither 'ovo' nor 'ovr'"
    slope = vars(machine).get("_slope")
    return "" if slope is None or isinstance(slope, Real) else "_slope is no number"


def _of_samples(machine: Any, width: Any) -> Iterator[str]:
    """Yield what is wrong with the samples and the programs of an incremental machine."""
    from ...fitting.fits import Fits  # not at the top: it brings the compiler

    store, tracks, classes = machine._store, machine._tracks, is_classifier(machine) and len(machine.classes_)
    yield from filter(None, [store.fault(width, classes) if hasattr(store, "fault") else "_store holds no samples"])
    both = isinstance(tracks, list) and isinstance(machine._fitted, Fits)
    if not both or not len(tracks) == len(machine._fitted) == machine.head.n_problems:
        yield f"there are not {machine.head.n_problems} programs"
    for track in tracks:
        yield from filter(
            None, [track.fault(store, classes) if hasattr(track, "fault") else "_tracks holds no programs"]
        )


def _of_sum(machine: Any, width: Any) -> Iterator[str]:
    """Yield what is wrong with the sum over the support vectors."""
    vectors, dual, support, counts = machine.support_vectors_, machine.dual_coef_, machine.support_, machine._n_support
    for name, matrix, kinds in (("support_vectors_", vectors, "fd"), ("dual_coef_", dual, "d")):
        if fault := _unreadable(matrix, kinds):
            yield f"{name} {fault}"
    for name, whole in (("support_", support), ("_n_support", counts)):
        if not is_vector(whole, "iu"):
            yield f"{name} is no vector of whole numbers"
    reals = ["intercept_", *["offset_"] * hasattr(machine, "score_samples")]
    yield from (f"{name} is no vector of real numbers" for name in reals if not is_vector(getattr(machine, name), "d"))
    if len(machine.intercept_) != machine.head.n_problems or ("offset_" in reals and machine.offset_.shape != (1,)):
        yield f"intercept_ is not that of {machine.head.n_problems} problems"
    tilts = vars(machine).get("tilts_")
    pairs = tilts is None and not machine.compact_ and is_classifier(machine) and machine.head.in_pairs
    m = int(counts.sum()) if (counts >= 0).all() else -1
    if fault := misfit(dual, machine.intercept_, m, counts if pairs else None):
        yield fault
    if len(machine._columns()) != m:
        yield f"support_ has {len(support)} numbers for {m} support vectors"
    if machine._values:
        most = m if machine.compact_ else 2**31 if width is None else int(width)
        if m and machine.given_objects is None and not 0 <= machine._columns().min() <= machine._columns().max() < most:
            yield "support_ does not number columns of kernel values"
    elif vectors.shape != (m, width):
        yield f"support_vectors_ has the shape {vectors.shape}, not {(m, width)}"
    problem = vars(machine).get("problem_")
    both = (tilts is None) == (problem is None)
    if not both or (tilts is not None and not _are_tilts(tilts, problem, vectors.shape, machine.head.n_problems)):
        yield "tilts_ and problem_ are not those of the support vectors"


def _are_tilts(tilts: Any, problem: Any, shape: tuple[int, int], problems: int) -> bool:
    fine = not sparse.issparse(tilts) and not _unreadable(tilts, "d") and is_vector(problem, "iu")
    return fine and tilts.shape == shape and len(problem) == shape[0] and set(problem.tolist()) <= set(range(problems))


def is_vector(values: Any, kinds: str) -> bool:
    """Return whether a value is a vector of whole numbers ('i', 'u') or of float64 ('d')."""
    if not isinstance(values, np.ndarray) or values.ndim != 1 or not values.dtype.isnative:
        return False
    return values.dtype.kind in kinds or ("d" in kinds and values.dtype.char == "d")


def _unreadable(matrix: Any, kinds: str) -> str:
    """Return what is wrong with a table of numbers of some types, or nothing."""
    if sparse.issparse(matrix):
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
