"""Newton steps on a device end what blocks would crawl through."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

from adatron.gram import Source
from adatron.kernels import RBF
from adatron.problems import csvc, nusvr, svr

torch = pytest.importorskip("torch", reason="needs the extra gpu")
from adatron.devices.rows import DeviceRows  # noqa: E402
from adatron.solvers.device.batch import Batch  # noqa: E402
from adatron.solvers.device.newton import DeviceNewton, step  # noqa: E402
from twins.devices import plain  # noqa: E402

X, y = make_classification(200, 6, n_informative=4, flip_y=0.05, random_state=0)
R, t = make_regression(100, 5, noise=3.0, random_state=0)
ONES = np.ones(200)
PROGRAMS = {
    "explicit": (X, csvc(2.0 * y - 1.0, 50.0 * ONES)),
    "augmented": (X, csvc(2.0 * y - 1.0, 50.0 * ONES, "augmented", 2.0)),
    "none": (X, csvc(2.0 * y - 1.0, 50.0 * ONES, "none")),
    "kinks": (R, svr(t, 100.0 * np.ones(100), 1.0)),
    "two sums": (R, nusvr(t, 100.0 * np.ones(100), 0.4)),
    "signs": (R, nusvr(t, 100.0 * np.ones(100), 0.4, "augmented")),
}


def batch(name, q=64):
    """Return a program on the device at a feasible point near its solution."""
    from adatron.solvers.start import feasible

    data, dual = PROGRAMS[name]
    source = Source.of(data, np.arange(len(data)), RBF(0.3))
    rows = DeviceRows.of(plain(), source.kernel, data, source.ids, source.center, None)
    copies = len(dual) // len(data)
    beta = feasible(dual, np.zeros(len(dual)))
    lines = np.tile(np.arange(len(data)), copies)
    K = source.kernel(data, data)[np.ix_(lines, lines)] + dual.lambda2
    return Batch(rows, np.float64, [dual], [lines], [beta], [K @ beta - dual.t], q), dual, K


def ascended(name, blocks):
    some, dual, K = batch(name)
    some.begin(np.array([1e-9]), np.array([10**9]))
    some.advance(blocks)
    return some, dual, K


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_step_near_the_solution_ends_there(name):
    some, dual, K = ascended(name, 150)
    before, level = float(some.violations(some.ends())[0]), float(some.objectives()[0])
    for _ in range(4):
        beta = some.beta[0, : len(dual)].numpy()
        step(some, torch.nonzero(torch.from_numpy(dual.free(beta)))[:, 0])
    beta, g = some.point(0)
    assert np.abs(K @ beta - dual.t - g).max() <= 1e-8 * np.abs(dual.t).max() + 1e-8 * np.abs(beta).sum()
    assert np.abs(dual.sums(beta) - np.array(dual.totals)).max(initial=0.0) <= 1e-8 * np.abs(beta).sum()
    assert float(some.objectives()[0]) <= level + 1e-9 * abs(level)
    assert float(some.violations(some.ends())[0]) <= before
    assert (beta >= dual.lower).all()
    assert (beta <= dual.upper).all()


def test_a_step_of_one_of_several_programs_leaves_the_others_as_they_are():
    data, dual = PROGRAMS["explicit"]
    duals, lines = [dual.take(np.arange(n)) for n in (150, 200)], [np.arange(n) for n in (150, 200)]
    rows = DeviceRows.of(plain(), RBF(0.3), data, np.arange(200), np.zeros(6), None)
    both = Batch(rows, np.float64, duals, lines, [np.zeros(150), np.zeros(200)], [-one.t for one in duals], 64)
    both.begin(np.full(2, 1e-9), np.full(2, 10**9))
    both.advance(60)
    before, one = both.point(0), both.only(1)
    violation = float(one.violations(one.ends())[0])
    beta = both.point(1)[0]
    assert step(one, torch.nonzero(torch.from_numpy(dual.free(beta)))[:, 0]) > 0
    beta, g = both.point(1)
    K = RBF(0.3)(data, data)
    assert np.abs(K @ beta - dual.t - g).max() <= 1e-8 * np.abs(beta).sum()
    assert float(both.violations(both.ends())[1]) < 0.5 * violation
    assert all(map(np.array_equal, before, both.point(0)))


def test_steps_are_due_when_blocks_have_cost_as_much():
    some, _, _ = ascended("explicit", 20)
    newton = DeviceNewton(1e9)
    assert newton.due(some, 1.0, 1e-3) is None
    newton.book(some, 20, 10**7, 1)
    newton.paid = True
    assert newton.due(some, 1.0, 1e-3) is not None
    newton.judge(1.0, 0.9, moved=True)
    assert newton.due(some, 0.9, 1e-3) is None
    assert DeviceNewton(10.0).due(some, 1.0, 1e-3) is None
