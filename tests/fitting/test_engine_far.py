"""Linear machines whose rows may be moved, wherever the origin is: claims, predictions, weights and radius."""

from copy import deepcopy

import numpy as np
import pytest
from scipy import sparse

from adatron import (
    SVC,
    SVDD,
    SVR,
    IncrementalNuSVC,
    IncrementalSVC,
    IncrementalSVDD,
    IncrementalSVR,
    NuSVC,
    NuSVR,
    load,
    save,
)
from adatron.kernels import Linear
from adatron.selection import GridSearchCV
from machines import values as decisions
from twins.checker import Program, truth
from twins.fitted import Task, programs
from twins.values import L, values

BATCH = [SVC(), NuSVC(nu=0.4), SVR(), NuSVR(), SVDD(nu=0.3)]
STEPS = [IncrementalSVC(), IncrementalNuSVC(nu=0.4), IncrementalSVR(), IncrementalSVDD(nu=0.3)]
STORAGES, MOVES = [np.asarray, sparse.csr_matrix], [2.0**7, 2.0**17, 2.0**24, 2.0**30]


def named(one):
    return type(one).__name__


def data(machine, move, n=80):
    """Rows moved away, one column of them sparse, and targets that do not know of it."""
    rng = np.random.default_rng(0)
    near = rng.integers(-999, 1000, size=(n, 3)) / 512.0  # exact, moved or not
    near[rng.random(n) < 0.7, 2] = 0.0
    t = near @ [1.0, -1.0, 0.5] + 0.3 * rng.normal(size=n)
    y = t if isinstance(machine, (SVR, NuSVR)) else (t > 0).astype(int) + (t > 1)
    return near, near + move * np.array([1.0, -3.0, 0.0]), None if isinstance(machine, SVDD) else y


def stepped(machine, X, y):
    """Fit some rows, learn the others, and forget some of both."""
    model = deepcopy(machine).set_params(kernel="linear")
    first, last = ((X[part], None if y is None else y[part]) for part in (slice(60), slice(60, None)))
    return model.fit(*first).partial_fit(*last).forget([3, 70])


def programs_at(machine, model, near, y):
    """Return the programs of the rows at their home, at the solution."""
    if not isinstance(machine, SVDD):
        return programs(Task(named(machine).removeprefix("Incremental"), model.get_params(), near, y), model)
    beta, n = np.zeros(len(near), L), len(near)
    beta[model.support_] = 0.5 * (model.dual_coef_ @ np.eye(len(model.support_)))[0]
    (K, _), most = values(("linear",), near), np.full(n, min(1.0, 1 / (0.3 * n)), L)
    return [Program(np.arange(n), beta, np.diagonal(K) / 2, 0 * most, most, (L(1),))]


def assert_claims(machine, model, near, y, violations, gaps):
    found = values(("linear",), near)  # the rows moved back are exact, and the program is theirs
    for program, violation, gap in zip(programs_at(machine, model, near, y), violations, gaps, strict=True):
        true = truth(program, *found)
        assert violation >= true.violation.least * (1 - 1e-9)
        assert gap >= true.gap.least * (1 - 1e-9)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("machine", BATCH, ids=named)
def test_claims_hold_wherever_the_origin_is(machine, move, storage):
    near, far, y = data(machine, move)
    model = deepcopy(machine).set_params(kernel="linear").fit(storage(far), y)
    assert model.fit_status_ == 0
    assert_claims(machine, model, near, y, np.atleast_1d(model.kkt_violation_), np.atleast_1d(model.duality_gap_))


