"""Notes to errors about text and missing values: they name the columns, and their line of code works."""

import re
import tracemalloc
from decimal import Decimal

import numpy as np
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import adatron
from adatron import SVC, SVR, IncrementalSVC, OneClassSVM, input_margin
from adatron.door.columns import as_numbers
from adatron.insight import sensitivity
from adatron.selection import GridSearchCV

NAMES = {one.__name__: one for one in (make_column_transformer, SimpleImputer, make_pipeline, OneHotEncoder)} | {
    name: getattr(adatron, name) for name in adatron.__all__ if name[0].isupper()
}
y = np.array([0, 1, 0, 1])
WORDS = ["a", "b", "a", "b"]


def refused(call):
    with pytest.raises(ValueError) as error:  # noqa: PT011 (the texts follow)
        call()
    return "\n".join([str(error.value), *getattr(error.value, "__notes__", [])])


def suggested(message):
    return eval(re.search(r"^    (make_pipeline\(.*\))$", message, re.MULTILINE)[1], NAMES)  # noqa: S307


def mixed(kind):
    pandas = pytest.importorskip("pandas") if kind in ("frame", "categories", "gaps") else None
    if kind == "frame":
        return pandas.DataFrame({"size": [1.0, 2, 3, 4], "colour": WORDS}), "column 'colour'"
    if kind == "categories":
        return pandas.DataFrame({"colour": pandas.Categorical(WORDS), "x": [1, 2, 3, 4]}), "column 'colour'"
    if kind == "gaps":
        return pandas.DataFrame({"colour": ["a", None, "a", "b"], "x": [1, np.nan, 3, 4]}), "column 'colour'"
    if kind == "texts":
        return np.array([WORDS, list("xyxz")]).T, "columns [0, 1]"
    columns = np.array([[1.0, 2, 3, 4], WORDS], object).T
    return (columns if kind == "objects" else columns.tolist()), "column 1"


@pytest.mark.parametrize("kind", ["objects", "lists", "texts", "frame", "categories", "gaps"])
@pytest.mark.parametrize("model", [SVC(C=2), SVR(), IncrementalSVC()], ids=lambda model: type(model).__name__)
def test_text_is_refused_with_the_line_to_write(model, kind):
    X, named = mixed(kind)
    message = refused(lambda: model.fit(X, y))
    assert message.startswith("could not convert string to float: ")
    assert f"\nX holds text in {named}. " in message
    pipeline = suggested(message)
    assert repr(pipeline[-1]) == repr(model)
    assert pipeline.fit(X, y).predict(X).shape == (4,)


def test_missing_values_are_refused_with_the_line_to_write():
    X = np.array([[1, np.nan], [2, 3], [3, 4], [4, 5]])
    message = refused(lambda: SVC().fit(X, y))
    assert message.startswith("Input X contains NaN.\nSVC does not accept missing values")
    assert "\nX lacks values in column 1. " in message
    assert suggested(message).fit(X, y).predict(X).shape == (4,)
    assert "X lacks values in column 1" in refused(lambda: OneClassSVM().fit(X))
    assert "X lacks values in column 1" in refused(lambda: SVC().fit(X[1:], y[1:]).predict(X))


def test_sparse_and_large_data_have_scikit_learn_s_error():
    message = refused(lambda: SVC().fit(sparse.csr_matrix([[1, np.nan], [2, 3], [3, 4], [4, 5]]), y))
    assert message.startswith("Input X contains NaN.")
    X = np.zeros((10**5, 8), np.float32)
    X[7, 3] = np.nan
    tracemalloc.start()
    assert "X lacks values in column 3" in refused(lambda: OneClassSVM().fit(X))
    assert tracemalloc.get_traced_memory()[1] < 2 * X.nbytes
    tracemalloc.stop()


