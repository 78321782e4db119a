"""What is forgotten is gone: no process that is behind brings it back, and what still tells of it is named."""

import os

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import KNNImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, OneHotEncoder, RobustScaler, StandardScaler

import adatron
from adatron import IncrementalOneClassSVM, IncrementalSVC
from adatron.estimators.incremental.forgetting import keeping
from adatron.kernels import RBF


@pytest.fixture
def data():
    X = np.random.default_rng(0).normal(size=(40, 3))
    return X, (X[:, 0] > 0).astype(int)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.adatron"


@pytest.fixture
def model(data, path):
    model = IncrementalSVC(gamma=0.5).fit(*data)
    adatron.save(model, path)
    return model


def report(model):
    return model.deletion_report()


@pytest.mark.parametrize("scaler", [StandardScaler, MinMaxScaler, MaxAbsScaler])
def test_a_scaler_remembers(scaler, data, path):
    X, y = data
    pipe = make_pipeline(scaler(), IncrementalSVC(gamma=0.5)).fit(X[:30], y[:30])
    pipe[-1].partial_fit(pipe[:-1].transform(X[30:]), y[30:])
    adatron.save(pipe, path)
    for one in (pipe, adatron.load(path)):
        with pytest.raises(
            ValueError, match=rf"The step '{scaler.__name__.lower()}' .* was fitted to sample 29 .*again"
        ):
            adatron.forget(one, [35, 29])
        assert len(one[-1].ids_) == 40
    assert adatron.forget(pipe, [35, 39]) is pipe
    adatron.save(pipe, path)
    assert sorted(adatron.load(path)[-1].ids_) == [one for one in range(40) if one not in (35, 39)]
    (found,) = report(pipe[-1])["derived"]
    assert f"({scaler.__name__}) keeps" in found
    assert "n_samples_seen_" in found


def test_weights_of_a_scaler_do_not_make_it_forgetful(data):
    X, y = data
    pipe = make_pipeline(StandardScaler(), IncrementalSVC(gamma=0.5))
    pipe.fit(X, y, standardscaler__sample_weight=np.full(len(y), 0.1))
    assert pipe[0].n_samples_seen_ < 5
    with pytest.raises(ValueError, match="was fitted to sample 20"):
        adatron.forget(pipe, 20)


@pytest.mark.parametrize(
    ("kernel", "told"),
    [("rbf", True), ("poly", True), ("linear", False), (RBF(0.5), False), (lambda A, B: A @ B.T, False)],
    ids=["rbf", "poly", "linear", "its own", "function"],
)
def test_gamma_is_named_only_where_the_kernel_has_it_from_the_data(data, kernel, told):
    model = IncrementalSVC(kernel=kernel).fit(*data)
    assert any("gamma" in text for text in report(model)["derived"]) == told


def test_steps_that_remember_nothing(data):
    pipe = make_pipeline(Normalizer(), "passthrough", IncrementalOneClassSVM(gamma=0.5)).fit(data[0])
    assert 3 not in adatron.forget(pipe, [3])[-1].ids_
    assert report(pipe[-1])["derived"] == []


@pytest.mark.parametrize(
    ("step", "name", "keeps"),
    [
        (PCA(2), "pca", "mean_"),
        (KNNImputer(), "knnimputer", "_fit_X"),
        (OneHotEncoder(handle_unknown="ignore"), "onehotencoder", "categories_"),
        (make_pipeline(Normalizer(), RobustScaler()), "pipeline__robustscaler", "center_"),
        (FeatureUnion([("same", "passthrough"), ("most", MaxAbsScaler())]), "featureunion__most", "max_abs_"),
        (ColumnTransformer([("a", Normalizer(), [0]), ("b", PCA(1), [1, 0])]), "columntransformer__b", "mean_"),
        (ColumnTransformer([], remainder=make_pipeline(StandardScaler())),
         "columntransformer__remainder__standardscaler", "scale_"),
    ],
)  # fmt: skip
def test_steps_inside_steps_remember(step, name, keeps, data):
    X, y = data
    pipe = make_pipeline(step, IncrementalSVC(gamma=0.5)).fit(X, y)
    with pytest.raises(ValueError, match=rf"The step '{name}' .* was fitted to sample 5 "):
        adatron.forget(pipe, [5])
    (found,) = keeping(pipe)
    assert found.startswith(f"the step '{name}' (")
    assert keeps in found


def test_the_best_estimator_of_a_search_forgets(data):
    X, y = data
    inner = make_pipeline(Normalizer(), IncrementalSVC(gamma=0.5))
    search = GridSearchCV(inner, {"incrementalsvc__C": [1.0, 2.0]}, cv=2)
    assert adatron.forget(search.fit(X, y), [5]) is search
    assert 5 not in search.best_estimator_[-1].ids_


def test_the_report_names_what_was_computed_from_all_samples(data):
    X, y = data
    y = np.where(np.arange(40) == 7, 2, y)
    model = IncrementalSVC().fit(X, y).forget([7])
    gamma, label = report(model)["derived"]
    assert "gamma='scale'" in gamma
    assert "classes_ keeps the label 2" in label
    assert report(IncrementalSVC(gamma="auto").fit(X, y))["derived"] == []


def test_the_report_names_the_files_that_hold_forgotten_samples(data, model, path):
    second, pipe = path.with_name("second"), make_pipeline(StandardScaler().fit(data[0]), model)
    adatron.save(pipe, second)
    assert report(model)["holds"] == []
    for number in (7, 8):
        model.forget([number])
        found = report(model)
        told = "it was written before samples were forgotten: save the model there again, or delete the file"
        assert found["holds"] == [f"{path}: {told}", f"{second}: {told}"]
        assert any("snapshots" in one for one in found["unknown"])
        assert all(7 in one.ids_ for one in (adatron.load(path), adatron.load(second)[-1]))
    adatron.save(model, path)
    assert report(model)["holds"] == [f"{second}: {told}"]
    second.unlink()
    assert report(model)["holds"] == []
    assert not {7, 8} & {*adatron.load(path).ids_}
    loaded = adatron.load(path)
    loaded.forget([9])
    assert report(loaded)["holds"] == [f"{path}: {told}"]


@pytest.mark.skipif(os.name != "posix", reason="folders that cannot be written to")
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")
def test_a_model_is_loaded_from_a_folder_that_may_only_be_read(model, path):
    path.parent.chmod(0o500)
    try:
        assert len(adatron.load(path).ids_) == 40
    finally:
        path.parent.chmod(0o700)
