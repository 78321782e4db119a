"""ARFF as Weka writes it: quotes, UTF-8, dates, rows in braces, and what a damaged file says."""

import time

import numpy as np
import pytest
from scipy import sparse

from adatron.cli import main
from adatron.files import DataError, read
from adatron.files.table import Request
from adatron.files.tables.arff import read_arff

NUMBERS = "@relation r\n@attribute a numeric\n@attribute b real\n@attribute class {yes,no}\n@data\n"
WEKA = r"""% Title: farben
@RELATION 'zwei farben'

@ATTRIBUTE 'die größe'	REAL
@attribute "it's" integer  % counted
@attribute tag date 'yyyy-MM-dd'
@attribute class {'hell grün',rot,'日本',"O\'Neill"}

@DATA
1.5, 2,'1970-01-02','hell grün'
% a comment

-1e-3,3,1970-01-01,rot
0,4,'1969-12-31',日本
2,5,2000-02-29,'O\'Neill'
"""


@pytest.fixture
def write(tmp_path):
    def written(text, name="a.arff"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8", newline="")
        return path

    return written


def test_a_file_of_weka_is_read(write):
    table = read(write(WEKA))
    assert table.feature_names == ("die größe", "it's", "tag")
    day = 86_400_000.0  # a date is the milliseconds since 1970, as in Weka
    assert table.X.tolist() == [[1.5, 2, day], [-1e-3, 3, 0], [0, 4, -day], [2, 5, 11016 * day]]
    assert table.y.tolist() == ["hell grün", "rot", "日本", "O'Neill"]
    assert (table.label_name, table.label_column) == ("class", 3)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("between", [",", ", ", "\t", "  "])
def test_blanks_and_line_ends_do_not_matter(between, end, mark, write):
    rows = "".join(between.join(row) + "\n" for row in (["1", "2.5", "yes"], ["3", "-4", "no"]))
    table = read(write(mark + (NUMBERS + rows).replace("\n", end)))
    assert table.X.tolist() == [[1, 2.5], [3, -4]]
    assert table.y.tolist() == ["yes", "no"]


@pytest.mark.parametrize(
    ("form", "text", "milliseconds"),
    [
        ("", "1970-01-01T00:00:01", 1e3),
        (" 'yyyy-MM-dd HH:mm'", "1970-01-01 01:00", 3.6e6),
        (' "dd.MM.yy"', "02.01.70", 8.64e7),
        (" 'yyyy-MM-dd HH:mm:ss Z'", "1970-01-01 01:00:00 +0100", 0.0),
    ],
)
def test_dates_are_milliseconds_since_1970(form, text, milliseconds, write):
    table = read(write(f"@relation r\n@attribute d date{form}\n@attribute class {{1,2}}\n@data\n'{text}',1\n"))
    assert table.X.tolist() == [[milliseconds]]


def test_rows_in_braces_leave_out_zeros_and_first_values(write):
    table = read(write(NUMBERS + "{0 1.5, 2 no}\n{1 2}\n{}\n{0 0,2 yes}\n"))
    assert sparse.issparse(table.X)
    assert table.X.nnz == 2
    assert table.X.toarray().tolist() == [[1.5, 0], [0, 2], [0, 0], [0, 0]]
    assert table.y.tolist() == ["no", "yes", "yes", "yes"]


@pytest.mark.parametrize("label", [0, "b", "class"])
def test_any_column_of_rows_in_braces_may_be_the_label(label, write):
    text = NUMBERS.replace("{yes,no}", "numeric")
    dense = read(write(text + "1,2,3\n0,0,4\n5,0,0\n", "dense.arff"), label=label)
    lean = read(write(text + "{0 1,1 2,2 3}\n{2 4}\n{0 5}\n"), label=label)
    assert lean.X.toarray().tolist() == dense.X.tolist()
    assert lean.y.tolist() == dense.y.tolist()
    assert lean.feature_names == dense.feature_names


def test_files_with_and_without_braces_are_joined(write):
    paths = [write(NUMBERS + "{0 1}\n", "a.arff"), write(NUMBERS + "0,2,no\n", "b.arff")]
    table = read(paths)
    assert table.X.toarray().tolist() == [[1, 0], [0, 2]]
    assert table.y.tolist() == ["yes", "no"]


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
    table = read_arff(path, Request(categorical="auto", allow_missing=True))
    assert table.categorical == (1,)
    assert [[str(value) for value in row] for row in table.X] == [["nan", "x"], ["2.0", "nan"]]
    with pytest.raises(DataError, match=r"line 6: column 'a' holds '\?', a missing value: train --impute"):
        read_arff(path, Request(categorical="auto"))
    with pytest.raises(DataError, match=r"column 'b' holds 'x', text: train --categorical auto"):
        read(write(head + "1,x,1\n2,y,2\n"))


BAD = {
    "surplus": ("1,2,yes,3", "line 6: 4 values found, 3 expected"),
    "too few": ("1,2", "line 6: 2 values found, 3 expected"),
    "weight": ("1,2,yes,{3}", "line 6: weights of rows"),
    "weight of braces": ("{1 2},{3}", "line 6: weights of rows"),
    "number": ("1,red,yes", r"line 6: column 'b' holds 'red'"),
    "infinite": ("1,1e999,yes", r"line 6: column 'b' holds '1e999'"),
    "undeclared": ("1,2,maybe", r"line 6: column 'class' holds 'maybe'"),
    "no label": ("1,2,?", "line 6: the label is missing"),
    "gap": ("1,?,yes", "line 6: column 'b'"),
    "gap in braces": ("{1 ?}", "line 6: column 'b'"),
    "twice": ("{1 2,1 3}", "line 6: a column has two values"),
    "beyond": ("{1 2,7 3}", "line 6: a number of a column is beyond the columns 0 to 2"),
    "pair": ("{1}", "line 6: not a row"),
    "quote": ("1,2,'yes", "line 6: not a row"),
    "words": ("1,2,yes no", "line 6: not a row"),
    "mixed": ("1,2,yes\n{0 1}", "line 7: a row in braces"),
    "nothing": ("", "a header and no data"),
}


@pytest.mark.parametrize(("rows", "message"), BAD.values(), ids=BAD)
def test_a_bad_row_is_refused_with_its_line(rows, message, write):
    with pytest.raises(DataError, match=rf"a\.arff.*{message}"):
        read(write(NUMBERS + rows + "\n"))


BAD_HEADERS = {
    "relational": ("@attribute a relational", "line 2: the type of 'a' is 'relational'"),
    "form": ("@attribute a date 'QQ'", "line 2: the form 'QQ'"),
    "twice": ("@attribute a numeric\n@attribute a numeric", "line 3: column 'a' is also in line 2"),
    "unquoted": ("@attribute a {x y,z}", "line 2: the values of 'a'"),
    "no end": ("@attribute a {x,y", "line 2: the values of 'a'"),
    "other": ("@column a", "line 2: @relation, @attribute or @data expected"),
    "name": ("@attribute {a} numeric", "line 2: not '@attribute name type'"),
}


@pytest.mark.parametrize(("line", "message"), BAD_HEADERS.values(), ids=BAD_HEADERS)
def test_a_bad_header_is_refused_with_its_line(line, message, write):
    with pytest.raises(DataError, match=rf"a\.arff, {message}"):
        read(write(f"@relation r\n{line}\n@attribute class {{1,2}}\n@data\n1,1\n"))


def test_a_list_without_end_takes_no_time(write):
    """The pattern of liac-arff takes twice as long for each further value."""
    start = time.perf_counter()
    with pytest.raises(DataError, match="the values of 'a'"):
        read(write("@relation r\n@attribute a {" + "x," * 100_000 + "\n@data\n"))
    assert time.perf_counter() - start < 20


def test_a_model_of_rows_in_braces_is_trained_and_used(write, tmp_path, capsys):
    rng = np.random.default_rng(0)
    words = rng.choice(["yes", "no"], 60).tolist()
    rows = [(int(word == "no"), int(rng.integers(2)), word) for word in words]
    dense = write(NUMBERS + "".join("{},{},{}\n".format(*row) for row in rows), "dense.arff")
    lean = write(NUMBERS + "".join("{{0 {},1 {},2 {}}}\n".format(*row) for row in rows))
    for path in (dense, lean):
        assert main(["train", str(path), "--model", str(tmp_path / "m"), "--quiet"]) == 0
        capsys.readouterr()
        assert main(["predict", str(tmp_path / "m"), str(path)]) == 0
        assert capsys.readouterr().out.split() == words


@pytest.mark.parametrize("form", ["yyyy-MM-MM", "yyyy-yyyy", "HH:mm:ss HH", "dd.MM.yy d", "EEE EEE", "Z X", "a a"])
def test_a_date_that_names_a_part_twice_is_refused(form, write, capsys):
    path = write(f"@relation r\n@attribute a numeric\n@attribute d date '{form}'\n@data\n1,'2020-01-01'\n")
    with pytest.raises(DataError, match=rf"line 3: the form '{form}' of the dates of 'd' names a part twice"):
        read(path)
    assert main(["train", str(path), "--model", str(path.with_name("m"))]) == 1
    assert capsys.readouterr().err.startswith(f"error: {path}, line 3")


@pytest.mark.parametrize("form", ["yyyy%Y", "%", "yyyy-MM-dd (", "[yyyy", "yyyy\\\\d", "'yyyy", "D yyyy E", "hh"])
def test_strange_forms_of_dates_are_read_or_refused(form, write):
    path = write(f'@relation r\n@attribute a numeric\n@attribute d date "{form}"\n@data\n1,2020\n')
    with pytest.raises(DataError, match=r"a\.arff"):
        read(path)
