"""The block solver: the same bits however it is split, honest endings, and the hard cases."""

from itertools import pairwise

import numpy as np
import pytest

from adatron.certificates import certify
from adatron.gram import Square, View
from adatron.kernels import RBF, Linear, Polynomial, Precomputed, Sigmoid
from adatron.solvers.base import Watch, Way
from adatron.solvers.dense import Inner
from adatron.solvers.results import STOP, Status
from adatron.solvers.start import feasible
from adatron.solvers.tasks import State
from adatron.threads import Pool
from moments import at, calls
from problems import csvc, nusvc, nusvr, oneclass, samples, solve, svr, view_of
from twins import programs

BIASES = ["explicit", "augmented", "none"]


@pytest.mark.slow
@pytest.mark.plain
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("C", [0.5, 50.0])
def test_reaches_the_optimum(C, bias, dtype):
    """Float32 tiles reach 1e-6 too: the float64 certificate corrects what they cannot see."""
    X, y = samples(1, 250, 4)
    dual, K = csvc(y, np.full(250, C), bias), RBF(0.3)(X)
    solution = solve(view_of(X, RBF(0.3), dtype), dual, tol=1e-6, block=64)
    assert solution.status.name == "CONVERGED"
    assert programs.kkt(K, dual, solution.beta) <= 1e-6 * 1.001
    best = programs.objective(K, dual, programs.solve(K, dual, tol=1e-9))
    assert programs.objective(K, dual, solution.beta) <= best + 1e-6 * abs(best)


@pytest.mark.parametrize("make", [lambda y: csvc(y, np.full(900, 3.0)), lambda y: nusvc(y, np.ones(900), 0.3)])
def test_half_of_a_block_keeps_its_kernel_values(make):
    """A block asks for the values among its points; those that stand at the same places as before are there."""
    X, y = samples(0, 900, 5)
    with calls(Square.among, keep=lambda given, _: given["P"].ids) as blocks:
        assert solve(view_of(X, RBF(0.3), np.float32), make(y), block=128).status.good
    alike = [(one, other) for one, other in pairwise(blocks) if len(one) == len(other)]
    assert len(alike) > 10
    assert np.median([np.mean(one != other) for one, other in alike]) <= 0.6


@pytest.mark.parametrize("bias", BIASES)
def test_those_chosen_longest_ago_leave_a_block(bias):
    """Variables of a block are distinct; with an equality, each that stays keeps its place, and half of them do."""
    X, y = samples(0, 900, 5)
    with calls(Square.among, keep=lambda given, _: given["P"].ids) as blocks:
        assert solve(view_of(X, RBF(0.3), np.float32), csvc(y, np.full(900, 3.0), bias), block=128).status.good
    assert len(blocks) > 5
    before = np.zeros(128, bool)
    for one, other in pairwise(blocks):
        assert len(np.unique(other)) == len(other) <= 128
        assert np.isin(one, other).sum() >= 64
        if bias == "explicit":
            new = one != other
            assert not np.isin(other[new], one).any()
            assert not (before & new).any() or new.sum() + before.sum() > 128
            before = new


@pytest.mark.parametrize("way", [Way.DECOMPOSE, Way.SHRUNKEN])
def test_blocks_and_parts_are_solved_more_closely_where_the_violation_falls(way):
    """A block is told how closely; a part ends when its own violation is small enough."""
    rounds, tol = [], 1e-3

    class Looking(Watch):
        def look(self, n_iter, violation, *rest):
            if self.whole:
                rounds[-1]["part"] = violation
            else:
                rounds.append({"violation": violation})
            return super().look(n_iter, violation, *rest)

    def told(given):
        if "part" not in rounds[-1]:  # blocks of a part have their own violations
            rounds[-1]["block"] = given["tol"]

    X, y = samples(0, 900, 5)
    dual = csvc(y, np.full(900, 3.0))
    watch = Looking(dual, None, np.zeros(2, np.int64))
    with at(Inner.solve, told, number=None):
        assert solve(view_of(X, RBF(0.3), np.float32), dual, block=128, way=way, watch=watch, tol=tol).status.good
    rounds = [one for one in rounds if len(one) > 1]
    assert any("part" in one for one in rounds) == (way is Way.SHRUNKEN)
    closer = 0
    for before, one in pairwise([rounds[0], *rounds]):
        violation = one["violation"]
        ratio, loosest, least = violation / before["violation"], 0.1 * violation, 0.75 * tol
        if "part" in one:
            assert one["part"] <= max(min(loosest, ratio**4 * violation), least) * (1 + 1e-12)
            closer += one["part"] < loosest
        else:
            assert least <= one["block"] <= max(min(loosest, 0.3 * ratio**2 * violation), least) * (1 + 1e-12)
            closer += one["block"] < loosest
            if violation > before["violation"]:
                assert one["block"] == max(loosest, least)
    assert closer > 0


