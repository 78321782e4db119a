"""Large programs are solved in parts: the same optimum, the same bits however it is split, honest endings."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from adatron.certificates import best_multipliers
from adatron.kernels import RBF
from adatron.solvers.base import Options, Watch, Way
from adatron.solvers.blocks import block
from adatron.solvers.blocks.newton import Newton
from adatron.solvers.blocks.shard import near
from adatron.solvers.results import STOP
from adatron.threads import Pool
from moments import at, calls
from problems import csvc, nusvc, nusvr, oneclass, samples, solve, svr, view_of
from twins import programs

N, Q = 800, 32
KINDS = {
    "C, explicit": lambda X, y: csvc(y, np.full(N, 3.0)),
    "C, augmented": lambda X, y: csvc(y, np.full(N, 3.0), "augmented", 2.0),
    "C, none": lambda X, y: csvc(y, np.full(N, 3.0), "none"),
    "epsilon": lambda X, y: svr(np.sin(X[:, 0]) + 0.3 * y, np.full(N, 3.0), 0.1),
    "epsilon, none": lambda X, y: svr(np.sin(X[:, 0]) + 0.3 * y, np.full(N, 3.0), 0.1, "none"),
    "nu": lambda X, y: nusvc(y, np.ones(N), 0.1),
    "nu regression": lambda X, y: nusvr(np.sin(X[:, 0]) + 0.3 * y, np.full(N, 3.0), 0.1),
    "one class": lambda X, y: oneclass(np.ones(N), 0.05),
}


def problem(kind, seed=0):
    """Samples most of which are far from the margin, a program over them, and how many variables each has."""
    X, y = samples(seed, N, 3, noise=0.1)
    return X, KINDS[kind](X, y), 2 if kind == "nu regression" else 1


@dataclass
class Parted(Watch):
    """Lists the parts that are solved: for each the iterations so far, as often as it looks."""

    parts: list = field(default_factory=list)

    def within(self, violation, relative_gap):
        self.parts.append([])
        return super().within(violation, relative_gap)

    def look(self, n_iter, *others):
        if self.whole is not None:
            self.parts[-1].append(n_iter)
        return super().look(n_iter, *others)


def parted(dual):
    return Parted(dual, None, np.zeros(2, np.int64))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_parts_lead_to_the_optimum(kind, dtype):
    X, dual, copies = problem(kind)
    watch = parted(dual)
    solution = solve(view_of(X, RBF(0.3), dtype, copies=copies), dual, tol=1e-5, block=Q, watch=watch)
    assert any(part[-1] > part[0] for part in watch.parts)
    assert solution.status.name == "CONVERGED"
    K = np.tile(RBF(0.3)(X), (copies, copies))
    assert programs.kkt(K, dual, solution.beta) <= 1.001e-5
    np.testing.assert_allclose(
        programs.matrix(dual) @ solution.beta, dual.totals, atol=1e-12 * np.abs(solution.beta).sum()
    )
    assert solution.certificate.gap >= programs.gap(K, dual, solution.beta) * (1 - 1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["C, explicit", "C, none", "nu regression"])
def test_the_same_bits_however_it_is_split(kind, dtype):
    X, dual, copies = problem(kind)
    watches = [parted(dual) for _ in range(2)]
    with Pool(3) as pool:
        view = view_of(X, RBF(0.3), dtype, [300, 100, 400], pool, copies)
        one = solve(view, dual, block=Q, watch=watches[0])
    alone = solve(view_of(X, RBF(0.3), dtype, copies=copies), dual, block=Q, watch=watches[1])
    assert watches[0].parts
    assert watches[0].parts == watches[1].parts
    assert np.array_equal(one.beta, alone.beta)
    assert one.n_iter == alone.n_iter
    assert one.certificate == alone.certificate


def test_a_part_has_who_violates_or_is_free():
    X, dual, _ = problem("C, explicit")

    def chosen(given, ids):
        beta, g = given["beta"], given["g"]
        violating = dual.inward(beta, g + dual.push(best_multipliers(dual, beta, g))) > given["tol"]
        return len(ids), np.isin(np.flatnonzero(violating | dual.free(beta)), ids).all()

    with calls(near, keep=chosen) as found:
        assert solve(view_of(X, RBF(0.3), np.float32), dual, block=Q).status.good
    parts = [complete for size, complete in found if size]
    assert parts
    assert all(parts)
    assert all(2 * Q <= size <= N // 3 for size, _ in found if size)


def test_free_variables_at_rest_come_before_bound_ones_that_hardly_violate():
    n, free = 3000, 200
    dual = csvc(np.where(np.arange(n) % 2, 1.0, -1.0), np.full(n, 1.0), "none")
    beta = np.where(np.arange(n) < free, 0.5 * np.sign(dual.t), 0.0)
    g = -np.sign(dual.t) * np.where(np.arange(n) < free, 0.0, 5e-4)
    assert np.isin(np.arange(free), near(dual, beta, g, 1e-3, 64)).all()


def test_no_part_while_all_rows_that_are_needed_are_stored():
    """A part would make them anew."""
    X, dual, _ = problem("C, explicit")
    watch = parted(dual)
    solve(view_of(X, RBF(0.3), slots=N), dual, block=Q, watch=watch)
    assert not watch.parts


def test_a_step_in_a_part_is_judged_by_the_objective_of_all():
    """It is the one that is reported from the part, see below."""
    X, y = samples(0, N, 3, noise=0.1)
    dual, here, told = csvc(y, np.full(N, 1e3)), [], []

    class Looking(Watch):
        def look(self, n_iter, violation, objective, *rest):
            here[:] = self.whole is not None, objective
            return super().look(n_iter, violation, objective, *rest)

    watch = Looking(dual, None, np.zeros(2, np.int64))
    with at(Newton.judge, lambda given: told.append((*here, given["before"][0])), number=None):
        solve(view_of(X, RBF(0.3)), dual, block=Q, gap_tol=1e-6, watch=watch)
    in_parts = [numbers for in_part, *numbers in told if in_part]
    assert in_parts
    for objective, judged in in_parts:
        assert judged == pytest.approx(objective, rel=1e-9)


def test_what_parts_have_cost_counts_for_the_next_step():
    """The memory of the last factor is given back while a part is solved."""
    X, dual, _ = problem("C, explicit")
    options, watch = Options(max_iter=10**6, block=Q, way=Way.SHRUNKEN), Watch(dual, None, np.zeros(2, np.int64))
    work = block._Block(block.Block(), view_of(X, RBF(0.3)), dual, options, None, watch)
    work.prepare()
    work.newton.spent, work.newton.system = 5.0, object()
    assert work._descend(np.arange(0, N, 4), 0.0, 0.1)
    assert work.newton.spent > 5.0
    assert work.newton.system is None


def test_a_part_in_which_nothing_moves_leaves_the_rest_to_blocks():
    """Of the rare class no sample is among every eighth."""
    X, y = samples(0, N, 3, noise=0.1)
    y[:] = 1.0
    y[1] = -1.0
    dual = csvc(y, np.full(N, 3.0))
    watch = parted(dual)
    solution = solve(view_of(X, RBF(0.3)), dual, tol=1e-5, block=Q, watch=watch)
    assert set(watch.parts[0]) == {0}
    assert programs.kkt(RBF(0.3)(X), dual, solution.beta) <= 1.001e-5


@pytest.mark.parametrize("kind", ["C, explicit", "epsilon"])
def test_reports_from_a_part_are_about_the_whole(kind):
    """Its objective is that of all variables; its violation would be too small, so the last one known is told."""
    X, dual, _ = problem(kind)
    told, inside, reports, last = [], [], [], []

    class Watching(Watch):
        def look(self, n_iter, violation, objective, relative_gap, extra=()):
            if self.whole:
                inside.append((violation, self.whole[0]))
                last[:] = [objective]
            elif last:  # all variables are looked at, where the part ended
                told.append((last.pop(), objective))
            return super().look(n_iter, violation, objective, relative_gap, extra)

    # It began so long ago that every report is due.
    watch = Watching(dual, lambda *numbers: reports.append(numbers), np.zeros(2, np.int64), start=-np.inf)
    solution = solve(view_of(X, RBF(0.3)), dual, block=Q, watch=watch)
    assert len(inside) > len(told) > 1
    assert any(own < whole for own, whole in inside)
    for reported, true in told:
        assert reported == pytest.approx(true, rel=1e-9)
    objectives = [numbers[3] for numbers in reports]
    assert np.diff(objectives).min() >= -1e-9 * objectives[-1]
    assert objectives[-1] == pytest.approx(-programs.objective(RBF(0.3)(X), dual, solution.beta), rel=1e-6)
    assert len(solution.trace["n_iter"]) >= len(inside)


def test_a_part_can_be_stopped():
    X, dual, _ = problem("C, explicit")
    view = view_of(X, RBF(0.3))
    whole = solve(view, dual, block=Q)
    for limit in (5, whole.n_iter // 2):
        capped = solve(view, dual, block=Q, max_iter=limit)
        assert (capped.n_iter, capped.status.name) == (limit, "MAX_ITER")
        assert np.isfinite(capped.certificate.gap)

    class Stopping(Parted):
        def look(self, *arguments):
            self.flag[STOP] = self.whole is not None
            return super().look(*arguments)

    watch = Stopping(dual, None, np.zeros(2, np.int64))
    stopped = solve(view, dual, block=Q, watch=watch)
    assert stopped.status.name == "STOPPED"
    assert len(watch.parts) == 1
    assert stopped.n_iter < whole.n_iter
    assert np.isfinite(stopped.certificate.gap)


@pytest.mark.parametrize("kind", ["C, explicit", "nu"])
def test_started_at_the_optimum_nothing_moves(kind):
    X, dual, _ = problem(kind)
    view = view_of(X, RBF(0.3))
    cold = solve(view, dual, tol=1e-6, block=Q)
    watch = parted(dual)
    again = solve(view, dual, tol=1e-5, block=Q, state=block.State(cold.beta), watch=watch)
    assert np.array_equal(again.beta, cold.beta)
    assert not watch.parts
