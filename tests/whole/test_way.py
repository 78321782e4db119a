"""The way of a fit, and of a prediction: how many files of the package it enters. It may become shorter, not longer."""

import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer

import adatron

PACKAGE = str(Path(adatron.__file__).parent)


def entered(call):
    """The files of the package in which a function is called."""
    found = set()

    def look(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            found.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(before)
    return found


@pytest.mark.parametrize(("method", "most"), [("fit", 61), ("predict", 20)])
def test_a_small_call_enters_few_files(method, most):
    X, y = load_breast_cancer(return_X_y=True)
    model = adatron.SVC().fit(X[:100], y[:100])
    model.predict(X)  # what is imported or made at the first call does not count
    arguments = (X[:100], y[:100]) if method == "fit" else (X[:100],)
    assert len(entered(lambda: getattr(model, method)(*arguments))) <= most
