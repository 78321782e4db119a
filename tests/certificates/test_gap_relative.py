"""A relative gap is one of the objective: no solution is better by more than this fraction, in any units."""

import warnings
from math import inf, nan

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from adatron import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM, QuantileSVR
from adatron.certificates import relative
from adatron.certificates.certify import Certificate
from twins.fitted import truths

EXACT = 1 - 1e-9
SCALES = tuple(2.0**k for k in (-30, -20, -10, 0, 10, 20, 40))  # 1e-9 ... 1e12, and no number is rounded by them
KINDS = (SVC, NuSVC, SVR, NuSVR, QuantileSVR, OneClassSVM, SVDD)
SMALLEST = float(np.finfo(float).tiny)
NUMBERS = st.floats(-1e300, 1e300)


@given(gap=st.floats(0.0, 1e300), dual=NUMBERS, doubt=st.floats(0.0, 1e300), place=st.floats(0.0, 1.0))
@example(gap=1.0, dual=-0.5, doubt=0.0, place=0.5)
def test_no_optimum_within_the_bounds_makes_the_part_larger(gap, dual, doubt, place):
    found, low, high = relative(gap, dual, doubt), dual - doubt, dual + gap + doubt
    optimum = low + place * (high - low)
    if gap == 0.0:
        assert found == 0.0
    elif low <= 0.0 <= high:
        assert found == inf
    else:
        assert abs(optimum) * found >= EXACT * gap or not abs(optimum) > 1e-300


def test_nothing_known_is_an_infinite_part():
    for gap, dual in ((nan, 1.0), (1.0, nan), (1.0, 0.0), (1e-320, 1e-320), (inf, -inf), (inf, inf)):
        assert relative(gap, dual) == inf
    assert relative(0.0, 0.0) == 0.0
    assert relative(0.5, 1.0) == 0.5
    assert relative(0.5 * SMALLEST, SMALLEST) == 0.5  # no digits are lost yet
    assert Certificate(1.0, 0.5, 0.0).relative_gap == 0.5
    assert Certificate(1.0, 0.5, 0.0, slip=0.5).relative_gap == 1.0
    assert Certificate(-1.0, 0.5, 0.0, doubt=0.25).relative_gap == 2.0


def made(kind, rng, C, unit):
    """A machine with its parameters."""
    own = {
        SVC: {"C": rng.choice([C, np.inf])},
        SVR: {"C": C, "epsilon": 0.125 * unit},
        NuSVR: {"C": C},
        QuantileSVR: {"C": C, "quantile": float(rng.choice([0.125, 0.5, 0.875]))},
    }
    bias = (
        {} if kind in (OneClassSVM, SVDD, QuantileSVR) else {"bias": str(rng.choice(["explicit", "augmented", "none"]))}
    )
    share = {"nu": 0.25} if kind in (NuSVC, NuSVR, OneClassSVM, SVDD) else {}
    return kind(max_iter=20_000, **own.get(kind, {}), **bias, **share)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(KINDS), spread=st.sampled_from(SCALES),
    unit=st.sampled_from(SCALES), C=st.sampled_from([1e-12, 1e-6, 1.0, 50.0, 1e6, 1e12]), linear=st.booleans(),
)  # fmt: skip
@example(seed=0, kind=SVC, spread=2.0**20, unit=1.0, C=1.0, linear=True)
@example(seed=5, kind=QuantileSVR, spread=1.0, unit=2.0**-30, C=50.0, linear=True)
def test_claims_are_parts_of_the_objective(seed, kind, spread, unit, C, linear):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 40))
    X = spread * np.round(16.0 * rng.normal(size=(n, 3))) / 16.0
    side = np.where(X[:, 0] + 0.5 * X[:, 1] * (rng.random(n) < 0.8) > 0, 1.0, -1.0)
    side[:2] = 1.0, -1.0
    y = side if kind in (SVC, NuSVC) else unit * rng.normal(size=n)
    spec = ("linear",) if linear else ("poly", 1.0, 3, 1.0)
    machine = made(kind, rng, C, unit).set_params(kernel="linear" if linear else "poly", gamma=1.0, coef0=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = machine.fit(X) if kind in (OneClassSVM, SVDD) else machine.fit(X, y)
        except ValueError as error:  # nu, or a kernel value beyond the range of floats
            if not any(word in str(error) for word in ("nu", "finite", "large")):
                raise
            return
    for true in truths(model, spec, X, y):
        if np.isfinite(model.duality_gap_):
            assert model.duality_gap_ >= EXACT * true.gap.least


def circle(n=40):
    """Points whose sum is 0, by exact opposites."""
    X = np.random.default_rng(3).normal(size=(n, 2))
    return np.concatenate([X, -X])


AT_ZERO = {
    "around the origin": (OneClassSVM(kernel="linear", nu=0.5), circle(), None),
    "without a margin": (NuSVC(kernel="linear", nu=0.5), circle(), np.tile([1, -1], 40)),
    "many rows": (NuSVC(kernel="linear", nu=0.5), circle(600), np.tile([1, -1], 600)),
    "equal samples": (SVDD(nu=0.5), np.full((5, 2), 0.3), None),
    "one target": (NuSVR(nu=0.5), circle(), np.full(80, 0.1)),
}


@pytest.mark.filterwarnings("ignore:Two classes have no margin")
@pytest.mark.parametrize("name", AT_ZERO)
def test_a_fit_whose_optimum_is_0_ends_and_claims_no_part_of_it(name):
    machine, X, y = AT_ZERO[name]
    model = clone(machine).set_params(max_iter=100_000).fit(X, y)
    assert model.fit_status_ == 0
    assert model.kkt_violation_ <= model.tol
    assert model.dual_objective_ <= 0.0 <= model.primal_objective_ <= 1e-6
    assert model.duality_gap_ == inf or model.dual_objective_ == model.primal_objective_
    if model.duality_gap_ == inf:
        assert "no gap below 1e-03 is proven" in str(model.certificate_)
        with pytest.warns(ConvergenceWarning, match="optimum may be 0"):
            model.set_params(gap_tol=1e-6).fit(X, y)
        assert model.fit_status_ == 1


@pytest.mark.parametrize("C", [1e-300, 1e-12, 1e-6])
@pytest.mark.parametrize("kind", [SVC, SVR, NuSVR, QuantileSVR])
def test_a_tiny_C_needs_its_steps_and_no_more(kind, C):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] + 0.5 * X[:, 1] ** 2
    model = kind(C=C, max_iter=10_000).fit(X, y > 0.3 if kind is SVC else y)
    assert model.fit_status_ == 0
    assert 0 < np.max(model.n_iter_) <= 10 * len(X)
    assert model.duality_gap_ <= 1e-3
    assert 0.0 < model.dual_objective_ <= model.primal_objective_ <= (1.0 + 1e-3) * model.dual_objective_