@pytest.mark.plain
@pytest.mark.parametrize("away", [50.0, 100.0])
def test_a_dead_end_of_float32_is_no_end(away):
    """Far from 0 neighbours seem to be the same in float32, so that a step from one to the other leads back."""
    X, y = samples(1, 250, 4)
    X, kernel, widened = X + away, Polynomial(1.0, 2, 0.0), []
    dual = csvc(y, np.full(250, 1e-3))
    with calls(certify) as proofs, at(View.widened, lambda _: widened.append(len(proofs)), number=None):
        solution = solve(view_of(X, kernel, np.float32), dual, tol=1e-4, block=64)
    assert widened == [0]  # before any proof
    assert solution.status.name == "CONVERGED"
    assert programs.kkt(kernel(X), dual, solution.beta) <= 1.001e-4


@pytest.mark.parametrize(("C", "once"), [(1.0, True), (1e4, False)])
def test_a_small_gap_is_proven_once_where_float32_can_tell(C, once):
    """Otherwise a proof comes first, which corrects the gradient."""
    X, y = samples(2, 1500, 4)
    view, dual = view_of(X, RBF(0.3), np.float32), csvc(y, np.full(1500, C))
    assert solve(view, dual).certificate.relative_gap > 3e-6
    with calls(certify) as found:
        assert solve(view, dual, gap_tol=3e-6).certificate.relative_gap <= 3e-6
    assert (len(found) == 1) is once


@pytest.fixture(scope="module")
def rising():
    """A fit whose first proven point has too large a gap, and whose violation rises on the way to a smaller one.

    Returns the view, the program, and where it rises: the number of looks and of updates so far.
    """
    X, y = samples(2, 400, 4)
    view, dual = view_of(X, RBF(0.3), np.float32), csvc(y, np.full(400, 1e5))
    looks, proven = [], []

    class Looking(Watch):
        def look(self, n_iter, violation, *rest):
            looks.append((n_iter, violation))
            return super().look(n_iter, violation, *rest)

    def proof(given):
        if given["return"].kkt_violation <= 1e-3:
            proven.append(len(looks))

    with at(certify, proof, number=None, end=True):
        found = solve(view, dual, block=64, gap_tol=1e-6, memory=0.0, watch=Looking(dual, None, np.zeros(2, np.int64)))
    assert found.status is Status.CONVERGED
    return X, view, dual, [(i, n) for i, (n, violation) in enumerate(looks) if i >= proven[0] and violation > 2e-3]


@pytest.mark.slow
@pytest.mark.parametrize("status", [Status.MAX_ITER, Status.STOPPED])
def test_a_fit_that_is_cut_short_keeps_the_best_point_with_a_proof(status, rising):
    X, view, dual, places = rising
    assert places

    class Stopping(Watch):
        def look(self, *given):
            self.flag[STOP] = status is Status.STOPPED and len(self.rows) == number
            return super().look(*given)

    number, n_iter = places[-1]
    watch = Stopping(dual, None, np.zeros(2, np.int64))
    limit = {"max_iter": n_iter} if status is Status.MAX_ITER else {}
    solution = solve(view, dual, block=64, gap_tol=1e-6, memory=0.0, watch=watch, **limit)
    assert solution.status is status
    assert watch.rows[-1][2] > 2e-3  # the violation there
    assert solution.certificate.kkt_violation <= 1e-3
    assert programs.kkt(RBF(0.3)(X), dual, solution.beta) <= 1.001e-3
    off = np.abs(solution.g - programs.gradient(RBF(0.3)(X), dual, solution.beta))
    assert (off <= view.error_bounds(np.abs(solution.beta)) + 1e-6).all()


