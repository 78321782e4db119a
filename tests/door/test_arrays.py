"""Tensors of torch and arrays of CuPy go in and out."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn

from adatron import SVC, SVR, IncrementalSVC, OneClassSVM
from adatron.door.arrays import returned, to_numpy

X = np.random.default_rng(0).standard_normal((40, 3))
y = np.tile([0, 1], 20)


class OfCuPy(np.ndarray):
    """An array that says it is CuPy's; torch reads it as it reads those on a GPU, through DLPack."""


OfCuPy.__module__ = "cupy"
WEIGHTS, REALS = np.linspace(0.5, 2.0, 40), X @ [1.0, -2.0, 0.5]
CALLS = {
    "fit": lambda of: SVC().fit(of(X), y).decision_function(X),
    "targets": lambda of: SVR().fit(X, of(REALS)).predict(X),
    "weights": lambda of: SVC().fit(X, y, of(WEIGHTS)).decision_function(X),
    "one class": lambda of: OneClassSVM().fit(of(X)).decision_function(X),
    "predict": lambda of: SVC().fit(X, y).predict(of(X)),
    "learn": lambda of: IncrementalSVC().fit(of(X), y).decision_function(X),
}


@pytest.mark.parametrize("name", CALLS)
def test_arrays_of_cupy_are_read(name):
    pytest.importorskip("torch", reason="needs the extra gpu")
    assert np.array_equal(CALLS[name](lambda values: values.view(OfCuPy)), CALLS[name](np.asarray))


def test_results_for_cupy_are_arrays_of_cupy(monkeypatch):
    """The module of CuPy, which needs a GPU, is one that makes arrays of it in the processor's memory."""
    pytest.importorskip("torch", reason="needs the extra gpu")
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(from_dlpack=lambda one: np.from_dlpack(one).view(OfCuPy)))
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    model, rows = SVC().fit(X, y), X.view(OfCuPy)
    with sklearn.config_context(array_api_dispatch=True):
        found, values = returned(model.predict(X), rows), returned(model.decision_function(X), rows)
    assert type(found) is type(values) is OfCuPy
    assert np.array_equal(found, model.predict(X))
    assert np.array_equal(values, model.decision_function(X))
    assert type(returned(np.array(["a"]), rows)) is np.ndarray


def test_arrays_of_cupy_without_torch_name_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="pip install torch"):
        SVC().fit(X.view(OfCuPy), y)


def test_results_come_back_as_they_went_in():
    torch = pytest.importorskip("torch", reason="needs the extra gpu")
    there = torch.zeros((2, 2), device="meta")
    found = returned(np.array([1, -1]), there)
    assert found.device == there.device
    assert found.dtype == torch.int64
    assert isinstance(returned(np.array(["a", "b"]), there), np.ndarray)
    assert isinstance(returned(np.zeros(2), torch.zeros(2)), np.ndarray)
    assert isinstance(returned(np.zeros(2), np.zeros(2)), np.ndarray)
    assert isinstance(to_numpy(torch.zeros(2, requires_grad=True)), np.ndarray)
    assert to_numpy("text") == "text"
