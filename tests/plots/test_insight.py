"""Names of features, and of what is seen in the picture of a plane.

Also tested here: ``plane``.
"""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from adatron import SVC, report
from adatron.insight import boundary_plane
from adatron.plots import BoundaryPlaneDisplay, SensitivityDisplay

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


pytest.importorskip("matplotlib")


@pytest.mark.parametrize(("part", "seen"), [(0.5, True), (1e-3, False)])
def test_a_circle_that_a_mark_hides_is_not_in_the_legend(part, seen):
    X, y = load_iris(return_X_y=True)
    model = SVC(C=10).fit(X, y)
    plane = boundary_plane(model, X, y)
    width = plane.grid[0][-1] - plane.grid[0][0]
    display = BoundaryPlaneDisplay.of(replace(plane, certified=part * width), model, y).plot()
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert ("proven: no change inside" in texts) is seen
    order = {line.get_label(): line.get_zorder() for line in display.ax_.get_lines()}
    assert order[f"row {plane.numbers[0]}"] > order["nearest boundary point"]
