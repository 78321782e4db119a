"""The steps that the command line makes come back from a file, to the last bit; a crafted step can do no harm."""

import json
import sys
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    StandardScaler,
)
from sklearn.svm import SVC as Theirs

from adatron import SVC, SVR, IncrementalSVC, load, save
from adatron.files import ModelFileError
from adatron.selection import GridSearchCV as Ours
from crafted import Crafted

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)
HOLES = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
CSR = sparse.csr_matrix(np.where(np.abs(X) > 0.5, X, 0.0))
WORDS = np.array(["red", "green", "blue", "grün"])[RNG.integers(4, size=60)]
COLOURS = np.stack([WORDS, np.array(["a", "b", None], dtype=object)[RNG.integers(3, size=60)]], axis=1)
NUMBERS = RNG.integers(4, size=(60, 2)).astype(float)
TABLE = pd.DataFrame({"x": HOLES[:, 0], "colour": WORDS, "z": X[:, 2], "kind": np.arange(60) % 3})


pytest.importorskip("skops", reason="skops is not installed: pip install '.[cli]'")


def there_and_back(model, path):
    save(model, path)
    first = path.read_bytes()
    with warnings.catch_warnings(action="error"):
        loaded = load(path)
    save(loaded, path)
    assert path.read_bytes() == first
    return loaded


def outputs(model, rows):
    names = ("transform", "predict", "decision_function")
    found = {name: getattr(model, name)(rows) for name in names if hasattr(model, name)}
    return {name: one.toarray() if sparse.issparse(one) else np.asarray(one) for name, one in found.items()}


def assert_same(model, loaded, rows):
    for one, other in ((model, loaded), (model[:-1], loaded[:-1])):
        expected, found = outputs(one, rows), outputs(other, rows)
        assert expected.keys() == found.keys() != set()
        for name, values in expected.items():
            assert values.dtype == found[name].dtype
            assert values.tolist() == found[name].tolist()


def of_columns(columns, **options):
    """Columns by their numbers: scaled, and others left as they are."""
    return ColumnTransformer([("a", StandardScaler(), columns), ("b", "passthrough", [3])], **options)


STEPS = [
    ([StandardScaler()], SVC(), X),
    ([MinMaxScaler((-1, 2), clip=True)], SVR(), X),
    (["passthrough"], IncrementalSVC(), X),
    ([MaxAbsScaler(), StandardScaler(with_mean=False)], SVC(), CSR),
    ([SimpleImputer(), StandardScaler()], SVC(), HOLES),
    ([SimpleImputer(strategy="most_frequent")], SVC(), HOLES),
    ([SimpleImputer(missing_values=None, strategy="most_frequent"), OneHotEncoder()], SVC(), COLOURS),
    ([OneHotEncoder(handle_unknown="ignore")], SVC(), COLOURS),
    ([OneHotEncoder(drop="first", sparse_output=False)], SVC(), COLOURS),
    ([OneHotEncoder(drop="if_binary", dtype=np.float32)], SVC(), COLOURS),
    ([OneHotEncoder(categories=[["blue", "green", "grün", "red", "x"], ["a", "b", None]])], SVC(), COLOURS),
    ([OneHotEncoder(handle_unknown="ignore")], SVC(), np.round(HOLES, 0)),
    ([OneHotEncoder(drop="first", sparse_output=False)], SVC(), NUMBERS[:, :1]),
    *(
        ([of_columns(one, remainder=MinMaxScaler())], SVC(), X)
        for one in ([0, 2], slice(0, 2), np.array([True, False, True, False]), np.array([0, 2]))
    ),
    ([ColumnTransformer([("a", "drop", 1)], remainder=MinMaxScaler())], SVC(), X),
]


@pytest.mark.parametrize(("steps", "machine", "rows"), STEPS)
def test_steps(steps, machine, rows, tmp_path):
    model = sklearn.clone(make_pipeline(*steps, machine)).fit(rows, Y)
    assert_same(model, there_and_back(model, tmp_path / "m.adatron"), rows)


