"""Delimited text: the same table in every dialect, and never a wrong one."""

import contextlib
import csv
import io
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from adatron.files import DataError, read
from adatron.files.tables.fields import Lines
from moments import at

X = [[1.5, 20.0, 0.25], [2.75, -3.0, 1.0], [0.5, 4.0, -2.5]]
Y = ["hell grün", "rot", "hell grün"]
NAMES = ("größe", "b", "c d")
NAME = "a.csv"


def quiet(path, **options):
    """Read without any warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read(path, **options)


def frame():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(X, columns=list(NAMES)).assign(art=Y)


def pandas_text(**options):
    return lambda: frame().to_csv(index=False, **options).encode(options.get("encoding", "utf-8"))


def polars_text(**options):
    def make():
        polars = pytest.importorskip("polars")
        return (
            polars.DataFrame(dict(zip(NAMES, np.transpose(X), strict=True)) | {"art": Y}).write_csv(**options).encode()
        )

    return make


def r_text(separator=" ", decimal="."):
    """As R's write.table: quoted text, and row names without a name."""

    def make():
        rows = [[f'"{i}"', *map(str, x), f'"{y}"'] for i, (x, y) in enumerate(zip(X, Y, strict=True), 1)]
        body = [separator.join(cell.replace(".", decimal) for cell in row) for row in rows]
        return "\n".join([separator.join(f'"{name}"' for name in (*NAMES, "art")), *body, ""]).encode()

    return make


def excel_text(encoding="utf-8-sig", hint=""):
    """As Excel writes it in half of Europe."""

    def make():
        rows = [[str(value).replace(".", ",") for value in x] + [y] for x, y in zip(X, Y, strict=True)]
        return (hint + "".join(";".join(row) + "\r\n" for row in [[*NAMES, "art"], *rows])).encode(encoding)

    return make


