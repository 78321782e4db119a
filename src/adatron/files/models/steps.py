"""The steps of scikit-learn before a machine, as skops describes them.

The steps are those that the command line makes: scalers, an imputer, an encoder of texts, and the joins of them. skops
makes objects of the classes that it trusts, among them trees and functions. Here only these steps and plain data are
let through. A wrong state of a step ends in a refusal, in an ordinary exception of scikit-learn at predict, or in wrong
predictions. More could follow from three values, which are checked: numbers of an encoder, from which scikit-learn
makes the indices of a sparse matrix; types, which give each number its length; and the columns that a step names.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections import UserList
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from ...arrays import MOST_COLUMNS
from ...estimators.base.machine import KernelMachine
from ...extras import needed
from ...pipelines import way_to
from .archive import InvalidError, array_of, taken
from .contents import STATE_LEFT_OUT, FileState, is_array, is_count, refusal, requests_of, restore_requests

STEPS = {
    *(f"sklearn.preprocessing._data.{name}" for name in ("StandardScaler", "MinMaxScaler", "MaxAbsScaler")),
    "sklearn.preprocessing._encoders.OneHotEncoder",
    "sklearn.preprocessing._function_transformer.FunctionTransformer",  # "passthrough" in a ColumnTransformer
    "sklearn.impute._base.SimpleImputer",
    "sklearn.compose._column_transformer.ColumnTransformer",
    "sklearn.pipeline.Pipeline",
}
SCHEMA = "schema.json"  # The part of a file of skops that describes the others.
# Kinds of entries of a file of skops, and the names of types in them.
SKOPS_NODES = {
    *(
        "ObjectNode",
        "DictNode",
        "ListNode",
        "TupleNode",
        "SliceNode",
        "JsonNode",
        "NdArrayNode",
        "DTypeNode",
        "TypeNode",
    )
}
NAMES = STEPS | {
    *(f"builtins.{one}" for one in ("str", "int", "float", "bool", "dict", "list", "tuple", "slice")),
    *("numpy.ndarray", "numpy.dtype"),
    *(f"numpy.{np.dtype(one).type.__name__}" for one in "?bBhHiIlLqQefdU"),
}
MOST_NAMED = 10**6  # Most columns of a step that names as many columns as it says, whatever it is given.
DOES_NOTHING = "passthrough"  # The step that does nothing; it also stands where the machine was.


def encode_steps(model: Any) -> tuple[dict[str, Any], list[Any], dict[str, NDArray[Any]], KernelMachine | None]:
    """Return the steps of a model as skops describes them, their requests, their arrays, and the machine at the end.

    An InvalidError says that a step is of another class, or that `load` would refuse the file.
    """
    machines: list[KernelMachine] = []
    steps = _without_machines(model, machines)
    if machines and (len(machines) > 1 or machines[0] is not way_to(model).machine):
        raise InvalidError(f"a {type(machines[0]).__name__} is no transformer: it must be the last step of pipelines")
    schema, arrays = _described(steps)
    requests = [requests_of(one) for one in parts(model) if not isinstance(one, KernelMachine)]
    decode_steps(schema, requests, dict(arrays))
    return schema, requests, arrays, machines[0] if machines else None


def _without_machines(value: Any, machines: list[KernelMachine]) -> Any:
    """Return a copy of steps without machines, which are listed, and without what acts in fits only."""
    if isinstance(value, KernelMachine):
        machines.append(value)
        return DOES_NOTHING
    if isinstance(value, (list, tuple, UserList)):  # the last: columns of a remainder, before scikit-learn 1.9
        return (tuple if isinstance(value, tuple) else list)(_without_machines(one, machines) for one in value)
    if isinstance(value, dict):
        return {key: _without_machines(one, machines) for key, one in value.items()}
    if isinstance(value, np.memmap):
        return np.asarray(value)
    if not isinstance(value, BaseEstimator):
        return value
    kind = type(value)
    if f"{kind.__module__}.{kind.__qualname__}" not in STEPS:
        raise InvalidError(refusal(value))
    copy = object.__new__(kind)
    state = {key: _without_machines(one, machines) for key, one in vars(value).items() if key not in STATE_LEFT_OUT}
    vars(copy).update(_settled(state))
    return copy


def _settled(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state without what no file may choose: a folder of pickles, more jobs than processors."""
    jobs = state.get("n_jobs")
    chosen = {"memory": None, "n_jobs": min(jobs, os.cpu_count() or 1) if type(jobs) is int else None}
    return {name: chosen.get(name, value) for name, value in state.items()}


