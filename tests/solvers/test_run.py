"""Many problems: reports to a callback that is slow, and a time limit that passes before the first one."""

import time
from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from adatron import SVC
from adatron.gram import Gram, Source
from adatron.kernels import RBF
from adatron.problems import csvc
from adatron.solvers.base import Options, Way
from adatron.solvers.blocks.block import Block
from adatron.solvers.route import Sizes, Wishes, choose_route
from adatron.solvers.run import solve_all
from adatron.solvers.tasks import Tasks
from adatron.threads import Pool


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
            route = choose_route(source, sizes, Wishes(1e9, "single"), Block())
            route.ways[:] = route.then[:] = Way.BLOCKS
            options = Options(way=Way.BLOCKS, block=64)
            found[last] = solve_all(tasks, Block(), options, route, pool, None)
            left[last] = [len(segment.store) for segment in gram.segments]
            assert any((segment.store.slot >= 0).any() for segment in gram.segments) != last
    assert found[True].good.all()
    np.testing.assert_array_equal(found[True].beta, found[False].beta)
    assert left == {False: [n] * classes, True: [0] * classes}
