"""Sums of a linear kernel through the features are exact up to their bounds, which no cancellation makes larger."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from adatron.compiled.products import spread_csr, spread_rows
from adatron.gram import Source
from adatron.gram.features import by_features
from adatron.kernels import Linear
from adatron.threads import Pool

FORMS = {"dense": np.asarray, "float32": lambda X: X.astype(np.float32), "CSR": sparse.csr_matrix}


def exact(source, v):
    """The sums of the rows as given, less the centre."""
    rows = source.given()
    rows = rows.toarray() if sparse.issparse(rows) else rows
    center = source.center.tolist() or [0.0] * rows.shape[1]
    near = [[Fraction(float(x)) - Fraction(m) for x, m in zip(row, center, strict=True)] for row in rows]
    w = [sum(Fraction(float(a)) * row[k] for a, row in zip(v, near, strict=True)) for k in range(len(center))]
    return [sum(x * y for x, y in zip(row, w, strict=True)) for row in near]


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 9999),
    form=st.sampled_from(sorted(FORMS)),
    d=st.sampled_from([1, 3, 8, 19]),
    far=st.sampled_from([0.0, 1.0, 1e9]),
    power=st.sampled_from([-150, -8, 0, 8, 120]),
    balanced=st.booleans(),
)
def test_errors_are_within_their_bounds(seed, form, d, far, power, balanced):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(12, d)) + far) * 10.0 ** rng.uniform(-4, 4, d)
    X = FORMS[form](X if form == "float32" else X * 10.0**power)
    v = rng.normal(size=12) * 10.0 ** rng.uniform(0, 12, 12)
    v[0] -= v.sum()
    source = Source.of(X, np.arange(12), Linear(), balanced=balanced)
    found, bounds = by_features(source, source, v, Pool(1))
    off = [abs(Fraction(float(one)) - true) for one, true in zip(found, exact(source, v), strict=True)]
    assert all(one <= Fraction(float(bound)) for one, bound in zip(off, bounds, strict=True))


@pytest.mark.plain
@pytest.mark.parametrize("form", ["dense", "CSR"])
def test_a_product_and_what_rounding_takes_of_it_are_the_exact_product(form):
    """The compiler must not fuse a product with the sum that follows."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        x, v = rng.normal(size=(1, 9)), rng.normal(size=1)
        w, low, mass = np.zeros((3, 10))
        if form == "CSR":
            X = sparse.csr_matrix(x)
            spread_csr(X.data, X.indices, X.indptr, v, w, low, mass)
        else:
            spread_rows(x, np.arange(1), v, 0, 1, w, low, mass)
        for k in range(9):
            assert Fraction(w[k]) + Fraction(low[k]) == Fraction(v[0]) * Fraction(x[0, k])


@pytest.mark.parametrize("form", ["dense", "CSR"])
def test_bounds_do_not_grow_with_terms_that_cancel(form):
    """Of coefficients up to 1e12 hardly anything is left; as a sum of values, its bound would be above 0.1."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    v = rng.normal(size=400) * 1e12
    v -= X @ np.linalg.lstsq(X, v, rcond=None)[0]
    source = Source.of(FORMS[form](X), np.arange(400), Linear())
    found, bounds = by_features(source, source, v, Pool(1))
    assert np.abs(found).max() < 1.0
    assert bounds.max() <= 1e-10


def test_what_is_too_large_for_float64_has_no_bound():
    source = Source.of(np.full((2, 1), 1e200), np.arange(2), Linear())
    assert np.isinf(by_features(source, source, np.ones(2), Pool(1))[1]).all()
