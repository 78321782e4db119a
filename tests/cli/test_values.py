"""Values of options: each error says what is allowed."""

import math

import click
import pytest

from adatron.cli.values import Number


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        (Number(0, whole=True), "2.5", "'2.5' is not a whole number of .n>=0"),
        (Number(0, above=True), "0", "'0' is not a number of .x>0"),
        (Number(0, above=True), "inf", "'inf' is not a finite number"),
        (Number(0, 1, above=True), "1.5", "'1.5' is not a number of .0<x<=1"),
        (Number(0, 2**32 - 1, whole=True), "4294967296", "n<=4294967295"),
        (Number(whole=True, but=0), "0", "'0' is not a whole number of .n!=0"),
        (Number(0, words=("scale", "auto")), "wide", "'wide' is not a number of .scale.auto.x>=0"),
        (Number(), "nan", "'nan' is not a number"),
    ],
)
def test_what_is_not_allowed_is_said(kind, text, said):
    with pytest.raises(click.BadParameter, match=said):
        kind.convert(text, None, None)


def test_what_is_allowed_is_read():
    assert Number(0, above=True, finite=False).convert("inf", None, None) == math.inf
    assert Number(0, words=("auto",)).convert("auto", None, None) == "auto"
    found = Number(-1, whole=True).convert("7", None, None)
    assert (found, type(found)) == (7, int)
