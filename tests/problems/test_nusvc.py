"""The program of a nu-SVC against its primal problem: |w|^2 / 2 + sum w_i max(0, rho - y_i f(x_i)) - rho nu W."""

import numpy as np
import pytest

from adatron.problems import feasible_nu, nusvc
from twins import programs
from twins.primal import AUGMENT, BIASES, data, drawn, function, least, solved


def largest(y, w):
    """The largest nu that two classes have enough weight for."""
    return 2.0 * min(w[y > 0].sum(), w[y < 0].sum()) / w.sum()


@drawn(bias=BIASES, part=(0.2, 0.6, 0.95))
def test_strong_duality(seed, bias, part):
    K, y, w, _ = data(seed)
    total = part * largest(y, w) * w.sum()
    beta, value = solved(K, nusvc(y, w, total / w.sum(), bias, AUGMENT))
    f, half = function(K, beta, bias)
    # With an explicit b each class has a threshold of its own, rho - b and rho + b.
    groups = (y > 0, y < 0) if bias == "explicit" else (y != 0,)
    loss = sum(
        least(lambda p, g=g: w[g] @ np.maximum(0.0, p - (y * f)[g]) - p * total / len(groups), (y * f)[g])
        for g in groups
    )
    assert half + loss == pytest.approx(value, abs=1e-6)


@drawn(bias=BIASES)
def test_several_problems_are_the_parts_of_one_program(seed, bias):
    K, y, w, _ = data(seed)
    order = np.concatenate([np.argsort(-y[:6], kind="stable"), 6 + np.argsort(-y[6:], kind="stable")])
    K, y, w = K[np.ix_(order, order)], y[order], w[order]
    y[6], y[11] = 1.0, -1.0
    first = np.array([0, 6])
    whole = nusvc(y, w, 0.3, bias, AUGMENT, first)
    parts = [nusvc(y[part], w[part], 0.3, bias, AUGMENT) for part in (slice(0, 6), slice(6, 12))]
    assert whole.totals == parts[0].totals + parts[1].totals
    together = np.concatenate([np.pad(programs.matrix(one), ((0, 0), ends))
                               for one, ends in zip(parts, ((0, 6), (6, 0)), strict=True)])  # fmt: skip
    np.testing.assert_array_equal(programs.matrix(whole), together)
    np.testing.assert_array_equal(whole.upper, np.concatenate([one.upper for one in parts]))
    np.testing.assert_array_equal(whole.lower, np.concatenate([one.lower for one in parts]))


@drawn(part=(0.5, 0.999, 1.001, 1.5))
def test_a_nu_is_feasible_if_both_classes_have_its_weight(seed, part):
    _, y, w, _ = data(seed)
    nu = part * largest(y, w)
    assert feasible_nu(1.0, 2.0, 2.0)  # all of both
    assert feasible_nu(nu, w[y > 0].sum(), w[y < 0].sum()) == (part < 1.0)
    capped = min(w[y > 0].sum(), w[y < 0].sum())
    wanted = min(0.5 * nu * w.sum(), capped)
    np.testing.assert_allclose(nusvc(y, w, nu).totals, [wanted, -wanted])