def test_steps_in_a_memory_map_can_be_saved(tmp_path):
    model = make_pipeline(StandardScaler(), SVC()).fit(np.repeat(X, 50, axis=1), Y)
    joblib.dump(model, tmp_path / "m.joblib")
    mapped = joblib.load(tmp_path / "m.joblib", mmap_mode="r")
    assert isinstance(mapped[0].mean_, np.memmap)
    assert_same(model, there_and_back(mapped, tmp_path / "m.adatron"), np.repeat(X, 50, axis=1))


@pytest.mark.parametrize("remainder", ["drop", "passthrough"])
@pytest.mark.parametrize("sparse_threshold", [0.0, 1.0])
def test_tables(sparse_threshold, remainder, tmp_path):
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["x", "z"]),
            ("words", OneHotEncoder(), ["colour"]),
        ],
        remainder=remainder,
        sparse_threshold=sparse_threshold,
    )
    model = make_pipeline(columns, SVC()).fit(TABLE, WORDS)
    loaded = there_and_back(model, tmp_path / "m.adatron")
    assert_same(model, loaded, TABLE)
    assert_same(model, loaded, TABLE[["z", "kind", "colour", "x"]])
    with pytest.raises(ValueError, match="columns are missing"):
        loaded.predict(TABLE[["x"]])


def test_unfitted_steps_come_back(tmp_path):
    for model in (
        make_pipeline(SimpleImputer(), OneHotEncoder(), SVC()),
        ColumnTransformer([("a", "passthrough", [0])]),
        StandardScaler(),
    ):
        assert str(there_and_back(model, tmp_path / "m.adatron")) == str(model)


# --- what is not stored -------------------------------------------------------------------------------------------


class Own(StandardScaler):
    """A class of a user."""


SKOPS = r"cannot be stored in a file of adatron: store the whole model with skops \(pip install skops\) .*skops_types"


@pytest.mark.parametrize(
    "step",
    [
        PCA(2), SelectKBest(k=2), Own(), FeatureUnion([("a", StandardScaler())]), SimpleImputer(add_indicator=True)
    ],
    ids=lambda step: type(step).__name__,
)  # fmt: skip
def test_other_steps_are_refused(step, tmp_path):
    name = "MissingIndicator" if isinstance(step, SimpleImputer) else type(step).__name__
    model = make_pipeline(step, SVC()).fit(np.abs(HOLES if name == "MissingIndicator" else X), Y)
    with pytest.raises(ModelFileError, match=rf"{name} {SKOPS}"):
        save(model, tmp_path / "m.adatron")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "model",
    [
        Theirs(), RandomForestClassifier(3), OneVsRestClassifier(SVC()), CalibratedClassifierCV(SVC())
    ],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_other_models_are_refused(model, tmp_path):
    with pytest.raises(ModelFileError, match=rf"sklearn\..*{type(model).__name__} {SKOPS}"):
        save(model, tmp_path / "m.adatron")


