"""Programs that start at the solution of another one; a slow callback, and stored rows that are given back.

Also tested here: ``run``.
"""

import time
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from adatron import SVC
from adatron.fitting import engine
from adatron.fitting.engine import Settings
from adatron.fitting.programs import Listed, Program
from adatron.fitting.samples import Samples
from adatron.gram import Gram, Source
from adatron.kernels import RBF
from adatron.problems import csvc, svr
from adatron.solvers.base import Options, Way
from adatron.solvers.blocks.block import Block
from adatron.solvers.route import Sizes, choose_route
from adatron.solvers.run import moved, solve_all, widest
from adatron.solvers.tasks import Tasks
from adatron.threads import Clock, Pool
from problems import samples

CS = np.geomspace(0.05, 500.0, 8)


def fits(program, n, before, n_jobs=None, gamma=0.1, values=CS):
    X, y = samples(1, n, 4, noise=0.7)
    sign = np.where(y == np.unique(y)[1], 1.0, -1.0)
    weight = (np.arange(n) % 5 > 0).astype(float)
    problems = [Program([0], lambda ids, C=C: program(sign[ids], C * weight[ids])) for C in values]
    settings = Settings(RBF(gamma), "auto", "auto", 1e9, n_jobs, 1e-5, None, -1, Clock(), None)
    return engine.solve(X, Samples.alone(np.arange(n)), Listed(problems), settings, before=before)


PROGRAMS = [csvc, lambda y, C: csvc(y, C, "none"), lambda y, C: svr(y, C, 0.1)]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("n", [150, 900])  # the larger ones solve for the variables in play apart
def test_chains_have_the_same_solutions(program, n):
    alone = fits(program, n, None, gamma=0.5)
    chained = fits(program, n, np.arange(len(CS)) - 1, gamma=0.5)
    assert alone.found.good.all()
    assert chained.found.good.all()
    np.testing.assert_allclose(chained.found.dual, alone.found.dual, rtol=1e-5)
    assert (chained.found.relative_gaps < 1e-3).all()


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_that_starts_at_its_solution_takes_no_step(program):
    found = fits(program, 150, np.array([-1, 0, -1, 2]), values=[0.3, 0.3, 5.0, 5.0]).found
    assert (found.n_iter[[0, 2]] > 20).all()
    assert (found.n_iter[[1, 3]] == 0).all()


def test_every_larger_bound_has_the_solution_that_no_bound_holds():
    found = fits(PROGRAMS[0], 150, np.arange(len(CS)) - 1, gamma=20.0).found
    beta = found.beta.reshape(len(CS), -1)
    inside = np.abs(beta).max(axis=1) < CS
    first = int(np.argmax(inside))
    assert inside[first:].all()
    assert first < len(CS) - 2
    assert (found.n_iter[first + 1 :] == 0).all()
    assert (beta[first:] == beta[first]).all()


@pytest.mark.parametrize("free", [0, 1, 4, 5, 9])
def test_variables_at_their_bounds_stay_there_unless_many_are_free(free):
    y = np.where(np.arange(12) % 2, 1.0, -1.0)
    old, new = csvc(y, 2.0 + np.zeros(12)), csvc(y, 6.0 + np.zeros(12))
    beta = np.where(np.arange(12) < free, 0.5 * y, 2.0 * y)
    beta[10:] = 0.0
    bounded = (np.arange(12) >= free) & (beta != 0.0)
    start = moved(old, new, beta)
    np.testing.assert_array_equal(start, np.where(bounded & (free <= 4), 6.0 * y, beta))


