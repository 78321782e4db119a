"""What `set_fit_request`, `set_output` and their siblings hang on estimators comes back, callbacks do not."""

import pandas as pd
import pytest
import sklearn
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from adatron import SVC, SVR, IncrementalSVC, load, save
from crafted import Crafted

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
