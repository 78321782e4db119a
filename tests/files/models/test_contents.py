"""Files that were made to do harm: they are refused with a sentence before anything computes from them."""

import json

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from adatron import SVC, SVR, IncrementalSVC, load, save
from adatron.files import ModelFileError
from adatron.files.models.archive import sealed_zip
from adatron.kernels import RBF
from crafted import Crafted, dict_of, with_value

ARRAYS = [
    ("values", "support_", with_value(-28), "support_ does not number columns"),
    ("dense", "n_support_", with_value(1000), "dual_coef_ has the shape"),
    ("dense", "dual_coef_", with_value(np.nan), "dual_coef_ holds NaN or infinity"),
    ("dense", "dual_coef_", lambda a: a[:, 1:], "dual_coef_ has the shape"),
    ("dense", "support_vectors_", lambda a: a[:, :2], "support_vectors_ has the shape .* not"),
    ("dense", "intercept_", lambda a: a[:1], "intercept_ is not that of 3 problems"),
    ("dense", "classes_", lambda a: a[:1], "class_weight_ is not what a fit sets"),
    ("dense", "class_weight_", with_value(-1.0), "class_weight_ is not what a fit sets"),
    ("margins", "problem_", with_value(7), "tilts_ and problem_ are not those"),
    ("margins", "projections_", lambda a: a[1:], "projections_ is not what a fit sets; it is an array of shape"),
    ("margins", "projections_", lambda a: a[:, 1:], "projections_ is not what a fit sets; it is an array of shape"),
]


SPARSE = [
    ("indices", with_value(2**31 - 1), "csr"),
    ("indices", lambda a: a[::-1].copy(), "columns that are not in order"),
    ("indices", lambda a: a.astype("f8"), "whole numbers"),
    ("indptr", with_value(2**30, 3), "csr"),
    ("data", with_value(np.nan), "NaN or infinity"),
    ("data", lambda a: a[:-2], "csr"),
]
SAMPLES = [
    ("y", with_value(2e9), "y of the samples is beyond 3 classes"),
    ("y", with_value(np.nan), "y of the samples holds NaN"),
    ("weight", with_value(-1.0), "weight of the samples holds -1"),
    ("ids", with_value(5), "ids or arrival numbers of the samples come twice"),
    ("ids", with_value(1000), "next_id of the samples must be larger"),
    ("age", with_value(1000), "arrived of the samples must be larger"),
    ("X", lambda a: a[1:], "the samples have the shape .*, and other lengths"),
]
PROGRAMS = [
    ("slots", with_value(-5), "slots are not the samples of the classes"),
    ("slots", lambda a: a[1:], "slots are not the samples of the classes"),
    ("beta", with_value(np.nan), "a coefficient or a gradient of a program holds NaN"),
    ("counts", with_value(-1), "does not count its steps"),
]
PLACES = {
    "csr": lambda state, name: {"name": state["support_vectors_"][name]},
    "samples": lambda state, name: dict_of(state["_store"])[name],
    "programs": lambda state, name: dict_of(state["_tracks"][1])[name],
}
TORN = [
    *ARRAYS,
    *(("csr", *case) for case in SPARSE),
    *(("samples", *case) for case in SAMPLES),
    *(("programs", *case) for case in PROGRAMS),
]


@pytest.mark.parametrize(("place", "name", "change", "message"), TORN)
def test_arrays_agree_with_each_other(place, name, change, message, fitted, tmp_path):
    crafted = Crafted(fitted["learning" if place in ("samples", "programs") else place], tmp_path / "m.adatron")
    entry = PLACES[place](crafted.state, name) if place in PLACES else crafted.state[name]
    crafted.change(entry, change)
    crafted.refused(message)


HUGE = 10**400
OF_OTHERS = (
    "margin_", "margin_path_", "projections_", "epsilon_", "n_crossed_", "_tracks", "_fixed", "n_refit_", "stream_"
)  # fmt: skip


@pytest.mark.parametrize(
    ("model", "name", "value", "message"),
    [
        ("dense", "n_features_in_", -1, "n_features_in_ is not what a fit sets; it is -1"),
        ("dense", "n_features_in_", HUGE, "n_features_in_ is not what a fit sets"),
        ("dense", "compact_", 1, "compact_ is neither true nor false"),
        ("dense", "kernel_", "rbf", "kernel_ is no kernel"),
        ("dense", "fit_status_", "no", "fit_status_ must be 0 or 1"),
        ("dense", "objects_", [1], "no attribute 'objects_'"),
        ("dense", "predict", 1, "no attribute 'predict'"),
        ("dense", "__class__", 1, "no attribute '__class__'"),
        *(("dense", name, 0.5, f"no attribute '{name}'") for name in OF_OTHERS),
        ("regression", "class_weight_", 0.5, "no attribute 'class_weight_'"),
        ("learning", "margin_", 0.5, "no attribute 'margin_'"),
        ("learning", "support_", 1, "no attribute 'support_'"),
        ("learning", "n_refit_", -1, "n_refit_ is not what a fit sets; it is -1"),
        ("learning", "stream_", 3, "stream_ is not what a fit sets; it is 3"),
    ],
)
def test_attributes_are_those_of_the_class(model, name, value, message, fitted, tmp_path):
    crafted = Crafted(fitted[model], tmp_path / "m.adatron")
    crafted.state[name] = value
    crafted.refused(message)


