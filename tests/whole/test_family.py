"""The five estimators on random problems: their certificates against dense twins, their solutions against LIBSVM's.

Two points of a program with gaps e and e' have normals that differ by at most sqrt(2e) + sqrt(2e'), as D is strongly
convex in the normal. The multipliers of both must lie in the interval that the conditions of optimality leave. That
bounds how far decision values can be apart on any problem, however ill-conditioned; ``bound`` below. Where it is less
than 1e-4 the solution is called sharp. LIBSVM keeps kernel values in float32: whatever its tolerance, its points are
somewhat off, and their gaps and violations, from float64 kernel values, say by how much; b comes from float32, too.
"""

import warnings
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest
import sklearn.svm
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels

from adatron import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from twins import models, programs

FAMILY = [SVC, NuSVC, SVR, NuSVR, OneClassSVM]
PEERS = {one: getattr(sklearn.svm, one.__name__) for one in FAMILY}
TOL = 1e-7
REPEATED = np.repeat([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0], [1, 2, 11, 25, 11, 2])[:, None]
STEPS = 200_000  # of either side; who needs more is left out of the comparison, but not of the certificate


@dataclass
class Case:
    """A problem: samples, targets (None: one class), weights and parameters of both sides."""

    kind: type
    X: np.ndarray
    y: np.ndarray | None
    weight: np.ndarray
    parameters: dict
    kernel: dict
    class_weight: dict | None = None
    form: dict = field(default_factory=dict)
    storage: str = "dense"

    @property
    def K(self):
        rest = {k: v for k, v in self.kernel.items() if k != "kernel"}
        if self.kernel["kernel"] == "linear":
            rest = {}
        if self.kernel["kernel"] == "rbf":
            rest = {"gamma": rest["gamma"]}
        return pairwise_kernels(self.X, metric=self.kernel["kernel"], **rest)

    @property
    def weights(self):
        """Those of the classes included."""
        if self.class_weight is None:
            return self.weight
        return self.weight * np.array([self.class_weight[label] for label in self.y])

    @property
    def samples(self):
        """What ours gets."""
        return {"dense": self.X, "csr": sparse.csr_matrix(self.X), "given": self.K}[self.storage]

    def fit(self, kind, X, rows, weight, **parameters):
        model = kind(**{"tol": TOL, **self.kernel, **self.parameters, **parameters})
        target = () if self.y is None else (self.y[rows],)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return model.fit(X[rows], *target, sample_weight=weight[rows])

    def ours(self, **parameters):
        own = {"max_iter": STEPS, "max_time": 30.0, **self.form, **parameters}
        if self.class_weight is not None:
            own["class_weight"] = self.class_weight
        if self.storage == "given":
            own["kernel"] = "precomputed"
        return self.fit(self.kind, self.samples, slice(None), self.weight, **own)

    def theirs(self):
        """LIBSVM ignores the class weights of nu-SVC, so they come as weights of the samples; those of 0 stay out."""
        rows = np.flatnonzero(self.weights > 0).astype(np.int32)
        kernel = partial(pairwise_kernels, metric="laplacian", gamma=0.2)
        other = {"kernel": kernel} if self.kernel["kernel"] == "laplacian" else {}
        model = self.fit(PEERS[self.kind], self.X, rows, self.weights, max_iter=STEPS, tol=1e-6, **other)
        model.support_ = rows[model.support_]
        return model


WHAT = st.sampled_from(FAMILY)
PARTS = st.one_of(st.floats(0.01, 1.0), st.sampled_from([1e-3, 0.5, 1.0]))
PENALTIES = st.floats(-4, 5).map(lambda e: 10.0**e)