rng = np.random.default_rng(0)
N = 30
WHOLE = rng.integers(-9, 9, size=N)
X = np.column_stack([rng.normal(size=N), WHOLE])
labels = (X[:, 0] + 0.1 * WHOLE > 0).astype(int)
DAYS = np.datetime64("2024-01-01", "us") + np.arange(N) * np.timedelta64(1, "D")
LATER = {
    "dates": lambda pd: DAYS,
    "dates of a place": lambda pd: pd.Series(DAYS).dt.tz_localize("Europe/Rome"),
    "durations": lambda pd: DAYS - DAYS[0],
    "periods": lambda pd: pd.Series(DAYS).dt.to_period("D"),
    "intervals": lambda pd: pd.interval_range(0, N),
    "objects of the calendar": lambda pd: np.array([day.date() for day in DAYS.tolist()], object),
    "NumPy's dates as objects": lambda pd: np.array(list(DAYS), object),
    "categories of dates": lambda pd: pd.Categorical(DAYS),
    "no dates at all": lambda pd: pd.Series([pd.NaT] * N),
    "dates of Arrow": lambda pd: pd.array(DAYS, dtype="timestamp[us][pyarrow]"),
    "durations of Arrow": lambda pd: pd.array(DAYS - DAYS[0], dtype="duration[us][pyarrow]"),
    "complex": lambda pd: WHOLE + 1j,
    "lists": lambda pd: pd.Series([[1.0]] * N),
}
NUMBERS = {
    "truth": lambda pd: WHOLE > 0,
    "nullable whole": lambda pd: pd.array(WHOLE, dtype="Int64"),
    "nullable": lambda pd: pd.array(WHOLE * 1.0, dtype="Float64"),
    "nullable truth": lambda pd: pd.array(WHOLE > 0, dtype="boolean"),
    "whole of Arrow": lambda pd: pd.array(WHOLE, dtype="int64[pyarrow]"),
    "truth of Arrow": lambda pd: pd.array(WHOLE > 0, dtype="bool[pyarrow]"),
    "categories": lambda pd: pd.Categorical(WHOLE),
    "categories of digits": lambda pd: pd.Categorical([str(one) for one in WHOLE]),
    "digits": lambda pd: np.array([str(one) for one in WHOLE], object),
    "objects": lambda pd: WHOLE.astype(object),
    "decimals": lambda pd: np.array([Decimal(int(one)) for one in WHOLE], object),
    "sparse": lambda pd: pd.arrays.SparseArray(WHOLE * 1.0),
    "sparse whole": lambda pd: pd.arrays.SparseArray(WHOLE),
    "sparse truth": lambda pd: pd.arrays.SparseArray(WHOLE > 0),
}
ENTRIES = {
    "fit": lambda frame, model: SVC().fit(frame, labels),
    "partial_fit": lambda frame, model: IncrementalSVC().partial_fit(frame, labels, classes=[0, 1]),
    "predict": lambda frame, model: model.predict(frame),
    "search": lambda frame, model: GridSearchCV(SVC(), {"C": [1, 2]}).fit(frame, labels),
    "report": lambda frame, model: adatron.report(model, frame, labels),
    "sensitivity": lambda frame, model: sensitivity(model, frame),
    "margins": lambda frame, model: input_margin(model, frame),
}


@pytest.mark.parametrize("kind", LATER)
@pytest.mark.parametrize("alone", [False, True])
def test_columns_that_are_no_numbers_are_named(kind, alone):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": X[:, 0], "when": LATER[kind](pandas)})[["when"] if alone else ["x", "when"]]
    with pytest.raises(ValueError, match="column 'when'"):
        SVC().fit(frame, labels)


@pytest.mark.parametrize("entry", ENTRIES)
def test_dates_are_named_wherever_they_come_in(entry):
    pandas = pytest.importorskip("pandas")
    model = SVC().fit(pandas.DataFrame(X, columns=["x", "when"]), labels)
    with pytest.raises(ValueError, match=r"Got datetime64\[us\] in column 'when'"):
        ENTRIES[entry](pandas.DataFrame({"x": X[:, 0], "when": DAYS}), model)


@pytest.mark.parametrize(
    "samples",
    [np.column_stack([DAYS, DAYS]), np.array([[0, day] for day in DAYS], object), [[0, day] for day in DAYS.tolist()]],
    ids=["array", "objects", "lists"],
)
def test_dates_of_arrays_and_lists_are_named(samples):
    with pytest.raises(ValueError, match=r"X must hold numbers. Got datetime.* in column"):
        SVC().fit(samples, labels)


COLUMNS = {
    **{kind: LATER[kind] for kind in LATER},
    "frame": lambda pd: pd.DataFrame({"d": DAYS}),
    "list": lambda pd: list(DAYS),
    "list of the calendar": lambda pd: DAYS.tolist(),
    "series": lambda pd: pd.Series(DAYS),
    "polars": lambda pd: pytest.importorskip("polars").Series(DAYS),
    "missing": lambda pd: np.array([np.timedelta64("NaT")] * N, object),
}


