"""Single rows of a text: what is read quickly is what the reader of files makes of the same line."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.files import DataError, read
from adatron.files.source import Piped
from adatron.files.table import Request
from adatron.files.tables.delimited import plain_row
from adatron.files.tables.dialect import find_dialect

FIELDS = st.one_of(
    st.floats(-1e6, 1e6).map(repr),
    st.integers(-99, 99).map(str),
    st.sampled_from(
        ["", "?", "NA", "nan", "inf", "1e999", "007", "2.50", "True", "red", "none", " 3", '"4"', "1_0", "0x1"]
    ),
)


def whole(text, like=None, **options):
    return read(Piped("a.csv", text.encode()), header=False, keep_index=True, **options)


@pytest.mark.parametrize(
    ("separator", "decimal", "label"), [(",", ".", 2), (";", ",", 0), ("\t", ".", 1), (" ", ".", 2)]
)
@settings(deadline=None)
@given(fields=st.lists(FIELDS, min_size=2, max_size=4))
def test_a_row_is_read_as_a_file_of_one_line(separator, decimal, label, fields):
    form = {"separator": separator, "decimal": decimal, "label": label}
    like = whole(separator.join(["1"] * 3), **form)
    line = separator.join(fields).replace(".", decimal)
    found = plain_row(line, like)
    if found is None:
        return  # the reader of files reads it
    expected = whole(line, **form, n_features=2)
    np.testing.assert_array_equal(found.X, expected.X)
    assert (found.y.dtype, found.y.tolist()) == (expected.y.dtype, expected.y.tolist())


@pytest.mark.parametrize("line", ["1.5,2.5,3", "-1e3, 2 ,red", "1,2,007", "1,2,18446744073709551615", "1,2,True"])
def test_plain_rows_are_read_at_once(line):
    like = whole("1,2,0")
    expected = whole(line)
    found = plain_row(line, like)
    assert (found.X.tolist(), found.y.tolist()) == (expected.X.tolist(), expected.y.tolist())


@pytest.mark.parametrize("line", ["1,2", "1,2,3,4", "1,x,0", "1,,0", "nan,1,0", "1,inf,0", "1,2,?", '"1",2,0', "1;2"])
def test_other_rows_are_left_to_the_reader_of_files(line):
    assert plain_row(line, whole("1,2,0")) is None


@pytest.mark.parametrize(
    ("line", "header", "names"),
    [
        ("a;b;class", None, ["a", "b", "class"]),
        (",a,class", None, ["", "a", "class"]),
        ('"x 1"\t"x 2"\ty', None, ["x 1", "x 2", "y"]),
        ("2001,2002,y", None, None),
        ("2001,2002,y", True, ["2001", "2002", "y"]),
        ("0,1,2", True, ["0", "1", "2"]),
        ("a,b,c", False, None),
        ("True,False,yes", None, None),
        ("?,yes", None, None),
        ("1,5;1", None, None),
    ],
)
def test_a_header_has_words_and_no_value(line, header, names):
    dialect, (fields, *_) = find_dialect("a.csv", [line], Request(header=header), ",", 1)
    assert (fields if dialect.header else None) == names


@pytest.mark.parametrize(("line", "preferred"), [("a,b;c,d;e", " "), ("1,5;red", ",")])
def test_a_line_that_may_be_split_in_two_ways_is_an_error(line, preferred):
    with pytest.raises(DataError, match=r"line 4: the separator may be .* --separator"):
        find_dialect("a", [line], Request(), preferred, 4)
