"""What is counted of partitions does not depend on how rows are divided."""

from math import fsum

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.dask.partition import exact_terms

NUMBERS = st.lists(st.floats(-1e200, 1e200, allow_subnormal=True), max_size=30)


@settings(max_examples=200, deadline=None)
@given(NUMBERS, st.integers(0, 30))
def test_sums_of_parts_are_rounded_once(values, at):
    assert fsum([*exact_terms(values[:at]), *exact_terms(values[at:])]) == fsum(values)


def test_few_terms_stand_for_many_values():
    values = np.random.default_rng(0).normal(size=10_000) * 10.0 ** (np.arange(10_000) % 20)
    assert len(exact_terms(values.tolist())) <= 4