def _described(steps: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what skops says of steps, the same for equal steps: without addresses in memory; and the arrays in it."""
    skops = needed("skops.io", "cli", "Steps before the model take")
    arrays: dict[str, NDArray[Any]] = {}
    with zipfile.ZipFile(io.BytesIO(skops.dumps(steps))) as given:

        def without_addresses(node: dict[str, Any]) -> dict[str, Any]:
            if "__loader__" in node:
                node.pop("__id__", None)
                if "file" in node:
                    name = f"{len(arrays)}.npy"
                    arrays[name] = array_of(np.frombuffer(given.read(node["file"]), np.uint8), name)
                    node["file"] = name
            return node

        return json.loads(given.read(SCHEMA), object_hook=without_addresses), arrays


def decode_steps(schema: dict[str, Any], requests: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """Return the steps that skops has described, with their requests; take their arrays out of all arrays.

    An error says that there is something else than steps, or a step with a state that could do harm.
    """
    skops = needed("skops.io", "cli", "Steps before the model take")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:

        def checked(node: dict[str, Any]) -> dict[str, Any]:
            """Refuse what is no step and no data; write the array that an entry refers to."""
            if "__loader__" in node:
                name = f"{node['__module__']}.{node['__class__']}"
                if node["__loader__"] not in SKOPS_NODES or name not in NAMES or "__id__" in node:
                    raise InvalidError(
                        f"{name[:100]} has no place in a model file: only its steps and data, and no functions"
                    )
                if "file" in node:
                    array = taken(arrays, node["file"])
                    with archive.open(node["file"], "w", force_zip64=True) as part:
                        np.lib.format.write_array(part, array, allow_pickle=False)
            return node

        archive.writestr(SCHEMA, json.dumps(json.loads(json.dumps(schema), object_hook=checked)))
    steps = skops.loads(content.getvalue(), trusted=["numpy.dtype"])
    for one, wanted in zip(parts(steps), requests, strict=True):
        one._validate_params()  # pyright: ignore[reportPrivateUsage]
        if fault := next(_faults(type(one).__name__, vars(one)), ""):
            raise InvalidError(fault)
        vars(one).update(_settled(vars(one)))
        restore_requests(one, wanted)
    return steps


def parts(value: Any) -> Iterator[BaseEstimator]:
    """Yield the steps of a model, and those inside them, wherever they are; a machine may know its pipeline."""
    if isinstance(value, BaseEstimator):
        yield value
        value = {} if isinstance(value, KernelMachine) else vars(value)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.dtype.kind == "O"):
        for one in np.ravel(value) if isinstance(value, np.ndarray) else value:
            yield from parts(one)


def joined(steps: Any, machine: KernelMachine) -> Any:
    """Return steps with a machine at their end."""
    pipeline = last = steps
    while isinstance(last, Pipeline):
        pipeline, last = last, last.steps[-1][1]
    if last != DOES_NOTHING:
        raise InvalidError("its steps have no place for the machine")
    pipeline.steps[-1] = (pipeline.steps[-1][0], machine)
    return steps


def _faults(kind: str, state: FileState) -> Iterator[str]:
    """Say which values of a step could do more than to give a wrong prediction."""
    width: Any = state.get("n_features_in_", 0)
    if not is_count(width, MOST_NAMED if kind == "FunctionTransformer" else MOST_COLUMNS):
        yield f"n_features_in_ must be a whole number from 0; it is {str(width)[:50]}"
    for name in ("dtype", "_fit_dtype", "_fill_dtype"):
        if np.dtype(state.get(name)).kind not in "biufO":
            yield f"{name} must be a type of numbers"
    if kind == "OneHotEncoder" and "categories_" in state:
        if state["_infrequent_enabled"] is not False:
            yield "infrequent categories cannot be stored: leave out min_frequency and max_categories"
        if not _numbers_columns(state["categories_"], state["_drop_idx_after_grouping"], state["_n_features_outs"]):
            yield "the categories of a OneHotEncoder, in order, do not give its numbers of columns"


def _numbers_columns(categories: Any, dropped: Any, sizes: Any) -> bool:
    """Return whether an encoder gives each category, except those dropped, one of its columns.

    scikit-learn looks numbers up as if they were in order; of other categories it makes a dict.
    """
    if not all(is_array(known, "biufUO", None) and known.size for known in categories):
        return False
    numbers = [known for known in categories if known.dtype.kind not in "UO"]
    if not all(np.array_equal(np.sort(known), known, equal_nan=True) for known in numbers):
        return False
    pairs = list(zip(categories, [None] * len(categories) if dropped is None else dropped, strict=True))
    within = all(drop is None or is_count(drop, len(known) - 1) for known, drop in pairs)
    return within and type(sizes) is list and sizes == [len(known) - (drop is not None) for known, drop in pairs]
