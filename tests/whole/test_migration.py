"""The page for those who come from scikit-learn names everything there is, there and here."""

from pathlib import Path

import numpy as np
import pytest
from sklearn import svm

import adatron
from adatron.estimators.base.attributes import Attribute

PAGE = (Path(__file__).parents[2] / "docs" / "migration.md").read_text()
NAMES = ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"]


def attributes(estimator):
    """Public attributes of a fitted estimator: what fit sets, and properties."""
    kinds = (property, Attribute)
    names = [*vars(estimator), *(n for n in dir(type(estimator)) if isinstance(getattr(type(estimator), n), kinds))]
    return {name for name in names if name.endswith("_") and not name.startswith("_")}


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_and_attribute_is_named(name):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    for library in (svm, adatron):
        estimator = getattr(library, name)().fit(X, y)
        named = attributes(estimator) | set(estimator.get_params())
        assert {"kernel", "dual_coef_", "coef_"} <= named
        assert [n for n in sorted(named) if f"`{n}`" not in PAGE] == []


def test_every_class_is_named():
    public = {n for n in svm.__all__ if n != "l1_min_c"} | set(NAMES)
    assert [n for n in sorted(public) if f"`{n}`" not in PAGE] == []