DIALECTS = {
    "pandas": pandas_text(),
    "pandas, semicolons": pandas_text(sep=";", decimal=","),
    "pandas, tabs": pandas_text(sep="\t"),
    "pandas, bars": pandas_text(sep="|"),
    "pandas, everything quoted": pandas_text(quoting=1),
    "pandas, quoted decimal commas": pandas_text(quoting=1, decimal=","),
    "polars": polars_text(),
    "polars, tabs": polars_text(separator="\t", quote_style="always"),
    "R": r_text(),
    "R, csv2": r_text(";", ","),
    "Excel": excel_text(),
    "Excel, UTF-16": excel_text("utf-16"),
    "Excel, hint": excel_text(hint="sep=;\r\n"),
    "comments and blank lines": lambda: b"# made up\n\n" + pandas_text()().replace(b"\n", b"\n\n# more\n  \n"),
    "spaces after commas": lambda: pandas_text()().replace(b",", b",  "),
    "old Mac": lambda: pandas_text()().replace(b"\n", b"\r"),
    "surplus comma in the header": lambda: pandas_text()().replace(b",art\n", b",art,\n"),
    "surplus comma everywhere": lambda: pandas_text()().replace(b"\n", b",\n"),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_gives_the_same_table(dialect, write):
    for name in ("a.csv", "a.txt", "a.tsv", "a"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            table = read(write(DIALECTS[dialect](), name))
        left_out = ["no feature and was left out" in str(one.message) for one in caught]
        assert left_out == [True] * (dialect.startswith("R") or "everywhere" in dialect)
        assert table.X.tolist() == X
        assert table.X.dtype == np.float64
        assert (table.y.tolist(), table.feature_names, table.label_name) == (Y, NAMES, "art")


def test_the_summary_says_what_was_inferred(write):
    table = read(write(excel_text()()))
    assert table.summary() == "read 3 rows × 3 numeric features, separator ';', decimal ',', label 'art'"
    assert read(write("1 2\n3 4\n", "a")).summary() == (
        "read 2 rows × 1 numeric feature, separator white space, no header, label in column 1"
    )


FIELDS = some.text("abxyzäß ,;|\"'\n", min_size=1, max_size=6).map(lambda text: f"w{text.strip()}")


@settings(max_examples=60, deadline=None)
@given(
    values=some.lists(
        some.tuples(some.floats(-1e6, 1e6, width=32), some.integers(-999, 999), some.booleans(), FIELDS),
        min_size=2, max_size=12,
    ),
    form=some.sampled_from([(",", "."), (";", ","), (";", "."), ("\t", ","), ("\t", "."), ("|", "."), (" ", ",")]),
    header=some.booleans(),
    end=some.sampled_from(["\n", "\r\n"]),
    encoding=some.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
)  # fmt: skip
def test_random_tables_in_random_dialects_are_read_back(values, form, header, end, encoding, tmp_path_factory):
    """The options say what the sample may leave open."""
    separator, decimal = form
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator=end)
    if header:
        writer.writerow(["f", "n", "t", "word"])
    for number, whole, truth, word in values:
        writer.writerow([repr(number).replace(".", decimal), whole, truth, word])
    path = tmp_path_factory.mktemp("random") / "a.csv"
    path.write_bytes(out.getvalue().encode(encoding))
    options = {"separator": separator, "decimal": decimal, "header": header, "keep_index": True}
    table = read(path, encoding="cp1252" if encoding == "cp1252" else None, **options)
    assert table.X.tolist() == [[number, whole, truth] for number, whole, truth, _ in values]
    assert table.y.tolist() == [word for *_, word in values]


@settings(max_examples=60, deadline=None)
@given(
    rows=some.lists(some.tuples(some.floats(-9, 9, width=32), some.floats(-9, 9)), min_size=3, max_size=12),
    form=some.sampled_from([(",", "."), (";", ","), ("\t", ","), ("|", "."), (" ", ","), (" ", ".")]),
)
def test_the_form_of_numbers_is_inferred_or_refused(rows, form, tmp_path_factory):
    separator, decimal = form
    lines = [separator.join([*(repr(v).replace(".", decimal) for v in row), str(i % 2)]) for i, row in enumerate(rows)]
    path = tmp_path_factory.mktemp("inferred") / "a.csv"
    path.write_text("\n".join(lines) + "\n")
    with contextlib.suppress(DataError):  # each comma may stand between thousands
        assert read(path, keep_index=True).X.tolist() == [list(row) for row in rows]
    assert read(path, keep_index=True, decimal=decimal).X.tolist() == [list(row) for row in rows]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("1,234;5,678;0\n2,345;6,789;1\n", {}, "'1,234' may be 1.234 or 1234: --decimal ,"),
        ("1,234,567;0\n2,345,678;1\n", {"separator": ";"}, "'1,234,567', text: train --categorical auto encodes"),
        ("1.234.567,8;0\n2.345.678,9;1\n", {}, "'1.234.567,8', text: train --categorical auto encodes"),
        ("red,big\nblue,small\ngreen,huge\n", {}, "may hold names or text: say --header or --no-header"),
        ("a b;x;1\nc d;y;2\n", {"header": False}, "line 1: column 0 holds 'a b', text: train --categorical auto"),
        ("day,x,y\n2020-01-05,1,0\n2020-01-06,2,1\n", {}, r"column 'day' holds '2020-01-05', text: .*--drop leaves"),
        ("a,b,y\n1,2,0\n3,,1\n", {}, r"line 3: column 'b' holds '', a missing value: train --impute"),
        ("a,b,y\n1,2,0\n3,-,1\n" + "5,6,0\n" * 9, {}, r"line 3: column 'b' holds '-'.*--missing - says so"),
        ("a,b,y\n1,2,0\n3,4,5,1\n", {}, r"line 3: 4 fields found, 3 expected \(the separator is ',', --separator"),
        ("a,b,y\n1,2,3,4,0\n3,4,5,6,1\n", {}, "line 2: 5 fields found, 3 expected"),
        ("a,b,c,y\n1,0\n3,1\n", {}, "line 2: 2 fields found, 4 expected"),
        ("a,b,c,y\n1\n3\n", {"labelled": False}, "line 2: 1 fields found, 4 expected"),
        ('a,b,"\n1,2,x\n3,4,"y,z"\n5,6,x\n', {}, "line 4: 3 fields found, 4 expected"),
        ('a,b,"y\n1,2,x\n3,4,z\n', {}, "a header row and no data; a quote in the header may have no end"),
        ("a,b,y\nTrue,2,0\n3,4,1\n", {}, "column 'a' holds"),
        ("a,b,y\n1,2,0\n-999,4,1\n", {"missing": ["-999"]}, "line 3: column 'a' holds '-999', a missing value"),
        ("a,b,y\n1,2,0\n3,4,NA\n", {}, r"line 3: the label is missing \('NA'\)"),
        (b"a,b,y\n1,2,gr\xfcn\n", {}, r"line 2: not a text file in UTF-8 \(byte 0xfc\); --encoding names another one"),
        ("a,b,y\n1,2,0\n", {"drop": ["z"]}, "no column 'z'; the columns are 'a', 'b', 'y'"),
        ("1,2,0\n", {"drop": [3]}, "no column 3; the columns are 0 to 2"),
        ("a,b,y\n1,2,0\n".encode("utf-16-le"), {}, "line 1: not a text file: a byte is 0; --encoding says"),
    ],
)
def test_what_cannot_be_read_names_the_option(text, options, message, write):
    with pytest.raises(DataError, match=message):
        read(write(text), **options)


