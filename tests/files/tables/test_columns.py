"""Columns that are no features: an index, ids, and what counts the rows, in text and in Parquet."""

import warnings
from typing import ClassVar

import numpy as np
import pytest

from adatron.files import DataError, read
from adatron.files.labels import checked_labels

pandas = pytest.importorskip("pandas")

N = 30
RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=(N, 2)).round(3)
LABELS = np.repeat(["no", "yes"], N // 2)


def frame(**more):
    return pandas.DataFrame({**more, "a": VALUES[:, 0], "b": VALUES[:, 1], "class": LABELS})


def write(folder, table, kind, index):
    path = folder / f"a.{kind}"
    if kind == "csv":
        table.to_csv(path, index=index)
    else:
        pytest.importorskip("pyarrow")
        table.to_parquet(path, index=index)
    return path


def named_index():
    table = frame()
    table.index = pandas.Index(RNG.permutation(N) + 1000, name="case")
    return table


FRAMES = {
    "unnamed index": (lambda: frame().sample(frac=1, random_state=0), True),
    "counting index": (frame, True),
    "id": (lambda: frame(id=RNG.permutation(N)), False),
    "patient_id": (lambda: frame(patient_id=[f"p{i}" for i in range(N)]), False),
    "PassengerId": (lambda: frame(PassengerId=range(1, N + 1)), False),
    "Unnamed: 0": (lambda: frame(**{"Unnamed: 0": RNG.permutation(N)}), False),
}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("name", FRAMES)
def test_an_index_is_left_out_with_a_warning(name, kind, tmp_path):
    make, index = FRAMES[name]
    table = make()
    path = write(tmp_path, table, kind, index)
    if kind == "parquet" and name == "counting index":  # pandas writes no column for it
        assert read(path).feature_names == ("a", "b")
        return
    with pytest.warns(UserWarning, match="it is no feature and was left out, --keep-index keeps it"):
        found = read(path)
    assert found.feature_names == ("a", "b")
    assert np.array_equal(found.X, table[["a", "b"]].to_numpy())
    assert found.label_name == "class"
    if name != "patient_id":
        assert read(path, keep_index=True).shape == (N, 3)


def test_a_named_index_of_parquet_is_known_by_its_metadata(tmp_path):
    path = write(tmp_path, named_index(), "parquet", True)
    with pytest.warns(UserWarning, match=r"column 'case' is an index"):
        assert read(path).feature_names == ("a", "b")
    assert read(path, keep_index=True).feature_names == ("a", "b", "case")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_label_and_the_only_feature_are_no_index(kind, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = pandas.DataFrame({"time": range(N), "y": np.arange(N) % 2})
        assert read(write(tmp_path, one, kind, False)).feature_names == ("time",)
        assert read(write(tmp_path, frame(id=range(N)), kind, False), label="id", drop=["class"]).label_name == "id"


@pytest.mark.parametrize("label", [True, False])
def test_data_to_predict_are_read_as_the_model_s(label, tmp_path):
    """With the names of its features, or with their number alone."""
    given = frame(id=range(500, 500 + N))
    given = given if label else given.drop(columns="class")
    path = write(tmp_path, given, "csv", False)
    with pytest.warns(UserWarning, match="left out"):
        table = read(path, n_features=2, feature_names=("a", "b"), labelled=False)
    assert table.feature_names == ("a", "b")
    assert (table.y is None) != label
    assert read(path, n_features=3, feature_names=("id", "a", "b"), labelled=False).shape == (N, 3)


def test_a_bare_count_of_rows_before_data_to_predict_is_asked_about(tmp_path):
    path = tmp_path / "a.csv"
    rows = [f"{i + 500},{a},{b}" for i, (a, b) in enumerate(VALUES)]
    path.write_text("\n".join(rows) + "\n")
    with pytest.raises(DataError, match="column 0 counts the rows: --index 0 leaves it out, --keep-index takes it for"):
        read(path, n_features=2, labelled=False)
    assert np.array_equal(read(path, n_features=2, labelled=False, index=0).X, VALUES)
    assert read(path, n_features=2, labelled=False, keep_index=True).y.tolist() == VALUES[:, 1].tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(path, n_features=3, labelled=False).shape == (N, 3)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("start", [0, 1])
def test_a_first_column_that_counts_the_rows_is_a_feature_with_a_warning(kind, start, tmp_path):
    path = write(tmp_path, frame(row=range(start, N + start)), kind, False)
    with pytest.warns(UserWarning, match="column 'row' counts the rows: --index 0 leaves it out"):
        assert read(path).feature_names == ("row", "a", "b")
    for options in ({"index": 0}, {"keep_index": True}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert read(path, **options).shape == (N, 2 + ("index" not in options))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_kinds_of_columns_are_named(kind, tmp_path):
    colours = np.array(["red", "blue", None], object)[RNG.integers(0, 3, N)]
    path = write(tmp_path, frame(colour=colours), kind, False)
    with pytest.raises(DataError, match=r"colour.*(missing value|text).*--"):
        read(path)
    table = read(path, categorical="auto", allow_missing=True)
    gaps = colours == None  # noqa: E711 (elementwise)
    assert table.X[~gaps, 0].tolist() == colours[~gaps].tolist()
    assert np.isnan(table.X[gaps, 0].astype(float)).all()
    assert np.array_equal(table.X[:, 1:].astype(float), VALUES)
    assert table.categorical == (0,)
    assert "2 numeric features and 1 of text" in table.summary()
    path = write(tmp_path, frame(day=pandas.date_range("2020-01-01", periods=N)), kind, False)
    with pytest.raises(DataError, match=r"day.*(a date: write it as a number|text: ).*--drop"):
        read(path)


@pytest.mark.parametrize("make", [list, pandas.Categorical])
@pytest.mark.parametrize(
    "labels", [[2**53 + 1, 2**53], [True, False], ["007", "8"], ["b", "a"], [2**63 + 5, 1], [0.5, 1.5]], ids=str
)
def test_labels_of_parquet_stay_what_they_were(labels, make, tmp_path):
    pytest.importorskip("pyarrow")
    pandas.DataFrame({"a": [1.0, 2.0], "y": make(labels)}).to_parquet(tmp_path / "a.parquet")
    found = read(tmp_path / "a.parquet").y
    assert found.tolist() == labels
    assert found.dtype != object


@pytest.mark.parametrize("labels", [["a", 1], [None, 1], [2**70, 1]])
def test_objects_that_are_no_labels_are_refused(labels):
    with pytest.raises(DataError, match=r"a label is of type (int|NoneType): all must be text, or"):
        checked_labels("a", np.array(labels, object), 2**20)


def test_a_label_that_counts_is_no_index(tmp_path):
    (tmp_path / "a.csv").write_text("y,a,b\n" + "".join(f"{i},{i % 3},{i * i % 7}\n" for i in range(30)))
    table = read(tmp_path / "a.csv", label="y")
    assert table.feature_names == ("a", "b")
    assert read(tmp_path / "a.csv").label_name == "y"


def test_a_label_cannot_be_left_out(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,c\n1.5,2,0\n2.5,3,1\n")
    for option in ({"index": "a"}, {"drop": ["a"]}):
        with pytest.raises(DataError, match=r"column 'a' is the label, and is"):
            read(tmp_path / "a.csv", label="a", **option)


@pytest.mark.parametrize("option", [{"drop": ["a"]}, {"separator": ";"}, {"index": 0}, {"encoding": "cp1252"}])
def test_options_that_a_reader_does_not_heed_are_refused(option, tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(3), y=np.arange(3))
    (tmp_path / "a.svm").write_text("1 1:2\n0 2:1\n")
    for name in ("a.npz", "a.svm"):
        with pytest.raises(DataError, match=f"{next(iter(option))} is for tables of text"):
            read(tmp_path / name, **option)


ARFF = "@relation r\n@attribute kind {{a,b}}\n@attribute u numeric\n@attribute v numeric\n@data\n{}"


@pytest.mark.parametrize(("name", "form"), [("a.csv", "kind,u,v\n{}"), ("a.csv", "{}"), ("a.arff", ARFF)])
def test_a_first_column_whose_texts_repeat_may_be_the_label(name, form, tmp_path):
    path = tmp_path / name
    path.write_text(form.format("".join(f"{'ab'[i % 2]},{i / 7},{i % 5}\n" for i in range(20))))
    with pytest.raises(DataError, match=r"text: --label 0 says that it is the label, train --categorical auto"):
        read(path)
    assert read(path, label=0).y.tolist() == ["a", "b"] * 10
    with pytest.raises(DataError, match=r"text: train --categorical auto"):
        read(path, label=2)
    path.write_text(form.replace("{{a,b}}", "string").format("".join(f"p{i},{i / 7},{i % 5}\n" for i in range(20))))
    with pytest.raises(DataError, match=r"text: train --categorical auto"):
        read(path)


class Counted(str):
    """A name that counts how often such names are compared."""

    __slots__ = ()
    compared: ClassVar[list[int]] = [0]
    __hash__ = str.__hash__

    def __eq__(self, other):
        self.compared[0] += 1
        return str.__eq__(self, other)


def test_no_name_is_looked_for_in_a_list(tmp_path):
    """There may be tens of thousands of them."""
    names = [Counted(f"f{i}") for i in range(500)]
    path = tmp_path / "a.csv"
    path.write_text(",".join([*names[1:], "other", "label"]) + "\n" + "0.5," * len(names) + "1\n")
    Counted.compared[0] = 0
    with pytest.raises(DataError, match="no column 'f0', which is a feature of the model"):
        read(path, n_features=len(names), feature_names=tuple(names))
    with pytest.raises(DataError, match="another order"):
        read(path, n_features=len(names), feature_names=("other", *names[:0:-1]))
    assert read(path).feature_names == (*names[1:], "other")
    assert Counted.compared[0] <= 20 * len(names)


def test_two_columns_of_one_name_are_a_doubt_at_training_and_at_predicting(tmp_path):
    path, rows = tmp_path / "a.csv", "0.5,1,2\n0.1,2,1\n" * 4
    path.write_text(f"u,label,label\n{rows}")
    with pytest.raises(DataError, match=r"line 1: columns 1 and 2 are both named 'label': rename one, or --drop 2"):
        read(path)
    assert read(path, label=1).feature_names == ("u", "label")
    model = {"n_features": 2, "feature_names": ("u", "v")}
    path.write_text(f"u,v,v\n{rows}")
    with pytest.raises(DataError, match=r"line 1: columns 1 and 2 are both named 'v'"):
        read(path, **model)
    assert read(path, drop=[2], labelled=False, **model).X[0].tolist() == [0.5, 1]
    path.write_text(f"{'u,v,w'}\n{rows}")
    assert read(path, **model).y.tolist() == [2, 1] * 4


def test_a_label_of_parquet_that_is_missing_is_called_so(tmp_path):
    pytest.importorskip("pyarrow")
    pandas.DataFrame({"u": [0.5, 1.5], "y": [None, "a"]}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match="a label is missing"):
        read(tmp_path / "a.parquet")


def test_blanks_around_the_names_of_parquet_are_no_part_of_them(tmp_path):
    pytest.importorskip("pyarrow")
    pandas.DataFrame({" a": [0.5, 1.5], "b ": [1, 2], "y": [0, 1]}).to_parquet(tmp_path / "a.parquet")
    table = read(tmp_path / "a.parquet")
    assert table.feature_names == ("a", "b")
    assert read(tmp_path / "a.parquet", n_features=2, feature_names=table.feature_names).y.tolist() == [0, 1]
