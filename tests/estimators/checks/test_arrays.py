"""Tensors of torch go in and out; arrays of CuPy are refused."""

import numpy as np
import pytest

from adatron import SVC, SVR, IncrementalSVC, OneClassSVM
from adatron.estimators.checks.arrays import host, returned

X = np.random.default_rng(0).standard_normal((40, 3))
y = np.tile([0, 1], 20)


class OfCuPy(np.ndarray):
    """An array that says it is CuPy's."""


OfCuPy.__module__ = "cupy"
FOREIGN = X.view(OfCuPy)
CALLS = {
    "fit": lambda: SVC().fit(FOREIGN, y),
    "targets": lambda: SVR().fit(X, X[:, 0].view(OfCuPy)),
    "weights": lambda: SVC().fit(X, y, np.ones(40).view(OfCuPy)),
    "one class": lambda: OneClassSVM().fit(FOREIGN),
    "predict": lambda: SVC().fit(X, y).predict(FOREIGN),
    "decision": lambda: OneClassSVM().fit(X).decision_function(FOREIGN),
    "learn": lambda: IncrementalSVC().fit(FOREIGN, y),
}


@pytest.mark.parametrize("name", CALLS)
def test_arrays_of_cupy_are_refused(name):
    with pytest.raises(TypeError, match=r"Arrays of CuPy are not taken\. Pass torch\.from_dlpack"):
        CALLS[name]()


def test_results_come_back_as_they_went_in():
    torch = pytest.importorskip("torch", reason="needs the extra gpu")
    there = torch.zeros((2, 2), device="meta")
    found = returned(np.array([1, -1]), there)
    assert found.device == there.device
    assert found.dtype == torch.int64
    assert isinstance(returned(np.array(["a", "b"]), there), np.ndarray)
    assert isinstance(returned(np.zeros(2), torch.zeros(2)), np.ndarray)
    assert isinstance(returned(np.zeros(2), np.zeros(2)), np.ndarray)
    assert isinstance(host(torch.zeros(2, requires_grad=True)), np.ndarray)
    assert host("text") == "text"
