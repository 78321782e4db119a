"""Samples that the model was not fitted to, and wrong shapes, are refused; as many samples as there is time for.

Also tested here: ``in_time``.
"""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from adatron import SVC, SVR, IncrementalSVC, NuSVC, NuSVR
from adatron.insight import boundary_plane, influence, label_issues, leave_one_out, sensitivity
from adatron.insight import subject as module
from adatron.insight.leave_one_out import along_C, left_out_of, requested
from adatron.insight.names import UNNAMED, unit_of
from adatron.insight.subject import Subject, in_time, margins_in_time
from adatron.insight.twin import twin_of
from adatron.pipelines import way_to
from adatron.plots import BoundaryPlaneDisplay, InputMarginDisplay, MarginDisplay
from adatron.threads import Clock, clock

ORDER = np.random.default_rng(0).permutation(150)
X, y = (part[ORDER] for part in load_iris(return_X_y=True))
NAMES = np.array(["b", "a", "c"])
TWO = y < 2


@pytest.mark.parametrize(
    "model",
    [SVC(), SVC(C=0.01), SVC(multi_class="ovr"), NuSVC(nu=0.2), IncrementalSVC(), IncrementalSVC(multi_class="ovr")],
    ids=str,
)
@pytest.mark.parametrize("labels", [y, NAMES[y]], ids=["numbers", "text"])
def test_another_label_of_a_support_vector_is_refused(model, labels):
    model.fit(X, labels)
    Subject.of(model, X, labels)
    other, row = labels.copy(), model.support_[0]
    other[row] = next(label for label in labels if label != labels[row])
    with pytest.raises(ValueError, match=f"row {row} has another"):
        Subject.of(model, X, other)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_another_row_far_from_the_origin_is_refused(storage):
    model = SVC(kernel="linear").fit(storage(X + 1e9), y)
    Subject.of(model, storage(X + 1e9), y)
    other, row = X + 1e9, model.support_[0]
    other[row] += 0.5  # 5e-10 of the entries
    with pytest.raises(ValueError, match=f"row {row} is not the sample"):
        Subject.of(model, storage(other), y)


@pytest.mark.parametrize("model", [SVR(), SVR(C=1000, epsilon=0), NuSVR(C=100), SVR(C=100, epsilon=30)], ids=str)
def test_other_targets_of_a_regression_are_refused(model):
    X, y = (part[:100] for part in load_diabetes(return_X_y=True))
    model.fit(X, y)
    Subject.of(model, X, y)
    with pytest.raises(ValueError, match=r"row .* has another"):
        Subject.of(model, X, y[::-1])


ASKS = {
    "influence": influence,
    "leave_one_out": leave_one_out,
    "label_issues": label_issues,
    "boundary_plane": boundary_plane,
    "BoundaryPlaneDisplay": BoundaryPlaneDisplay.from_estimator,
    "MarginDisplay": MarginDisplay.from_estimator,
    "InputMarginDisplay": InputMarginDisplay.from_estimator,
}


@pytest.mark.parametrize("name", list(ASKS))
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda X, y: (X, y[:-1]), r"inconsistent numbers|each of the 100 samples"),
        (lambda X, y: (X, np.c_[y, y]), r"inconsistent numbers|each of the 100 samples"),
        (lambda X, y: (np.full(X.shape, np.nan), y), "contains NaN"),
        (lambda X, y: (np.c_[X, X], y), "4 features|two features"),
    ],
    ids=["short", "wide", "NaN", "features"],
)
def test_wrong_shapes_are_named(name, wrong, words):
    model = SVC().fit(X[TWO, :2], y[TWO])
    with pytest.raises(ValueError, match=words):
        ASKS[name](model, *wrong(X[TWO, :2], y[TWO]))


def test_lists_are_samples_too():
    model = SVC().fit(X, y)
    assert sensitivity(model, X.tolist()).effect.tolist() == sensitivity(model, X).effect.tolist()
    assert leave_one_out(model, X.tolist(), y.tolist()).error == leave_one_out(model, X, y).error


@pytest.mark.parametrize(
    ("steps", "names", "unit"),
    [
        ([], ["length (cm)", "width (cm)"], "cm"),
        ([], ["length (cm)", "area (cm²)"], UNNAMED),
        ([], ["length", "width"], UNNAMED),
        ([StandardScaler()], ["length (cm)", "width (cm)"], "standardised"),
        ([MinMaxScaler()], ["length (cm)", "width (cm)"], "transformed units"),
    ],
)
def test_the_unit_of_a_distance_is_that_of_the_features_or_of_the_last_step(steps, names, unit):
    assert unit_of(way_to(make_pipeline(*steps, SVC())), names) == unit


