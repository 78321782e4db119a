"""One table of solver x problem x kernel x bias x type: every solver ends at the same optimum, with the same proof.

Also tested here: ``ascent``, ``base``, ``start``, ``solvers/classic/active``, ``solvers/classic/decomposition``,
``solvers/classic/isda``, ``solvers/classic/kernel_adatron``, ``solvers/classic/secant``, ``solvers/classic/smo``,
``solvers/classic/svmseq`` and ``solvers/classic/sweeps``.
"""

from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from adatron import SVC, SVR
from adatron.kernels import RBF, Linear, Polynomial
from adatron.solvers import ISDA, SMO, Block, Decomposition, KernelAdatron, SVMseq, start
from adatron.solvers.ascent import Ascent
from adatron.solvers.base import Options, Solver, Watch
from adatron.solvers.results import Status
from adatron.solvers.table import SOLVERS
from adatron.solvers.tasks import State
from covering import covering, named
from problems import ball, csvc, nusvc, nusvr, oneclass, samples, solve, svr, view_of, with_targets
from twins import programs

ALL = {
    "block": Block(),
    "kernel_adatron": KernelAdatron(),
    "kernel_adatron, constant rate": KernelAdatron(rate=0.5),
    "svmseq": SVMseq(),
    "isda": ISDA(),
    "isda, no shrinking": ISDA(shrinking=False),
    "smo": SMO(),
    "smo, second order": SMO(second_order=True),
    "decomposition": Decomposition(),
    "decomposition, q = 2": Decomposition(q=2),
}
KERNELS = {"rbf": RBF(0.3), "poly": 0.01 * Polynomial(0.5, 2, 1.0), "linear + rbf": 0.1 * Linear() + 0.5 * RBF(1.0)}
BIASES = ("explicit", "augmented", "none")
KINDS = (
    "classification", "hard margin", "input margin", "hard input margin",
    "regression", "nu classification", "nu regression", "one class", "soft ball"
)  # fmt: skip


def program(kind, bias, n=70):
    n = {"nu regression": 30, "nu classification": 45}.get(kind, n)
    X, y = samples(7, n, 3, noise=0.0 if "hard" in kind else 0.7)
    target, w = np.sin(X[:, 0]) + 0.1 * X[:, 1], np.linspace(0.5, 1.5, n)
    duals = {
        "classification": lambda: csvc(y, np.full(n, 2.0), bias, 0.7),
        "hard margin": lambda: csvc(y, np.full(n, np.inf), bias, 0.7),
        "input margin": lambda: with_targets(csvc(y, np.full(n, 2.0), bias, 0.7), w),
        "hard input margin": lambda: with_targets(csvc(y, np.full(n, np.inf), bias, 0.7), w),
        "regression": lambda: svr(target, np.full(n, 5.0), 0.05, bias, 0.7),
        "nu classification": lambda: nusvc(y, w, 0.4, bias, 0.7),
        "nu regression": lambda: nusvr(target + 0.5 * y, w, 0.3, bias, 0.7),
        "one class": lambda: oneclass(w, 0.3),
        "soft ball": lambda: ball(0.5 + 0.1 * w, 0.1),
    }
    return X, duals[kind]()


@cache
def optimum(kind, bias, kernel):
    """Kernel matrix over the variables, and the least objective."""
    X, dual = program(kind, bias)
    copies = len(dual) // len(X)
    K = np.tile(KERNELS[kernel](X), (copies, copies))
    return K, programs.objective(K, dual, programs.solve(K, dual, tol=1e-8))


def accepted(solver, n):
    """A classifier's program with the first form of the bias that a solver accepts."""
    return next((X, dual) for X, dual in (program("classification", b, n) for b in BIASES) if solver.accepts(dual))