@st.composite
def cases(draw, kinds=WHAT, most=60):
    kind = draw(kinds)
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, d = draw(st.integers(2, most)), draw(st.integers(1, 4))
    X = rng.normal(size=(n, d))
    if draw(st.booleans()):
        X = X.round(draw(st.integers(0, 1)))  # equal rows, often with other targets; zeros
    storage = draw(st.sampled_from(["dense", "csr", "given"]))
    weight = np.ones(n)
    if draw(st.booleans()):
        weight = draw(st.sampled_from([rng.uniform(0.1, 3.0, n), rng.integers(0, 4, n).astype(float)]))
        weight[rng.integers(n)] = 1.0
    name = draw(st.sampled_from(["rbf", "linear", "poly"]))
    kernel = {"kernel": name, "gamma": draw(st.sampled_from([0.05, 0.5, 3.0]))}
    if name == "poly":
        kernel |= {"degree": draw(st.integers(1, 3)), "coef0": draw(st.sampled_from([0.0, 1.0]))}
    parameters = {}
    if kind in (NuSVC, NuSVR, OneClassSVM):
        parameters["nu"] = draw(PARTS)
    if kind in (SVC, SVR, NuSVR):
        parameters["C"] = draw(PENALTIES)
    if kind is SVR:
        parameters["epsilon"] = draw(st.sampled_from([0.0, 0.01, 0.2, 3.0]))
    case = Case(kind, X, None, weight, parameters, kernel, storage=storage)
    if kind in (SVC, NuSVC):
        _classes(case, rng, draw(st.integers(2, 4)), draw(st.booleans()), draw(st.booleans()))
    elif kind is not OneClassSVM:
        case.y = np.sin(2 * X[:, 0]) + rng.normal(size=n) * draw(st.sampled_from([0.0, 0.1, 1.0]))
    if kind is not OneClassSVM and draw(st.booleans()):
        case.form = {"bias": draw(st.sampled_from(["augmented", "none"])), "augment": 1.5}
    return case


def _classes(case, rng, classes, weighted, end):
    """Labels, every class with a weight; with ``end`` nu is the largest that is feasible."""
    n = len(case.X)
    classes = min(classes, n)
    y = np.concatenate([np.arange(classes), rng.integers(classes, size=n - classes)])
    if rng.random() < 0.7:  # classes that can be told apart
        y[classes:] = np.clip((case.X[classes:, 0] + 1.0) * classes / 2.0, 0, classes - 1).astype(int)
    case.y = np.array(["a", "b", "c", "d"])[y]
    case.weight[:classes] = np.maximum(case.weight[:classes], 1.0)
    if weighted:
        case.class_weight = {label: 1.0 + 0.5 * i for i, label in enumerate("abcd"[:classes])}
    if case.kind is NuSVC:
        size = np.bincount(y, weights=case.weights)
        pairs = [(size[i], size[j]) for i in range(classes) for j in range(i)]
        most = min(2.0 * min(pair) / sum(pair) for pair in pairs)
        case.parameters["nu"] = min(1.0, most) if end else max(1e-3, most * case.parameters["nu"])


def fitted(case):
    """Ours, or None where the coefficients of nu-SVC would be infinite and that is said."""
    try:
        return case.ours()
    except ValueError as error:
        said = str(error).startswith(("The dual coefficients or intercepts are not finite", "specified nu"))
        if case.kind is not NuSVC or not said:
            raise
        return None


def beside():
    """The third class is far smaller than the others, whose kernel values its pairs' bounds must allow for."""
    X = np.array([[2.04091912, -2.55566503], [0.41809885, -0.56776961], [-0.45264929, -0.21559716]])
    kernel = {"kernel": "poly", "gamma": 3.0, "degree": 2, "coef0": 0.0}
    return Case(SVC, X, np.array(["a", "b", "c"]), np.ones(3), {"C": 1.0}, kernel)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(cases())
@example(beside())
def test_the_certificate_is_what_the_definitions_say(case):
    model = fitted(case)
    if model is None:
        event("no margin")
        return
    event(f"{case.kind.__name__} {'converged' if model.fit_status_ == 0 else 'not converged'}")
    found = models.points(model, case.K, case.y, case.weights)
    proofs = [np.atleast_1d(getattr(model, name)) for name in ("dual_objective_", "duality_gap_", "kkt_violation_")]
    unit = unit_of(case)
    for point, value, gap, violation in zip(found, *proofs, strict=True):
        size = np.abs(point.beta).sum()
        rounding = point.noise * max(1.0, size)
        np.testing.assert_allclose(programs.matrix(point.dual) @ point.beta, point.dual.totals, atol=1e-9 * size)
        reach = (point.dual.upper - point.dual.lower).sum()
        # The certificate allows for rounding by the largest kernel value of all samples, not of these classes alone.
        cautious = 1e-13 * size * np.abs(case.K).max() * reach
        assert abs(point.objective - value) <= rounding + cautious
        if case.kind is NuSVR and model.epsilon_ <= 2 * model.kkt_violation_ + point.noise:
            continue  # pairs that cancel each other may be anywhere
        if case.kind is NuSVC and point.scale <= 1e3 * point.noise:
            continue  # rho is rounding, and so is what its coefficients tell of bounds
        assert point.violation <= unit * violation + point.noise
        slack = point.noise * reach + rounding
        if np.isinf(gap):  # the proven bounds of the optimum have not one sign
            assert min(abs(value), abs(value + point.gap)) <= 1.03 * point.gap + slack + cautious
            continue
        assert gap * abs(value) <= 1.03 * point.gap * (1.0 + gap) + (slack + cautious) * (1.0 + gap)
        assert point.gap <= gap * max(abs(value), abs(value + point.gap)) * (1 + 1e-9) + slack
    if model.fit_status_ == 0:
        assert np.max(model.kkt_violation_) <= TOL


