"""Options of the classical solvers: the order of visits, rates, choices; each ends at the certified optimum."""

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import make_moons

from adatron import SVC
from adatron.fitting.samples import canonical
from adatron.kernels import RBF
from adatron.solvers import ISDA, SMO, Decomposition, KernelAdatron, SVMseq
from machines import spread

X, y = make_moons(60, noise=0.25, random_state=0)
SIGN = np.where(y == 1, 1.0, -1.0)
EXPLICIT = [KernelAdatron(nu=0.02), Decomposition(q=8, selection="random"), Decomposition(q=8, selection="heuristic")]
SINGLES = [
    KernelAdatron(order="given"),
    KernelAdatron(order=3),
    KernelAdatron(omega=1.6),
    KernelAdatron(omega=0.4),
    SVMseq(order="given"),
    ISDA(omega=1.5),
]


def fitted(solver, bias, **more):
    return SVC(C=2.0, gamma=1.0, bias=bias, solver=solver, **more).fit(X, y)


@pytest.mark.parametrize(
    ("solver", "bias"), [*((one, "explicit") for one in EXPLICIT), *product(SINGLES, ("augmented", "none"))], ids=str
)
def test_each_variant_ends_at_the_optimum(solver, bias):
    best, found = fitted("auto", bias, tol=1e-8), fitted(solver, bias, tol=1e-5)
    assert found.certificate_.converged
    assert found.dual_objective_ == pytest.approx(best.dual_objective_, rel=1e-6)


def visited(order, epochs, rate):
    """Return beta after some epochs of visits in this order, as the papers print it."""
    K, beta = RBF(1.0)(X), np.zeros(len(X))
    for _ in range(epochs):
        for i in order:
            beta[i] += rate * (SIGN[i] - K[i] @ beta)
            beta[i] = np.clip(beta[i], min(0.0, 2.0 * SIGN[i]), max(0.0, 2.0 * SIGN[i]))
    return beta


BY_CONTENT = canonical(X, y, 2, np.ones(60), mergeable=True).rows  # the order of the library


@pytest.mark.parametrize(
    ("order", "rows"),
    [("content", BY_CONTENT), ("given", np.arange(60)), (7, BY_CONTENT[np.random.default_rng(7).permutation(60)])],
    ids=["content", "given", "seed"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_iterates_are_those_of_the_printed_algorithm(order, rows):
    for solver, rate in ((KernelAdatron(order=order), 1.0), (SVMseq(rate=1.5, order=order), 1.5)):
        found = spread(fitted(solver, "none", max_iter=3, gap_tol=None), len(X))[0]
        assert found == pytest.approx(visited(rows, 3, rate), abs=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_one_pass_of_smo_and_one_epoch_of_kernel_adatron_are_gauss_seidel():
    expected = visited(BY_CONTENT, 1, 1.0)
    moved = int(np.count_nonzero(expected))
    found = [
        fitted(KernelAdatron(), "none", max_iter=1, gap_tol=None),
        fitted(SVMseq(rate=1.0), "none", max_iter=1, gap_tol=None),
        fitted(SMO(), "none", max_iter=moved, gap_tol=None, tol=1e-9),
    ]
    for model in found:
        assert spread(model, len(X))[0] == pytest.approx(expected, abs=1e-12)


def stepped(order_of, steps, omega=1.0):
    """Return beta after steps of Gauss and Seidel, or over-relaxed ones, at the places that a function chooses."""
    K, beta = RBF(1.0)(X), np.zeros(len(X))
    low, high = np.minimum(0.0, 2.0 * SIGN), np.maximum(0.0, 2.0 * SIGN)
    for k in range(steps):
        pull = SIGN - K @ beta
        i = order_of(k, np.where(((pull > 0) & (beta < high)) | ((pull < 0) & (beta > low)), abs(pull), 0.0))
        beta[i] = np.clip(beta[i] + omega * pull[i], low[i], high[i])
    return beta


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("omega", [1.0, 1.5])
def test_isda_takes_the_same_steps_by_size(omega):
    for steps in (1, 10, 60):
        found = fitted(ISDA(shrinking=False, omega=omega), "none", max_iter=steps, gap_tol=None, tol=1e-9)
        expected = stepped(lambda _, pull: int(np.argmax(pull)), steps, omega)
        assert spread(found, len(X))[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_over_relaxed_epochs_are_those_of_successive_over_relaxation():
    found = fitted(KernelAdatron(omega=1.5), "none", max_iter=4, gap_tol=None)
    expected = stepped(lambda k, _: BY_CONTENT[k % len(X)], 4 * len(X), 1.5)
    assert spread(found, len(X))[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_with_an_explicit_bias_they_are_different_algorithms():
    solvers = KernelAdatron(), ISDA(shrinking=False), SMO()
    first, second, third = (spread(fitted(one, "explicit", max_iter=3, gap_tol=None), len(X))[0] for one in solvers)
    assert abs(first - second).max() > 0.1
    assert abs(first - third).max() > 0.1
    assert abs(second - third).max() > 0.1


@pytest.mark.parametrize("solver", ["block", "smo", "decomposition", "isda", "kernel_adatron"])
def test_a_constant_in_the_kernel_changes_nothing_with_an_explicit_bias(solver):
    """Huang and Kecman, (1): K + a is a kernel of the same machine; without an explicit bias it is another one."""
    K = RBF(1.0)(X)
    how = {"C": 2.0, "kernel": "precomputed", "solver": solver, "tol": 1e-7}
    for a in (0.5, 3.0, -0.001):
        one, other = (SVC(**how).fit(values, y) for values in (K, K + a))
        assert other.dual_objective_ == pytest.approx(one.dual_objective_, rel=1e-6)
        np.testing.assert_allclose(other.decision_function(K + a), one.decision_function(K), atol=1e-4)
    bare, raised = (SVC(bias="none", **how | {"solver": "block"}).fit(values, y) for values in (K, K + 3.0))
    assert raised.dual_objective_ != pytest.approx(bare.dual_objective_, rel=1e-4)
