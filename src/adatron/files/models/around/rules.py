"""Check parameters and states of scikit-learn's estimators where more than an error could follow from them.

Three things could: an index of a sparse matrix that is made from a fitted value, a parameter that lets an estimator
read files or start processes, and an expression that takes for ever.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from re import _constants as opcodes  # pyright: ignore[reportAttributeAccessIssue]
from re import _parser as parser  # pyright: ignore[reportAttributeAccessIssue]
from typing import Any

import numpy as np
from numpy.typing import NDArray

State = Mapping[str, Any]
DEFAULT_DISPATCH = re.compile(r"all|(\d{1,3} ?\* ?)?n_jobs")
MOST_COLUMNS = 2**24  # Most columns of a HashingVectorizer: a row of them takes 128 MiB.
LONGEST_GRAM = 32  # All n-grams of a text, up to its length, take the cube of the length.
REPEATS = tuple(
    getattr(opcodes, name) for name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") if hasattr(opcodes, name)
)
SINGLE = (opcodes.LITERAL, opcodes.NOT_LITERAL, opcodes.ANY, opcodes.IN)
PLAIN = (*SINGLE, opcodes.AT)


def settled(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters of which a file's maker may not choose all: no more jobs than there are processors.

    Raises
    ------
    ValueError
        ``pre_dispatch`` is an expression, of which joblib would find the value.
    """
    jobs, dispatch = params.get("n_jobs"), params.get("pre_dispatch", "n_jobs")
    if isinstance(dispatch, str) and not DEFAULT_DISPATCH.fullmatch(dispatch):
        raise ValueError(f"pre_dispatch must be 'all', 'n_jobs' or a multiple of it; it is {dispatch[:50]!r}")
    if type(jobs) is int and jobs > 0:
        return {**params, "n_jobs": min(jobs, os.cpu_count() or 1)}
    return params


def function(params: State, state: State) -> str | None:
    """Check a FunctionTransformer: arguments of a function could be arrays that the function writes to."""
    given = [name for name in ("kw_args", "inv_kw_args") if params.get(name)]
    return f"{given[0]} must be None or empty" if given else None


# --- categories ---------------------------------------------------------------------------------------------------


def categories(params: State, state: State) -> str | None:
    """Check the categories of an encoder: scikit-learn looks numbers up in them as if they were in order."""
    found: Any = state.get("categories_")
    if found is None:
        return None
    width = state.get("n_features_in_", len(found))
    if len(found) != width:
        return f"categories_ has {len(found)} lists for {width} features"
    for number, one in enumerate(found):
        if type(one) is not np.ndarray or one.ndim != 1 or one.dtype.kind not in "biufUO":
            return f"categories_[{number}] must be an array of 1 dimension of numbers, texts or objects"
        if not _in_order(one):
            return f"categories_[{number}] has numbers that are not in order"
    return None


def _in_order(values: NDArray[Any]) -> bool:
    if values.dtype.kind == "O":
        if not all(isinstance(item, (bool, int, float, np.generic)) for item in values):
            return True  # an order is asked of numbers only; of others scikit-learn makes a dict
        values = values.astype(np.float64)
    if values.dtype.kind == "U":
        return True
    values = values[: len(values) - 1] if len(values) and np.isnan(values[-1]) else values
    return bool((values[:-1] < values[1:]).all()) and not np.isnan(values).any()