def unit_of(case):
    """What weights that are all that bounds the coefficients are divided by, about the mean of distinct samples."""
    if case.kind not in (NuSVC, OneClassSVM):
        return 1.0
    used, labels = case.weights > 0, np.zeros(len(case.X)) if case.y is None else case.y
    codes = np.unique(labels, return_inverse=True)[1]
    distinct = np.unique(np.column_stack([case.X, codes])[used], axis=0)
    count = used.sum() if case.storage == "given" else len(distinct)
    return 2.0 ** np.round(np.log2(case.weights[used].sum() / count))


def bounds(mine, other):
    """How far decision values (b aside) at the training samples and b can be apart, times the scale."""
    apart = np.sqrt(2 * max(mine.gap, 0.0)) + np.sqrt(2 * max(other.gap, 0.0)) + mine.noise
    values = np.sqrt(np.diag(mine.K).max()) * apart
    width = np.mean(mine.intervals(), axis=0)
    single = 2.0**-23 * np.abs(other.beta).sum() * np.abs(other.K).max()
    more = values + mine.violation + other.violation + single
    return values, width[0] - more, width[1] + more


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(cases())
def test_the_solution_is_that_of_libsvm(case):
    if case.kind is OneClassSVM and case.parameters["nu"] == 1.0:
        return  # where rounding leaves a rest of the sum, LIBSVM writes beyond its arrays
    case.form = {}
    try:
        theirs = case.theirs()
    except ValueError as error:
        if "not finite" not in str(error) and "specified nu" not in str(error):  # by rounding, at the largest nu
            raise
        model = fitted(case)
        assert model is None or np.isfinite(model.decision_function(case.samples)).all()
        return
    model = fitted(case)
    if model is None or model.fit_status_ or np.max(theirs.n_iter_) >= STEPS:
        event("left out")
        return
    X, K = case.samples, case.K
    if hasattr(model, "classes_"):
        model.decision_function_shape = theirs.decision_function_shape = "ovo"
        a, b = (v.reshape(len(K), -1) for v in (model.decision_function(X), theirs.decision_function(case.X)))
    elif case.y is None:
        a, b = (v.reshape(-1, 1) for v in (model.decision_function(X), theirs.decision_function(case.X)))
    else:
        a, b = model.predict(X)[:, None], theirs.predict(case.X)[:, None]
    sure = np.ones(len(K), bool)
    pairs = (models.points(m, K, case.y, case.weights) for m in (model, theirs))
    for problem, (mine, other) in enumerate(zip(*pairs, strict=True)):
        assert other.objective <= mine.objective + mine.gap + mine.noise * np.abs(mine.beta).sum()
        assert mine.objective <= other.objective + other.gap + other.noise * np.abs(other.beta).sum()
        values, low, high = bounds(mine, other)
        assert low <= other.b <= high
        bound = values + (high - low)
        event(f"{case.kind.__name__} {'sharp' if bound <= 1e-4 else 'not sharp'}")
        size = mine.scale * a[:, problem]
        assert np.abs(size - other.scale * b[:, problem]).max() <= bound
        sure &= (np.abs(size) > bound) & (other.scale > 0)
    if case.y is None or hasattr(model, "classes_"):
        np.testing.assert_array_equal(model.predict(X)[sure], theirs.predict(case.X)[sure])


