"""Change the states that machines take from copies, pickles and skops: each is refused, or predicts as before.

``python scripts/attack_files/states.py`` tries every single change of every state, and prints those that are neither
refused nor the same. An attempt makes two changes.
"""

from __future__ import annotations

import copy
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import adatron
from adatron.files import save_libsvm

METHODS = ("predict", "decision_function", "predict_proba", "score_samples")
FORBIDDEN = 2**31 - 1  # An index that no array has.
DENSE = [np.full((2, width), 0.5) for width in (1, 4, 100_000)]
OTHERS = [*DENSE, *map(sparse.csr_matrix, DENSE)]


@cache
def machines() -> dict[str, tuple[Any, Any]]:
    """Return fitted machines by name, each with samples that it takes."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    two, three = (X[:, 0] > 0).astype(int), np.digitize(X[:, 0], [-0.5, 0.5])
    few, K = sparse.csr_matrix(np.where(np.abs(X) > 0.5, X, 0.0)), X @ X.T
    words = [f"{x:+.1f}" for x in X[:, 0]]
    letters = adatron.SVC(kernel=lambda A, B: np.array([[float(a[0] == b[0]) for b in B] for a in A]))
    found = {
        "SVC": (adatron.SVC(probability=True).fit(X, three), X),
        "SVC of two": (adatron.SVC().fit(X, two), X),
        "SVC against the rest": (adatron.SVC(multi_class="ovr").fit(X, np.array(["a", "b", "c"])[three]), X),
        "SVC of CSR": (adatron.SVC().fit(few, three), few),
        "linear SVC of CSR": (adatron.SVC(kernel="linear").fit(few, two), few),
        "SVC of kernel values": (adatron.SVC(kernel="precomputed").fit(K, three), K),
        "SVC of words": (letters.fit(words, two), words),
        "NuSVC": (adatron.NuSVC(nu=0.2).fit(X, three), X),
        "SVR": (adatron.SVR(kernel="laplacian").fit(X, X[:, 1]), X),
        "NuSVR": (adatron.NuSVR().fit(X, X[:, 1]), X),
        "OneClassSVM": (adatron.OneClassSVM().fit(X), X),
        "InputMarginSVC": (adatron.InputMarginSVC(n_steps=1).fit(X, three), X),
        "rescaled": (adatron.InputMarginSVC(n_steps=1, algorithm="rescaled").fit(X, three), X),
        "IncrementalSVC": (adatron.IncrementalSVC().fit(X, three), X),
        "IncrementalSVC of CSR": (adatron.IncrementalSVC(multi_class="ovr").fit(few, three), few),
        "IncrementalNuSVC": (adatron.IncrementalNuSVC(nu=0.2).fit(X, two), X),
        "IncrementalSVR": (adatron.IncrementalSVR().fit(X, X[:, 1]), X),
        "IncrementalOneClassSVM": (adatron.IncrementalOneClassSVM().fit(X), X),
    }
    for name in ("SVC", "SVC of CSR", "SVC of kernel values", "OneClassSVM", "IncrementalSVC", "IncrementalSVR"):
        model, rows = found[name]
        small = model.compact()
        found[f"compact {name}"] = small, rows[:, small.support_] if "values" in name else rows
    found["compact weights"] = adatron.SVC(kernel="linear").fit(X, three).compact(), X
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m")
        save_libsvm(found["SVC of two"][0], path)
        found["LIBSVM's text"] = adatron.load(path), X
    return found


def changes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield names of changes, and changed values."""
    if isinstance(value, np.ndarray):
        yield "shorter", value[:-1]
        yield "longer", np.concatenate([value, value])
        yield "flat", value.ravel()[None, None]
        yield "objects", value.astype(object)
        yield "text", value.astype(str)
        yield "lists", np.array([*map(list, value.reshape(-1, 1)), None], object)[:-1]
        yield "other order of bytes", value.astype(value.dtype.newbyteorder()) if value.dtype.kind in "iuf" else value
        if value.ndim == 2:
            yield "narrower", value[:, :-1]
            yield "wider", np.concatenate([value, value], axis=1)
        if value.dtype.kind in "iu":
            yield "floats", value.astype(float)
            yield "far", np.full_like(value, FORBIDDEN)
            yield "negative", np.full_like(value, -5)
        elif value.dtype.kind == "f":
            yield "float16", value.astype(np.float16)
            yield "numbers", value.astype(np.int64)
    elif sparse.issparse(value):
        yield "fewer", value[:-1]
        yield "wider", sparse.csr_matrix((value.data, value.indices, value.indptr), (value.shape[0], 10**6))
        yield "columns first", value.tocsc()
        for part, wrong in (("indices", FORBIDDEN), ("indices", -7), ("indptr", FORBIDDEN), ("indptr", -7)):
            torn = value.copy()
            getattr(torn, part)[1:] = wrong
            yield f"{part} {wrong}", torn
        torn = value.copy()
        torn.indices = torn.indices[:1]
        yield "few indices", torn
    elif isinstance(value, (list, tuple)):
        yield "empty", value[:0]
        yield "twice", value + value
    elif isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        yield from (("far", FORBIDDEN), ("negative", -5), ("zero", 0), ("one more", value + 1), ("half", value + 0.5))
    yield "None", None
    yield "a word", "word"