def test_the_trace_rises():
    X, y = samples(5, 600, 4)
    solution = solve(view_of(X, RBF(0.3)), csvc(y, np.full(600, 10.0)), block=64)
    objective = solution.trace["dual_objective"]
    assert (np.diff(objective) >= -1e-9 * objective[-1]).all()
    assert solution.trace["n_iter"][-1] == solution.n_iter


def check_honest(solution, K, dual, tol=1e-3):
    """Converged only with a dense float64 proof; finite in any case."""
    assert np.isfinite(solution.beta).all()
    if solution.status.name == "CONVERGED":
        rounding = 1e-14 * np.abs(solution.beta).sum() * np.abs(K).max()
        assert programs.kkt(K, dual, solution.beta) <= tol * (1 + 1e-6) + rounding


@pytest.mark.parametrize("n", [2, 3, 60, 1500])
def test_equal_rows_with_opposite_labels(n):
    X = np.ones((n, 2))
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    dtype = np.float32 if n > 1000 else np.float64
    soft = solve(view_of(X, RBF(1.0), dtype), csvc(y, np.ones(n)))
    check_honest(soft, np.ones((n, n)), csvc(y, np.ones(n)))
    assert soft.status.name == "CONVERGED"
    assert np.isfinite(soft.certificate.relative_gap)
    hard = solve(view_of(X, RBF(1.0), dtype), csvc(y, np.full(n, np.inf)), max_iter=10**6)
    assert hard.status.name != "CONVERGED"


@pytest.mark.plain
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e-3, 1e3, 1e6, 1e12])
@pytest.mark.parametrize("kernel", [RBF(1.0), Linear()], ids=str)
def test_any_scale(kernel, scale, dtype):
    X, y = samples(6, 120, 3)
    X *= scale
    dual = csvc(y, np.ones(120))
    check_honest(solve(view_of(X, kernel, dtype), dual, max_iter=10**6), kernel(X), dual)


@pytest.mark.plain
@pytest.mark.parametrize("C", [1e-8, 1e-4, 1e4, 1e8])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("n", [2, 90])
def test_any_C(n, bias, C):
    X, y = samples(7, n, 3)
    dual, kernel = csvc(y, np.full(n, C), bias), RBF(0.5)
    solution = solve(view_of(X, kernel), dual, max_iter=10**6)
    check_honest(solution, kernel(X), dual)
    if n == 2:
        assert solution.status.name == "CONVERGED"


@pytest.mark.plain
@pytest.mark.parametrize("bias", BIASES)
def test_kernels_that_are_not_semidefinite(bias):
    X, y = samples(8, 80, 3)
    sigmoid = solve(view_of(X, Sigmoid(2.0, 1.0)), csvc(y, np.ones(80), bias), max_iter=10**5)
    assert sigmoid.status.name in ("NOT_CONVEX", "MAX_ITER")
    assert np.isnan(sigmoid.certificate.relative_gap)
    rng = np.random.default_rng(0)
    A = rng.normal(size=(80, 80))
    given = solve(view_of(A + A.T, Precomputed()), csvc(y, np.ones(80), bias), max_iter=10**5)
    assert given.status.name != "CONVERGED"
    fine = solve(view_of(A @ A.T, Precomputed()), csvc(y, np.ones(80), bias))
    assert fine.status.name == "CONVERGED"


@pytest.mark.plain
@pytest.mark.parametrize("kernel", [RBF(0.25), Linear()], ids=str)
def test_coefficients_that_cancel_are_not_taken_for_an_indefinite_kernel(kernel):
    """|w| = 0 up to rounding: a pair of opposite labels on every sample."""
    X, y = samples(9, 100, 3)
    view = view_of(np.concatenate([X, X]), kernel)
    solution = solve(view, csvc(np.concatenate([y, -y]), np.ones(200)))
    assert solution.status.name == "CONVERGED"
    assert solution.certificate.relative_gap < 1e-6


NU = {
    "nu classification": lambda X, y, w, bias: nusvc(y, w, 0.4, bias, 0.7),
    "nu regression": lambda X, y, w, bias: nusvr(np.sin(X[:, 0]) + 0.3 * y, 3.0 * w, 0.4, bias, 0.7),
    "one class": lambda X, y, w, bias: oneclass(w, 0.3),
}
COPIES = {"nu regression": 2}