def table():
    """Every combination that is accepted. Hard margins need a kernel that separates; their kin has it, too."""
    for name, solver in ALL.items():
        for kind in KINDS:
            for bias in BIASES if kind not in ("one class", "soft ball") else ["explicit"]:
                if solver.accepts(program(kind, bias)[1]):
                    for kernel in KERNELS if "margin" not in kind else ["rbf"]:
                        for dtype in (np.float64, np.float32):
                            yield name, kind, bias, kernel, dtype


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "kind", "bias", "kernel", "dtype"), covering(list(table())), ids=named)
def test_every_solver_finds_the_optimum(solver, kind, bias, kernel, dtype):
    X, dual = program(kind, bias)
    copies = len(dual) // len(X)
    K, best = optimum(kind, bias, kernel)
    got = solve(
        view_of(X, KERNELS[kernel], dtype, copies=copies), dual, solver=ALL[solver], tol=1e-4, gap_tol=3e-7, memory=1e9
    )
    assert got.status.name == "CONVERGED"
    assert programs.kkt(K, dual, got.beta) <= 1.001e-4
    assert abs(programs.objective(K, dual, got.beta) - best) <= 1e-6 * max(1.0, abs(best))
    np.testing.assert_allclose(programs.matrix(dual) @ got.beta, dual.totals, atol=1e-9 * np.abs(got.beta).sum())


@pytest.mark.parametrize("name", ALL)
def test_a_start_at_the_optimum_stays_there(name):
    solver = ALL[name]
    X, dual = accepted(solver, 120)
    view = view_of(X, RBF(0.3))
    cold = solve(view, dual, solver=solver, tol=1e-5)
    warm = solve(view, dual, solver=solver, tol=1e-4, state=State(cold.beta))
    assert cold.n_iter > 5
    assert warm.n_iter <= max(2, 0.05 * cold.n_iter)
    assert warm.status.name == "CONVERGED"


@pytest.mark.plain
def test_a_warm_bias_keeps_its_sign():
    """Only a cold start goes from mu to -mu; a start near the solution must not leave it."""
    X, dual = program("classification", "explicit", 120)
    dual = csvc(np.where(X[:, 0] > 0.8, 1.0, -1.0), np.full(120, 2.0))
    view = view_of(X, RBF(0.3))
    rough = solve(view, dual, solver=KernelAdatron(), tol=1e-2)
    warm = solve(view, dual, solver=KernelAdatron(), tol=1e-6, state=State(rough.beta))
    bias = warm.trace["bias"]
    assert len(bias) > 5
    assert (np.sign(bias) == np.sign(bias[-1])).all()
    assert abs(bias[1] - bias[0]) <= 0.1 + 1e-12


@pytest.mark.parametrize("name", ALL)
def test_a_start_outside_the_box_is_put_right(name):
    solver = ALL[name]
    for bias in BIASES:
        X, dual = program("classification", bias)
        if solver.accepts(dual):
            got = solve(view_of(X, RBF(0.3)), dual, solver=solver, state=State(10.0 * dual.t + 1.0))
            assert got.status.name == "CONVERGED"


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_few_rows_in_memory(name):
    """Rows are thrown away and made again, and nothing else changes."""
    solver = ALL[name]
    X, dual = accepted(solver, 700)
    one, other = (solve(view_of(X, RBF(2.0), np.float32), dual, solver=solver, memory=m) for m in (1e5, 1e8))
    assert one.status.name == other.status.name == "CONVERGED"
    if not name.startswith("isda"):  # it shrinks by the rows at hand
        assert np.array_equal(one.beta, other.beta)


@pytest.mark.plain
@pytest.mark.parametrize("name", ALL)
def test_limits_are_kept(name):
    solver = ALL[name]
    X, dual = accepted(solver, 150)
    view = view_of(X, RBF(0.3))
    few = solve(view, dual, solver=solver, max_iter=2)
    assert (few.n_iter, few.status.name) == (2, "MAX_ITER")
    assert np.isfinite(few.certificate.gap)
    assert solve(view, dual, solver=solver, deadline=0.0).status.name == "MAX_TIME"
    assert solve(view, dual, solver=solver, flag=np.array([1, 0])).status.name == "STOPPED"


@pytest.mark.plain
@pytest.mark.parametrize("name", ALL)
def test_classes_that_cannot_be_separated(name):
    """A hard margin on equal points with opposite labels has no bound: every solver says so or stops at its limit."""
    solver = ALL[name]
    X = np.array([[0.0], [0.0], [1.0], [2.0]])
    for bias in BIASES:
        dual = csvc(np.array([1.0, -1.0, 1.0, -1.0]), np.full(4, np.inf), bias)
        if solver.accepts(dual):
            got = solve(view_of(X, RBF(1.0)), dual, solver=solver, max_iter=3000)
            assert got.status.name == "DIVERGED"
            assert got.certificate.primal == np.inf


