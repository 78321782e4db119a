"""Every line of the table in ``docs/certificates.md`` that says what the proven numbers mean at their edges."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import adatron
from adatron import SVC, SVR, IncrementalSVC
from adatron.files.models.libsvm_text import load_libsvm, save_libsvm
from adatron.selection import GridSearchCV
from moments import raising
from twins.fitted import true_claims, truths

PAGE = (Path(__file__).parents[2] / "docs" / "certificates.md").read_text()
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", PAGE, re.MULTILINE)]
NUMBERS = ("fit_status_", "kkt_violation_", "duality_gap_", "dual_objective_", "primal_objective_")
GAMMA = 0.5
SPEC = ("rbf", GAMMA)  # of claims, which are no better than the truth in long double
rng = np.random.default_rng(0)
X = rng.normal(size=(120, 2))
THREE = np.digitize(X[:, 0] + 0.3 * rng.normal(size=120), [-0.5, 0.6])
TWO = np.minimum(THREE, 1)
APART = (X[:, 0] > 0).astype(int)
K = np.exp(-GAMMA * ((X[:, None] - X[None]) ** 2).sum(axis=2)) + 0.01 * np.eye(120)
BENT = np.where(rng.random((120, 120)) < 0.5, -1.0, 1.0)
BENT = np.triu(BENT) + np.triu(BENT, 1).T


def numbers(model):
    return [getattr(model, name) for name in NUMBERS]


def proven(model, X, y, **more):
    return GridSearchCV(model, {"tol": [model.tol]}, **more).fit(X, y).cv_results_["proven"][0]


def certified(model, rows):
    """``certified`` keeps its promise: nothing that is nearer has another label."""
    found = adatron.input_margin(model, rows)
    direction = np.random.default_rng(0).normal(size=(500, *rows.shape))
    direction *= 0.999 * found.certified[:, None] / np.linalg.norm(direction, axis=2, keepdims=True)
    for moved in rows + direction:
        np.testing.assert_array_equal(model.predict(moved), model.predict(rows))
    return found.certified


def two_classes():
    model = SVC(gamma=GAMMA).fit(X, TWO)
    assert [type(number) for number in numbers(model)] == [int, float, float, float, float]
    assert model.fit_status_ == 0
    true_claims(model, SPEC, X, TWO)
    assert (certified(model, X[:5]) > 0).all()
    assert proven(SVC(gamma=GAMMA), X, TWO, prove=True)
    assert not proven(SVC(gamma=GAMMA, tol=0.5), X, TWO)


def many_classes():
    for way in ("ovo", "ovr"):
        model = SVC(gamma=GAMMA, multi_class=way).fit(X, THREE)
        assert all(number.shape == (3,) for number in numbers(model)[1:])
        true_claims(model, SPEC, X, THREE)
        assert (certified(model, X[:5]) >= 0).all()
    for k, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        some = (a == THREE) | (b == THREE)
        pair, model = SVC(gamma=GAMMA).fit(X[some], THREE[some]), SVC(gamma=GAMMA).fit(X, THREE)
        assert model.dual_objective_[k] <= pair.primal_objective_
        assert model.primal_objective_[k] >= pair.dual_objective_
    with pytest.warns(ConvergenceWarning):
        assert SVC(gamma=GAMMA, max_iter=1).fit(X, THREE).fit_status_ == 1
    assert proven(SVC(gamma=GAMMA), X, THREE, prove=True)


def a_regression():
    y = np.sin(X[:, 0])
    model = SVR(gamma=GAMMA).fit(X, y)
    assert model.fit_status_ == 0
    true_claims(model, SPEC, X, y)
    assert not proven(SVR(gamma=GAMMA), X, y)
    with pytest.raises(TypeError, match="input_margin"):
        adatron.input_margin(model, X)


def many_samples():
    own = np.random.default_rng(1)
    rows = own.normal(size=(1100, 2))
    y = (rows[:, 0] + own.normal(size=1100) > 0).astype(int)
    model = SVC(gamma=GAMMA).fit(rows, y)
    assert model.fit_status_ == 0
    true_claims(model, SPEC, rows, y)
    size = max(abs(model.dual_objective_), abs(model.primal_objective_))
    assert model.duality_gap_ <= 8 / 7 * (model.primal_objective_ - model.dual_objective_) / size * (1 + 1e-9)
    assert (certified(model, rows[:3]) >= 0).all()
    rows, y = np.tile(rows, (3, 1)) + np.repeat([[0.0], [1e-3], [2e-3]], 1100, axis=0), np.tile(y, 3)
    assert not proven(SVC(gamma=GAMMA), rows, y, cv=2)


def stopped():
    rows = np.random.default_rng(1).normal(size=(1100, 2))
    long = {"callback": lambda state: True, "tol": 1e-12, "gap_tol": 1e-14}
    for X_, more in ((X, {"max_iter": 2}), (X, {"max_time": 1e-9}), (rows, long)):
        y = (X_[:, 0] + np.sin(9.0 * X_[:, 1]) > 0).astype(int)
        with pytest.warns(ConvergenceWarning):
            model = SVC(C=1e6, gamma=GAMMA, **more).fit(X_, y)
        assert model.fit_status_ == 1
        true_claims(model, SPEC, X_, y)
        assert (certified(model, X_[:3]) >= 0).all()
    with pytest.warns(ConvergenceWarning):
        model = SVC(max_time=1e-9).fit(X, THREE)
    assert [number.tolist() for number in numbers(model)[1:]] == [[end * np.inf] * 3 for end in (1, 1, -1, 1)]
    with pytest.warns(ConvergenceWarning):
        assert not proven(SVC(max_time=1e-9), X, TWO)


def stopped_by_ctrl_c():
    model = SVC(gamma=GAMMA).fit(X, TWO)
    before = numbers(model)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(callback=raising(KeyboardInterrupt), C=50.0).fit(X, TWO)
    assert numbers(model) == before


def given_kernels():
    asymmetric = K.copy()
    asymmetric[0, 1] += 1e-7
    for matrix in (K, asymmetric):
        model = SVC(kernel="precomputed").fit(matrix, TWO)
        assert model.fit_status_ == 0
        for one in (matrix, matrix.T):
            true_claims(model, ("given", one), one, TWO)
    function = SVC(kernel=lambda A, B: A @ B.T).fit(X, TWO)
    true_claims(function, ("linear",), X, TWO)
    for model, rows in ((SVC(kernel="precomputed"), K), (SVC(kernel=function.kernel), X)):
        assert not proven(model, rows, TWO, prove=True)
        with pytest.raises(TypeError, match="derivative"):
            adatron.input_margin(model.fit(rows, TWO), rows)


def values_of_pairs_that_differ():
    matrix = K.copy()
    matrix[0, 1] += 0.002
    with pytest.raises(ValueError, match="not symmetric"):
        SVC(kernel="precomputed").fit(matrix, TWO)


def kernels_that_are_no_kernels():
    for y in (TWO, THREE):
        with pytest.warns(ConvergenceWarning, match="Not certified"):
            model = SVC(kernel="precomputed").fit(BENT, y)
        assert model.fit_status_ == 1
        assert np.isnan(model.duality_gap_).all()
        true_claims(model, ("given", BENT), BENT, y, objectives=False)
    model = SVC(kernel="sigmoid", gamma=2.0, coef0=-1.0)
    with pytest.warns(ConvergenceWarning):
        assert not proven(model, X, TWO)
    with pytest.warns(ConvergenceWarning, match="Not certified"):
        model.fit(X, TWO)
    assert (certified(model, X[:3]) >= 0).all()


def hard_margins():
    model = SVC(C=np.inf, gamma=GAMMA).fit(X, APART)
    assert model.fit_status_ == 0
    true_claims(model, SPEC, X, APART)
    assert (certified(model, X[:3]) >= 0).all()
    assert not proven(SVC(C=np.inf, gamma=GAMMA), X, APART, prove=True)


def no_hard_margin():
    model = SVC(C=np.inf, kernel="linear")
    with pytest.warns(ConvergenceWarning):
        assert not proven(model, X, TWO)
    with pytest.warns(ConvergenceWarning, match="grows without"):
        model.fit(X, TWO)
    assert (model.fit_status_, model.duality_gap_, model.primal_objective_) == (1, np.inf, np.inf)
    assert (certified(model, X[:3]) >= 0).all()


def hard_tubes():
    y = np.sin(X[:, 0])
    model = SVR(C=np.inf, gamma=GAMMA, epsilon=0.5).fit(X, y)
    nearer = SVR(C=1e6, gamma=GAMMA, epsilon=0.5, gap_tol=1e-6).fit(X, y)  # a tube that hardly anything leaves
    assert (model.fit_status_, model.duality_gap_, model.primal_objective_) == (0, np.inf, np.inf)
    assert model.dual_objective_ <= nearer.primal_objective_
    assert not proven(SVR(C=np.inf, gamma=GAMMA, epsilon=0.5), X, y)
    with pytest.raises(TypeError, match="input_margin"):
        adatron.input_margin(model, X)


def learned_and_forgotten():
    model = IncrementalSVC(gamma=GAMMA).fit(X[:100], TWO[:100]).partial_fit(X[100:], TWO[100:]).forget([3])
    rows, y = X[model.ids_], TWO[model.ids_]
    report = model.deletion_report()
    (true,) = truths(model, SPEC, rows, y)
    assert model.fit_status_ == 0
    assert report["kkt_violation"] >= true.violation.least
    assert report["duality_gap"] >= true.gap.least
    assert report["kkt_violation"] >= model.kkt_violation_
    assert model.dual_objective_ <= true.high
    assert model.primal_objective_ >= true.low
    assert "proven" not in GridSearchCV(IncrementalSVC(gamma=GAMMA), {"C": [1.0]}).fit(X, TWO).cv_results_
    assert (certified(model, X[:3]) >= 0).all()


def read_from_text(folder):
    for y, shape in ((TWO, ()), (THREE, (3,))):
        save_libsvm(SVC(gamma=GAMMA).fit(X, y), folder / "model")
        model = load_libsvm(folder / "model")
        assert model.fit_status_ == 0
        assert all(np.isnan(number).all() and np.shape(number) == shape for number in numbers(model)[1:])
        assert (certified(model, X[:3]) >= 0).all()


LINES = {
    "two classes": two_classes,
    "many classes": many_classes,
    "a regression": a_regression,
    "more than 1,000 samples": many_samples,
    "stopped by `max_time`, `max_iter` or a callback before `tol` is met": stopped,
    "stopped by Ctrl-C": stopped_by_ctrl_c,
    "kernel values, or a kernel function": given_kernels,
    "kernel values of pairs that differ by more than a thousandth": values_of_pairs_that_differ,
    "a kernel found not to be positive semi-definite": kernels_that_are_no_kernels,
    "`C=inf` with a separating plane": hard_margins,
    "`C=inf` without one": no_hard_margin,
    "a regression with `C=inf`": hard_tubes,
    "an incremental model": learned_and_forgotten,
    "read from LIBSVM's text": read_from_text,
}


def test_every_line_of_the_table_has_a_test():
    assert [row[0] for row in ROWS[2:]] == list(LINES)
    assert {len(row) for row in ROWS} == {7}


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES)
def test_the_table_is_true(line, tmp_path):
    LINES[line](*[tmp_path] * LINES[line].__code__.co_argcount)
