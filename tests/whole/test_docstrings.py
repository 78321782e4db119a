"""Docstrings say what there is: each parameter with its default, each fitted attribute, and the errors of methods."""

import inspect

import pytest
from sklearn.base import BaseEstimator, is_outlier_detector

import adatron
from adatron import SVC, IncrementalSVC, intervals, selection
from adatron.intervals import FullConformal
from machines import two_moons

PUBLIC = {name: getattr(home, name) for home in (adatron, selection, intervals) for name in home.__all__}
ESTIMATORS = {name: one for name, one in PUBLIC.items() if inspect.isclass(one) and issubclass(one, BaseEstimator)}
PREDICTING = ("predict", "decision_function", "predict_proba", "predict_log_proba", "score_samples")
every_estimator = pytest.mark.parametrize("kind", ESTIMATORS.values(), ids=ESTIMATORS)


def section(text, title):
    """Return the entries of a section by name: the type, and the words below it."""
    scrape = pytest.importorskip("numpydoc.docscrape")
    entries = scrape.NumpyDocString(text)[title]
    return {name.strip(): (one.type, " ".join(one.desc)) for one in entries for name in one.name.split(",")}


def fitted(kind):
    """Yield fitted estimators of a class, with all attributes that a fit may leave."""
    X, y = two_moons(60)
    needed = inspect.signature(kind).parameters
    if "kernel" in needed:
        made = [kind(kernel=name) for name in ("linear", "rbf")]
    elif all(one.default is not one.empty for one in needed.values()):
        made = [kind()]
    elif "cv" in needed and kind.__module__.startswith(selection.__name__):
        made = [kind(SVC(), {"C": [1, 10]}, **({"n_iter": 2} if "n_iter" in needed else {}))]
    else:
        made = [kind(IncrementalSVC(gamma=1.0) if kind is FullConformal else SVC())]
    for model in made:
        yield model.fit(X) if is_outlier_detector(model) else model.fit(X, y)


def public_attributes(model):
    return {name for name in object.__dir__(model) if name.endswith("_") and not name.startswith("_")}


@every_estimator
def test_each_fitted_attribute_is_documented(kind):
    listed = section(inspect.getdoc(kind), "Attributes")
    words = " ".join(text for _, text in listed.values())
    there = {name for model in fitted(kind) for name in public_attributes(model) if hasattr(model, name)}
    # Every fit of scikit-learn's kind leaves these two; a class may say so once, in words.
    common = {"n_features_in_", "feature_names_in_"}
    assert sorted(name for name in there - common - set(listed) if f"``{name}``" not in words) == []


@every_estimator
def test_each_parameter_is_documented_with_its_default(kind):
    listed = section(inspect.getdoc(kind), "Parameters")
    own = inspect.signature(kind).parameters
    assert set(listed) == set(own)
    for name, parameter in own.items():
        _, with_default, default = listed[name][0].partition("default=")
        assert bool(with_default) == (parameter.default is not parameter.empty), name
        if with_default:
            number = type(parameter.default) is float and float(default.removeprefix("np.")) == parameter.default
            assert number or default.removeprefix("np.") == repr(parameter.default), name


@pytest.mark.parametrize("name", ESTIMATORS)
def test_help_is_complete(name):
    """No parameter and no attribute sends a reader to another page."""
    assert [line for line in inspect.getdoc(ESTIMATORS[name]).splitlines() if line.strip().startswith("As in ")] == []


@every_estimator
def test_help_has_a_line_for_each_fitted_attribute(kind):
    parts = {name: inspect.getattr_static(kind, name) for name in dir(kind) if name.endswith("_") and name[0] != "_"}
    described = {name: part.__doc__ for name, part in parts.items() if inspect.isdatadescriptor(part)}
    assert [name for name, text in described.items() if not text] == []


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name in adatron.__all__])
def test_each_prediction_names_its_errors(name):
    methods = {
        one: inspect.getdoc(getattr(ESTIMATORS[name], one)) for one in PREDICTING if hasattr(ESTIMATORS[name], one)
    }
    assert methods
    named = {one: "NotFittedError" in text and "ValueError" in text for one, text in methods.items()}
    assert [one for one, text in methods.items() if not named[one] and "errors are those" not in text] == []