RATES = st.floats(0.01, 0.999)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(4, 40), part=RATES, bias=st.sampled_from(["augmented", "none"]),
       regression=st.booleans(), sequential=st.booleans(), scale=st.floats(0.1, 30.0))  # fmt: skip
def test_legal_rates_never_lower_the_dual(seed, n, part, bias, regression, sequential, scale):
    X, y = samples(seed, n)
    kernel = scale * RBF(0.5)
    bound = np.full(n, 3.0)
    dual = svr(X[:, 0], bound, 0.1, bias) if regression else csvc(y, bound, bias)
    rate = part * 2.0 / (scale + dual.lambda2)
    solver = SVMseq(rate=rate) if sequential else KernelAdatron(rate=rate)
    got = solve(view_of(X, kernel), dual, solver=solver, max_iter=60)
    rises = np.diff(got.trace["dual_objective"])
    assert (rises >= -1e-12 * max(1.0, np.abs(got.trace["dual_objective"]).max())).all()
    K = kernel(X)
    assert got.certificate.gap >= programs.gap(K, dual, got.beta) * (1 - 1e-9)
    best = programs.objective(K, dual, programs.solve(K, dual, tol=1e-8))
    assert programs.objective(K, dual, got.beta) - best <= got.certificate.gap + 1e-9 * abs(best)


@pytest.mark.plain
def test_the_largest_rate_of_a_polynomial_kernel():
    """The bound is by the largest K(x, x) = (gamma |x|^2 + coef0)^degree, not by 1."""
    X, y = samples(0, 30)
    kernel = Polynomial(1.0, 3, 1.0)
    largest = ((X**2).sum(axis=1) + 1.0).max() ** 3
    dual = csvc(y, np.ones(30), "none")
    solve(view_of(X, kernel), dual, solver=KernelAdatron(rate=1.999 / largest), max_iter=3)
    with pytest.raises(ValueError, match="learning rate"):
        solve(view_of(X, kernel), dual, solver=KernelAdatron(rate=2.001 / largest))


@pytest.mark.plain
@pytest.mark.parametrize("name", ["auto", "kernel_adatron", "isda", "smo", "decomposition"])
def test_functions_and_kernel_values_of_one_s_own(name):
    """scikit-learn's functions refuse to look at no points, which a cold start has."""
    X, y = samples(2, 60)
    direct = SVC(gamma=0.5, solver=name).fit(X, y)
    called = SVC(kernel=partial(rbf_kernel, gamma=0.5), solver=name).fit(X, y)
    given = SVC(kernel="precomputed", solver=name).fit(rbf_kernel(X, gamma=0.5), y)
    for model in (called, given):
        assert model.dual_objective_ == pytest.approx(direct.dual_objective_, rel=1e-3)
        assert model.duality_gap_ < 1e-2


@pytest.mark.plain
@pytest.mark.parametrize("name", ["kernel_adatron", "svmseq", "isda", "smo", "decomposition", "block"])
def test_a_kernel_that_is_zero(name):
    """All samples alike: every coefficient goes to its bound, no rate is a division by zero."""
    X, y = np.zeros((6, 2)), np.array([0, 1, 0, 1, 0, 1])
    bias = "none" if name == "svmseq" else "explicit"
    model = SVC(kernel="linear", C=0.5, solver=name, bias=bias).fit(X, y)
    assert model.dual_objective_ == pytest.approx(3.0)
    assert model.fit_status_ == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kernel_adatron", "isda"])
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_targets_of_any_size(name, scale):
    """The bias is found to the last bit that there is, and then the search for it ends."""
    X, _ = samples(1, 80, 2)
    y = scale * (np.sin(2 * X[:, 0]) + 3.0)
    model = SVR(C=scale, epsilon=0.01 * scale, gamma=1.0, tol=1e-5 * scale, solver=name, max_time=60).fit(X, y)
    assert model.fit_status_ == 0
    assert model.kkt_violation_ <= 1e-5 * scale