def test_chains_do_not_depend_on_the_number_of_threads():
    one, two = (fits(PROGRAMS[0], 300, np.array([-1, 0, 1, 2, -1, 4, 5, 6]), n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.beta, two.beta)


def chained_route(n, groups, chains, length, cache_bytes=1e9):
    """Return the route of chains of some problems over segments of n samples."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n * (1 + max(max(some) for some in groups)), 3))
    members = Samples.alone(np.arange(len(X)))
    members = replace(members, sizes=np.full(len(X) // n, n))
    one = [
        Program(list(some), lambda ids: csvc(np.where(np.arange(len(ids)) % 2, 1.0, -1.0), np.ones(len(ids))))
        for some in groups
    ]
    problems = Listed([problem for problem in one for _ in range(length)])
    before = np.where(np.arange(len(problems)) % length, np.arange(len(problems)) - 1, -1)
    settings = Settings(RBF(1e-3), "auto", "auto", cache_bytes, 1, 1e-1, None, 1, Clock(), None)
    return engine.solve(X, members, problems, settings, before=before[: chains * length] if chains else None).route


def test_the_memory_of_chains_is_that_of_the_programs_of_one_level():
    assert widest(np.array([-1, 0, 1, -1, 3, 4])) == 2
    assert widest(np.array([-1, -1, -1])) == 3
    long, short = (chained_route(6000, [[0]], 1, length) for length in (6, 1))
    assert long.memory == short.memory


def test_chains_of_pairs_above_a_thousand_samples_share_float64_matrices():
    route = chained_route(600, [[0, 1], [0, 2]], 2, 2)
    assert not route.single
    assert {Way(int(way)) for way in route.ways} == {Way.BATCH}


def test_large_folds_are_the_programs_of_their_own_samples():
    n, C = 1500, 3.0
    X, y = samples(1, n, 4, noise=0.7)
    sign, inside = np.where(y == np.unique(y)[1], 1.0, -1.0), np.arange(n) % 3 > 0
    settings = Settings(RBF(0.5), "auto", "auto", 4e6, 1, 1e-4, None, -1, Clock(), None)  # memory for small blocks only

    def of(rows, weight, length, before):
        problem = Program([0], lambda ids: csvc(sign[rows][ids], C * weight[ids]))
        alone = Samples.alone(np.arange(len(rows)))
        return engine.solve(X[rows], alone, Listed([problem] * length), settings, before=before)

    fold = of(np.arange(n), inside.astype(float), 2, np.array([-1, 0]))
    own = of(np.flatnonzero(inside), np.ones(int(inside.sum())), 1, None)
    assert fold.route.ways[0] >= Way.DECOMPOSE
    assert fold.found.good.all()
    assert (fold.found.violation <= 1e-4).all()
    assert not fold.found.beta.reshape(2, n)[:, ~inside].any()
    np.testing.assert_allclose(fold.found.dual, own.found.dual[0], rtol=1e-5)
    np.testing.assert_allclose(fold.found.intercept, own.found.intercept[0], atol=1e-3)


def test_a_slow_callback_is_not_asked_of_every_problem():
    """Reports that nobody has heard yet would otherwise fill the memory: thousands of classes have millions."""
    X, y = make_blobs(1600, 300, centers=160, random_state=0)
    heard = []

    def slow(progress):
        heard.append(progress.n_finished)
        time.sleep(0.002)

    model = SVC(n_jobs=2, callback=slow).fit(X, y)
    assert not model.route_.light
    assert model.fit_status_ == 0
    assert 0 < len(heard) < len(model.intercept_)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_last_programs_give_their_stored_rows_back(threads):
    """The values within and between classes are of no use when the last pair that asks for them is over."""
    n, classes, kernel = 80, 4, RBF(0.002)
    X, pairs = np.random.default_rng(0).normal(size=(n * classes, 200)), list(combinations(range(classes), 2))
    dual, found, left = csvc(np.repeat([1.0, -1.0], n), np.ones(2 * n)), {}, {}
    for last in (False, True):
        with Pool(threads) as pool:
            source = Source.of(X, np.arange(len(X)), kernel)
            gram = Gram(source, np.float32, [n] * classes, pool, slots=n)
            first, is_open = 2 * np.arange(len(pairs) + 1), np.ones(len(pairs), bool)
            tasks = Tasks(gram, np.ravel(pairs), first, lambda _: dual, is_open, last=last)
            sizes = Sizes(np.full(classes, n), tasks.sizes, is_open, [dual], False, 0.0, False, len(pairs))
            route = choose_route(source, sizes, Block(), 1e9, "single")
            route.ways[:] = route.then[:] = Way.DECOMPOSE
            options = Options(way=Way.DECOMPOSE, block=64)
            found[last] = solve_all(tasks, Block(), options, route, pool, None)
            left[last] = [len(segment.store) for segment in gram.segments]
            assert any((segment.store.slot >= 0).any() for segment in gram.segments) != last
    assert found[True].good.all()
    np.testing.assert_array_equal(found[True].beta, found[False].beta)
    assert left == {False: [n] * classes, True: [0] * classes}