@pytest.mark.slow
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("machine", STEPS, ids=named)
def test_steps_end_at_the_solution_of_the_rows_at_home(machine, move, storage, tmp_path):
    near, far, y = data(machine, move)
    y = (y > 0).astype(int) if "SVC" in named(machine) else y
    home, model = stepped(machine, near, y), stepped(machine, storage(far), y)
    report, order = model.deletion_report(refit=True), model.ids_
    assert (model.fit_status_, report["largest_difference"] < 1e-9) == (0, True)
    claims = [report["kkt_violation"]], [report["duality_gap"]]
    assert_claims(machine, model, near[order], None if y is None else y[order], *claims)
    expected, slack = decisions(home, near), 1e-9 if isinstance(machine, SVDD) else 2.0**-50 * move + 1e-9
    save(model, tmp_path / "far.adatron")
    for one in (model, load(tmp_path / "far.adatron"), deepcopy(model)):
        np.testing.assert_allclose(decisions(one, storage(far)), expected, atol=16 * slack)
    if isinstance(machine, SVDD):
        assert model.radius_ == pytest.approx(home.radius_, rel=1e-12)
        assert model.loo_error() == home.loo_error()


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("kernel", [Linear(), 0.5 * Linear(), Linear() + 2.0 * Linear()], ids=str)
@pytest.mark.parametrize("machine", [SVC(), SVR(), SVDD(nu=0.3), SVDD(C=np.inf)], ids=named)
def test_values_are_those_of_the_rows_moved_back(machine, kernel, storage):
    near, far, y = data(machine, 2.0**24)
    y = (y > 0).astype(int) if isinstance(machine, SVC) else y
    machine = deepcopy(machine).set_params(kernel=kernel, tol=1e-9)
    expected = decisions(machine.fit(near, y), near)
    model = machine.fit(storage(far), y)
    np.testing.assert_allclose(decisions(model, storage(far)), expected, atol=1e-5)
    if isinstance(machine, SVDD):
        np.testing.assert_allclose(model.score_samples(storage(far)) + model.radius_**2, expected, atol=1e-6)
        weights = model.dual_coef_ / 2 @ far[model.support_]
        assert model.center_norm_ == pytest.approx(float(np.sqrt(kernel(weights, weights)[0, 0])), rel=1e-12)
    elif kernel == Linear():
        weights = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
        np.testing.assert_allclose((far @ weights.T).ravel() + model.intercept_, expected, atol=1e-5)


def test_balls_with_negatives_are_moved_too():
    near, far, _ = data(SVDD(), 2.0**24)
    marks = np.where(near[:, 0] > 1.2, -1, 1)
    home, model = (SVDD(kernel="linear", C=0.2, tol=1e-9).fit(X, marks) for X in (near, far))
    np.testing.assert_allclose(decisions(model, far), decisions(home, near), atol=1e-6)


def test_a_search_has_the_scores_of_the_rows_at_home():
    near, far, y = data(SVC(), 2.0**10)
    home, model = (GridSearchCV(SVC(kernel="linear"), {"C": [0.1, 1.0]}).fit(X, y) for X in (near, far))
    np.testing.assert_array_equal(home.cv_results_["mean_test_score"], model.cv_results_["mean_test_score"])


def test_float32_and_mapped_rows_are_centred_too(tmp_path):
    near, far, y = data(SVR(), 2.0**13)
    np.save(tmp_path / "rows.npy", far.astype(np.float32))
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    expected = SVR(kernel="linear", tol=1e-9).fit(near, y).predict(near)
    np.testing.assert_allclose(SVR(kernel="linear", tol=1e-9).fit(mapped, y).predict(mapped), expected, atol=1e-5)


def test_what_is_subtracted_shows_no_row_and_is_named():
    _, far, y = data(IncrementalSVC(), 2.0**17)
    one = IncrementalSVR(kernel="linear").fit(far[:1], [1.0]).partial_fit(far[1:], y[1:]).forget([0])
    assert one.store.center.tolist() == [2.0**17, -3 * 2.0**17, 0.0] != far[0].tolist()
    assert any("subtracted from all rows" in text for text in one.deletion_report()["derived"])
    assert not len(IncrementalSVR(kernel="rbf").fit(far, y).store.center)
    assert not len(IncrementalSVR(kernel="linear", bias="augmented").fit(far - far.mean(axis=0), y).store.center)
