"""Names of features: of the columns, and of what a ColumnTransformer makes of them."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from adatron import SVC, report
from adatron.plots import SensitivityDisplay

rng = np.random.default_rng(0)
AGE = rng.integers(20, 70, 90)
CITY = np.array(["Rome", "Köln", "Oslo"])[rng.integers(0, 3, 90)]
y = np.where((AGE > 45) ^ (CITY == "Rome"), "yes", "no")


def encoded(named):
    columns = ["city"], ["age"]
    if named:
        X = pytest.importorskip("pandas").DataFrame({"age": AGE, "city": CITY})
    else:
        X, columns = np.array([AGE, CITY], object).T, ([1], [0])
    steps = make_column_transformer((OneHotEncoder(), columns[0]), (StandardScaler(), columns[1]))
    return make_pipeline(steps, SVC(C=5)).fit(X, y), X


@pytest.mark.slow
@pytest.mark.parametrize("named", [False, True])
def test_features_after_an_encoder_have_the_names_of_its_outputs(named):
    model, X = encoded(named)
    wanted = ["city = Köln", "city = Oslo", "city = Rome", "age"] if named else ["x1_Köln", "x1_Oslo", "x1_Rome", "x0"]
    assert SensitivityDisplay.from_estimator(model, X).names == wanted
    answer = report(model, X, y, max_time=None).panels[6].answer
    assert answer.partition(" changes most with ")[2].partition(". ")[0] in wanted


def test_given_names_are_those_of_columns_or_of_the_features_of_the_machine():
    model, X = encoded(named=False)
    display = SensitivityDisplay.from_estimator(model, X, feature_names=["years", "town"])
    assert display.names == ["town = Köln", "town = Oslo", "town = Rome", "years"]
    four = ["a", "b", "c", "d"]
    assert SensitivityDisplay.from_estimator(model, X, y, feature_names=four).names == four
    answer = report(model, X, y, max_time=None, feature_names=four).panels[6].answer
    assert answer.partition(" changes most with ")[2].partition(". ")[0] in four
    for ask in (lambda names: SensitivityDisplay.from_estimator(model, X, feature_names=names),
                lambda names: report(model, X, y, feature_names=names)):  # fmt: skip
        with pytest.raises(ValueError, match=r"feature_names must have 2 or 4 names. Got 3"):
            ask(["a", "b", "c"])


def test_a_frame_that_knows_its_names_takes_others_of_the_machine():
    model, X = encoded(named=True)
    assert SensitivityDisplay.from_estimator(model, X, feature_names=np.array(list("abcd"))).names == list("abcd")


def test_linear_steps_keep_the_names_of_the_columns():
    X = np.column_stack([AGE, CITY == "Rome"]).astype(float)
    model = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    assert SensitivityDisplay.from_estimator(model, X).names == ["feature 0", "feature 1"]
    assert SensitivityDisplay.from_estimator(model, X, feature_names=["age", "Rome"]).names == ["age", "Rome"]
