"""ARFF as Weka writes it: quotes, UTF-8, and what a damaged file says."""

import time

import pytest

from adatron.files import DataError, read

NAME = "a.arff"
NUMBERS = "@relation r\n@attribute a numeric\n@attribute b real\n@attribute class {yes,no}\n@data\n"
WEKA = r"""% Title: farben
@RELATION 'zwei farben'

@ATTRIBUTE 'die größe'	REAL
@attribute 'it\'s' integer  % counted
@attribute class {'hell grün',rot,'日本','O\'Neill'}

@DATA
1.5, 2,'hell grün'
% a comment

-1e-3,3,rot
0,4,日本
2,5,'O\'Neill'
"""


def test_a_file_of_weka_is_read(write):
    table = read(write(WEKA))
    assert table.feature_names == ("die größe", "it's")
    assert table.X.tolist() == [[1.5, 2], [-1e-3, 3], [0, 4], [2, 5]]
    assert table.y.tolist() == ["hell grün", "rot", "日本", "O'Neill"]
    assert (table.label_name, table.label_column) == ("class", 2)


@pytest.mark.parametrize(
    ("between", "end", "mark"), [(",", "\n", "\ufeff"), (", ", "\r\n", ""), ("\t", "\n", ""), ("  ", "\r\n", "\ufeff")]
)
def test_blanks_and_line_ends_do_not_matter(between, end, mark, write):
    rows = "".join(between.join(row) + "\n" for row in (["1", "2.5", "yes"], ["3", "-4", "no"]))
    table = read(write(mark + (NUMBERS + rows).replace("\n", end)))
    assert table.X.tolist() == [[1, 2.5], [3, -4]]
    assert table.y.tolist() == ["yes", "no"]


def test_rows_in_braces_are_named_as_such(write):
    with pytest.raises(DataError, match=r"line 6: rows in braces \(sparse ARFF\) are not read"):
        read(write(NUMBERS + "{0 1.5, 2 no}\n{1 2}\n"))


def test_double_quotes_are_quotes_too(write):
    text = '@relation r\n@attribute "a b" real\n@attribute class {"x y","z"}\n@data\n1,"x y"\n2,z\n'
    table = read(write(text))
    assert (table.feature_names, table.y.tolist()) == (("a b",), ["x y", "z"])


@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        ("{01,1,1.0}", ["01", "1", "1.0"]),
        ("{7,-1,0}", [7, -1, 0]),
        ("numeric", [9007199254740993, 9007199254740992, -1]),
        ("numeric", [18446744073709551615, 18446744073709551614, 0]),
        ("numeric", [0.5, 1.5, 2.5]),
        ("string", ["x y", "?!", "1"]),
    ],
)
def test_labels_stay_what_they_were(kind, labels, write):
    rows = "".join(f"{i},0,'{label}'\n" for i, label in enumerate(labels))
    table = read(write(NUMBERS.replace("{yes,no}", kind) + rows))
    assert table.y.tolist() == labels


def test_a_request_may_allow_text_and_gaps(write):
    head = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute class {1,2}\n@data\n"
    path = write(head + "?,x,1\n2,?,2\n")
    table = read(path, categorical="auto", allow_missing=True)
    assert table.categorical == (1,)
    assert [[str(value) for value in row] for row in table.X] == [["nan", "x"], ["2.0", "nan"]]
    with pytest.raises(DataError, match=r"line 6: column 'a' holds '\?', a missing value: train --impute"):
        read(path, categorical="auto")
    with pytest.raises(DataError, match=r"column 'b' holds 'x', text: train --categorical auto"):
        read(write(head + "1,x,1\n2,y,2\n"))


BAD = {
    "surplus": ("1,2,yes,3", "line 6: 4 fields found, 3 expected"),
    "too few": ("1,2", "line 6: 2 fields found, 3 expected"),
    "weight": ("1,2,yes,{3}", "line 6: 4 fields found, 3 expected"),
    "number": ("1,red,yes", r"line 6: column 'b' holds 'red'"),
    "underscore": ("1,1_0,yes", r"line 6: column 'b' holds '1_0'"),
    "infinite": ("1,1e999,yes", r"line 6: column 'b' holds '1e999'"),
    "undeclared": ("1,2,yes\n1,2,maybe", r"line 7: column 'class' holds 'maybe', which it does not declare"),
    "no label": ("1,2,?", "line 6: the label is missing"),
    "gap": ("1,?,yes", r"line 6: column 'b' holds '\?', a missing value: train --impute"),
    "quote": ("1,2,'yes", r"line 6: not a table \(unexpected end of data\)"),
    "quote within": ("1,2,'yes'no", r"line 6: not a table"),
    "words": ("1,2,yes no", "line 6: column 'class' holds 'yes no', which it does not declare"),
    "mixed": ("1,2,yes\n{0 1}", "line 7: 1 fields found"),
    "nothing": ("", "a header and no data"),
}


@pytest.mark.parametrize(("rows", "message"), BAD.values(), ids=BAD)
def test_a_bad_row_is_refused_with_its_line(rows, message, write):
    with pytest.raises(DataError, match=rf"a\.arff.*{message}"):
        read(write(NUMBERS + rows + "\n"))


BAD_HEADERS = {
    "relational": ("@attribute a relational", "line 2: the type of 'a' is 'relational'"),
    "date": ("@attribute a date 'yyyy-MM-MM'", "line 2: the type of 'a' is 'date'"),
    "twice": ("@attribute a numeric\n@attribute a numeric", "line 3: two columns are named 'a'"),
    "no end": ("@attribute a {x,y", "line 2: not '@attribute name type'"),
    "other": ("@column a", "line 2: not '@attribute name type'"),
    "name": ("@attribute {a} numeric", "line 2: not '@attribute name type'"),
}


@pytest.mark.parametrize(("line", "message"), BAD_HEADERS.values(), ids=BAD_HEADERS)
def test_a_bad_header_is_refused_with_its_line(line, message, write):
    with pytest.raises(DataError, match=rf"a\.arff, {message}"):
        read(write(f"@relation r\n{line}\n@attribute class {{1,2}}\n@data\n1,1\n"))


def test_a_list_without_end_takes_no_time(write):
    start = time.perf_counter()
    with pytest.raises(DataError, match="not '@attribute name type'"):
        read(write("@relation r\n@attribute a {" + "x," * 100_000 + "\n@data\n"))
    assert time.perf_counter() - start < 20