@pytest.mark.plain
def test_any_solver_of_the_sub_problem():
    calls = []

    def inner(K, dual, beta, g, tol):
        calls.append(len(beta))
        centre = g + dual.t - K @ beta  # of the frozen variables
        whole = type(dual)(dual.t - centre, dual.lower, dual.upper, totals=(float(beta.sum()),))
        return programs.solve(K, whole, tol=1e-8)

    X, dual = program("classification", "explicit")
    got = solve(view_of(X, RBF(0.3)), dual, solver=Decomposition(q=8, inner=inner), tol=1e-4)
    assert got.status.name == "CONVERGED"
    assert max(calls) <= 8


@pytest.mark.plain
def test_a_few_epochs_of_a_hard_margin_prove_nothing():
    """An early end is told as such, not as classes that cannot be separated."""
    X, y = samples(3, 60, 2, noise=0.0)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        SVC(C=np.inf, gamma=2.0, solver="kernel_adatron", max_iter=2).fit(X, y)


def test_margin_and_bias_are_traced():
    X, y = samples(3, 60, 2, noise=0.0)
    model = SVC(C=np.inf, gamma=2.0, solver=KernelAdatron(margin=0.99)).fit(X, y)
    margins = model.trace_["margin"]
    assert margins[-1] >= 0.99 > margins[:-1].max()
    assert len(model.trace_["bias"]) == len(margins)
    assert model.fit_status_ == 0
    assert model.duality_gap_ > 0


@pytest.mark.plain
@pytest.mark.parametrize("stop", [{"largest_step": 1e-3}, {"gain": 1e-4}])
def test_the_stopping_rules_of_svmseq(stop):
    X, y = samples(3, 80)
    model = SVC(C=5.0, bias="augmented", solver=SVMseq(**stop), tol=1e-9).fit(X, y)
    ((name, threshold),) = stop.items()
    values = model.trace_[name]
    limit = threshold * (model.dual_objective_ if name == "gain" else 1.0)
    assert values[-1] <= limit * 1.01
    assert (values[:-1] > limit * 0.9).all()
    assert model.kkt_violation_ > 1e-9


@pytest.mark.plain
@pytest.mark.parametrize("name", ["auto", *(name for name, kind in SOLVERS.items() if not kind.ridged)])
def test_three_classes(name):
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    of_pair = csvc(np.array([1.0, -1.0]), np.ones(2))
    explicit = name == "auto" or SOLVERS[name]().accepts(of_pair)
    bias = "explicit" if explicit else "augmented"
    model = SVC(solver=name, bias=bias).fit(X, y)
    assert (model.duality_gap_ < 1e-2).all()
    assert model.score(X, y) > 0.95


@pytest.mark.plain
def test_a_start_off_the_equality_moves_its_free_variables_only():
    y = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    dual = csvc(y, np.array([1.0, 1.0, 1.0, 1.0, np.inf, 1.0]))
    moved = start.feasible(dual, np.array([1.0, 0.8, 0.4, -0.5, -0.9, 0.0]))
    assert abs(moved.sum()) < 1e-15
    np.testing.assert_array_equal(moved[[0, 5]], [1.0, 0.0])  # at a bound before and after
    assert ((moved > dual.lower) & (moved < dual.upper))[1:5].all()
    far = start.feasible(dual, np.array([1.0, 1.0, 1.0, 0.0, 0.0, -0.1]))  # too far for the free ones
    assert abs(far.sum()) < 1e-15
    assert ((far >= dual.lower) & (far <= dual.upper)).all()


class Unbounded(Ascent[Solver]):
    """Goes to the optimum without bounds, and says that it has converged."""

    def prepare(self):
        self.K = np.array([self.view.rows(np.array([i]))[0][: len(self.beta)] for i in range(len(self.beta))])

    def ascend(self, tol):
        self.beta[:] = np.linalg.solve(self.K + 1e-9 * np.eye(len(self.beta)), self.dual.t)
        self.g = self.K @ self.beta - self.dual.t
        self.n_iter += 1
        return Status.CONVERGED


@pytest.mark.plain
def test_a_point_outside_the_bounds_proves_nothing():
    X, y = samples(0, 60)
    view, dual = view_of(X, RBF(5.0), np.float64), csvc(y, np.ones(60), "none")
    solution = Unbounded(Solver, view, dual, Options(tol=1e-3), None, Watch(dual, None, np.zeros(2, np.int64))).solve()
    assert solution.certificate.relative_gap == np.inf
    assert not solution.status.good