def test_some_errors_less_are_not_clearly_better():
    """The C that has 9 errors of 569, and not 14, is the best of nine, which chance explains."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = SVC(C=1.0).fit(X, y)
    subject = Subject.of(model, X, y)
    found = along_C(subject, twin_of(subject))
    assert found.C[found.best] != model.C
    assert found.error[found.own] > found.error[found.best] + 2 / 569
    assert not found.clear


def test_displays_and_planes_measure_in_the_same_units():
    frame, y = load_iris(return_X_y=True, as_frame=True)
    for model, unit in ((SVC(), "cm"), (make_pipeline(StandardScaler(), SVC()), "standardised")):
        model.fit(frame, y)
        plane = BoundaryPlaneDisplay.from_estimator(model, frame, y, sample=70)
        margins = MarginDisplay.from_estimator(model, frame)
        assert f"({unit})" in plane.ax_.get_xlabel()
        assert f"({unit})" in plane.ax_.get_ylabel()
        assert margins.ax_.get_xlabel() == f"distance ({unit})"
        (distance,) = (one.distance[70] for one in margins.margins.values())
        assert distance == pytest.approx(plane.plane.points[1, 0], rel=1e-6)


@pytest.mark.filterwarnings("error")
def test_the_exact_solution_of_a_model_with_names_warns_of_nothing():
    frame, y = load_iris(return_X_y=True, as_frame=True)
    assert twin_of(Subject.of(SVC().fit(frame, y), frame, y)).n == 150


@pytest.mark.slow
def test_the_error_at_the_models_own_C_is_that_of_leave_one_out():
    """Fewer samples are asked at each C, so these say by how much another C changes the error."""
    X, y = load_diabetes(return_X_y=True)
    subject = Subject.of(SVR(C=50, epsilon=10).fit(X, y), X, y)
    twin = twin_of(subject)
    left = left_out_of(subject, twin, requested(twin))
    found = along_C(subject, twin, known=left)
    assert left.complete
    assert found.n_asked < 442  # or this tests nothing
    assert found.error[found.own] == pytest.approx(np.sqrt(left.error))
    assert found.uncertainty[found.own] == 0.0
    assert (np.delete(found.uncertainty, found.own) > 0.0).all()
    assert found.error[0] > found.error[found.best]


@pytest.fixture
def now(monkeypatch):
    at = [100.0]
    for one in (module, clock):
        monkeypatch.setattr(one, "monotonic", lambda: at[0])
    return at


@pytest.mark.parametrize("seconds", [0.01, 0.5, 3.0, 9.0, 1000.0])
@pytest.mark.parametrize("first", [0.0, 0.4])
def test_parts_end_with_the_time(seconds, first, now):
    """Each part costs something, and so does each sample."""
    parts = []

    def ask(part):
        now[0] += first + 0.1 * len(part)
        parts.append(part)
        return len(part)

    limit = Clock.starting(seconds)
    done, found = in_time(np.arange(100), limit, ask)
    assert sum(found) == len(done) == len(np.unique(done))
    assert now[0] - 100.0 <= seconds + first + 0.1 + 1e-9
    assert (len(done) == 100) == (seconds > 100.0)
    if len(done) < 100:
        assert limit.deadline - now[0] < 1.001 * (now[0] - 100.0) / len(done)  # no time for one more
    now[0] += seconds
    assert len(in_time(np.arange(100), limit, ask)[0]) == 1


def test_without_a_limit_there_is_one_part():
    done, found = in_time(np.arange(5), Clock(), lambda part: part.tolist())
    assert done.tolist() == [0, 1, 2, 3, 4]
    assert found == [[0, 1, 2, 3, 4]]


def test_parts_have_the_distances_of_the_whole():
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = SVC().fit(X, X[:, 0] > 0)
    whole, parts = (margins_in_time(model, X, np.arange(20), one) for one in (Clock(), Clock.starting(1000.0)))
    np.testing.assert_array_equal(*(one[0] for one in (whole, parts)))
    for name in ("distance", "certified", "projection"):
        np.testing.assert_allclose(*(getattr(one[1], name) for one in (whole, parts)), rtol=1e-6)
