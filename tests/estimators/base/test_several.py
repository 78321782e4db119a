"""Several targets: each has the bits of a fit of its own."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils import get_tags

from adatron import SVC, SVR, NuSVR, QuantileSVR
from machines import spread

MACHINES = [SVR(C=2.0), NuSVR(C=2.0, nu=0.4), QuantileSVR(quantile=0.3, C=2.0)]
machines = pytest.mark.parametrize("machine", MACHINES, ids=lambda one: type(one).__name__)


def targets(n=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    X[-20:] = X[:20]  # equal samples are merged where their targets are equal, too
    Y = np.c_[np.sin(X[:, 0]), 1e3 * X[:, 1] + rng.normal(size=n), 5.0 + 0.1 * X[:, 2], rng.integers(3, size=n)]
    return X, Y


@machines
@pytest.mark.parametrize("form", ["dense", "sparse", "precomputed", "weights"])
def test_each_target_has_the_bits_of_a_fit_of_its_own(machine, form):
    X, Y = targets()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(X)) if form == "weights" else None
    machine = clone(machine)
    if form == "precomputed":
        X = X @ X.T
        machine.set_params(kernel="precomputed")
    X = sparse.csr_matrix(X) if form == "sparse" else X
    model = clone(machine).fit(X, Y, weight)
    wrapped = MultiOutputRegressor(clone(machine)).fit(X, Y, weight)
    assert model.predict(X).shape == Y.shape
    assert model.duality_gap_.shape == model.n_iter_.shape == model.intercept_.shape == (4,)
    np.testing.assert_allclose(model.predict(X), wrapped.predict(X), rtol=1e-10, atol=1e-10)
    for number, alone in enumerate(wrapped.estimators_):
        np.testing.assert_array_equal(spread(model, len(Y))[number], spread(alone, len(Y))[0])
        for name in ("duality_gap_", "kkt_violation_", "dual_objective_", "primal_objective_", "n_iter_"):
            assert getattr(model, name)[number] == getattr(alone, name)
        assert model.intercept_[number] == alone.intercept_[0]
        if isinstance(machine, NuSVR):
            assert model.epsilon_[number] == alone.epsilon_
    assert model.certificate_.problems == 4
    assert len(model.trace_) == 4


def test_the_score_is_the_mean_over_the_targets():
    X, Y = targets()
    assert get_tags(SVR()).target_tags.multi_output
    model = SVR().fit(X, Y)
    assert model.score(X, Y) == pytest.approx(r2_score(Y, model.predict(X), multioutput="uniform_average"))
    linear = SVR(kernel="linear").fit(X, Y)
    np.testing.assert_allclose(X @ linear.coef_.T + linear.intercept_, linear.predict(X), rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:Curves of quantiles cross")
@pytest.mark.parametrize(
    "model",
    [SVR(), QuantileSVR(quantile=[0.5, 0.9]), SVC(multi_class="ovr", n_jobs=1), SVC(multi_class="ovr", n_jobs=2)],
    ids=str,
)
def test_programs_share_the_time_limit(model):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.normal(size=(200, 2))
    y = y if isinstance(model, SVR) else rng.integers(3, size=200) if isinstance(model, SVC) else y[:, 0]
    model.set_params(C=1e8, gamma=1.0, tol=1e-6, solver="kernel_adatron")
    model.set_params(max_iter=2).fit(X, y)  # compiles
    model.set_params(max_iter=10**9, max_time=2.0).fit(X, y)
    assert model.fit_status_ == 1
    assert model.n_iter_.min() > 0.02 * model.n_iter_.max() > 0
