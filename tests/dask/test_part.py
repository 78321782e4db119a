"""Slabs report some of their violators; the worst of all slabs are those of one machine."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.dask.part import Part, violators
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
