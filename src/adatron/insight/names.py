"""The names and the unit of the features that a user, or the machine of a pipeline, sees."""

from __future__ import annotations

import re
from typing import Any

from ..pipelines import PipelineParts, of_class

UNNAMED = "in units of X"  # the unit of features that do not name one
TRANSFORMED = "transformed units"  # of features after the steps of a pipeline


def names_of(way: PipelineParts, columns: int, space: str, given: Any = None) -> list[str]:
    """Return the names of the features of a space.

    way : steps and machine
    columns : the number of features that the model was given
    space : 'original', or 'transformed' for the features that the machine sees
    given : the user's names of either, or None

    Features without a name are 'feature 0', ... Raise a ValueError if there are as many given names neither as columns
    nor as features of the machine.
    """
    seen = int(getattr(way.machine, "n_features_in_", columns))
    if given is not None and len(given) not in (columns, seen):
        widths = f"{columns}" if seen == columns else f"{columns} or {seen}"
        raise ValueError(f"feature_names must have {widths} names. Got {len(given)}.")
    if space == "original":
        width, found = columns, [given, getattr(way.estimators[0], "feature_names_in_", None)]
    else:
        of_columns = given is not None and len(given) == columns
        found = [_names_after(way, given) if of_columns else given, given, _names_after(way, None)]
        width, found = seen, [*found, getattr(way.machine, "feature_names_in_", None)]
    for names in found:
        if names is not None and len(names) == width:
            return [str(name) for name in names]
    return [f"feature {j}" for j in range(width)]


def unit_of(way: PipelineParts, names: list[str]) -> str:
    """Return the unit of distances among the rows that the machine sees, as an axis names it.

    The last step names it, or features whose names all end with the same word in parentheses, as in 'length (cm)'.
    """
    if way.steps:
        scaled = of_class(way.steps[-1][1], "sklearn.preprocessing._data", "StandardScaler")
        return "standardised" if scaled else TRANSFORMED
    ends = [re.search(r"\(([^()]+)\)$", name.strip()) for name in names]
    units = {"" if end is None else end[1] for end in ends}
    return (units.pop() if len(units) == 1 else "") or UNNAMED


def _names_after(way: PipelineParts, names: Any) -> Any:
    """Return the names that the steps make of names of columns; None if a step does not say."""
    try:
        for _, step in way.steps:
            names = _plainly(step, names, step.get_feature_names_out(names))
    except (AttributeError, ValueError, TypeError):
        return None
    return names


def _plainly(step: Any, before: Any, after: Any) -> Any:
    """Return the names that a ColumnTransformer makes in words: weight for numbers__weight, city = Rome of a text."""
    parts = getattr(step, "named_transformers_", None)
    if parts is None:
        return after
    columns = sorted(map(str, getattr(step, "feature_names_in_", () if before is None else before)), key=len)
    plain: list[str] = []
    for name in map(str, after):
        part, found, rest = name.partition("__")
        if not found or part not in parts:
            return after
        texts = hasattr(parts[part], "categories_")
        column = next((one for one in reversed(columns) if texts and rest.startswith(f"{one}_")), None)
        plain.append(rest if column is None else f"{column} = {rest[len(column) + 1 :]}")
    return plain if len(set(plain)) == len(plain) else after
