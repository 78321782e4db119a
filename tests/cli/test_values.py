"""Values of options: numbers, lists, ranges, and the word auto; each error says what is allowed."""

import math

import click
import pytest

from adatron.cli.commands.search import search
from adatron.cli.options import SEARCHED
from adatron.cli.values import ListedValues, Number


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


OPTIONS = {option.name: option for option in search.params}
ABOVE_0 = ListedValues(Number(0, above=True, finite=False), found=True)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1", (1.0,)),
        ("1,10,100", (1.0, 10.0, 100.0)),
        ("0.1:1000", (0.1, 1.0, 10.0, 100.0, 1000.0)),
        ("1:10", (1.0, 3.16228, 10.0)),
        ("0.1:1000:3", (0.1, 10.0, 1000.0)),
        ("1:100:3,inf,10", (1.0, 10.0, 100.0, float("inf"))),
        ("auto", "auto"),
    ],
)
def test_lists_and_ranges(text, values):
    assert ABOVE_0.convert(text, None, None) == values


def test_whole_numbers():
    degree = OPTIONS["degree"].type
    assert degree.convert("2:5", None, None) == (2, 3, 4, 5)
    assert degree.convert("1:100:3", None, None) == (1, 10, 100)
    assert OPTIONS["gamma"].type.convert("scale,0.1", None, None) == ("scale", 0.1)
    assert OPTIONS["epsilon"].type.convert("0,0.1:10:3", None, None) == (0.0, 0.1, 1.0, 10.0)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("C", "1,,2", "'' is not a number of [x>0"),
        ("C", "0:1", "'0' is not a number of [x>0"),
        ("C", "10:1", "the range '10:1' begins with its larger end"),
        ("C", "1:", "'1:': a range needs two ends, such as 1:100"),
        ("degree", ":5:3", "':5:3': a range needs two ends"),
        ("C", "10:10", "the range '10:10' has one value; write 10"),
        ("degree", "2:2", "the range '2:2' has one value; write 2"),
        ("C", "1:10:1", "'1' is not a whole number of [2<=n<=1000"),
        ("C", "1:2:3:4", "'1:2:3:4' is not a range FROM:TO or FROM:TO:COUNT"),
        ("C", "1,auto", "'auto' in '1,auto' stands alone"),
        ("nu", "0.5:2", "'2' is not a number of [0<x<=1"),
        ("coef0", "-1:1", "'-1' is not a number of [x>0"),
        ("degree", "auto", "'auto' in 'auto' stands alone"),
        ("degree", "1:5000", "more than 1000 values"),
        ("C", "1:inf", "'inf' is not a finite number"),
    ],
)
def test_what_is_wrong_with_a_value_is_said(name, text, message):
    with pytest.raises(click.BadParameter) as error:
        OPTIONS[name].type.convert(text, OPTIONS[name], None)
    assert message in str(error.value)


def test_the_help_shows_the_forms():
    text = search.get_help(click.Context(search)).replace("\n", "")
    assert "--C auto|LIST|RANGE" in text
    assert "--degree LIST|RANGE" in text
    assert set(SEARCHED) <= set(OPTIONS)
