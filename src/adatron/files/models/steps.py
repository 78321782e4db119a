"""The steps of scikit-learn before a machine, as a file of skops inside the model file.

The steps are those that the command line makes: scalers, an imputer, an encoder of texts, and the joins of them. skops
makes objects of the classes that it trusts. Here only these steps and plain data are let through, and no object comes
twice. A wrong state of a step ends in a refusal, in an ordinary exception of scikit-learn at predict, or in wrong
predictions. More could follow from the indices of a sparse matrix, which OneHotEncoder makes of fitted numbers: these
are checked in full.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections import UserList
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from ...arrays import MOST_COLUMNS
from ...estimators.base.machine import KernelMachine
from ...estimators.forms.way import way_to
from ...extras import needed
from .archive import MOST_HEADER, InvalidError, array_of
from .contents import STATE_LEFT_OUT, FileState, is_array, is_count, refusal, requests_of, restore_requests

#: The classes by their names, each with its module, which is imported when a file or a model has steps.
MODULES = {
    **dict.fromkeys(("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "OneHotEncoder"), "sklearn.preprocessing"),
    "FunctionTransformer": "sklearn.preprocessing",  # scikit-learn's form of "passthrough" in a ColumnTransformer
    "SimpleImputer": "sklearn.impute",
    "ColumnTransformer": "sklearn.compose",
    "Pipeline": "sklearn.pipeline",
}
SCHEMA = "schema.json"  # The part of a file of skops that describes the others.
# Kinds of entries of a file of skops beside steps, and the names of types in them.
SKOPS_NODES = ("DictNode", "ListNode", "TupleNode", "SliceNode", "JsonNode", "NdArrayNode", "DTypeNode", "TypeNode")
PLAIN = {f"builtins.{one}" for one in ("str", "int", "float", "bool", "object", "dict", "list", "tuple", "slice")} | {
    *("numpy.ndarray", "numpy.dtype"),
    *(f"numpy.{np.dtype(one).type.__name__}" for one in "?bBhHiIlLqQefdU"),
}
#: Fitted attributes that have a value for each feature.
OF_FEATURES = {
    "mean_", "var_", "scale_", "min_", "data_min_", "data_max_", "max_abs_", "statistics_", "feature_names_in_",
}  # fmt: skip
DOES_NOTHING = "passthrough"  # The step that does nothing; it also stands where the machine was.


@cache
def step_class(name: str) -> type[Any]:
    """Return the class of a step."""
    return getattr(import_module(MODULES[name]), name)


def encode_steps(model: Any) -> tuple[bytes, list[Any], KernelMachine | None]:
    """Return the steps of a model as a file of skops, their requests, and the machine at the end, if there is one.

    An InvalidError says that a step is of another class, or that `load` would refuse the file.
    """
    machines: list[KernelMachine] = []
    steps = _without_machines(model, machines)
    if machines and (len(machines) > 1 or machines[0] is not way_to(model).machine):
        raise InvalidError(f"a {type(machines[0]).__name__} is no transformer: it must be the last step of pipelines")
    content = _written(steps)
    decode_steps(content, requests := [requests_of(one) for one in parts(model) if not isinstance(one, KernelMachine)])
    return content, requests, machines[0] if machines else None


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
    name = type(value).__name__
    if name not in MODULES or type(value) is not step_class(name):
        raise InvalidError(refusal(value))
    copy = object.__new__(type(value))
    state = {key: _without_machines(one, machines) for key, one in vars(value).items() if key not in STATE_LEFT_OUT}
    vars(copy).update(_settled(state))
    return copy


def _settled(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state without what no file may choose: a folder of pickles, more jobs than processors."""
    jobs, found = state.get("n_jobs"), {**state, "memory": None} if "memory" in state else state
    return {**found, "n_jobs": min(jobs, os.cpu_count() or 1)} if type(jobs) is int and jobs > 0 else found


def _written(steps: Any) -> bytes:
    """Return a file of skops that is the same for equal steps: it has no addresses in memory."""
    skops = needed("skops.io", "cli", "Steps before the model take")
    arrays: list[str] = []  # one for each place that refers to it

    def without_addresses(node: dict[str, Any]) -> dict[str, Any]:
        if "__loader__" in node:
            node.pop("__id__", None)
            if "file" in node:
                arrays.append(node["file"])
                node["file"] = f"{len(arrays) - 1}.npy"
        return node

    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(skops.dumps(steps))) as given, zipfile.ZipFile(out, "w") as archive:
        schema = json.loads(given.read(SCHEMA), object_hook=without_addresses)
        archive.writestr(zipfile.ZipInfo(SCHEMA), json.dumps(schema))
        for number, name in enumerate(arrays):
            archive.writestr(zipfile.ZipInfo(f"{number}.npy"), given.read(name))
    return out.getvalue()


