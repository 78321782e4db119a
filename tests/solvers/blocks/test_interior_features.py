"""Fits over few features: proven, with another solver's objective, and the same bits on two threads."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone, is_classifier

from adatron import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM, QuantileSVR
from adatron.solvers.base import Way
from machines import dense

N = 2600
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 5))
VALUE = X[:, 0] - 0.5 * X[:, 1] + 0.5 * RNG.normal(size=N)
SIDES = (VALUE > 0.2).astype(int)
WEIGHT = RNG.uniform(0.2, 3.0, N)
WEIGHT[::9] = 0.0
ROUNDED = np.round(3.0 * X) / 3.0
LINES = np.column_stack([X, X[:, 0] + X[:, 1], 2.0 * X[:, 2], np.full(N, 4.0), np.zeros(N)])
EMPTY = np.where(np.abs(X) < 0.1, 0.0, X)
LINEAR = {"kernel": "linear"}
FITS = {
    "SVC": (SVC(C=10.0), X, None),
    "weights": (SVC(class_weight="balanced"), X, np.where(WEIGHT > 0.0, WEIGHT, 1e-3)),
    "augmented": (SVC(bias="augmented", augment=0.5), X, None),
    "none": (SVC(bias="none", C=0.01), X, None),
    "SVR": (SVR(C=10.0), X, None),
    "median": (SVR(epsilon=0.0), X, None),
    "SVR augmented": (SVR(bias="augmented"), X, None),
    "QuantileSVR": (QuantileSVR(quantile=0.8), X, None),
    "NuSVR": (NuSVR(nu=0.3), X, None),
    "NuSVC": (NuSVC(nu=0.35), X, None),
    "OneClassSVM": (OneClassSVM(nu=0.2), 3.0 + X, None),
    "SVDD": (SVDD(nu=0.2), X, None),
    "float32": (SVC(), X.astype(np.float32), None),
    "CSR": (SVC(), csr_matrix(EMPTY), None),
    "small": (SVC(C=1e3), 1e-3 * X, None),
    "large": (SVC(C=1e-4), 1e3 * X, None),
    "uneven": (SVR(C=0.1), X * np.logspace(-3, 3, 5), None),
    "constant and collinear": (SVC(), LINES, None),
    "equal rows": (SVC(), np.vstack([X, X[:400]]), None),
    "equal rows, SVR": (SVR(), np.vstack([X, X[:400]]), None),
}


@pytest.mark.parametrize("name", FITS)
def test_a_fit_over_few_features(name):
    machine, rows, weight = FITS[name]
    y = SIDES if is_classifier(machine) else VALUE
    y = np.append(y, y[: rows.shape[0] - N])
    target = (None if isinstance(machine, OneClassSVM | SVDD) else y,)
    one, two = (clone(machine).set_params(**LINEAR, n_jobs=k).fit(rows, *target, sample_weight=weight) for k in (1, 2))
    np.testing.assert_array_equal(one.route_.ways, Way.FEATURES.value)
    assert one.fit_status_ == 0
    assert one.duality_gap_ <= 1e-3
    assert one.kkt_violation_ <= one.tol
    np.testing.assert_array_equal(dense(one.dual_coef_), dense(two.dual_coef_))
    np.testing.assert_array_equal(one.intercept_, two.intercept_)
    closer = clone(machine).set_params(**LINEAR, tol=1e-5, gap_tol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a limit may end it: its bounds hold all the same
        closer.set_params(max_time=5.0).fit(rows, *target, sample_weight=weight)
    unit = 1e-9 * abs(one.primal_objective_)
    assert closer.dual_objective_ <= one.primal_objective_ + unit
    assert one.dual_objective_ <= closer.primal_objective_ + unit


@pytest.mark.parametrize("name", ["SVC", "SVR", "NuSVC"])
def test_the_objective_is_that_of_another_solver(name):
    machine, rows, _ = FITS[name]
    y = SIDES if is_classifier(machine) else VALUE
    ours = clone(machine).set_params(**LINEAR, gap_tol=1e-5, tol=1e-4).fit(rows, y)
    theirs = clone(machine).set_params(**LINEAR, precision="single", gap_tol=1e-4).fit(rows, y)
    assert (theirs.route_.ways != Way.FEATURES.value).all()
    assert ours.dual_objective_ == pytest.approx(theirs.dual_objective_, rel=1e-3)
