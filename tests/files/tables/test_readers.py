"""Readers: what is in a file is read, and every bad input is one clear sentence.

Also tested here: ``fields``, ``binary`` and ``files/table``.
"""

import bz2
import gzip
import io
import lzma
import os
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import issparse

from adatron.files import DataError, read

NAME = "data.csv"
HEADER_CSV = "age,height,label\n1,2.5,yes\n3,-4e2,no\n"


TO_PREDICT = {"labelled": False}
NUMBERED = ",".join(map(str, range(12)))
ROLES = [  # a text, options, the names of the features, and the labels
    ("7,2,3\n8,5,6\n", {"label": 0}, None, [7, 8]),
    ("7,2,3\n8,5,6\n", {"label": -3}, None, [7, 8]),
    ("7,2,3\n8,5,6\n", {}, None, [3, 6]),
    # a label's name, whatever the case, or a name that is asked for
    ("target,0,1\n7,2,3\n8,5,6\n", {}, ("0", "1"), [7, 8]),
    ("Class,a,b\n7,2,3\n8,5,6\n", {}, ("a", "b"), [7, 8]),
    ("y,1,b\n7,2,3\n8,5,6\n", {}, ("1", "b"), [7, 8]),
    ("1,2,3\n4,5,6\n", {"label": "2"}, ("1", "3"), [5]),
    # data to predict may lack labels
    ("1,2\n3,4\n", {"n_features": 2, **TO_PREDICT}, None, None),
    ("1,2\n3,4\n", {"n_features": 1, **TO_PREDICT}, None, [2, 4]),
    ("a,label\n3,4\n", {"n_features": 1, **TO_PREDICT}, ("a",), [4]),
    ("1,2\n3,4\n", TO_PREDICT, None, None),
    ("1,2,3\n4,5,6\n", {"n_features": 2, "label": 0, **TO_PREDICT}, None, [1, 4]),
    # columns without names have numbers, as pandas writes them
    ("0,1,2\n5,6,0\n7,8,1\n", {}, ("0", "1"), [0, 1]),
    ("0,1,y\n5,6,0\n7,8,1\n", {}, ("0", "1"), [0, 1]),
    ("0\t1\t2\n1.5\t0\t1\n1\t1\t0\n", {}, ("0", "1"), [1, 0]),
    (f"{NUMBERED}\n{'0' + ',0' * 11}\n{'5' + ',5' * 11}\n", {}, tuple(NUMBERED.split(",")[:-1]), [0, 5]),
    (f"{NUMBERED},species\n{NUMBERED},setosa\n", {}, tuple(NUMBERED.split(",")), ["setosa"]),
    ("0,name\n1,2\n2,3\n", {}, ("0",), [2, 3]),  # a word above numbers is a header, too
    # data that count by chance
    ("0,1\n1,0\n1,1\n", {"n_features": 2, **TO_PREDICT}, None, None),
    ("0,1,yes\n1,0,no\n0,0,no\n", {"n_features": 2, **TO_PREDICT}, None, ["yes", "no", "no"]),
    ("0,1\n", {"n_features": 2, **TO_PREDICT}, None, None),
]


@pytest.mark.parametrize(("text", "options", "names", "labels"), ROLES)
def test_the_names_and_the_label(text, options, names, labels, write):
    table = read(write(text, "a.data"), **options)
    assert table.feature_names == names
    assert (table.y if labels is None else table.y.tolist()) == labels
    assert labels is None or table.y.dtype.kind in "iU"
    rows = [line.replace("\t", ",").split(",") for line in text.splitlines()[names is not None :]]
    at = table.label_column
    assert table.X.tolist() == [[float(v) for i, v in enumerate(row) if i != at] for row in rows]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "1,2,0\n3,4,1\n"),
        ("a.tsv", "1\t2\t0\n3\t4\t1\n"),
        ("a.data", "1,2,0\n3,4,1\n"),
        ("a.txt", "  1  2 0\n\n# a comment\n3 4\t1\n"),
        ("a", "1\t2\t0\n3\t4\t1\n"),
        ("a.txt", "\ufeff1 2 0\r\n3 4 1\r\n"),
        ("a.csv", '"1", 2 ,0\r\n\r\n3,"4",1'),
        ("a.t", "0 1:1 2:2 # a comment\n1 1:3 2:4\n"),
        ("a", "0\n0 qid:3 1:1 2:2\n1 1:3 2:4\n"),
    ],
)
def test_formats_are_told_by_extension_or_content(write, name, text):
    table = read(write(text, name))
    X = table.X.toarray() if issparse(table.X) else table.X
    np.testing.assert_array_equal(X[-2:], [[1, 2], [3, 4]])
    assert table.y[-2:].tolist() == [0, 1]


