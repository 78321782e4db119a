"""What stands around a machine comes back from its file, and predicts the same to the last bit.

Also tested here: ``check`` and ``values``.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse, stats
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import BaggingClassifier, BaggingRegressor, RandomForestClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import (
    RFE,
    RFECV,
    GenericUnivariateSelect,
    SelectFdr,
    SelectFpr,
    SelectFromModel,
    SelectFwe,
    SelectKBest,
    SelectPercentile,
    SequentialFeatureSelector,
    VarianceThreshold,
    chi2,
    f_classif,
    f_regression,
    mutual_info_classif,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    KFold,
    RandomizedSearchCV,
    RepeatedStratifiedKFold,
    ShuffleSplit,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    LabelBinarizer,
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC as Theirs
from sklearn.svm import LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier

from adatron import SVC, SVR, IncrementalSVC, load, save
from adatron.files import ModelFileError
from adatron.files.models.around.classes import AROUND

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
THREE = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
TWO = (THREE > 0).astype(int)
VALUES = X[:, 1] + 0.1 * X[:, 2]
HOLES = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
CSR = sparse.csr_matrix(np.where(np.abs(X) > 0.5, X, 0.0))
WORDS = np.array(["red", "green", "blue", "grün"])[RNG.integers(4, size=60)]
COLOURS = np.stack([WORDS, np.array(["a", "b", None], dtype=object)[RNG.integers(3, size=60)]], axis=1)
TEXTS = [
    f"a {one} thing of {two} with number{i % 7}" for i, (one, two) in enumerate(zip(WORDS, WORDS[::-1], strict=True))
]
TABLE = pd.DataFrame({"x": HOLES[:, 0], "colour": WORDS, "z": X[:, 2], "kind": np.arange(60) % 3})
TRANSFORMERS = {
    "StandardScaler": StandardScaler(),
    "MinMaxScaler": MinMaxScaler(),
    "MaxAbsScaler": MaxAbsScaler(),
    "RobustScaler": RobustScaler(),
    "RobustScaler without centre": RobustScaler(with_centering=False),
    "Normalizer": Normalizer("l1"),
    "Binarizer": Binarizer(threshold=0.3),
    "QuantileTransformer": QuantileTransformer(n_quantiles=20, output_distribution="normal", random_state=0),
    "PowerTransformer": PowerTransformer(),
    "KBinsDiscretizer": KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf")
    if "quantile_method" in KBinsDiscretizer().get_params()
    else KBinsDiscretizer(3),
    "FunctionTransformer": FunctionTransformer(np.tanh, inverse_func=np.arctan, check_inverse=False),
    "FunctionTransformer of nothing": FunctionTransformer(),
    "PCA": PCA(2, whiten=True),
    "TruncatedSVD": TruncatedSVD(2, random_state=np.random.RandomState(0)),
    "VarianceThreshold": VarianceThreshold(0.1),
    "SelectKBest": SelectKBest(f_classif, k=2),
    "SelectPercentile": SelectPercentile(f_regression, percentile=50),
    "SelectFpr": SelectFpr(alpha=0.9),
    "SelectFdr": SelectFdr(alpha=0.9),
    "SelectFwe": SelectFwe(alpha=0.9),
    "GenericUnivariateSelect": GenericUnivariateSelect(mutual_info_classif, mode="k_best", param=2),
    "SelectFromModel": SelectFromModel(SVC(kernel="linear"), max_features=2),
    "SelectFromModel of LinearSVC": SelectFromModel(LinearSVC(), threshold="0.5*mean"),
    "RFE": RFE(SVC(kernel="linear"), n_features_to_select=2),
    "RFECV": RFECV(LogisticRegression(), cv=3),
    "SequentialFeatureSelector": SequentialFeatureSelector(SVC(), n_features_to_select=2, cv=2),
    "FeatureUnion": FeatureUnion(
        [("pca", PCA(1)), ("same", "passthrough"), ("not", "drop")], transformer_weights={"pca": 2}
    ),
    "Pipeline": make_pipeline(RobustScaler(), PCA(3)),
    "ColumnTransformer": ColumnTransformer(
        [("a", StandardScaler(), [0, 2]), ("b", "passthrough", slice(1, 2))], remainder=MinMaxScaler()
    ),
}
CLASSIFIERS = {
    "CalibratedClassifierCV": CalibratedClassifierCV(SVC(), cv=3),
    "CalibratedClassifierCV, isotonic": CalibratedClassifierCV(
        make_pipeline(StandardScaler(), SVC()), method="isotonic", cv=KFold(3)
    ),
    "CalibratedClassifierCV, frozen": CalibratedClassifierCV(FrozenEstimator(SVC().fit(X, THREE))),
    "OneVsRestClassifier": OneVsRestClassifier(SVC()),
    "OneVsOneClassifier": OneVsOneClassifier(SVC()),
    "BaggingClassifier": BaggingClassifier(SVC(), 3, max_features=0.5, random_state=0),
    "GridSearchCV": GridSearchCV(
        make_pipeline(StandardScaler(), SVC()), {"svc__C": [1, 10.0], "svc__kernel": ["rbf", "linear"]}, cv=3
    ),
    "GridSearchCV of two scores": GridSearchCV(
        SVC(),
        {"C": np.logspace(-1, 1, 3)},
        scoring=["accuracy", "f1_macro"],
        refit="accuracy",
        cv=ShuffleSplit(2, random_state=0),
    ),
    "GridSearchCV of a scorer": GridSearchCV(
        SVC(),
        [{"C": [1, 10]}, {"kernel": ["linear"]}],
        scoring=make_scorer(f1_score, average="macro"),
        cv=RepeatedStratifiedKFold(n_splits=2, n_repeats=2),
    ),
    "GridSearchCV of steps": GridSearchCV(
        Pipeline([("scale", None), ("svc", SVC())]),
        {"scale": [StandardScaler(), "passthrough"]},
        cv=[(np.arange(40), np.arange(40, 60))],
    ),
    "RandomizedSearchCV": RandomizedSearchCV(
        SVC(),
        {"C": stats.loguniform(0.1, 10), "gamma": [0.1, 1.0]},
        n_iter=3,
        cv=2,
        random_state=np.random.RandomState(0),
    ),
    "HalvingGridSearchCV": HalvingGridSearchCV(SVC(), {"C": [0.1, 1, 10]}, cv=2),
    "HalvingRandomSearchCV": HalvingRandomSearchCV(
        SVC(), {"C": stats.uniform(1, 2)}, n_candidates=3, cv=2, random_state=0
    ),
    "LogisticRegression": LogisticRegression(),
    "RidgeClassifier": RidgeClassifier(),
    "LinearSVC": LinearSVC(),
    "FrozenEstimator": FrozenEstimator(SVC().fit(X, THREE)),
}
REGRESSORS = {
    "TransformedTargetRegressor": TransformedTargetRegressor(SVR(), transformer=StandardScaler()),
    "TransformedTargetRegressor of functions": TransformedTargetRegressor(SVR(), func=np.arcsinh, inverse_func=np.sinh),
    "BaggingRegressor": BaggingRegressor(SVR(), 3, random_state=0),
    "IsotonicRegression": make_pipeline(SelectKBest(f_regression, k=1), IsotonicRegression(out_of_bounds="clip")),
    **{one.__name__: one() for one in (LinearRegression, Ridge, Lasso, ElasticNet, LinearSVR)},
}
TEXT = {
    "CountVectorizer": CountVectorizer(min_df=2, max_features=20, stop_words=["of", "a"], dtype=np.float32),
    "CountVectorizer of characters": CountVectorizer(analyzer="char_wb", ngram_range=(1, 3), token_pattern=None),
    "CountVectorizer of given words": CountVectorizer(vocabulary={"red": 1, "green": 0}),
    "TfidfVectorizer": TfidfVectorizer(stop_words="english", sublinear_tf=True),
    "HashingVectorizer": HashingVectorizer(n_features=2**10, alternate_sign=False),
}


def there_and_back(model, path):
    save(model, path)
    first = path.read_bytes()
    with warnings.catch_warnings(action="error"):
        loaded = load(path)
    save(loaded, path)
    assert path.read_bytes() == first
    return loaded


def outputs(model, rows):
    names = ("transform", "predict", "decision_function", "predict_proba", "score_samples")
    found = {name: getattr(model, name)(rows) for name in names if hasattr(model, name)}
    return {name: one.toarray() if sparse.issparse(one) else np.asarray(one) for name, one in found.items()}


def assert_same(model, loaded, rows):
    expected, found = outputs(model, rows), outputs(loaded, rows)
    assert expected.keys() == found.keys()
    assert expected
    for name, one in expected.items():
        assert one.dtype == found[name].dtype
        assert one.tolist() == found[name].tolist() if one.dtype == object else one.tobytes() == found[name].tobytes()


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers_before_a_machine(name, tmp_path):
    model = make_pipeline(TRANSFORMERS[name], SVC()).fit(X, TWO)
    loaded = there_and_back(model, tmp_path / "m.adatron")
    assert_same(model, loaded, X)
    assert_same(model[:-1], loaded[:-1], X)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_wrappers_and_searches(name, tmp_path):
    with warnings.catch_warnings(action="ignore"):
        model = CLASSIFIERS[name].fit(X, THREE)
    loaded = there_and_back(model, tmp_path / "m.adatron")
    assert_same(model, loaded, X)
    assert loaded.score(X, THREE) == model.score(X, THREE)
    if "cv_results_" in vars(model):
        assert pd.DataFrame(loaded.cv_results_).astype(str).equals(pd.DataFrame(model.cv_results_).astype(str))
        assert str(loaded.best_params_) == str(model.best_params_)


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name, tmp_path):
    model = REGRESSORS[name].fit(X, VALUES)
    assert_same(model, there_and_back(model, tmp_path / "m.adatron"), X)


@pytest.mark.parametrize("name", TEXT)
def test_texts(name, tmp_path):
    model = make_pipeline(TEXT[name], TfidfTransformer(), SVC(kernel="linear")).fit(TEXTS, TWO)
    loaded = there_and_back(model, tmp_path / "m.adatron")
    assert_same(model, loaded, [*TEXTS, "grün and unseen"])
    if hasattr(model[0], "get_feature_names_out"):
        assert loaded[0].get_feature_names_out().tolist() == model[0].get_feature_names_out().tolist()


ENCODERS = [
    OneHotEncoder(handle_unknown="ignore"),
    OneHotEncoder(drop="first", sparse_output=False),
    OneHotEncoder(drop="if_binary", min_frequency=16, handle_unknown="infrequent_if_exist"),
    OneHotEncoder(max_categories=2, drop="first", handle_unknown="infrequent_if_exist"),
    OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, dtype=np.float32),
    OrdinalEncoder(min_frequency=16, encoded_missing_value=-2),
]


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("rows", [COLOURS, THREE[:, None], np.round(HOLES, 0), WORDS[:, None]])
def test_encoders(encoder, rows, tmp_path):
    model = make_pipeline(sklearn.clone(encoder), SimpleImputer(), SVC()).fit(rows, TWO)
    assert_same(model, there_and_back(model, tmp_path / "m.adatron"), rows)


@pytest.mark.parametrize(
    "imputer",
    [
        SimpleImputer(),
        SimpleImputer(strategy="median", add_indicator=True),
        KNNImputer(n_neighbors=2, add_indicator=True),
    ],
)
def test_imputers(imputer, tmp_path):
    model = make_pipeline(imputer, SVC()).fit(HOLES, TWO)
    assert_same(model, there_and_back(model, tmp_path / "m.adatron"), HOLES)


def test_imputers_of_texts_and_indicators(tmp_path):
    model = make_pipeline(SimpleImputer(missing_values=None, strategy="most_frequent"), OneHotEncoder(), SVC()).fit(
        COLOURS, TWO
    )
    assert_same(model, there_and_back(model, tmp_path / "m.adatron"), COLOURS)
    indicator = MissingIndicator().fit(HOLES)
    assert_same(indicator, there_and_back(indicator, tmp_path / "m.adatron"), HOLES)


def test_labels(tmp_path):
    for encoder in (LabelEncoder().fit(WORDS), LabelBinarizer().fit(WORDS)):
        assert_same(encoder, there_and_back(encoder, tmp_path / "m.adatron"), WORDS)


@pytest.mark.parametrize("sparse_threshold", [0.0, 1.0])
def test_tables(sparse_threshold, tmp_path):
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = ColumnTransformer(
        [
            ("numbers", numbers, make_column_selector(dtype_include=np.floating)),
            ("words", OneHotEncoder(), ["colour"]),
            ("kind", "drop", ["kind"]),
        ],
        sparse_threshold=sparse_threshold,
    )
    model = make_pipeline(columns, SVC()).fit(TABLE, WORDS)
    loaded = there_and_back(model, tmp_path / "m.adatron")
    assert_same(model, loaded, TABLE)
    assert_same(model, loaded, TABLE[["z", "kind", "colour", "x"]])
    with pytest.raises(ValueError, match="columns are missing"):
        loaded.predict(TABLE[["x"]])


def test_outputs_of_more_than_one_column(tmp_path):
    for model in (
        MultiOutputClassifier(SVC()).fit(X, np.stack([TWO, THREE], axis=1)),
        MultiOutputRegressor(SVR()).fit(X, X[:, :2]),
        OneVsRestClassifier(SVC()).fit(X, np.eye(3, dtype=int)[THREE]),
    ):
        loaded = there_and_back(model, tmp_path / "m.adatron")
        assert np.asarray(loaded.predict(X)).tolist() == np.asarray(model.predict(X)).tolist()


def test_sparse_rows_go_through_steps(tmp_path):
    model = make_pipeline(MaxAbsScaler(), SelectKBest(chi2, k=3), SVC()).fit(abs(CSR), TWO)
    assert_same(model, there_and_back(model, tmp_path / "m.adatron"), abs(CSR))


def test_every_class_is_tried():
    """Each class of the list was in a file of one of the tests above, or is inside another one."""
    tried = {type(one).__name__ for group in (TRANSFORMERS, CLASSIFIERS, REGRESSORS, TEXT) for one in group.values()}
    inside = {
        "IsotonicRegression", "_SigmoidCalibration", "_TemperatureScaling", "_ConstantPredictor", "LabelBinarizer",
        "LabelEncoder", "SimpleImputer", "KNNImputer", "MissingIndicator", "OneHotEncoder", "OrdinalEncoder",
        "MultiOutputClassifier", "MultiOutputRegressor", "TfidfTransformer",
    }  # fmt: skip
    own = {name for name in AROUND if name.startswith("adatron.")}  # see test_classes_searches.py
    assert AROUND.keys() <= tried | inside | own
    assert all(entry.kind is not None for entry in AROUND.values() if entry.name != "_TemperatureScaling")


def test_unfitted_estimators_come_back(tmp_path):
    for model in (make_pipeline(OneHotEncoder(), SVC()), GridSearchCV(SVC(), {"C": [1, 2]}), TfidfVectorizer()):
        assert str(there_and_back(model, tmp_path / "m.adatron")) == str(model)


# --- what is not stored -------------------------------------------------------------------------------------------


class Own(StandardScaler):
    """A class of a user."""


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (SelectFromModel(RandomForestClassifier(3)), "RandomForestClassifier cannot be stored: compiled code"),
        (SelectFromModel(DecisionTreeClassifier()), "DecisionTreeClassifier cannot be stored: compiled code"),
        (Own(), "Own cannot be stored. The page on serving"),
        (FunctionTransformer(lambda X: X), "func: <function .* is Python code"),
        (FunctionTransformer(np.clip, kw_args={"a_min": 0, "a_max": 1}), "Python code|kw_args must be None"),
        (SelectKBest(lambda X, y: np.ones(4), k=2), "score_func: .*Python code"),
    ],
)
def test_other_steps_are_refused(step, message, tmp_path):
    model = make_pipeline(step, SVC()).fit(X, TWO)
    with pytest.raises(ModelFileError, match=message):
        save(model, tmp_path / "m.adatron")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("model", [KNeighborsClassifier(), Theirs(), RandomForestClassifier(3)])
def test_other_models_are_refused(model, tmp_path):
    with pytest.raises(ModelFileError, match=f"{type(model).__name__} cannot be stored: compiled code"):
        save(BaggingClassifier(model, 2).fit(X, TWO), tmp_path / "m.adatron")


@pytest.mark.parametrize(
    ("vectoriser", "message"),
    [
        (CountVectorizer(tokenizer=str.split, token_pattern=None), "Python code"),
        (CountVectorizer(input="filename"), "input must be 'content'"),
        (HashingVectorizer(n_features=2**30), "n_features may be"),
    ],
)
def test_vectorisers_that_could_do_harm_are_refused(vectoriser, message, tmp_path):
    with pytest.raises(ModelFileError, match=message):
        save(make_pipeline(vectoriser, SVC()), tmp_path / "m.adatron")


@pytest.mark.parametrize(
    "pattern", [r"(a+)+b", r"(a|a)*b", r".*.*.*b", r"(a|b|ab)(c|bcd)(d*)", r"(?=a+)b", r"(.)\1", "("]
)
def test_patterns_that_may_take_for_ever_are_refused(pattern, tmp_path):
    with pytest.raises(ModelFileError, match=r"may take for ever|no valid expression"):
        save(CountVectorizer(token_pattern=pattern), tmp_path / "m.adatron")


@pytest.mark.parametrize("pattern", [r"(?u)\b\w\w+\b", r"\S+", r"[a-z]{2,}", r"\w+|[^\w\s]", r"(?i)\b([a-z]+)\b"])
def test_usual_patterns_of_words_are_stored(pattern, tmp_path):
    assert there_and_back(CountVectorizer(token_pattern=pattern), tmp_path / "m.adatron").token_pattern == pattern


def test_incremental_models_stand_where_they_can_forget(tmp_path):
    path = tmp_path / "m.adatron"
    with pytest.raises(ModelFileError, match="last step of pipelines, or the best estimator of a search"):
        save(BaggingClassifier(IncrementalSVC(), 2).fit(X, TWO), path)
    search = GridSearchCV(make_pipeline(StandardScaler(), IncrementalSVC()), {"incrementalsvc__C": [1, 10]}, cv=2)
    save(search.fit(X, TWO), path)
    load(path).best_estimator_[-1].forget([3])
    assert 3 not in load(path).best_estimator_[-1].ids_