@pytest.mark.filterwarnings("default::numpy.exceptions.ComplexWarning")  # NumPy's word before the error
@pytest.mark.parametrize("kind", COLUMNS)
def test_dates_are_neither_targets_of_a_regression_nor_weights(kind):
    column = COLUMNS[kind](pytest.importorskip("pandas"))
    with pytest.raises(ValueError, match=r"y must hold numbers\. Got |Complex data not supported"):
        SVR().fit(X, column)
    for model in (SVC(), SVR(), IncrementalSVC()):
        with pytest.raises(ValueError, match=r"sample_weight must hold numbers\. Got |Complex data not supported"):
            model.fit(X, labels, sample_weight=column)


def test_tables_of_files_and_of_huge_numbers(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["x"] = X
        model = SVC().fit(file["x"], labels)
        np.testing.assert_array_equal(model.predict(file["x"]), model.predict(X))
    huge = np.array([[10**400, 1.0]] * N, object)
    with pytest.raises(OverflowError):
        SVC().fit(huge, labels)


class Counted(float):
    """A number that counts how often it is read."""

    reads = 0

    def __float__(self):
        Counted.reads += 1
        return super().__float__()


def test_one_number_of_each_type_tells_what_a_column_holds():
    objects = np.array([[Counted(one) for one in row] for row in X.tolist()], object)
    Counted.reads = 0
    as_numbers(objects)
    assert Counted.reads <= X.shape[1]
    assert as_numbers(X.tolist()).dtype == np.float64


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", lambda A, B: A @ B.T], ids=["rbf", "function"])
@pytest.mark.filterwarnings("error")
def test_columns_of_numbers_give_the_model_of_their_numbers(kind, alone, kernel):
    pandas = pytest.importorskip("pandas")
    column = NUMBERS[kind](pandas)
    frame = pandas.DataFrame({"x": X[:, 0], "n": column})[["n"] if alone else ["x", "n"]]
    plain = np.column_stack([X[:, 0], np.asarray(column).astype(float)])[:, 1 if alone else 0 :]
    model, other = SVC(kernel=kernel).fit(frame, labels), SVC(kernel=kernel).fit(plain, labels)
    wanted = other.decision_function(plain)
    np.testing.assert_allclose(model.decision_function(frame), wanted, rtol=1e-12, atol=1e-13 * np.abs(wanted).max())
    assert model.feature_names_in_.tolist() == list(frame.columns)


@pytest.mark.parametrize("kind", ["Int64", "Float64", "boolean", "double[pyarrow]"])
def test_missing_values_of_nullable_columns_are_named(kind):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": X[:, 0], "n": pandas.array([None, *(WHOLE[1:] > 0)], dtype="boolean").astype(kind)})
    assert "X lacks values in column 'n'" in refused(lambda: SVC().fit(frame, labels))


@pytest.mark.parametrize("arrow", [False, True])
def test_frames_of_polars_and_tables_of_arrow(arrow):
    polars = pytest.importorskip("polars")
    if arrow:
        pytest.importorskip("pyarrow")

    def made(column):
        frame = polars.DataFrame({"x": X[:, 0], "n": column})
        return frame.to_arrow() if arrow else frame

    plain = SVC().fit(X, labels)
    for column in (WHOLE, WHOLE * 1.0, [str(one) for one in WHOLE]):
        model = SVC().fit(made(column), labels)
        np.testing.assert_array_equal(model.decision_function(made(column)), plain.decision_function(X))
        assert model.feature_names_in_.tolist() == ["x", "n"]
    for column in (DAYS, DAYS - DAYS[0], polars.Series(DAYS).dt.date(), [[1.0]] * N, [{"a": 1}] * N):
        with pytest.raises(ValueError, match="in column 'n'"):
            model.predict(made(column))
    assert "X lacks values in column 'n'" in refused(lambda: model.predict(made([None, *WHOLE[1:].tolist()])))
    assert "X holds text in column 'n'" in refused(lambda: model.predict(made(["a"] * N)))


def test_columns_of_other_names_are_not_blamed_on_missing_values():
    pd = pytest.importorskip("pandas")
    model = SVC().fit(pd.DataFrame({"q": [1.0, 2.0, 3.0, 4.0]}), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="feature names") as error:
        model.predict(pd.DataFrame({"a": [1.0, np.nan]}))
    assert "lacks values" not in " ".join(getattr(error.value, "__notes__", []))