@pytest.mark.parametrize(("suffix", "compress"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_compressed_files_are_read_and_cut_ones_refused(write, suffix, compress):
    packed = compress(HEADER_CSV.encode())
    np.testing.assert_array_equal(read(write(packed, f"a.csv.{suffix}")).X, [[1, 2.5], [3, -400]])
    long = compress("".join(f"{i},{i * i},{i % 2}\n" for i in range(20_000)).encode())
    for damaged in (long[: len(long) // 2], b"no such format"):
        with pytest.raises(DataError, match=f"bad.{suffix}.*cut off or damaged"):
            read(write(damaged, f"bad.{suffix}"))


@pytest.fixture
def pipe(tmp_path):
    """A path that gives its bytes once, as process substitution does."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("needs named pipes")
    writers = []

    def feed(text):
        path = tmp_path / f"pipe{len(writers)}"
        os.mkfifo(path)
        writers.append(threading.Thread(target=path.write_bytes, args=(text.encode(),), daemon=True))
        writers[-1].start()
        return path

    yield feed
    for writer in writers:
        writer.join(10)


@pytest.mark.parametrize(("line", "bad"), [("{},1,2", "1,?,2"), ("{} 1:1 2:2", "1 x")], ids=["csv", "libsvm"])
def test_nothing_of_a_pipe_is_lost(pipe, line, bad):
    text = "".join(f"{line.format(i)}\n" for i in range(30_000))  # more than any buffer
    table = read(pipe(text), keep_index=True)
    assert table.shape == (30_000, 2)
    y = table.X[:, 0] if "," in line else table.y
    np.testing.assert_array_equal(y, np.arange(30_000))
    with pytest.raises(DataError, match="pipe1, line 30001"):
        read(pipe(f"{text}{bad}\n"), keep_index=True)


def test_a_dash_is_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(HEADER_CSV.encode())))
    assert read("-").y.tolist() == ["yes", "no"]


def test_the_first_index_of_libsvm_text_may_be_said(write):
    path = write("1 1:5 2:6\n2 2:7\n", "a.svm")
    assert read(path, zero_based=True).X.toarray().tolist() == [[0, 5, 6], [0, 0, 7]]
    assert read(path, zero_based=False).X.toarray().tolist() == [[5, 6], [0, 7]]
    assert read(path, zero_based=True, n_features=3).shape == (2, 3)
    with pytest.raises(DataError, match="line 1: feature 2 found, 2 features, which count from 0, expected"):
        read(path, zero_based=True, n_features=2)
    path = write("1 1:5\n2 0:7\n", "b.svm")
    assert read(path, zero_based=True).X.toarray().tolist() == [[0, 5], [7, 0]]
    with pytest.raises(DataError, match="line 2: feature 0 found, and features count from 1"):
        read(path, zero_based=False)


def test_explicit_zeros_are_dropped_and_features_padded(write):
    table = read(write("1 1:0.0 3:2\n-1 2:1\n", "a"), n_features=5)
    assert table.X.shape == (2, 5)
    assert table.X.nnz == 2


MODEL = {"n_features": 2, "feature_names": ("a", "b")}


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        *(("a,b\n1,2\n", None), ("1,2\n", None), ("1,2,0\n", [0])),
        *(("a,b,c\n1,2,0\n", [0]), ("c,a,b\nred,1,2\n", ["red"]), ("a,c,b\n1,0,2\n", [0])),
    ],
)
def test_the_features_of_a_model_are_known_by_their_names(write, text, labels):
    """The label is the other column, wherever it stands and whatever its name."""
    table = read(write(text), labelled=False, **MODEL)
    assert table.X.tolist() == [[1, 2]]
    assert (table.y if labels is None else table.y.tolist()) == labels


@pytest.mark.parametrize(
    ("text", "given", "message"),
    [
        ("b,a\n1,2\n", {}, "another order: found 'b', 'a', expected 'a', 'b'"),
        ("b,a,y\n1,2,0\n", {"labelled": True}, "another order"),
        ("a,y\n1,0\n", {}, "no column 'b', which is a feature of the model"),
        ("a,y\n1,0\n", {"labelled": True}, "no column 'b', which is a feature of the model"),
        ("c,a,b,y\n1,2,3,0\n", {}, "column 'c' is no feature of the model"),
        ("a,b,y\n1,2,0\n", {"label": "b"}, "column 'b' is taken for the label, but it is a feature"),
        ("a,b\n1,2\n", {"labelled": True}, "no label column: 2 features and a label expected, 2 columns found"),
        ("1,2\n", {"labelled": True}, "line 1: no label column: 2 features and a label expected, 2 columns found"),
        ("1,2,3\n", {"labelled": True, "n_features": 4}, "3 columns found, 4 features and a label expected"),
    ],
)
def test_other_features_than_a_model_s_are_refused(write, text, given, message):
    with pytest.raises(DataError, match=message):
        read(write(text), **({"labelled": False} | MODEL | given))


BAD_TABLES = {
    "empty": ("", "holds no data"),
    "blank": ("\n  \n# nothing\n", "holds no data"),
    "text": ("a,b,label\n1,2,0\n1,red,0\n", r"line 3: column 'b' holds 'red'"),
    "missing value": ("1,?,0\n1,2,0\n", r"line 1: column 1 holds '\?'"),
    "gap": ("1,2,0\n,2,0\n", "line 2: column 0 holds ''"),
    "dash first": (
        "1,-,0\n1,2,0\n",
        "line 1: column 1 holds '-'.*; the label is taken from column 2,",
    ),
    "mark first": ("#N/A,1,0\n1,2,0\n", "line 1: column 0 holds '#N/A'"),
    "comma first": ('"1,5",2,0\n1,2,0\n', "line 1: column 0 holds '1,5'"),
    "star alone": ("*,0\n1,0\n", r"line 1: column 0 holds '\*'"),
    "text first": ("red,1.5\nblue,2.5\n", "line 1: column 0 holds 'red'.* --label names another one"),
    "nan": ("1,2,0\n1,nan,0\n", "line 2: column 1 holds 'nan'"),
    "infinity": ("1,2,0\n-inf,1,0\n", "line 2: column 0 holds '-inf'"),
    "label missing": ("1,2,0\n1,2,\n", "line 2: the label is missing"),
    "one column": ("1\n2\n", "only one column"),
}


@pytest.mark.parametrize(("text", "message"), BAD_TABLES.values(), ids=BAD_TABLES)
def test_a_bad_table_is_refused_with_its_line(write, text, message):
    with pytest.raises(DataError, match=rf"data\.csv.*{message}"):
        read(write(text))


BAD_LIBSVM = {
    "empty": ("", "holds no data"),
    "no features": ("1\n2\n", "no line has a feature"),
    "label": ("1 1:2\nx 1:2\n", "line 2: the label 'x'"),
    "label nan": ("1 1:2\nnan 1:2\n", "line 2: the label 'nan'"),
    "value": ("1 1:2\n\n1 1:red\n", "line 3: feature 1 is 'red'"),
    "nan": ("1 1:2\n1 2:nan\n", "line 2: feature 2 is 'nan'"),
    "infinity": ("1 1:2\n1 2:1e999\n", "line 2: feature 2 is '1e999'"),
    "pair": ("1 1:2\n1 2\n", "line 2: '2' is not index:value"),
    "negative": ("1 1:2\n1 -2:1\n", "line 2: '-2:1' is not index:value"),
    "order": ("1 1:2\n1 2:1 2:3\n", "line 2: feature 2 follows feature 2"),
    "too many": ("1 1:2\n1 4:1\n", "line 2: feature 4 found, 3 features expected"),
}


@pytest.mark.parametrize(("text", "message"), BAD_LIBSVM.values(), ids=BAD_LIBSVM)
def test_bad_libsvm_text_is_refused_with_its_line(write, text, message):
    with pytest.raises(DataError, match=rf"data\.svm.*{message}"):
        read(write(text, "data.svm"), n_features=None if "no line" in message else 3)


def test_a_missing_label_column_lists_the_columns(write):
    path = write(HEADER_CSV)
    with pytest.raises(DataError, match="no column 'weight'; the columns are 'age', 'height', 'label'"):
        read(path, label="weight")
    with pytest.raises(DataError, match="no column 3; the columns are 0 to 2"):
        read(path, label=3)
    for text in ("1.5,2,0\n3,4,1\n", "1,2,red\n3,4,blue\n"):
        with pytest.raises(DataError, match=r"no column 'weight': the file has no header"):
            read(write(text, "bare.csv"), label="weight")


def test_wrong_calls_are_refused(write, tmp_path):
    with pytest.raises(ValueError, match="unknown format 'xls'; the formats are libsvm, csv"):
        read(write("1,2\n"), format="xls")
    with pytest.raises(DataError, match="label in front"):
        read(write("1 1:2\n", "a.svm"), label=0)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError):
        read(tmp_path)


@pytest.mark.data
def test_missing_values_of_real_data_are_named(data_dir):
    with pytest.raises(DataError, match=r"line 24: column 6 holds '\?'"):
        read(data_dir / "breast-cancer-wisconsin.data")