@pytest.mark.parametrize("name", ["kernel_", "classes_", "support_vectors_", "n_features_in_", "duality_gap_"])
def test_no_attribute_may_be_missing(name, fitted, tmp_path):
    crafted = Crafted(fitted["dense"], tmp_path / "m.adatron")
    entry = crafted.state.pop(name)
    if isinstance(entry, dict) and "name" in entry:
        del crafted.members[entry["name"]]
    crafted.refused(f"{name} is missing")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("C", -1.0, "'C' parameter"),
        ("C", {"$": "float", "value": "nan"}, "'C' parameter"),
        ("gamma", "large", "'gamma' parameter"),
        ("n_jobs", 0, "'n_jobs' parameter"),
        ("solver", {"$": "solver", "solver": "isda", "params": {"shrinking": "yes"}}, "'shrinking' of the solver"),
        ("callback", 3, "'callback' parameter"),
    ],
)
def test_parameters_are_in_their_ranges(name, value, message, fitted, tmp_path):
    crafted = Crafted(fitted["sum"], tmp_path / "m.adatron")
    crafted.header["model"]["params"][name] = value
    crafted.refused(f"{'' if name == 'solver' else 'SVC: '}.*{message}")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["gamma", 1.0]', f'["gamma", {HUGE}]', "'kernel' is wrong"),
        ('["gamma", 1.0]', '["gamma", -1.0]', "'gamma' parameter of RBF"),
        ('["gamma", 1.0]', '["gamma", NaN]', "NaN is no number"),
        ('["gamma", 1.0]', '["gamma", 1e999]', "'gamma' parameter of RBF"),
        ('["kernel", "linear"]', '["kernel", "precomputed"]', "cannot be combined"),
        ('["kernel", "linear"]', '["kernel", "distance_rbf"]', "A kernel is described by"),
    ],
)
def test_kernels_are_checked(old, new, message, fitted, tmp_path):
    crafted = Crafted(fitted["sum"], tmp_path / "m.adatron")
    text = json.dumps(crafted.header)
    assert old in text
    crafted.members["model.json"] = text.replace(old, new).encode()
    crafted.header = None
    with crafted.path.open("wb") as stream, sealed_zip(stream) as archive:
        for name, content in crafted.members.items():
            archive.writestr(name, content)
    with pytest.raises(ModelFileError, match=rf"m\.adatron: the file is not a valid model: .*{message}"):
        load(crafted.path)


def test_an_incremental_model_needs_a_semidefinite_kernel(fitted, tmp_path):
    crafted = Crafted(fitted["learning"], tmp_path / "m.adatron")
    spec = {"$": "dict", "items": [["kernel", "sigmoid"], ["gamma", 1.0], ["coef0", 0.0]]}
    crafted.state["kernel_"] = {"$": "kernel", "spec": spec}
    crafted.refused("kernel_ must be positive semi-definite")


def nested_list(depth):
    value = 0
    for _ in range(depth):
        value = [value]
    return value


def nested_kernel(depth):
    spec = {"$": "dict", "items": [["kernel", "linear"]]}
    for _ in range(depth):
        spec = {"$": "dict", "items": [["kernel", "scaled"], ["factor", 1.0], ["part", spec]]}
    return {"$": "kernel", "spec": spec}


def nested_solver(depth):
    value = None
    for _ in range(depth):
        value = {"$": "solver", "solver": "isda", "params": {"shrinking": value}}
    return value


NESTED = [nested_list(150), nested_list(900), nested_kernel(150), nested_kernel(200), nested_solver(150)]


@pytest.mark.parametrize("value", NESTED)
def test_deep_nesting_is_refused(value, fitted, tmp_path):
    crafted = Crafted(fitted["dense"], tmp_path / "m.adatron")
    crafted.header["model"]["params"]["kernel"] = value
    crafted.refused("nested 100 deep")


def test_json_that_is_nested_beyond_the_parser_is_refused(fitted, tmp_path):
    crafted = Crafted(fitted["dense"], tmp_path / "m.adatron")
    crafted.members["model.json"] = b'{"magic": "adatron-model", "model": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    with crafted.path.open("wb") as stream, sealed_zip(stream) as archive:
        archive.writestr("model.json", crafted.members["model.json"])
    with pytest.raises(ModelFileError, match=r"m\.adatron: .*nested 100 deep"):
        load(crafted.path)


def test_a_kernel_that_could_not_be_loaded_is_not_saved(X, tmp_path):
    kernel = RBF(1.0)
    for number in range(150):
        kernel = kernel + RBF(2.0 + number)
    model = SVC(kernel=kernel).fit(X, X[:, 0] > 0)
    with pytest.raises(ModelFileError, match=r"m\.adatron: .*nested 100 deep"):
        save(model, tmp_path / "m.adatron")
    assert not list(tmp_path.iterdir())


