"""Lives of incremental models: what comes and goes, and the check of what is there."""

import numpy as np
from sklearn.base import clone

from adatron import IncrementalNuSVC, IncrementalOneClassSVM, IncrementalSVC, IncrementalSVDD, IncrementalSVR
from adatron.certificates import kkt_violation
from adatron.learning.leave_out import Optimum

MODELS = {
    "svc": IncrementalSVC,
    "nusvc": lambda **p: IncrementalNuSVC(nu=0.2, **p),
    "svr": lambda **p: IncrementalSVR(epsilon=0.1, **p),
    "svr0": lambda **p: IncrementalSVR(epsilon=0.0, **p),  # 0 is not a kink
    "oneclass": lambda **p: IncrementalOneClassSVM(nu=0.3, **p),
    "svdd": lambda **p: IncrementalSVDD(**{"nu": 0.3, **p}),  # with negatives
}
KERNELS = {"rbf": {"gamma": 0.5}, "linear": {}, "poly": {"gamma": 0.5, "degree": 2, "coef0": 1.0}}


class Life:
    """A model and the samples that it should have."""

    def __init__(self, seed, kind, kernel, equal, n=40, classes=2, **parameters):
        self.rng, self.kind, self.equal, self.classes = np.random.default_rng(seed), kind, equal, classes
        if kind.startswith(("svc", "svr")):
            parameters.setdefault("C", 1.0)
        self.model = MODELS[kind](kernel=kernel, **KERNELS[kernel], **parameters)
        X, y = self.samples(n)
        self.kept = {i: (x, t) for i, (x, t) in enumerate(zip(X, y, strict=True))}
        self.arrived = n
        self.call(self.model.fit, X, y)

    def samples(self, n):
        X = self.rng.normal(size=(n, 2 if self.equal else 3))
        X = np.round(X) if self.equal else X  # many equal samples, also with other labels
        value = X[:, 0] + 0.5 * self.rng.normal(size=n)
        if self.kind.startswith("svr"):
            return X, np.round(2.0 * np.sin(value)) if self.equal else np.sin(value)
        if self.kind == "svdd":
            return X, np.where(value < -1.5, -1.0, 1.0)
        y = np.digitize(value, np.linspace(-0.8, 0.8, self.classes + 1)[1:-1])
        y[: self.classes] = np.arange(self.classes)[: len(y)]
        return X, y

    def call(self, method, X, y, **more):
        return method(X, **more) if self.kind == "oneclass" else method(X, y, **more)

    def add(self, count):
        X, y = self.samples(count)
        self.call(self.model.partial_fit, X, y)
        for x, t in zip(X, y, strict=True):
            self.kept[self.arrived] = x, t
            self.arrived += 1

    def forget(self, count):
        gone = self.rng.choice(list(self.kept), count, replace=False)
        self.model.forget(gone)
        for one in gone:
            del self.kept[int(one)]

    def change(self):
        self.model.set_C(float(np.clip(self.model.C * np.exp(2 * self.rng.normal()), 1e-3, 1e4)))

    def step(self):
        kind = self.rng.integers(3)
        if kind == 0 or len(self.kept) < 20:
            self.add(int(self.rng.integers(1, 4)))
        elif kind == 1:
            self.forget(int(self.rng.integers(1, 4)))
        elif self.kind.startswith(("svc", "svr")):
            self.change()

    def assert_solved(self):
        """The samples are those that should be there, and the solution is certified and a fresh one's."""
        model = self.model
        assert sorted(model.ids_.tolist()) == sorted(self.kept)
        by_id = dict(zip(model.ids_.tolist(), zip(model.store.X, model.store.y, strict=True), strict=True))
        for one, (x, t) in self.kept.items():
            assert (by_id[one][0] == x).all()
            assert self.kind == "oneclass" or by_id[one][1] == t
        programs = [(one, one.dual(model.learner.problem)) for one in model.learner.tracks]
        assert all(kkt_violation(dual, one.beta, one.gradient(dual, one.beta)) <= 1e-7 for one, dual in programs)
        for one, dual in programs:
            missed = np.abs(dual.sums(one.beta) - dual.totals).max(initial=0.0)
            assert missed <= 1e-12 * np.abs(one.beta).sum()
        size = max((np.abs(one.beta).sum() for one, _ in programs), default=0.0)
        assert model.deletion_report()["kkt_violation"] <= 1e-7 * (1.0 + size)  # an upper bound
        X, y = model.store.X, model.store.y
        fresh = clone(model).set_params(window=None)
        self.call(fresh.fit, X, y)
        ours, theirs = np.atleast_1d(model.dual_objective_), np.atleast_1d(fresh.dual_objective_)
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)
        if self.unique():
            for pair in zip(Optimum.of(model.learner), Optimum.of(fresh.learner), strict=True):
                ours, theirs = (one.values()[np.argsort(one.track.numbers)] for one in pair)
                np.testing.assert_allclose(ours, theirs, atol=1e-6 * (1.0 + np.abs(theirs).max(initial=0.0)))

    def unique(self):
        """Whether b is: a variable is free in each equality (else any b in an interval is as good)."""
        for one in self.model.learner.tracks:
            dual = one.dual(self.model.learner.problem)
            free = dual.free(one.beta)
            if not all(free[tie].any() for tie, _ in zip(dual.ties(), dual.totals, strict=False)):
                return False
        return True