@pytest.mark.parametrize("kind", [GridSearchCV, Ours])
def test_of_a_search_the_best_estimator_is_stored(kind, tmp_path):
    search = kind(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1, 10]}, cv=2)
    with pytest.raises(ModelFileError, match=rf"{kind.__module__}\.GridSearchCV {SKOPS}"):
        save(search, tmp_path / "m.adatron")
    with pytest.raises(ModelFileError, match="save its best_estimator_, or store the whole model with skops"):
        save(search.fit(X, Y), tmp_path / "m.adatron")
    save(search.best_estimator_, tmp_path / "m.adatron")
    np.testing.assert_array_equal(load(tmp_path / "m.adatron").predict(X), search.predict(X))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (FunctionTransformer(np.abs), "only its steps and data, and no functions"),
        (OneHotEncoder(min_frequency=2), "leave out min_frequency and max_categories"),
        (OneHotEncoder(max_categories=2), "leave out min_frequency and max_categories"),
        (ColumnTransformer([("a", StandardScaler(), make_column_selector("0"))]), "only its steps and data"),
    ],
)
def test_options_that_the_command_line_never_takes_are_refused(step, message, tmp_path):
    model = make_pipeline(step, SVC())
    if isinstance(step, OneHotEncoder):
        model.fit(NUMBERS, Y)
    with pytest.raises(ModelFileError, match=message):
        save(model, tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_a_machine_is_the_last_step(tmp_path):
    fitted = SVC().fit(X, Y)
    for model in (
        Pipeline([("a", fitted), ("b", SVC().fit(X, Y))]),
        ColumnTransformer([("a", make_pipeline(StandardScaler().fit(X), fitted), [0])]),
        ColumnTransformer([("a", fitted, [0])]),
    ):
        with pytest.raises(ModelFileError, match="is no transformer: it must be the last step"):
            save(model, tmp_path / "m.adatron")


# --- crafted files ------------------------------------------------------------------------------------------------


@pytest.fixture
def crafted(tmp_path):
    def make(step, rows):
        return Crafted(make_pipeline(step, SVC()).fit(rows, Y), tmp_path / "m.adatron")

    return make


def plain(value):
    """The entry of a plain value in a file of skops."""
    return {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": json.dumps(value)}


def of_type(module, name, loader="TypeNode"):
    return {"__class__": name, "__module__": module, "__loader__": loader}


def put(name, value):
    return lambda crafted: crafted.put(name, value if isinstance(value, dict) else plain(value), 0)


def changed(name, change, place=None):
    def apply(crafted):
        entry = crafted.step(0)[name]
        crafted.change(entry if place is None else entry["content"][place], change)

    return apply


def inner_step(crafted):
    """The name of a transformer inside a ColumnTransformer, itself and its columns."""
    return crafted.step(0)["transformers_"]["content"][0]["content"]


def hidden(crafted, put):
    """Put an encoder of wrong numbers of columns somewhere else."""
    entry = crafted.step(0)["transformers_"]["content"].pop()["content"][1]
    entry["content"]["content"]["_n_features_outs"] = plain([99, 99])
    put(entry)


FUNCTION = of_type("os", "system", "FunctionNode")


ENCODER, DROPPING = OneHotEncoder(handle_unknown="ignore", sparse_output=False), OneHotEncoder(drop="first")
COLUMNS = ColumnTransformer([("a", "passthrough", [0]), ("b", StandardScaler(), [1])])
SIZES, UNKNOWN = "do not give its numbers of columns", "has no place in a model file"
ATTACKS = {
    "more columns than it says": (ENCODER, COLOURS, put("_n_features_outs", [1, 1]), SIZES),
    "no columns": (ENCODER, COLOURS, put("_n_features_outs", None), SIZES),
    "numbers not in order": (ENCODER, NUMBERS, changed("categories_", lambda a: a[::-1], 0), SIZES),
    "categories of two dimensions": (ENCODER, NUMBERS, changed("categories_", lambda a: a[:, None], 1), SIZES),
    "no categories, of long texts": (
        ENCODER, NUMBERS, changed("categories_", lambda a: np.zeros(0, "U99999999"), 1), SIZES
    ),
    "too few lists": (ENCODER, COLOURS, put("categories_", []), SIZES),
    "rare ones": (ENCODER, COLOURS, put("_infrequent_enabled", True), "infrequent categories"),
    "a dropped one beyond": (DROPPING, NUMBERS, put("_drop_idx_after_grouping", [4, 0]), SIZES),
    "a negative dropped one": (DROPPING, NUMBERS, put("_drop_idx_after_grouping", [0, -1]), SIZES),
    "dropped ones of more features": (DROPPING, NUMBERS, put("_drop_idx_after_grouping", [0, 0, 0]), ""),
    "numbers of any length": (ENCODER, NUMBERS, put("dtype", "V1000000000"), "dtype must be a type of numbers"),
    "means of any length": (SimpleImputer(), NUMBERS, put("_fill_dtype", "V1000000000"), "_fill_dtype must be a type"),
    "a wide width": (SimpleImputer(), NUMBERS, put("n_features_in_", 2**40), "n_features_in_ must be a whole number"),
    "names of many columns": (
        FunctionTransformer(feature_names_out="one-to-one").set_output(transform="pandas"), NUMBERS,
        put("n_features_in_", 10**9), "n_features_in_ must be a whole number",
    ),
    "a function": (
        COLUMNS, NUMBERS,
        lambda one: inner_step(one)[1]["content"]["content"].__setitem__("func", FUNCTION), rf"os\.system {UNKNOWN}",
    ),
    "a type of its own": (ENCODER, NUMBERS, put("dtype", of_type("os", "system")), rf"os\.system {UNKNOWN}"),
    "bytes": (ENCODER, NUMBERS, put("dtype", of_type("numpy", "void")), rf"numpy\.void {UNKNOWN}"),
    "a machine for columns": (
        COLUMNS, NUMBERS,
        lambda one: inner_step(one).__setitem__(1, of_type("adatron.estimators.svc", "SVC", "ObjectNode")),
        f"SVC {UNKNOWN}",
    ),
    "another class": (
        COLUMNS, NUMBERS,
        lambda one: inner_step(one).__setitem__(1, of_type("sklearn.tree._tree", "Tree", "TreeNode")),
        f"Tree {UNKNOWN}",
    ),
    "an object that comes twice": (SimpleImputer(), NUMBERS, put("copy", {**plain(1), "__id__": 7}), UNKNOWN),
    "an array that comes twice": (
        StandardScaler(), NUMBERS, lambda one: one.step(0).__setitem__("more", one.step(0)["scale_"]), "used twice"
    ),
    "an encoder in a dict": (
        ColumnTransformer([("a", ENCODER, [0, 1])]), NUMBERS,
        lambda one: hidden(one, lambda encoder: one.put("_more", {
            "__class__": "dict", "__module__": "builtins", "__loader__": "DictNode", "content": {"a": encoder},
            "key_types": {**of_type("builtins", "list", "ListNode"), "content": [of_type("builtins", "str")]},
        }, 0)), SIZES,
    ),
    "an encoder in an array": (
        ColumnTransformer([("a", ENCODER, [0, 1])]), NUMBERS,
        lambda one: hidden(one, lambda encoder: one.put("_more", {
            **of_type("numpy", "ndarray", "NdArrayNode"), "type": "json", "content": [encoder],
            "shape": {**of_type("builtins", "tuple", "TupleNode"), "content": [plain(1)]},
        }, 0)), SIZES,
    ),
    "a schema that is too large": (StandardScaler(), NUMBERS, put("_more", "x" * 2**24), "longer than"),
    "requests of no method": (
        SimpleImputer(), NUMBERS, lambda one: one.header["requests"].__setitem__(1, {"__init__": {}}), "metadata"
    ),
    "a parameter out of its range": (SimpleImputer(), NUMBERS, put("strategy", "evil"), "'strategy' parameter"),
    "no parameter": (SimpleImputer(), NUMBERS, lambda one: one.step(0).pop("strategy"), ""),
    "too few requests": (SimpleImputer(), NUMBERS, lambda one: one.header["requests"].pop(), ""),
    "objects in an array": (
        MaxAbsScaler(), NUMBERS,
        lambda one: one.members.__setitem__(one.step(0)["scale_"]["file"], b"\x80\x04."), "no header",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("step", "rows", "change", "message"), ATTACKS.values(), ids=ATTACKS)
def test_crafted_steps_are_refused(step, rows, change, message, crafted):
    one = crafted(sklearn.clone(step), rows)
    change(one)
    one.refused(message)


def test_a_file_does_not_choose_the_number_of_processes(crafted):
    one = crafted(ColumnTransformer([("a", StandardScaler(), [0])]), NUMBERS)
    one.step(0)["n_jobs"] = plain(10**6)
    one.write()
    assert load(one.path)[0].n_jobs < 10**5


def test_another_version_of_scikit_learn_warns(crafted):
    one = crafted(SimpleImputer(), NUMBERS)
    one.step(0)["_sklearn_version"] = plain("1.5.0")
    one.write()
    with pytest.warns(InconsistentVersionWarning, match=r"SimpleImputer from version 1\.5\.0"):
        load(one.path)


def test_without_skops_a_pipeline_says_what_it_takes(tmp_path, monkeypatch):
    model = make_pipeline(StandardScaler(), SVC()).fit(X, Y)
    save(model, tmp_path / "m.adatron")
    monkeypatch.setitem(sys.modules, "skops.io", None)
    save(SVC().fit(X, Y), tmp_path / "alone.adatron")
    load(tmp_path / "alone.adatron")
    for action in (lambda: save(model, tmp_path / "other.adatron"), lambda: load(tmp_path / "m.adatron")):
        with pytest.raises(ModelFileError, match=r"Steps before the model take skops: pip install click"):
            action()