@settings(max_examples=150, deadline=None)
@given(cases(st.sampled_from([NuSVC, NuSVR, OneClassSVM])))
@example(Case(OneClassSVM, REPEATED, None, np.ones(52), {"nu": 0.0625}, {"kernel": "rbf", "gamma": 0.5}))
def test_what_nu_means(case):
    """Weight of the errors <= nu <= weight of the support vectors, up to the tolerance; if the tube has a width."""
    model = fitted(case)
    if model is None or model.fit_status_:
        return
    if case.kind is NuSVR and model.epsilon_ <= 2 * TOL:
        assert model.epsilon_ >= -2 * TOL
        return
    for point in models.points(model, case.K, case.y, case.weights):
        weight = case.weights[point.rows]
        copies = len(point.dual) // len(weight)
        push = point.intervals()
        mu = np.where(np.isinf(push), push[:, ::-1], push).mean(axis=1)  # a bound where there is but one
        h = programs.gradient(point.K, point.dual, point.beta) + point.dual.push(mu)
        # A variable that would gain by leaving 0, or by going beyond its bound, belongs to an error.
        slack = np.where(point.dual.upper > 0, -h, h).reshape(copies, -1).max(axis=0)
        errors = weight[slack > 2 * unit_of(case) * TOL + point.noise].sum()
        support = weight[(point.beta != 0).reshape(copies, -1).any(axis=0)].sum()
        nu = model.nu * weight.sum()
        assert errors <= nu * (1 + 1e-9)
        assert support >= nu * (1 - 1e-9)


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


BENIGN = [
    (SVC, {"C": 5.0}),
    (NuSVC, {"nu": 0.3}),
    (SVR, {"C": 3.0, "epsilon": 0.1}),
    (NuSVR, {"C": 3.0, "nu": 0.4}),
    (OneClassSVM, {"nu": 0.2}),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["rbf", "linear", "poly", "laplacian"])
@pytest.mark.parametrize(("kind", "parameters"), BENIGN)
def test_the_same_numbers_as_scikit_learn(kind, parameters, name, weighted):
    """Well-conditioned problems: the objective to 1e-6, decision values to 1e-4 in units of the targets."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 4)) + (3.0 if kind is OneClassSVM else 0.0)  # around 0 no half-space holds them
    weight = rng.uniform(0.3, 2.0, 150) if weighted else np.ones(150)
    kernel = {"kernel": name, "gamma": 0.2} | ({"coef0": 1.0, "degree": 2} if name == "poly" else {})
    value = X[:, 0] + 0.3 * rng.normal(size=150)
    labels = np.digitize(value, [-0.4, 0.4])
    y = {SVC: labels, NuSVC: labels, OneClassSVM: None}.get(kind, np.sin(value))
    case = Case(kind, X, y, weight, parameters, kernel)
    model, theirs = case.ours(max_iter=-1), case.theirs()
    assert model.fit_status_ == 0
    assert np.max(theirs.n_iter_) < STEPS
    for mine, other in zip(*(models.points(m, case.K, y, weight) for m in (model, theirs)), strict=True):
        assert mine.objective == pytest.approx(other.objective, rel=1e-6)
        assert mine.b == pytest.approx(other.b, abs=1e-5)
    if kind in (SVC, NuSVC):
        model.decision_function_shape = theirs.decision_function_shape = "ovo"
    name = "predict" if kind in (SVR, NuSVR) else "decision_function"
    np.testing.assert_allclose(getattr(model, name)(X), getattr(theirs, name)(X), atol=1e-4)


THREE = np.array([[1.384, 0.252, -2.151, 0.885], [-0.839, -0.684, 0.511, -0.142], [-0.101, 2.127, -0.532, -0.175]])


@settings(max_examples=40, deadline=None)
@given(cases(most=30), st.sampled_from([0.01, 0.3, 2.0]), st.sampled_from([-1.0, 0.0, 0.5]))
@example(Case(OneClassSVM, THREE, None, np.array([3.0, 3.0, 1.0]), {"nu": 0.5}, {}), 0.01, 0.0)
def test_a_kernel_that_may_be_indefinite_is_never_said_to_be_proven(case, gamma, coef0):
    """The gap is nan or true, and a fit that says it converged meets the conditions."""
    case.kernel = {"kernel": "sigmoid", "gamma": gamma, "coef0": coef0}
    case.form = {}
    try:
        model = case.ours(max_iter=2000)
    except ValueError as error:
        if "not finite" not in str(error) and "specified nu" not in str(error):
            raise
        return
    found = models.points(model, case.K, case.y, case.weights)
    for point, gap, violation in zip(found, np.atleast_1d(model.duality_gap_), np.atleast_1d(model.kkt_violation_),
                                     strict=True):  # fmt: skip
        if model.fit_status_ == 0:
            assert not np.isnan(gap)
            assert violation <= TOL
        if not np.isnan(gap) and not (case.kind is NuSVR and model.epsilon_ <= 2 * violation + point.noise):
            assert point.violation <= unit_of(case) * violation + point.noise
