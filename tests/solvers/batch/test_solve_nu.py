"""NuSVC with many classes: batches of pairs say what each pair alone says, and what they prove is true."""

import os
import signal
import threading
import time
import warnings
from itertools import combinations

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from adatron import SVC, NuSVC
from adatron.kernels import RBF
from adatron.solvers.base import Way
from covering import parametrized
from twins.fitted import true_claims

GAMMA = 0.05


def blobs(n=180, classes=12, seed=0, spread=3.0):
    X, y = make_blobs(n, 5, centers=classes, cluster_std=spread, random_state=seed)
    return X, y


@pytest.mark.slow
@parametrized(
    bias=["explicit", "augmented", "none"],
    form=["dense", "sparse", "given", "function"],
    weighted=[False, True],
    nu=[0.5, 0.05, 1e-6],
    more=[{}, {"gap_tol": 1e-6}, {"tol": 1e-8}],
    equal=[False, True],
)
def test_pairs_in_batches_are_what_each_pair_is_alone(bias, form, weighted, nu, more, equal):
    X, y = blobs()
    if equal:
        X = np.rint(X / 3.0)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else None
    parameters = {"nu": nu, "bias": bias, "gamma": GAMMA, **more}
    given = {"sparse": sparse.csr_matrix(X), "given": RBF(GAMMA)(X)}.get(form, X)
    kernel = {"given": "precomputed", "function": RBF(GAMMA).__call__}.get(form, "rbf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # equal samples of both classes leave no margin
        model = NuSVC(kernel=kernel, **parameters).fit(given, y, weight)
    assert (model.route_.ways == Way.BATCH).all()
    if form != "given":  # equal samples are one
        found = true_claims(model, ("rbf", GAMMA), X, y, weight, objectives=False)
        assert max(true.missed for true in found) <= 1e-9
    for k, pair in list(enumerate(combinations(range(12), 2)))[::7]:
        own = np.flatnonzero(np.isin(y, pair))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            alone = NuSVC(**parameters).fit(X[own], y[own], None if weight is None else weight[own])
        units = 1.0 if weight is None else (model_unit(weight) / model_unit(weight[own])) ** 2
        gap = (model.primal_objective_ - model.dual_objective_)[k], alone.primal_objective_ - alone.dual_objective_
        assert abs(model.dual_objective_[k] - alone.dual_objective_) <= max(gap) * 1.01 + 1e-12 * units


def model_unit(weight):
    """The number that weights are divided by; objectives are those of the weights as given."""
    return 2.0 ** np.round(np.log2(weight.mean()))


@pytest.mark.plain
def test_margins_below_1_are_found_by_refinement():
    """A wide kernel leaves tiny margins: the tolerance must mean the same for each of them."""
    X, y = blobs(120, 8)
    model = NuSVC(nu=0.2, gamma=1e-4).fit(X, y)
    assert (model.route_.ways == Way.BATCH).all()
    fine = NuSVC(nu=0.2, gamma=1e-4, tol=1e-7).fit(X, y)
    for one in (model, fine):
        one.decision_function_shape = "ovo"
    np.testing.assert_allclose(model.decision_function(X), fine.decision_function(X), atol=0.05)


@pytest.mark.parametrize("machine", [SVC(), NuSVC(nu=0.3)], ids=["SVC", "NuSVC"])
def test_no_time_is_left_for_most_pairs(machine):
    X, y = blobs(1200, 300)
    machine.set_params(max_time=1e-9)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        machine.fit(X, y)
    assert machine.fit_status_ == 1
    assert np.isinf(machine.kkt_violation_).all()
    assert np.isfinite(machine.dual_coef_).all()
    assert set(machine.predict(X[:5])) <= set(y)


def again(model, X, y, end):
    """Fit again and again."""
    while time.monotonic() < end:
        model.fit(X, y)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_a_fit_of_many_pairs():
    X, y = blobs(8000, 400)
    NuSVC(nu=0.3).fit(X[:200], y[:200] % 20)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begun = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            again(NuSVC(nu=0.3), X, y, begun + 60)
    finally:
        timer.cancel()


@pytest.mark.parametrize("bias", ["explicit", "none"])
def test_one_against_the_rest_goes_one_by_one(bias):
    X, y = blobs()
    model = NuSVC(nu=0.1, multi_class="ovr", bias=bias).fit(X, y)
    assert (model.route_.ways == Way.DENSE).all()
    assert model.fit_status_ == 0


@pytest.mark.parametrize("classes", [3, 12, 40])
def test_values_are_those_of_scikit_learn(classes):
    X, y = blobs(classes * 12, classes)
    ours, theirs = NuSVC(nu=0.3, tol=1e-8).fit(X, y), sklearn.svm.NuSVC(nu=0.3, tol=1e-9).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    ours.decision_function_shape = theirs.decision_function_shape = "ovo"
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)  # of theirs
    assert ours.kkt_violation_.max() <= 1e-8


def test_a_second_fit_has_the_same_bits_with_other_threads():
    X, y = blobs(2000, 50)
    one, two = NuSVC(nu=0.2, n_jobs=1).fit(X, y), NuSVC(nu=0.2, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(one.duality_gap_, two.duality_gap_)