def test_options_overrule_every_guess(write):
    text = "1,234;5,678;0\n2,345;6,789;1\n"
    assert read(write(text), decimal=",").X.tolist() == [[1.234, 5.678], [2.345, 6.789]]
    assert read(write("1,2,3\n4,5,6\n"), header=True).feature_names == ("1", "2")
    assert read(write("x,1\ny,2\n"), header=True, label=0).feature_names == ("1",)
    table = read(write("a,b,c,y\n1,2,3,0\n4,5,6,1\n"), drop=["b", -2])
    assert (table.X.tolist(), table.feature_names) == ([[1], [4]], ("a",))
    assert read(write("gr\u00fcn,1,0\nrot,2,1\n".encode("latin-1")), label=0, encoding="latin-1").y.tolist() == [
        "grün",
        "rot",
    ]
    for wrong in ({"separator": ",,"}, {"separator": "a"}, {"decimal": "x"}, {"encoding": "zlib"}, {"encoding": "no"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            read(write(text), **wrong)


def test_a_quote_within_a_name_or_a_text_is_a_sign_like_others(write):
    """No row is lost after it."""
    text = 'a,5" pipe,y\n1,x,0\n# no comment within quotes\n2,6" pipe,1\n3,"u\nv",0\n4,7" pipe,1\n'
    table = read(write(text), categorical="auto")
    assert table.feature_names == ("a", '5" pipe')
    assert table.X.tolist() == [[1, "x"], [2, '6" pipe'], [3, "u\nv"], [4, '7" pipe']]
    assert table.y.tolist() == [0, 1, 0, 1]


def test_what_stands_far_down_is_read_field_by_field(write):
    rows = ["1.5,red,True,0"] * 5000
    rows[4000:4003] = ['"2.5",blue,false,1', '1.25,"r\ned",,0', ' "3", red ,TRUE,2']
    table = read(write("a,b,c,y\n" + "\n".join(rows)), categorical=[1], allow_missing=True, missing=["", "1.250"])
    assert table.X[3999:4001].tolist() == [[1.5, "red", 1], [2.5, "blue", 0]]
    assert np.isnan(table.X[4001, [0, 2]].astype(float)).all()
    assert table.X[4001, 1] == "r\ned"
    assert table.X[4002:4004].tolist() == [[3, "red", 1], [1.5, "red", 1]]
    assert table.y[3999:4004].tolist() == [0, 1, 0, 2, 0]
    with pytest.raises(DataError, match=r"line 4003: column 'a' holds '1.25', a missing value"):
        read(write("a,b,c,y\n" + "\n".join(rows)), categorical=[1], missing=["1.250"])


def test_years_are_names_above_labels_of_text(write):
    table = quiet(write("2001,2002,label\n1.5,2.5,a\n3.5,1.5,b\n"))
    assert (table.feature_names, table.y.tolist()) == (("2001", "2002"), ["a", "b"])
    assert quiet(write("1,2,class\n1.5,2.5,a\n3.5,1.5,class\n")).feature_names is None


def test_missing_values_and_text_are_read_on_request(write):
    path = write("a,colour,ok,y\n1,red,True,0\n?,NA,false,1\n3,red,,1\n-9,none,True,0\n")
    table = read(path, categorical="auto", allow_missing=True)
    assert table.categorical == (1,)
    assert table.X.dtype == object
    assert table.X[[0, 2, 3], 1].tolist() == ["red", "red", "none"]
    assert np.isnan(table.X[1, 1])
    np.testing.assert_array_equal(table.X[:, [0, 2]].astype(float), [[1, 1], [np.nan, 0], [3, np.nan], [-9, 1]])
    marked = read(path, drop=["colour"], allow_missing=True, missing=["?", "", "-9"])
    np.testing.assert_array_equal(marked.X[:, 0], [1, np.nan, 3, np.nan])
    with pytest.raises(DataError, match=r"line 3: column 'colour' holds 'NA', a missing value"):
        read(path, categorical="auto", drop=["a", "ok"])


def test_a_missing_value_far_down_is_found(write):
    text = "a,b,y\n" + "1.5,2,0\n" * 3000 + "NA,2,1\n" + "1.5,2,0\n" * 10
    table = read(write(text), allow_missing=True)
    assert np.flatnonzero(np.isnan(table.X[:, 0])).tolist() == [3000]
    with pytest.raises(DataError, match=r"line 3002: column 'a' holds 'NA'"):
        read(write(text))


@pytest.mark.parametrize(
    ("labels", "kind", "y"),
    [
        (["9007199254740993", "9007199254740992"], "i", [9007199254740993, 9007199254740992]),
        (["99999999999999999999", "1"], "U", ["99999999999999999999", "1"]),
        (["9007199254740993", "0.5"], "U", ["9007199254740993", "0.5"]),
        (["007", "8"], "U", ["007", "8"]),
        (["1", "b"], "U", ["1", "b"]),
        (["-1", "+1"], "U", ["-1", "+1"]),
        (["12E3", "12E4"], "U", ["12E3", "12E4"]),
        (["12E3", "12000", "7"], "U", ["12E3", "12000", "7"]),
        (["1E400", "2E400"], "U", ["1E400", "2E400"]),
        (["1e3", "+2", "0.5"], "f", [1000, 2, 0.5]),
        (["1.000e+00", "2e+00", "3.0"], "i", [1, 2, 3]),
        (["1.5", "2"], "f", [1.5, 2]),
        (["True", "False"], "b", [True, False]),
        (["none", "null"], "U", ["none", "null"]),
    ],
)
def test_labels_stay_what_they_were(labels, kind, y, write):
    table = quiet(write("a,y\n" + "".join(f"{i + 0.5},{label}\n" for i, label in enumerate(labels))))
    assert table.y.dtype.kind == kind
    assert table.y.tolist() == y


def test_wide_tables_and_long_ones_are_read(write):
    wide = "1," * 5000 + "0\n" + "2," * 5000 + "1\n"
    assert quiet(write(wide)).shape == (2, 5000)
    assert quiet(write(wide.replace(",", ";").replace("1", "1,5")), label=0).X[0, 0] == 1.5
    assert quiet(write("0.5,1\n" * 50_000)).shape == (50_000, 1)


@pytest.mark.parametrize(
    ("header", "row", "separator", "width"),
    [
        ("temp;label", "{}.5 C;{}", ";", 1), ("len,v,label", "{} cm,1,{}", ",", 2),
        ("u;v;label", "1.00{},5;3;{}", ";", 2),
        ("first name,v,label", "Al B,{},{}", ",", 2), ("long name;n;label", "{},5;7;{}", ";", 2),
        ("long name\tlabel", "{}.5\t{}", "\t", 1),
    ],
)  # fmt: skip
def test_the_header_decides_the_separator(header, row, separator, width, write):
    rows = "".join(row.format(i % 9, "ab"[i % 2]) + "\n" for i in range(40))
    table = read(write(f"{header}\n{rows}"), categorical="auto")
    assert (table.dialect.separator, table.shape, table.y.tolist()) == (separator, (40, width), ["a", "b"] * 20)
    assert table.feature_names == tuple(header.split(separator)[:-1])


@pytest.mark.parametrize(
    ("header", "row", "named"),
    [
        ("len cm;label", "{} cm;{}", "white space or ';'"), ("a,b;c", "1,{};{}", "',' or ';'"),
        ("len cm\tlabel", "{} cm\t{}", "white space or tab"),
        ("price", "1,20{}", "may be ','"), ("temp", "{}.5 C", "white space"),
        ("a;b", "{},{}", "may be ','"), ("u;label", "{0},{0};{1}", "',' or ';'"), ("3,5;a", "{},5;{}", "',' or ';'"),
    ],
)  # fmt: skip
def test_two_separators_below_names_are_a_doubt(header, row, named, write):
    path = write(f"{header}\n" + "".join(row.format(i % 9, "ab"[i % 2]) + "\n" for i in range(40)))
    with pytest.raises(DataError, match=f"line 1: .*{named}.*: say which by --separator"):
        read(path, labelled=False)


@pytest.mark.parametrize("row", ["1.{i}0,5,{i},a", "{m},0{i}.5,{i},a", "{i},{m},{m},"])
def test_a_field_more_than_names_is_a_name_of_the_row_or_an_error(row, write):
    text = "u,v,label\n" + "".join(row.format(i=i, m=i % 3) + "\n" for i in range(20, 60))
    with pytest.raises(DataError, match="line 1: 3 fields found, 4 expected: --header says"):
        read(write(text), labelled=False, allow_missing=True)


def test_the_decimal_sign_or_the_name_of_a_file_ends_the_doubt_about_commas(write):
    rows = "".join(f"{i},5;{'ab'[i % 2]}\n" for i in range(9))
    for table in (
        read(write(rows), decimal=","),
        read(write(f"u;y\n{rows}"), decimal=","),
        read(write(f"u;y\n{rows}"), separator=";"),
        read(write(f"u;y\n{rows}".replace(";", "\t"), "a.tsv")),
    ):
        assert (table.X[:, 0].tolist(), table.y.tolist()) == ([i + 0.5 for i in range(9)], [*"abababab", "a"])


def test_a_name_of_two_features_is_an_error_and_so_is_a_label_of_that_name(write):
    path = write("u,u,w,y\n" + "0.5,1,2,a\n1.5,3,4,b\n" * 4)
    with pytest.raises(DataError, match=r"line 1: columns 0 and 1 are both named 'u': rename one, or --drop 1"):
        read(path)
    with pytest.raises(DataError, match=r"line 1: 2 columns are named 'u': number the column from 0"):
        read(path, label="u")
    assert read(path, drop=[1]).feature_names == ("u", "w")


@pytest.mark.data
def test_real_tables_need_one_option_at_most(data_dir):
    assert np.isnan(quiet(data_dir / "breast-cancer-wisconsin.data", allow_missing=True).X).sum() == 16
    assert quiet(data_dir / "breast-cancer-wisconsin.data", allow_missing=True, index=0).shape == (699, 9)
    table = quiet(data_dir / "abalone.csv", categorical="auto")
    assert (table.shape, table.categorical) == ((4177, 8), (0,))
    with pytest.raises(DataError, match=r"column 0 holds 'M', text: --label 0 says that it is the label, train --cat"):
        read(data_dir / "abalone.csv")


def test_a_word_above_text_is_a_name_in_the_label_s_column_alone(write):
    rows = "0,a,0\n1,b,1\n0,c,1\n"
    assert read(write(f"1,class,0\n{rows}"), label=2, categorical="auto").shape == (4, 2)
    assert read(write(f"1,2,class\n{rows}"), label=2, categorical="auto").shape == (3, 2)
    with pytest.raises(DataError, match="line 1: column 1 holds 'target'"):
        read(write("1,target,0\n0,5,0\n1,6,1\n"), label=2)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupt_while_pandas_reads_is_no_fault_of_the_data(error, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n" + "".join(f"{i}.5,{'x' if i % 2 else 'z'}\n" for i in range(2000)))

    def stop(_):
        raise error

    expected = KeyboardInterrupt if error is KeyboardInterrupt else DataError
    with at(Lines.read, stop, number=2), pytest.raises(expected) as found:
        read(tmp_path / "a.csv")
    assert "takes more memory" in str(found.value) or expected is KeyboardInterrupt


def test_a_comma_in_quotes_separates_nothing(write):
    rows = "".join(f"{i},5;{i % 7},7;{'ab'[i % 2]}\n" for i in range(20))
    assert read(write(f'"len, cm";"w, kg";class\n{rows}')).feature_names == ("len, cm", "w, kg")
    text = "".join(f'{i}\t"{i % 3}, b"\t{"ab"[i % 2]}\n' for i in range(20))
    assert quiet(write(text, "a.tsv"), categorical="auto", keep_index=True).dialect.separator == "\t"
