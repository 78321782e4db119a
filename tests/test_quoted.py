"""Messages show numbers as their users write them."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adatron import SVC, IncrementalSVC
from adatron.kernels import RBF
from adatron.quoted import quoted, raised, upward


@pytest.mark.parametrize("value", [np.int64(2), [np.float64(0.5)], {np.int64(1): np.float64(2.0)}, np.float32(1)])
def test_no_type_of_numpy_is_shown(value):
    assert "np." not in quoted(value)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda X, y: SVC(C=np.float64(-1)).fit(X, y),
        lambda X, y: SVC(degree=np.int64(-1)).fit(X, y),
        lambda X, y: SVC(class_weight={np.int64(0): np.float64(-1)}).fit(X, y),
        lambda X, y: SVC(class_weight={np.int64(7): 1.0}).fit(X, y),
        lambda X, y: RBF(np.float64(-1)),
        lambda X, y: IncrementalSVC().fit(X, y).set_C(np.float64(-1)),
        lambda X, y: IncrementalSVC().fit(X, y).forget([np.int64(99)]),
        lambda X, y: IncrementalSVC().fit(X, y).partial_fit(X, y + 5),
        lambda X, y: IncrementalSVC().fit(X, y).set_params(gamma=np.float64(3)).partial_fit(X, y),
    ],
)
def test_errors_show_plain_numbers(wrong):
    with pytest.raises(ValueError, match=r"\d") as caught:
        wrong(np.eye(4), np.array([0, 0, 1, 1]))
    assert "np." not in str(caught.value)


@given(st.floats(allow_nan=False), st.integers(2, 17))
@example(1e-15, 7)  # the float lies above its seven digits: one unit of the last digit, and the roundings of both
@example(1.0187831791477488e-19, 17)  # the next float is the bound, and is further away than a part in 1e16
@example(5.960464477539063e-08, 16)  # the float next to these digits has smaller ones
def test_a_bound_in_words_is_a_bound(bound, digits):
    assert float(upward(bound, digits)) >= bound
    assert -raised(-bound, digits) <= bound
    if abs(bound) > 1e-300:
        assert (
            np.isclose(raised(bound, digits), bound, rtol=10.0 ** (1 - digits) + 2.0**-52, atol=0) or abs(bound) > 1e307
        )


@pytest.mark.parametrize(
    ("bound", "words"), [(0.0, "0.0e+00"), (np.inf, "inf"), (np.nan, "nan"), (4.047e-6, "4.1e-06")]
)
def test_what_is_no_size_stays(bound, words):
    assert upward(bound) == upward(np.float64(bound)) == words
