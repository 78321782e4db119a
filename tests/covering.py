"""Some combinations of many, in which each two values meet."""

from itertools import combinations, product

import pytest


def covering(tables):
    """A few of these tuples: each pair of values that is in some tuple, at its two places, is in one of the few.

    The next tuple is the first of those that have most pairs which none before has.
    """
    wanted = [set(combinations(enumerate(map(str, one)), 2)) for one in tables]
    left, chosen = set().union(*wanted), []
    while left:
        number = max(range(len(tables)), key=lambda k: (len(wanted[k] & left), -k))
        chosen.append(number)
        left -= wanted[number]
    return [tables[number] for number in sorted(chosen)]


def parametrized(**values):
    """The mark of a test with these arguments, by a covering of all combinations of their values."""
    return pytest.mark.parametrize(tuple(values), covering(list(product(*values.values()))), ids=named)


def named(value):
    """The part of a test's name that tells of a value."""
    return getattr(value, "__name__", str(value))
