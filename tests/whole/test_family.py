"""The five estimators on random problems: certificates in long double, the textbook's problems, scikit-learn's numbers.

A certificate tells of coefficients alone. What a model predicts with is put into the primal problem as the textbooks
print it: with the model's own decision values, bias and width of the tube, it comes to the value of the dual.
"""

import warnings

import numpy as np
import pytest
import sklearn.svm
from benchmarks.attack_verdict import judged
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from adatron import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from adatron.kernels import RBF, Linear, Polynomial
from twins.fitted import true_claims, truths
from twins.values import values

FAMILY = [
    (SVC, {"C": 5.0}),
    (NuSVC, {"nu": 0.3}),
    (SVR, {"C": 3.0, "epsilon": 0.1}),
    (NuSVR, {"C": 3.0, "nu": 0.4}),
    (OneClassSVM, {"nu": 0.2}),
]
SPECS = {"rbf": ("rbf", 0.2), "linear": ("linear",), "poly": ("poly", 0.2, 2, 1.0), "laplacian": ("laplacian", 0.2)}
TOL = 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 160, 20))
def test_the_certificate_is_what_the_definitions_say(start):
    """Of kernels that may be indefinite, too: their gap is nan or true."""
    for number in range(start, start + 20):
        one = judged(11, number)
        assert one.false == one.broken == [], one


def test_a_class_beside_much_larger_ones_has_a_true_certificate():
    """The kernel values of the others, for which its pairs' bounds must allow, are far larger than its own."""
    X = np.array([[2.04091912, -2.55566503], [0.41809885, -0.56776961], [-0.45264929, -0.21559716]])
    model = SVC(kernel="poly", gamma=3.0, degree=2, tol=TOL).fit(X, [0, 1, 2])
    found = true_claims(model, ("poly", 3.0, 2, 0.0), X, [0, 1, 2])
    assert max(one.violation.value for one in found) <= np.max(model.kkt_violation_) <= TOL


def primal(model, K, y, weight):
    """The textbook's primal problem at what the model predicts with, and the loss of each sample beyond its margin."""
    beta = np.zeros(len(K))
    beta[model.support_] = model.dual_coef_[0]
    squared, f = 0.5 * beta @ K @ beta, np.ravel(getattr(model, "decision_function", model.predict)(model.seen))
    if isinstance(model, SVR):
        loss = np.maximum(0.0, np.abs(y - f) - model.epsilon)
        return squared + model.C * weight @ loss, loss
    if isinstance(model, NuSVR):
        loss = np.maximum(0.0, np.abs(y - f) - model.epsilon_)
        return squared + model.C * (model.nu * weight.sum() * model.epsilon_ + weight @ loss), loss
    if isinstance(model, OneClassSVM):
        loss = np.maximum(0.0, -f)
        return squared - model.nu * weight.sum() * model.offset_[0] + weight @ loss, loss
    loss = np.maximum(0.0, 1.0 - np.where(y == model.classes_[1], f, -f))
    if isinstance(model, SVC):
        return squared + model.C * weight @ loss, loss
    rho = model.nu * weight.sum() / np.abs(beta).sum()  # what the coefficients were divided by
    return rho**2 * squared + rho * (weight @ loss - model.nu * weight.sum()), loss


