"""Displays draw on pyplot's figures, so that notebooks show them, or on given axes; names are drawn as they are."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import adatron.plots
from adatron import SVC, SVR, InputMarginSVC
from adatron.insight import boundary_plane
from adatron.plots.axes import literal
from adatron.selection import GridSearchCV
from processes import python

plt = pytest.importorskip("matplotlib.pyplot")
X, y = make_moons(60, noise=0.25, random_state=0)
NAMES = np.array(["$half", "_moon & <b>"])


def displays():
    model, named = SVC(C=5).fit(X, y), SVC(C=5).fit(X, NAMES[y])
    path = InputMarginSVC(n_steps=1).fit(X, y)
    names = adatron.plots
    return {
        "BoundaryPlaneDisplay": lambda ax: names.BoundaryPlaneDisplay.from_estimator(named, X, NAMES[y], ax=ax),
        "GapDisplay": lambda ax: names.GapDisplay.from_estimator(model, ax=ax),
        "InfluenceDisplay": lambda ax: names.InfluenceDisplay.from_estimator(named, X, NAMES[y], ax=ax),
        "InputMarginDisplay": lambda ax: names.InputMarginDisplay.from_estimator(named, X, NAMES[y], ax=ax),
        "LabelIssueDisplay": lambda ax: names.LabelIssueDisplay.from_estimator(named, X, NAMES[y], ax=ax),
        "LeaveOneOutDisplay": lambda ax: names.LeaveOneOutDisplay.from_estimator(model, X, y, factors=[1, 2], ax=ax),
        "MarginDisplay": lambda ax: names.MarginDisplay.from_estimator(named, X, NAMES[y], ax=ax),
        "MarginPathDisplay": lambda ax: names.MarginPathDisplay.from_estimator(path, ax=ax),
        "SensitivityDisplay": lambda ax: names.SensitivityDisplay.from_estimator(
            model, X, feature_names=["$a", "b"], ax=ax
        ),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", list(displays()))
def test_a_display_is_drawn_where_it_belongs(name):
    assert set(displays()) <= set(adatron.plots.__all__)
    before = set(plt.get_fignums())
    made = displays()[name](None)
    (number,) = set(plt.get_fignums()) - before
    assert made.figure_ is plt.figure(number)
    assert made.ax_.figure is made.figure_
    made.figure_.canvas.draw()
    _, ax = plt.subplots()
    again = displays()[name](ax)
    assert again.ax_ is ax
    assert again.plot() is again


def test_the_legend_names_the_classes_as_they_are():
    model = SVC(C=5).fit(X, NAMES[y])
    shown = adatron.plots.InputMarginDisplay.from_estimator(model, X, NAMES[y]).ax_.get_legend_handles_labels()[1]
    assert [literal(name) for name in NAMES] == shown[:2]
    assert literal("_a") == "\u200b_a"
    assert literal("$x$") == r"\$x\$"
    assert len(literal("x" * 100)) < 30


def test_every_class_of_a_region_is_in_the_legend_also_if_no_sample_of_it_is_near():
    model = SVC(C=5).fit(X, NAMES[y])
    plane = boundary_plane(model, X, NAMES[y])
    display = adatron.plots.BoundaryPlaneDisplay(plane, NAMES.tolist(), np.zeros(len(X), np.int64)).plot()
    shown = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert [shown.count(literal(name)) for name in NAMES] == [1, 1]


def takers():
    search = GridSearchCV(SVC(), {"C": [1, 2]}, cv=2)
    return {**dict.fromkeys(adatron.plots.__all__, SVC(C=5)), "SearchDisplay": search,
            "MarginPathDisplay": InputMarginSVC(n_steps=1)}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", list(takers()))
@pytest.mark.parametrize("library", ["numpy", "pandas", "polars"])
@pytest.mark.filterwarnings("error:.*feature names")
def test_every_display_takes_a_model_samples_and_targets(name, library):
    made = pytest.importorskip(library)
    samples = X if library == "numpy" else made.DataFrame({"$a": X[:, 0], "b_^": X[:, 1]})
    for model in (takers()[name], make_pipeline(StandardScaler(), takers()[name])):
        if name == "SearchDisplay" and hasattr(model, "steps"):
            continue  # a pipeline around a search is no search
        model.fit(samples, y)
        getattr(adatron.plots, name).from_estimator(model, samples, y).figure_.canvas.draw()


def test_pictures_of_suspicious_samples():
    A, b = (part[:200] for part in load_digits(return_X_y=True))
    b = b.copy()
    b[3] = (b[3] + 1) % 10
    model = SVC().fit(A, b)
    made = adatron.plots.LabelIssueDisplay.from_estimator(model, A, b, image_shape=(8, 8))
    np.testing.assert_array_equal(made.images[0, 0], A[3].reshape(8, 8))
    assert len(made.ax_.get_images()) == 1
    with pytest.raises(ValueError, match="64 pixels"):
        adatron.plots.LabelIssueDisplay.from_estimator(model, A, b, image_shape=(8, 9))


def test_regression_influence_has_no_flips():
    made = adatron.plots.InfluenceDisplay.from_estimator(SVR().fit(X, X[:, 0]), X, X[:, 0])
    assert not made.influence.flips.any()


@pytest.mark.slow
def test_importing_displays_needs_no_matplotlib():
    python("-c", "import sys, adatron.plots; adatron.plots.GapDisplay; assert 'matplotlib' not in sys.modules")
