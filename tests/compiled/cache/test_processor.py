"""Which class a processor belongs to."""

import pytest

from adatron.compiled.cache.precompiled import PROCESSOR_CLASSES, needed, processor_class
from adatron.compiled.micro import layout
from processes import python

V3, V4 = needed("x86-64-v3"), needed("x86-64-v4")


@pytest.mark.parametrize("name", PROCESSOR_CLASSES)
def test_a_processor_with_more_belongs_to_the_class(name):
    assert processor_class(needed(name)) == name
    assert processor_class(needed(name) | {"+something", "+sse4a"}) == name


def test_the_best_class_is_chosen():
    """Processors between two classes are of the lower one: some have AVX-512, but not all of it."""
    assert V3 < V4
    assert processor_class(V3 | {"+avx512f", "+avx512cd"}) == "x86-64-v3"
    for lacks in V3:
        assert processor_class(V4 - {lacks}) is None
    assert processor_class(frozenset()) is None


@pytest.mark.parametrize("name", PROCESSOR_CLASSES)
def test_all_processors_of_a_class_have_one_layout(name):
    """Compiled code has the layout in it."""
    every = {"+neon", "+crc", "+sve"} if name == "generic" else V4
    ones = [needed(name) | {more} for more in every] + [every - {one} for one in every]
    of_class = [has for has in ones if processor_class(has) == name]
    assert len(of_class) > 1
    assert {layout(has) for has in of_class} == {layout(needed(name))}


@pytest.mark.slow
def test_the_compilers_settings_count():
    """Who forbids AVX, or names a processor without it, gets no code with it."""
    code = "from adatron.compiled.cache.precompiled import features; print('+avx' in features())"
    for setting in ({"NUMBA_ENABLE_AVX": "0"}, {"NUMBA_CPU_NAME": "generic"}, {"NUMBA_CPU_FEATURES": "+sse2"}):
        assert python("-c", code, **setting).stdout == "False\n"