@pytest.mark.parametrize("kind", [kind for kind, _ in FAMILY], ids=lambda kind: kind.__name__)
@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 2**31), n=st.integers(4, 60), coarse=st.booleans(), nu=st.floats(0.01, 1.0),
    kernel=st.sampled_from([RBF(0.5), Linear(), Polynomial(0.5, 2, 1)]), C=st.sampled_from([1e-3, 0.3, 1.0, 1e3]),
)  # fmt: skip
def test_what_a_model_predicts_with_solves_the_problem_of_the_textbook(kind, seed, n, kernel, coarse, C, nu):
    """And weight of the errors <= nu <= weight of the support vectors."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    X = X.round() if coarse else X  # equal rows, often with other targets
    weight = rng.integers(1, 4, n).astype(float)
    y = np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=n)
    if kind in (SVC, NuSVC):
        y = rng.permutation(np.arange(n) % 2)
        nu *= 2.0 * min(weight[y == 0].sum(), weight[y == 1].sum()) / weight.sum()
    known = kind().get_params()
    model = kind(**{key: value for key, value in (("C", C), ("nu", nu)) if key in known}, kernel=kernel, tol=TOL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.set_params(gap_tol=1e-7, max_time=20.0).fit(X, y, weight)
    if model.fit_status_:
        return
    model.seen = X
    value, loss = primal(model, kernel(X), y, weight)
    size = max(abs(value), abs(model.dual_objective_), 1e-6 * C * weight.sum())
    assert -1e-6 * size <= value - model.dual_objective_ <= 1e-4 * size
    if "nu" in known and not getattr(model, "epsilon_", 1.0) < 1e-5:
        assert weight[loss > 1e-4].sum() <= nu * weight.sum() * (1 + 1e-9)
        assert weight[model.support_].sum() >= nu * weight.sum() * (1 - 1e-9)


def test_equal_samples_at_their_bounds_keep_what_nu_means():
    X = np.repeat([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0], [1, 2, 11, 25, 11, 2])[:, None]
    model = OneClassSVM(nu=0.0625, gamma=0.5, tol=TOL).fit(X)
    assert (model.decision_function(X) < -1e-6).mean() <= 0.0625 <= len(model.support_) / len(X)


def test_three_samples_of_a_sigmoid_have_a_true_certificate():
    X = np.array([[1.384, 0.252, -2.151, 0.885], [-0.839, -0.684, 0.511, -0.142], [-0.101, 2.127, -0.532, -0.175]])
    weight = np.array([3.0, 3.0, 1.0])
    model = OneClassSVM(nu=0.5, kernel="sigmoid", gamma=0.01, coef0=0.0, tol=TOL).fit(X, sample_weight=weight)
    (true,) = true_claims(model, ("sigmoid", 0.01, 0.0), X, None, weight)
    assert model.fit_status_ == 0
    assert true.violation.least <= model.kkt_violation_ <= TOL


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=2, max_size=4), st.sampled_from(["below", "at", "above", "any"]),
       st.floats(0.01, 1.0), st.booleans())  # fmt: skip
def test_infeasible_nu_is_refused_as_by_scikit_learn(sizes, where, nu, weighted):
    """Sizes of the classes, as samples or as weights, and nu at the end of what is feasible or beside it."""
    pairs = [(a, b) for i, a in enumerate(sizes) for b in sizes[:i] if a + b]
    if where != "any" and pairs:
        nu = min(2 * min(pair) / sum(pair) for pair in pairs)
        nu = {"at": nu, "below": np.nextafter(nu, 0), "above": np.nextafter(nu, 1)}[where]
    if not 1e-6 < nu <= 1:  # below, rounding makes a class without weight feasible, which LIBSVM may not survive
        return
    if weighted:
        y, weight = np.repeat(np.arange(len(sizes)), 2), np.repeat(np.array(sizes) / 2.0, 2)
    else:
        y, weight = np.repeat(np.arange(len(sizes)), sizes), None
    if len(np.unique(y)) < 2 or (weighted and not all(sizes)):
        return  # a class without weight is as good as absent for us; LIBSVM refuses it, or makes a model of one class
    X = np.random.default_rng(len(y)).normal(size=(len(y), 2))

    def refusal(kind):
        try:
            kind(nu=nu, gamma=1.0).fit(X, y, weight)
        except ValueError as error:
            return str(error).startswith("specified nu is infeasible")
        return False

    assert refusal(NuSVC) == refusal(sklearn.svm.NuSVC)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize(("kind", "parameters"), FAMILY)
def test_the_same_numbers_as_scikit_learn(kind, parameters, name, weighted):
    """Well-conditioned problems: the objective to 1e-6, decision values to 1e-4 in units of the targets."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 4)) + (3.0 if kind is OneClassSVM else 0.0)  # around 0 no half-space holds them
    weight = rng.uniform(0.3, 2.0, 150) if weighted else np.ones(150)
    kernel = {"rbf": RBF(0.2), "poly": Polynomial(0.2, 2, 1.0)}.get(name, name)
    value = X[:, 0] + 0.3 * rng.normal(size=150)
    labels = np.digitize(value, [-0.4, 0.4])
    y = {SVC: labels, NuSVC: labels, OneClassSVM: None}.get(kind, np.sin(value))
    exact = values(SPECS[name], X)[0].astype(float)
    model = kind(kernel=kernel, gamma=0.2, tol=TOL, **parameters).fit(X, y, weight)
    theirs = getattr(sklearn.svm, kind.__name__)(kernel="precomputed", tol=1e-6, **parameters).fit(exact, y, weight)
    assert model.fit_status_ == 0
    found = [truths(one, SPECS[name], X, y, weight) for one in (model, theirs)]
    for mine, other in zip(*found, strict=True):
        assert mine.dual == pytest.approx(other.dual, rel=1e-6)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=1e-4)
    if kind in (SVC, NuSVC):
        model.decision_function_shape = theirs.decision_function_shape = "ovo"
    method = "predict" if kind in (SVR, NuSVR) else "decision_function"
    np.testing.assert_allclose(getattr(model, method)(X), getattr(theirs, method)(exact), atol=1e-4)
