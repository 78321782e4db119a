"""The way of a fit to its optimum: a trace ends with what is proven, and no curve goes below it."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning

from adatron import SVC, IncrementalSVC, NuSVC, OneClassSVM
from adatron.plots import GapDisplay
from adatron.quoted import upward

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def model():
    return SVC(C=1000).fit(*make_moons(3000, noise=0.25, random_state=0))


def test_a_display_says_what_its_numbers_are():
    X, y = make_moons(520, noise=0.2, random_state=0)
    shown = {
        "proven": SVC().fit(X, y),
        "proven if the kernel is positive semi-definite": SVC(kernel="precomputed").fit(X @ X.T, y),
        "estimated": IncrementalSVC(gamma=1.0).fit(X[:40], y[:40]),
    }
    for words, machine in shown.items():
        display = GapDisplay.from_estimator(machine)
        legend = display.ax_.get_legend()
        said = display.ax_.texts[0].get_text() if legend is None else " ".join(t.get_text() for t in legend.get_texts())
        size = "≈" if words == "estimated" else "≤"
        assert f"{words}: duality gap {size}" in said.replace(words.capitalize(), words)


def test_weights_change_the_trace_as_they_change_the_objectives():
    X, _ = make_moons(200, noise=0.25, random_state=0)
    model = OneClassSVM(nu=0.1).fit(X, sample_weight=np.full(200, 100.0))
    assert model.trace_["dual_objective"][-1] == pytest.approx(model.dual_objective_, rel=1e-15)


def test_no_distance_is_below_the_proven_one(model):
    """Some of this fit's estimates, sums in float32, are above the proven upper bound of the optimum."""
    assert (model.trace_["dual_objective"] > model.primal_objective_).any()  # or this tests nothing
    display = GapDisplay.from_estimator(model)
    heights = {line.get_label(): line.get_ydata() for line in display.ax_.lines}
    distance = heights["distance, estimated"]
    assert distance[-1] == distance.min() == model.duality_gap_
    assert heights["KKT violation, estimated"][-1] == model.kkt_violation_
    assert any(name.startswith("proven: duality gap") for name in heights)


def test_an_optimum_that_may_be_0_has_no_distance():
    X, y = make_moons(1500, noise=2.0, random_state=0)
    with pytest.warns(ConvergenceWarning, match="no margin"):
        model = NuSVC(kernel="linear", nu=0.1, max_iter=100_000).fit(X, y)
    assert model.duality_gap_ == np.inf
    heights = {line.get_label(): line.get_ydata() for line in GapDisplay.from_estimator(model).ax_.lines}
    assert not len(heights.get("distance, estimated", ()))


def test_a_fit_in_one_step_shows_a_sentence():
    model = SVC().fit(*load_iris(return_X_y=True))
    display = GapDisplay.from_estimator(model)
    assert not display.ax_.lines
    (sentence,) = display.ax_.texts
    assert f"duality gap ≤ {upward(model.duality_gap_.max())}" in sentence.get_text()


def test_a_sentence_leaves_the_axis_that_other_axes_share(model):
    short = SVC().fit(*load_iris(return_X_y=True))
    _, (left, right) = plt.subplots(1, 2, sharey=True)
    GapDisplay.from_estimator(short, ax=left)
    GapDisplay.from_estimator(model, ax=right)
    assert left.axison
    assert left.get_yscale() == "log"
    assert not GapDisplay.from_estimator(short).ax_.axison  # axes of its own have nothing to show


def test_traces_routes_and_displays_are_one_line(model):
    several = SVC().fit(*load_iris(return_X_y=True))
    things = [model.trace_, several.trace_, several.trace_[0], model.route_, GapDisplay.of(model)]
    for thing in things:
        assert "\n" not in repr(thing)
        assert len(repr(thing)) < 160
    assert repr(several.trace_).startswith("<3 traces")
    assert repr(GapDisplay.from_estimator(model)) == "<GapDisplay, drawn>"
