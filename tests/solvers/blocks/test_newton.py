"""The second-order finish: its steps against the program, and what happens without it."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from adatron import SVC, SVR
from adatron.gram import View
from adatron.kernels import RBF, Laplacian, Linear, Polynomial
from adatron.problems import Dual
from adatron.solvers import start
from adatron.solvers.blocks.newton import Newton
from moments import at, calls
from problems import csvc, nusvc, nusvr, oneclass, samples, solve, view_of
from twins import programs

BIASES = ["explicit", "augmented", "none"]
SMALL = 3e6  # bytes of a factor: conjugate gradients


def hard(seed=0, n=900, C=1e4, bias="explicit"):
    """A problem of which block ascent alone makes heavy weather."""
    X, y = samples(seed, n, 4)
    return X, csvc(y, np.full(n, C), bias)


def goes_down(newton, K, beta, rng):
    """Every step from beta stays feasible and lowers the objective; how many there were."""
    dual, g, moves = newton.dual, programs.gradient(K, newton.dual, beta), 0
    free = np.flatnonzero((beta > dual.lower) & (beta < dual.upper))
    for ids in (free, free[rng.random(len(free)) < 0.98]):  # the second with the factor of the first
        move = newton.step(beta, g, ids) if len(ids) else None
        if move is not None:
            new = beta.copy()
            new[ids] = move
            assert np.array_equal(new, np.clip(new, dual.lower, dual.upper))
            np.testing.assert_allclose(programs.matrix(dual) @ new, dual.totals, rtol=0, atol=1e-9 * np.abs(beta).sum())
            assert programs.objective(K, dual, new) < programs.objective(K, dual, beta)
            moves += 1
    return moves


def astray(view, dual, rng):
    """The solution with its free variables moved: most will be free again after a step, which has much to gain."""
    beta = solve(view, dual, tol=1e-4).beta
    room = np.minimum(beta - dual.lower, dual.upper - beta)
    return start.feasible(dual, beta + 0.5 * rng.uniform(-1.0, 1.0, len(dual)) * room)


@pytest.fixture
def steps():
    """The moves that the finish proposes during a test."""
    with calls(Newton.step, keep=lambda _, move: move) as taken:
        yield taken


def idle():
    """The book-keeping of a problem of 2,500 variables, in which nothing has happened."""
    X, dual = hard(n=2500)
    return Newton(view_of(X, RBF(0.5)), dual, 1e9)


def course(newton, free, paces, goal=1e-9):
    """Whether a step is due after blocks that each cost a step and change the violation, 1 at first, by a factor."""
    violation = 1.0
    asked = newton.due(free, violation, goal)
    for pace in paces:
        violation *= pace
        newton.spent += newton.price
        asked = newton.due(free, violation, goal)
    return asked


@pytest.mark.plain
@pytest.mark.parametrize(
    ("paces", "goal", "due"),
    [([0.97] * 20, 1e-9, True), ([0.4] * 22, 1e-9, False), ([0.4] * 10 + [0.97] * 10, 3.2e-5, True)],
    ids=["crawls", "runs", "crawls of late"],
)
def test_a_step_is_due_where_the_blocks_would_cost_more(paces, goal, due):
    """By the pace of late; after a step that did not pay, too, and at once after one that did."""
    newton, free = idle(), np.arange(1500)
    assert course(newton, free, paces, goal) == due
    newton.judge((1.0, 1e-2), (1.0, 1e-2))
    assert course(newton, free, paces, goal) == due
    newton.judge((1.0, 1e-2), (0.5, 1e-4))
    assert newton.due(free, 2.0 * goal, goal)


@pytest.mark.plain
def test_one_costly_block_has_a_pace():
    newton, free = idle(), np.arange(100)
    newton.due(free, 1.0, 1e-3)
    newton.spent = 100.0 * newton.price
    assert not newton.due(free, 1.1e-3, 1e-3)
    assert newton.due(free, 0.9, 1e-3)


@pytest.mark.plain
def test_what_other_parts_have_cost_tells_no_pace():
    """It pays for a step, but half a step must be spent before it is known that this part crawls."""
    newton, free = idle(), np.arange(1500)
    newton.due(free, 1.0, 1e-9)
    before = newton.spent = 10.0 * newton.price
    newton.course.clear()
    assert [newton.due(free, 1.0, 1e-9), newton.due(free, 1.0, 1e-9)] == [False, False]
    newton.spent = before + 0.4 * newton.price
    assert not newton.due(free, 1.0, 1e-9)
    newton.spent = before + 0.6 * newton.price
    assert newton.due(free, 1.0, 1e-9)


@pytest.mark.plain
@pytest.mark.parametrize(("joining", "more"), [(12, 1.2), (100, 1.4), (1000, 1.4)])
def test_the_more_would_join_the_more_is_spent_first(joining, more):
    newton, free = idle(), np.arange(1500)
    assert course(newton, free, [0.99] * 5)
    assert not newton.settled(1500, np.arange(1500 + joining), 2048)
    newton.spent *= more - 0.01
    assert not newton.due(free, 0.9, 1e-9)
    newton.spent *= 1.02
    assert newton.due(free, 0.9, 1e-9)


def test_a_factor_that_serves_is_not_paid_again():
    newton, free = idle(), np.arange(1500)
    newton.due(free, 1.0, 1e-9)
    whole = newton.price
    newton.step(np.zeros(2500), -newton.dual.t, free)
    newton.due(free, 1.0, 1e-9)
    assert newton.price == pytest.approx(whole - 1500**3 / 3.0)
    newton.due(np.arange(1000, 2500), 1.0, 1e-9)  # another one is needed
    assert newton.price == whole


@pytest.mark.plain
def test_violators_that_would_join_are_settled_by_blocks_first():
    """Hardly any may be left where a block could hold all free variables; after a step that paid more of them."""
    newton = idle()
    newton.spent = 1e30
    assert newton.settled(1000, np.arange(1000), 2048)
    assert not newton.settled(1000, np.arange(1010), 2048)
    assert newton.settled(2400, np.arange(2440), 1024)
    assert not newton.settled(2400, np.arange(2480), 1024)
    newton.due(np.arange(1000), 1.0, 1e-3)
    newton.judge((1.0, 1e-2), (0.5, 1e-4))
    assert newton.settled(1000, np.arange(1100), 2048)


@pytest.mark.slow
def test_a_small_cache_is_respected():
    """Tiles have a least size; where even these do not fit there is no step."""
    X, dual = hard(n=2500, C=100.0)
    view = view_of(X, RBF(0.5))
    for memory, due in ((1e9, True), (9e6, True), (8e6, True), (5e6, False)):
        newton = Newton(view, dual, memory)
        newton.due(np.arange(2500), 1.0, 1e-3)
        newton.spent = 1e30
        assert newton.due(np.arange(2500), 1.0, 1e-3) == due
        if due:
            newton.step(np.zeros(2500), -dual.t, np.arange(2500))
            assert sum(row.nbytes for part in newton.system.factor.parts for row in part.rows) <= memory
    assert SVC(C=1e3, cache_size=0.01).fit(X[:1500], dual.t[:1500]).fit_status_ == 0


@pytest.mark.plain
def test_a_factorisation_can_be_stopped():
    X, dual = hard(n=500)
    newton = Newton(view_of(X, RBF(0.5)), dual, 1e9, lambda: True)
    assert newton.step(np.zeros(500), -dual.t, np.arange(500)) is None


def test_a_step_never_exceeds_the_limit_of_updates():
    X, dual = hard()
    for limit in (3000, 6000, 9000):
        solution = solve(view_of(X, RBF(0.5)), dual, block=128, gap_tol=1e-9, max_iter=limit)
        assert solution.n_iter <= limit


@pytest.mark.parametrize("duplicates", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("values", [1e8, 3e5])
def test_a_step_goes_down_inside_the_box(values, bias, dtype, duplicates):
    """With one factor, or with several of diagonal blocks; once more with what it was made for before."""
    moves = 0
    for seed in range(4):
        X, y = samples(seed, 600, 3)
        if duplicates:
            X[300:] = X[:300]
        rng, dual, view = np.random.default_rng(seed), csvc(y, np.full(600, 30.0), bias), view_of(X, RBF(0.5), dtype)
        newton = Newton(view, dual, values * np.dtype(dtype).itemsize)
        moves += goes_down(newton, RBF(0.5)(X), astray(view, dual, rng), rng)
        parts = len(newton.system.factor.parts)
        assert parts == 1 if values > 1e6 or len(newton.system.ids) <= 256 else parts > 1
    assert moves > 1


def nu_problem(kind, bias, n, seed=0, nu=0.3):
    """Samples, and a program with nu; how many variables a sample has."""
    X, y = samples(seed, n, 3)
    w = np.linspace(0.5, 1.5, n)
    target = np.sin(2 * X[:, 0]) + 0.2 * y
    dual = {"nusvc": lambda: nusvc(y, w, nu, bias, 0.7), "nusvr": lambda: nusvr(target, 30.0 * w, nu, bias, 0.7),
            "oneclass": lambda: oneclass(w, nu)}[kind]()  # fmt: skip
    return X, dual, len(dual) // n


@pytest.mark.slow
@pytest.mark.parametrize("duplicates", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("kind", ["nusvc", "nusvr", "oneclass"])
def test_a_step_with_nu_keeps_every_equality(kind, bias, dtype, duplicates):
    """With two equalities, or with one that has signs, it goes down inside the box."""
    moves = 0
    for seed in range(6):  # some are degenerate
        rng = np.random.default_rng(seed)
        X, dual, copies = nu_problem(kind, bias, 400 if kind != "nusvr" else 250, seed, rng.uniform(0.05, 0.6))
        if duplicates:
            X[len(X) // 2 :] = X[: len(X) - len(X) // 2]
        K, view = np.tile(RBF(0.5)(X), (copies, copies)), view_of(X, RBF(0.5), dtype, copies=copies)
        moves += goes_down(Newton(view, dual, 1e9), K, astray(view, dual, rng), rng)
    assert moves


@pytest.mark.plain
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_takes_no_step_off_an_equality(bias, dtype):
    """Kernel matrices that are singular but for rounding, which may leave no way to tell two equalities apart."""
    taken = 0
    for seed in [*range(360, 400), 501, 794]:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(rng.integers(2, 25), 1))
        y = np.where(rng.random(len(X)) < 0.5, 1.0, -1.0)
        dual = nusvc(y, np.full(len(y), 50.0), 0.01, bias)
        beta = start.feasible(dual, y * rng.random(len(y)))
        newton = Newton(view_of(X, RBF(0.05), dtype), dual, 1e9)
        move = newton.step(beta, programs.gradient(RBF(0.05)(X), dual, beta), np.arange(len(y)))
        if move is not None:
            taken += 1
            off = programs.matrix(dual) @ (move - beta)
            assert np.abs(off).max() <= 1e-12 * np.abs(beta).sum()
    assert taken


@pytest.mark.parametrize("memory", [1e9, SMALL])
@pytest.mark.parametrize("form", ["one", "two", "signs", "signs, augmented"])
def test_a_step_without_bounds_solves_the_program(form, memory):
    """Where no variable meets a bound the gradient along every equality is constant after one step."""
    rng = np.random.default_rng(1)
    n = 700
    X = rng.normal(size=(n, 4))
    side = rng.integers(0, 2, n)
    more = {"one": {"totals": (2.0,)}, "two": {"totals": (1.0, -1.0), "row": side}}.get(
        form, {"totals": (2.0,), "sign": 1.0 - 2.0 * side, "lambda2": 0.5 if "augmented" in form else 0.0}
    )
    dual = Dual(rng.normal(size=n), np.full(n, -1e6), np.full(n, 1e6), **more)
    K = RBF(20.0)(X)
    beta = rng.normal(size=n)
    for a, total in zip(programs.matrix(dual), dual.totals, strict=True):
        beta += a * (total - a @ beta) / (a @ a)
    move = Newton(view_of(X, RBF(20.0)), dual, memory).step(beta, programs.gradient(K, dual, beta), np.arange(n))
    new = move
    np.testing.assert_allclose(programs.matrix(dual) @ new, dual.totals, atol=1e-9 * np.abs(new).sum())
    g = programs.gradient(K, dual, new)
    for a in programs.matrix(dual):
        along = (a * g)[a != 0]
        assert np.ptp(along) <= (1e-8 if memory > SMALL else 1e-3) * np.abs(dual.t).max()


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize(("kind", "nu"), [("nusvc", 0.5), ("nusvr", 0.3), ("oneclass", 0.5)])
def test_the_finish_of_programs_with_nu(kind, nu, bias, steps):
    X, dual, copies = nu_problem(kind, bias, 600 if kind != "nusvr" else 400, nu=nu)
    solution = solve(view_of(X, RBF(2.0), copies=copies), dual, block=96, tol=1e-9)
    assert solution.status.name == "CONVERGED"
    assert programs.kkt(np.tile(RBF(2.0)(X), (copies, copies)), dual, solution.beta) <= 1.001e-9
    assert any(move is not None for move in steps)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "features", "block"),
    [(RBF(0.5), 4, 128), (Laplacian(0.5), 4, 128), (Polynomial(gamma=0.03, degree=2), 30, 64), (Linear(), 200, 64)],
    ids=str,
)
@pytest.mark.parametrize("bias", BIASES)
def test_large_C(kernel, features, block, bias, steps):
    """With fewer features the active set of a block is there first."""
    X, y = samples(0, 500, features)
    dual, K = csvc(y, np.full(500, 100.0), bias), kernel(X)
    solution = solve(view_of(X, kernel), dual, block=block, gap_tol=1e-6)
    assert solution.status.name == "CONVERGED"
    best = programs.objective(K, dual, programs.solve(K, dual, tol=1e-7))
    assert programs.objective(K, dual, solution.beta) <= best + 1e-6 * abs(best)
    assert any(move is not None for move in steps)


@pytest.mark.slow
@pytest.mark.parametrize("memory", [1e9, SMALL])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_finish_pays(dtype, memory):
    """The same optimum in fewer updates, whether the factor fits in memory or not."""
    X, dual = hard()
    view = view_of(X, RBF(0.5), dtype)
    with calls(Newton.step) as steps:
        fast = solve(view, dual, block=128, gap_tol=1e-6, memory=memory)
    assert steps
    slow = solve(view, dual, block=128, gap_tol=1e-6, memory=0.0)  # no room for any factor
    assert fast.status.name == slow.status.name == "CONVERGED"
    assert fast.n_iter < 0.5 * slow.n_iter
    assert abs(fast.certificate.dual - slow.certificate.dual) <= 2e-6 * abs(slow.certificate.dual)


@pytest.mark.plain
def test_steps_that_fail_are_asked_for_ever_more_rarely():
    newton, free, waited, violation = idle(), np.arange(1500), [], 1.0
    for _ in range(9):
        waited.append(0)
        while not newton.due(free, violation, 1e-9):
            newton.spent += newton.price
            violation *= 0.99
            waited[-1] += 1
        newton.judge((1.0, 1e-2), (1.0, 1e-2))
    assert waited[-2:] == [64, 64]
    assert (np.diff(waited) >= 0).all()


def test_a_step_that_leads_away_is_not_taken():
    """A gradient of a falling direction is needed; at the optimum there is none."""
    X, y = samples(6, 100, 3)
    dual = csvc(y, np.full(100, np.inf))
    K = RBF(0.5)(X)
    beta = programs.solve(K, dual, tol=1e-12)
    g = K @ beta - dual.t
    newton = Newton(view_of(X, RBF(0.5)), dual, 1e9)
    before = programs.objective(K, dual, beta)
    used = np.flatnonzero(beta)
    move = newton.step(beta, g, used)
    if move is not None:
        beta[used] = move
    assert programs.objective(K, dual, beta) <= before + 1e-12 * abs(before)


def test_the_model_has_the_same_bits_for_any_number_of_threads(steps):
    X, y = samples(7, 3000, 12)
    one, four = (SVC(C=1e3, gamma=0.1, gap_tol=1e-6, n_jobs=n).fit(X, y) for n in (1, 4))
    assert len(steps) > 2
    assert np.array_equal(one.dual_coef_, four.dual_coef_)
    assert one.duality_gap_ == four.duality_gap_


@pytest.mark.parametrize("size", [80, 1200])
def test_asking_for_less_than_rounding_allows_is_not_worse(size):
    X, y = samples(1, size, 2)
    dual, view = csvc(y, np.full(size, 1e4)), view_of(X, RBF(0.3))
    solutions = [solve(view, dual, whole=2304, gap_tol=gap) for gap in (1e-3, 1e-6, 1e-18)]
    gaps = [solution.certificate.relative_gap for solution in solutions]
    assert solutions[-1].status.name == "STUCK"
    assert max(gaps[1:]) <= 1e-6


@pytest.mark.parametrize(
    ("targets", "C"), [([1.1, 1.3], np.inf), (np.where(np.arange(1100) % 2, 1.1, 1.3), 1e16)], ids=["hard", "large"]
)
def test_targets_that_the_tube_holds_but_for_rounding_have_an_end(targets, C):
    """No coefficient moves, and rounding leaves a gap."""
    X = np.random.default_rng(0).normal(size=(len(targets), 2))
    with pytest.warns(ConvergenceWarning, match="no step makes progress"):  # not the limit of time
        model = SVR(C=C, epsilon=0.1, gap_tol=1e-6, max_time=60).fit(X, targets)
    assert len(model.support_) == 0


def test_float64_tiles_get_a_factor_of_their_own(steps):
    """When float32 tiles do not get there, the finish starts anew on the wider ones."""
    X, y = samples(0, 600, 20)
    X, kernel, widened = X + 30.0, Polynomial(1.0, 2, 0.0), []
    dual = csvc(y, np.full(600, 1e-2))
    with at(View.widened, lambda _: widened.append(len(steps)), number=None):
        solution = solve(view_of(X, kernel, np.float32), dual, tol=1e-4, block=128)
    assert solution.status.name == "CONVERGED"
    assert len(widened) == 1
    assert any(move is not None for move in steps[widened[0] :])
    assert programs.kkt(kernel(X), dual, solution.beta) <= 1e-4 * 1.001
