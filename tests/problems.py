"""Programs over small data, and the certificate of any beta by the library."""

from dataclasses import replace

import numpy as np

from adatron.compiled.cache.jit import JIT_DISABLED
from adatron.gram import Gram, Source, View
from adatron.problems import ball, csvc, nusvc, nusvr, oneclass, svr, with_targets
from adatron.solvers.base import Options, Watch
from adatron.solvers.blocks.block import Block
from adatron.solvers.route import way_of
from adatron.threads import Pool

SLOW = JIT_DISABLED  # plain Python: tests have fewer samples


def samples(seed, n, d=2, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + noise * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


def view_of(X, kernel, dtype=np.float64, sizes=None, pool=None, copies=1, slots=0):
    gram = Gram(Source.of(X, np.arange(X.shape[0]), kernel), dtype, sizes or [X.shape[0]], pool or Pool(1), slots)
    return View.of(gram, list(range(len(gram.segments))) * copies)


def solve(view, dual, state=None, report=None, flag=None, solver=None, watch=None, **options):
    """Solve a program the way that a fit would, unless ``way`` says another one."""
    solver = solver or Block()
    if watch is None:
        watch = Watch(dual, report, np.zeros(2, np.int64) if flag is None else flag, solver.traced)
    chosen, gram = Options(**{"max_iter": solver.most(len(dual)), **options}), view.gram
    coarse = gram.dtype == np.float32 or (gram.kernel.called and not gram.held)
    if "way" not in options:
        chosen = replace(chosen, way=way_of(len(dual), dual, solver, chosen.block, chosen.whole, coarse))
    return solver.solve(view, dual, chosen, state, watch)


class Never(Block):
    """The block solver, of which a fit must make no use: batches are enough."""

    def solve(self, view, dual, options, state, watch):
        raise AssertionError("a problem was left over from a batch")


def feasible(dual, rng):
    """A random point of the program, some variables at their bounds."""
    part = rng.random(len(dual)) * rng.integers(0, 2, len(dual))
    part[rng.random(len(dual)) < 0.2] = 1.0
    top = np.where(np.isinf(dual.upper), 3.0, dual.upper) + np.where(np.isinf(dual.lower), -3.0, dual.lower)
    beta = part * top
    if dual.totals:
        plus, minus = beta[beta > 0].sum(), -beta[beta < 0].sum()
        if min(plus, minus) == 0:
            return np.zeros(len(dual))
        beta[beta > 0] *= min(plus, minus) / plus
        beta[beta < 0] *= min(plus, minus) / minus
    return beta


__all__ = [
    "SLOW",
    "Never",
    "ball",
    "csvc",
    "feasible",
    "nusvc",
    "nusvr",
    "oneclass",
    "samples",
    "solve",
    "svr",
    "view_of",
    "with_targets",
]