def states(model: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield descriptions of changes and the changed states."""
    parameters = model.get_params()
    whole = model.__getstate__()
    for name, value in whole.items():
        if name != "probability":  # its default takes a method away
            yield f"{name} removed", {key: one for key, one in whole.items() if key != name}
        if name not in parameters:
            for change, other in changes(value):
                if (name, change) in (("classes_", "text"), ("objects_", "a word")):  # other names, other samples
                    continue
                yield f"{name} {change}", {**whole, name: other}
    for part in [] if "_tracks" not in whole else ["_store", "_tracks"]:
        for name, value in (whole[part] if part == "_store" else whole[part][0]).items():
            for change, other in (("removed", None), *changes(value)):
                state = {**whole, part: copy.deepcopy(whole[part])}
                torn = state[part] if part == "_store" else state[part][0]
                torn[name] = other
                if change == "removed":
                    del torn[name]
                yield f"{part}.{name} {change}", state


def ends(make: Callable[[], Any], X: Any, expected: dict[str, Any]) -> str:
    """Return how a state ends: nothing if it is refused, or the same; else what was wrong."""
    try:
        model = make()
    except ValueError:
        return ""
    for name, wanted in expected.items():
        try:
            found = getattr(model, name)(X)
        except ValueError:
            continue
        if not np.array_equal(found, wanted):
            return f"{name} differs"
    if isinstance(X, list) or getattr(model, "kernel", None) == "precomputed":
        return ""
    for other in OTHERS:
        try:
            model.predict(other)
        except ValueError:
            continue
        return f"rows of {other.shape[1]} features are taken"
    return ""


def made(kind: type, state: dict[str, Any]) -> Any:
    model = object.__new__(kind)
    model.__setstate__(state)
    return model


@cache
def honest(name: str) -> dict[str, Any]:
    """Return what a machine says of its samples."""
    (model, X), found = machines()[name], {}
    for method in METHODS:
        if hasattr(model, method):
            with suppress(ValueError):  # no probabilities
                found[method] = getattr(model, method)(X)
    return found


@cache
def changed(name: str) -> list[tuple[str, dict[str, Any]]]:
    """Return all changed states of a machine."""
    return list(states(machines()[name][0]))


def attempt(rng: np.random.Generator, folder: Path) -> tuple[str, str]:
    """Return what was changed in a state, two things, and how it ended."""
    name = list(machines())[rng.integers(len(machines()))]
    model, X = machines()[name]
    some = [changed(name)[rng.integers(len(changed(name)))] for _ in range(2)]
    whole, state = model.__getstate__(), dict(some[0][1])
    for key in {*whole, *some[1][1]}:  # the second change, on top of the first one
        if key not in some[1][1]:
            state.pop(key, None)
        elif some[1][1][key] is not whole.get(key):
            state[key] = some[1][1][key]
    end = ends(partial(made, type(model), state), X, honest(name))
    assert not end, f"{name}, {some[0][0]}, {some[1][0]}: {end}"
    return name, "refused or right"


def main(only: str) -> None:
    warnings.simplefilter("ignore")
    tried = 0
    for name, (model, X) in machines().items():
        if only and name != only:
            continue
        expected = honest(name)
        assert not ends(partial(made, type(model), model.__getstate__()), X, expected), name
        for what, state in states(model):
            tried += 1
            try:
                end = ends(partial(made, type(model), state), X, expected)
            except Exception as error:  # every other error is a fault
                end = f"{type(error).__name__}: {error}"
            if end:
                print(f"{name}, {what}: {end}", flush=True)
    print("tried", tried)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