def nu_problem(kind, bias="explicit", n=300, seed=0):
    """Samples, and a program with nu over them."""
    X, y = samples(seed, n, 4)
    return X, NU[kind](X, y, np.linspace(0.5, 1.5, n), bias)


@pytest.mark.parametrize("augment", [1.0, 30.0, 1000.0])
def test_one_block_with_a_large_constant_in_the_kernel(augment):
    """float32 does not hold a kernel value and a million: the certificate would not know what was lost."""
    X, y = samples(0, 1500, noise=2.0)
    kernel, dual = RBF(0.5), csvc(y, np.ones(len(y)), "augmented", augment)
    found = solve(view_of(X, kernel, np.float32), dual, block=len(y))
    assert found.status is Status.CONVERGED
    true = programs.kkt(kernel(X), dual, found.beta)
    assert true <= found.certificate.kkt_violation + 1e-6 <= 1e-3 + 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("slots", [0, 70])
@pytest.mark.parametrize("bias", ["explicit", "augmented"])
@pytest.mark.parametrize("kind", NU)
def test_segments_of_a_program_with_nu_give_the_same_bits(kind, bias, slots, dtype):
    """However the samples are split, and with any rows in store."""
    X, dual = nu_problem(kind, bias, 500)
    copies = COPIES.get(kind, 1)
    with Pool(3) as pool:
        view = view_of(X, RBF(0.2), dtype, [200, 120, 180], pool, copies, slots)
        one = solve(view, dual, block=96)
        fresh = solve(view_of(X, RBF(0.2), dtype, copies=copies), dual, block=96)
    assert len(one.trace["n_iter"]) > 5
    assert np.array_equal(one.beta, fresh.beta)
    assert one.n_iter == fresh.n_iter
    assert one.certificate == fresh.certificate


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("kind", NU)
def test_warm_starts_with_another_nu(kind, bias):
    """Started at the optimum nothing moves; started at that of other weights or of another nu it gets there."""
    X, dual = nu_problem(kind, bias)
    copies = COPIES.get(kind, 1)
    view, K = view_of(X, RBF(0.3), copies=copies), np.tile(RBF(0.3)(X), (copies, copies))
    cold = solve(view, dual, tol=1e-6, block=96)
    again = solve(view, dual, tol=1e-5, block=96, state=State(cold.beta))
    assert np.array_equal(again.beta, cold.beta)
    best = programs.objective(K, dual, cold.beta)
    for start in (0.5 * cold.beta, 2.0 * cold.beta, cold.beta + 1.0, -cold.beta, cold.beta[::-1]):
        warm = solve(view, dual, tol=1e-6, block=96, state=State(start))
        assert warm.status.name == "CONVERGED"
        np.testing.assert_allclose(programs.matrix(dual) @ warm.beta, dual.totals, atol=1e-9 * np.abs(warm.beta).sum())
        assert abs(programs.objective(K, dual, warm.beta) - best) <= 1e-5 * max(1.0, abs(best))


@pytest.mark.plain
def test_a_warm_start_grows_no_crumbs():
    """Variables at 0 stay there when the others are scaled to the sum that is asked for."""
    beta = np.zeros(50)
    beta[1::2] = np.random.default_rng(0).uniform(0.1, 0.7, 25)
    for part in np.linspace(0.01, 1.0, 40):
        put = feasible(oneclass(np.ones(50), part * beta.sum() / 50), beta)
        assert (put[::2] == 0).all()
        assert put.sum() == pytest.approx(part * beta.sum(), rel=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_one_block_goes_on_in_float64_where_float32_blurs_its_tolerance(seed):
    """The first refused proof is enough, if it comes to that; float32 values would need ten times as many updates."""
    X, y = samples(seed, 120)
    dual, widened = svr(X[:, 0] + y, np.full(120, 1e6), 0.01), []
    with calls(certify) as proofs, at(View.widened, lambda _: widened.append(len(proofs)), number=None):
        found = solve(view_of(X, RBF(0.5), np.float32), dual, tol=1e-5, whole=1000)
    assert found.status is Status.CONVERGED
    assert widened in ([0], [1])
    assert programs.kkt(RBF(0.5)(X), dual, found.beta) <= 1e-5 * (1 + 1e-3)