def test_a_model_whose_coefficients_are_beyond_their_bounds_learns_the_right_solution(fitted, X, tmp_path):
    crafted = Crafted(fitted["learning"], tmp_path / "m.adatron")
    crafted.change(dict_of(crafted.state["_tracks"][0])["beta"], lambda array: 7.0 - array)
    crafted.write()
    model = load(crafted.path)
    model.partial_fit(X[:1], model.classes_[:1])
    assert model.kkt_violation_.max() < 1e-9
    assert model.n_refit_ > 0


def test_an_array_is_used_once(fitted, tmp_path):
    crafted = Crafted(fitted["dense"], tmp_path / "m.adatron")
    crafted.state["intercept_"] = crafted.state["class_weight_"]
    crafted.refused("used twice")


@pytest.mark.parametrize(("name", "value"), [("kernel", "precomputed"), ("n_jobs", 0), ("precision", "none")])
def test_a_parameter_is_no_attribute(name, value, fitted, tmp_path):
    """It would go round the checks of parameters."""
    crafted = Crafted(fitted["sum"], tmp_path / "m.adatron")
    crafted.state[name] = value
    crafted.refused(f"'{name}' is a parameter")


@pytest.mark.parametrize("name", ["steps", "named_steps", "best_estimator_", "estimator_", "transformers_"])
def test_an_attribute_of_a_user_is_taken_for_nothing_else(name, X, tmp_path):
    model = IncrementalSVC().fit(X, np.arange(len(X)) % 2)
    setattr(model, name, 3)
    save(model, tmp_path / "named.adatron")
    loaded = load(tmp_path / "named.adatron")
    assert loaded.deletion_report()["files"] == [str(tmp_path / "named.adatron")]
    loaded.forget([0])
    np.testing.assert_array_equal(loaded.predict(X), load(tmp_path / "named.adatron").predict(X))


TABLE = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0] * 3, "b": list("xyxx") * 3})
Y = [0, 1, 0, 1] * 3


@pytest.fixture(autouse=True)
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize(("kind", "value"), [(SVC, True), (SVR, False), (IncrementalSVC, "weights"), (SVC, None)])
def test_requests_of_a_machine(kind, value, tmp_path):
    model = kind().set_fit_request(sample_weight=value)
    save(model, tmp_path / "m.adatron")
    with sklearn.config_context(enable_metadata_routing=False):  # a file is read in any state
        loaded = load(tmp_path / "m.adatron")
    assert str(loaded.get_metadata_routing()) == str(model.get_metadata_routing())
    assert loaded.get_metadata_routing().fit.requests["sample_weight"] is value or value == "weights"


def test_requests_in_pipelines(tmp_path):
    machine = SVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    model = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), MaxAbsScaler(), machine)
    save(model, tmp_path / "m.adatron")
    assert str(load(tmp_path / "m.adatron").get_metadata_routing()) == str(model.get_metadata_routing())
    load(tmp_path / "m.adatron").fit(TABLE[["a"]], Y, sample_weight=[1.0] * 12)


def test_outputs(tmp_path):
    columns = ColumnTransformer([("a", StandardScaler(), ["a"]), ("b", OneHotEncoder(sparse_output=False), ["b"])])
    model = make_pipeline(columns, SVC()).set_output(transform="pandas").fit(TABLE, Y)
    save(model, tmp_path / "m.adatron")
    found = load(tmp_path / "m.adatron")[:-1].transform(TABLE)
    pd.testing.assert_frame_equal(found, model[:-1].transform(TABLE))


HOOKS = ("setup", "teardown", "on_fit_task_begin", "on_fit_task_end", "on_fit_begin", "on_fit_end")
Counting = type("Counting", (), dict.fromkeys(HOOKS, lambda *_, **__: None))  # a callback of scikit-learn 1.9, in short


@pytest.mark.skipif(not hasattr(StandardScaler, "set_callbacks"), reason="scikit-learn before 1.9 has no callbacks")
def test_callbacks_are_left_out(tmp_path):
    model = make_pipeline(StandardScaler().set_callbacks(Counting()), SVC()).fit(TABLE[["a"]], Y)
    model.set_callbacks(Counting())
    save(model, tmp_path / "m.adatron")
    loaded = load(tmp_path / "m.adatron")
    assert not hasattr(loaded, "_skl_callbacks")
    assert not hasattr(loaded[0], "_skl_callbacks")
    assert (loaded.predict(TABLE[["a"]]) == model.predict(TABLE[["a"]])).all()


def test_requests_are_refused_if_there_is_no_such_metadata(tmp_path):
    one = Crafted(SVC().fit(TABLE[["a"]], Y), tmp_path / "m.adatron")
    for requests in ({"fit": {"evil": True}}, {"fit": 3}, {"__init__": {}}, 3):
        one.header["model"]["requests"] = requests
        one.refused("metadata" if requests != 3 else "")
