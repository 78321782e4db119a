"""Slabs: which samples each has, what it counts, and whose violators are the worst of all.

Also tested here: ``far`` and ``partition``.
"""

from math import fsum
from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.dask.far import SlabLayout, layout_joined
from adatron.dask.gradient import Part, violators
from adatron.dask.partition import exact_terms
from adatron.dask.state import SlabViolators, SurveyReport
from adatron.solvers.blocks.shard import Violators, worst

PROGRAM = SimpleNamespace()


def report(values, most):
    found = worst(Violators(np.arange(len(values)), values), most)
    return SurveyReport([(SlabViolators(*found), SlabViolators(*found))], most, np.zeros(0), {}, "")


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6)), min_size=1, max_size=60),
    st.integers(1, 20),
    st.integers(1, 6),
)
def test_the_worst_of_all_are_known_after_two_reports(some, most, asked):
    """Values repeat, so that slabs have equal ones where the list ends."""
    slab, values = (np.array(column) for column in zip(*some, strict=True))
    values = values.astype(float)
    parts = {j: Part(PROGRAM, np.flatnonzero(slab == j), 1.0) for j in range(3)}
    reports = {j: report(values[part.ids], min(asked, most)) for j, part in parts.items()}
    lists, short = violators(parts, reports, 1, most)
    reports.update({j: report(values[parts[j].ids], most) for j in short})
    lists, short = violators(parts, reports, 1, most)
    wanted = worst(Violators(np.arange(len(values)), values), most)
    assert not short
    assert [one.tolist() for one in lists] == [one.tolist() for one in (*wanted, *wanted)]


def test_slabs_are_asked_for_somewhat_more_than_was_needed():
    values = np.arange(3000.0)
    parts = {0: Part(PROGRAM, np.arange(2900), 970.0), 1: Part(PROGRAM, np.arange(2900, 3000), 30.0)}
    reports = {j: report(values[part.ids], part.most) for j, part in parts.items()}
    _, short = violators(parts, reports, 1, 1000)
    assert short == {1}
    reports[1] = report(values[parts[1].ids], 1000)
    violators(parts, reports, 1, 1000)
    assert 900 <= parts[0].most < 1010
    assert 100 <= parts[1].most < 130


def test_every_sample_is_in_one_place():
    layout = SlabLayout(np.array([[3, 0, 2], [0, 4, 1], [5, 1, 0]]), np.zeros(0, np.int64))
    slab, row = layout.where(np.arange(layout.samples))
    assert layout.samples == 16
    assert sorted(zip(slab.tolist(), row.tolist(), strict=True)) == [
        (j, i) for j, n in enumerate(layout.counts.sum(axis=1)) for i in range(n)
    ]
    parts = [np.array([np.flatnonzero((slab == j) & (row == i))[0] for i in range(n)])
             for j, n in enumerate(layout.counts.sum(axis=1))]  # fmt: skip
    assert (layout_joined(layout, parts) == np.arange(layout.samples)).all()


def test_samples_are_divided_by_slabs():
    layout = SlabLayout(np.array([[2, 2], [2, 2]]), np.zeros(0, np.int64))
    wanted = np.array([7, 0, 3, 4])
    found = {j: (rows.tolist(), places.tolist()) for j, rows, places in layout.divided(wanted)}
    assert found == {0: ([0, 2], [1, 3]), 1: ([3, 1], [0, 2])}


NUMBERS = st.lists(st.floats(-1e200, 1e200, allow_subnormal=True), max_size=30)


@settings(max_examples=200, deadline=None)
@given(NUMBERS, st.integers(0, 30))
def test_sums_of_parts_are_rounded_once(values, at):
    assert fsum([*exact_terms(values[:at]), *exact_terms(values[at:])]) == fsum(values)


def test_few_terms_stand_for_many_values():
    values = np.random.default_rng(0).normal(size=10_000) * 10.0 ** (np.arange(10_000) % 20)
    assert len(exact_terms(values.tolist())) <= 4