def decode_steps(content: bytes, requests: Any) -> Any:
    """Return the steps of a file of skops, with their requests.

    A ValueError says that it holds something else than steps, or a step with a state that no fit makes.
    """
    skops = needed("skops.io", "cli", "Steps before the model take")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        listed = archive.infolist()
        if any(one.compress_type for one in listed) or sum(one.file_size for one in listed) > len(content):
            raise InvalidError("its steps are compressed, or longer than their part of the file")
        if archive.getinfo(SCHEMA).file_size > MOST_HEADER:
            raise InvalidError(f"values of its steps besides arrays take more than {MOST_HEADER} bytes")
        names = list(_arrays_in(json.loads(archive.read(SCHEMA))))
        if len(set(names)) < len(names):
            raise InvalidError("its steps use an array twice")
        for name in names:
            array_of(np.frombuffer(archive.read(name), np.uint8), name)
    steps = skops.loads(content, trusted=["builtins.object", "numpy.dtype"])
    for one, wanted in zip(parts(steps), requests, strict=True):
        _check(one)
        vars(one).update(_settled(vars(one)))
        restore_requests(one, wanted)
    return steps


def _arrays_in(node: Any) -> Iterator[str]:
    """Yield the names of the arrays that entries of a file of skops refer to; refuse what is no step and no data."""
    if isinstance(node, dict) and "__loader__" in node:
        loader, name = node["__loader__"], f"{node.get('__module__')}.{node.get('__class__')}"
        step = loader == "ObjectNode" and name in {f"{step_class(one).__module__}.{one}" for one in MODULES}
        if not (step or (loader in SKOPS_NODES and name in PLAIN)) or "__id__" in node:
            raise InvalidError(f"{name[:100]} has no place in a model file: only its steps and data, and no functions")
        if "file" in node:
            yield node["file"]
    for one in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _arrays_in(one)


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


def joined(steps: Any, machine: KernelMachine | None) -> Any:
    """Return steps with a machine at their end."""
    if machine is None:
        return steps
    last = steps
    while isinstance(last.steps[-1][1], Pipeline):
        last = last.steps[-1][1]
    name, place = last.steps[-1]
    if place != DOES_NOTHING:
        raise InvalidError("its steps have no place for the machine")
    last.steps[-1] = (name, machine)
    return steps


def _check(step: Any) -> None:
    """Check the parameters of a step, the names in its state, and all from which indices follow."""
    kind, params = type(step), step.get_params(deep=False)
    step._validate_params()
    state = {name: value for name, value in vars(step).items() if name not in params}
    for name in state:
        if not name.isidentifier() or hasattr(kind, name) or name in STATE_LEFT_OUT:
            raise InvalidError(f"a fit sets no attribute {name[:50]!r}")
    width: Any = state.get("n_features_in_")
    if "n_features_in_" in state and not is_count(width, MOST_COLUMNS):
        raise InvalidError(f"n_features_in_ must be a whole number from 0; it is {str(width)[:50]}")
    for name in OF_FEATURES & state.keys():
        if state[name] is not None and not is_array(state[name], "biufUO", width):
            raise InvalidError(f"{name} must have a value for each of {width} features")
    if isinstance(step, Pipeline) and not all(
        isinstance(one, BaseEstimator) or one == DOES_NOTHING for _, one in step.steps
    ):
        raise InvalidError("the steps of a pipeline hold something else than steps")
    if "categories_" in state and (fault := next(_encoder(width, state), None)):
        raise InvalidError(fault)


def _encoder(width: int, state: FileState) -> Iterator[str]:
    """Check the categories, in which scikit-learn looks numbers up as if they were in order, and numbers of columns."""
    found: Any = state["categories_"]
    if type(found) is not list or len(found) != width or not all(is_array(one, "biufUO", None) for one in found):
        yield f"categories_ must have {width} lists of categories, one for each feature"
    if not all(map(_in_order, found)):
        yield "categories_ has numbers that are not in order"
    if state.get("_infrequent_enabled", False) is not False:
        yield "infrequent categories of a OneHotEncoder cannot be stored: leave out min_frequency and max_categories"
    counts, dropped = [len(known) for known in found], state.get("_drop_idx_after_grouping")
    dropped = [None] * width if dropped is None else list(dropped)
    if len(dropped) != width or not all(
        one is None or is_count(one, count - 1) for one, count in zip(dropped, counts, strict=True)
    ):
        yield f"a dropped category is not among those of {width} features"
    sizes = [count - (one is not None) for one, count in zip(dropped, counts, strict=True)]
    outs: Any = state.get("_n_features_outs")
    if type(outs) is not list or [int(one) if is_count(one) else -1 for one in outs] != sizes:
        yield f"_n_features_outs must be {sizes[:5]}{' ...' if len(sizes) > 5 else ''}"


def _in_order(values: NDArray[Any]) -> bool:
    """Return whether numbers ascend, the last of which may be NaN; of other categories scikit-learn makes a dict."""
    if values.dtype.kind == "U" or not all(isinstance(one, (bool, int, float, np.generic)) for one in values):
        return True
    numbers = values.astype(np.float64)
    numbers = numbers[:-1] if np.isnan(numbers[-1:]).any() else numbers
    return bool((numbers[:-1] < numbers[1:]).all()) and not np.isnan(numbers).any()
