"""Values at left-out samples are within the bounds of their errors, by kernel values of any size."""

from fractions import Fraction

import numpy as np
import pytest

from adatron import SVC
from adatron.kernels import RBF, Linear, Polynomial
from adatron.selection.search.rows import SharedRows
from adatron.selection.search.values import SharedSums, rate
from adatron.threads import Pool


def exact(kernel, X, Z):
    """Kernel values of the numbers that the rows hold; those of a Gaussian as good as long double has them."""
    A, B = ([[Fraction(float(v)) for v in row] for row in rows] for rows in (X, Z))
    if isinstance(kernel, RBF):
        squares = [[sum((a - b) ** 2 for a, b in zip(x, z, strict=True)) for z in B] for x in A]
        wide = [[np.longdouble(s.numerator) / np.longdouble(s.denominator) for s in row] for row in squares]
        return np.exp(-np.longdouble(kernel.gamma) * np.array(wide))
    products = [[sum(a * b for a, b in zip(x, z, strict=True)) for z in B] for x in A]
    if isinstance(kernel, Polynomial):
        numbers = Fraction(kernel.gamma), Fraction(kernel.coef0)
        products = [[(numbers[0] * p + numbers[1]) ** kernel.degree for p in row] for row in products]
    return np.array(products, object)


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear(), Polynomial(gamma=0.25, degree=3, coef0=1.0)])
@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("room", [0.0, 1e9])
def test_sums_are_as_near_as_is_promised(kernel, offset, dtype, room):
    rng = np.random.default_rng(0)
    X, y = (rng.normal(size=(60, 4)) + offset).astype(dtype), np.tile([0, 1], 30)
    rows = SharedRows.of(SVC(), X, y, None)
    B, ids = rng.normal(size=(rows.size, 2)) * [1.0, 1e6], np.arange(rows.size)
    with Pool(1) as pool:
        sums = SharedSums(rows, kernel, float(np.abs(B).sum()), 1e-9, room, pool, None)
        assert sums.at_hand == (room > 0.0)
        found = sums.of(ids[:20], ids, B)
        bound = rate(sums.gram.rounding, sums.gram.magnitude, rows.size) * np.abs(B).sum(axis=0)
    given = X[rows.distinct.rows]
    K = exact(kernel, given[:20], given)
    for k in range(2):
        if isinstance(kernel, RBF):
            truth = K @ B[:, k].astype(np.longdouble)
            slack = 1e-17 * np.abs(B[:, k]).sum()  # of the truth itself
        else:
            truth, slack = K @ np.array([Fraction(b) for b in B[:, k]], object), 0.0
        errors = [
            abs(float(t - (np.longdouble(f) if isinstance(kernel, RBF) else Fraction(f))))
            for t, f in zip(truth, found[:, k], strict=True)
        ]
        assert max(errors) <= bound[k] + slack
        assert bound[k] < 1e-8 * sums.gram.magnitude * np.abs(B[:, k]).sum()