def one_hot(params: State, state: State) -> str | None:
    """Check the numbers from which a OneHotEncoder makes the columns of a CSR matrix."""
    fault = categories(params, state)
    if fault is not None or "categories_" not in state:
        return fault
    n = len(state["categories_"])
    sizes = [len(one) for one in state["categories_"]]
    if state.get("_infrequent_enabled", False):
        rare: Any = state.get("_infrequent_indices")
        mappings: Any = state.get("_default_to_infrequent_mappings")
        if not _lists(n, rare, mappings):
            return "_infrequent_indices and _default_to_infrequent_mappings must be lists, one entry for each feature"
        for i in range(n):
            if (rare[i] is None) != (mappings[i] is None):
                return "_infrequent_indices and _default_to_infrequent_mappings must be of the same features"
            if mappings[i] is not None:
                if not (_indices(rare[i], sizes[i], len(rare[i])) and _indices(mappings[i], sizes[i], sizes[i])):
                    return f"the infrequent categories of feature {i} are not among its {sizes[i]} categories"
                sizes[i] = int(mappings[i].max()) + 1
    dropped: Any = state.get("_drop_idx_after_grouping")
    if dropped is not None:
        if len(dropped) != n:
            return f"_drop_idx_after_grouping must have {n} entries"
        for i, one in enumerate(dropped):
            if one is not None and not (isinstance(one, (int, np.integer)) and 0 <= one < sizes[i]):
                return f"the dropped category of feature {i} is not among its {sizes[i]}"
            sizes[i] -= one is not None
    outs: Any = state.get("_n_features_outs")
    if type(outs) is not list or [int(one) if isinstance(one, (int, np.integer)) else -1 for one in outs] != sizes:
        return f"_n_features_outs must be {sizes[:5]}{' ...' if n > 5 else ''}"
    return None


def _lists(n: int, *values: Any) -> bool:
    return all(type(one) is list and len(one) == n for one in values)


def _indices(values: Any, below: int, length: int) -> bool:
    whole = type(values) is np.ndarray and values.ndim == 1 and values.dtype.kind == "i" and len(values) > 0
    return whole and len(values) == length and values.min() >= 0 and values.max() < below


# --- texts --------------------------------------------------------------------------------------------------------


def text(params: State, state: State) -> str | None:
    """Check a vectoriser of texts."""
    if params.get("input", "content") != "content":
        return f"input must be 'content', so that no files are read; it is {str(params['input'])[:50]!r}"
    if (columns := params.get("n_features", 0)) > MOST_COLUMNS:
        return f"n_features may be {MOST_COLUMNS}; it is {columns}"
    if max(params.get("ngram_range", (1, 1))) > LONGEST_GRAM:
        return f"ngram_range may go up to {LONGEST_GRAM}; it is {params['ngram_range']}"
    pattern = params.get("token_pattern")
    return None if pattern is None else _pattern_fault(pattern)


def _pattern_fault(pattern: Any) -> str | None:
    """Check that the time that an expression needs grows as the text, or at most as its square."""
    if type(pattern) is not str or len(pattern) > 1000:
        return "token_pattern must be a text of at most 1000 characters"
    try:
        parsed = parser.parse(pattern)
        choices = _choices(list(parsed))
    except (re.error, RecursionError, OverflowError) as error:
        return f"token_pattern is no valid expression ({str(error)[:100]})"
    if choices is None or max(choices) > 1:
        return (
            f"token_pattern={pattern!r} may take for ever. It may have one repeat of one kind of characters, such as "
            "\\w+, one choice between alternatives, and groups without repeats"
        )
    return None


def _choices(items: list[Any]) -> tuple[int, int] | None:
    """Count the repeats and the alternatives that a match goes through; None if they are nested, or not understood."""
    repeats = branches = 0
    for operator, argument in items:
        if operator in PLAIN:
            continue
        if operator in REPEATS:
            low, high, inner = argument
            found = [(int(low != high), 0) if len(inner) == 1 and inner[0][0] in SINGLE else None]
        elif operator is opcodes.SUBPATTERN:
            found = [_choices(list(argument[-1]))]
        elif operator is opcodes.BRANCH:
            found = [_choices(list(branch)) for branch in argument[1]]
            branches += 1
        else:
            return None
        counted = [one for one in found if one is not None]
        if len(counted) < len(found):
            return None
        repeats += max(one for one, _ in counted)
        branches += max(one for _, one in counted)
    return repeats, branches
