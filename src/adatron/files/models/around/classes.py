"""List the classes that a model file may hold around a machine: scikit-learn's, and the searches of adatron.

The list has classes whose predictions are sums, look-ups and choices of NumPy. It leaves out trees, nearest neighbours
and `sklearn.svm`: their compiled code reads memory wherever the numbers of a model point. The few classes here that
make indices of a sparse matrix from fitted values have a rule in `rules`.

All fields are optional: a missing attribute ends in an ordinary error of scikit-learn. Attributes that no field names
are kept, so that scikit-learn may add some, if they are data and hide nothing of the class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import Any

from ..schema import EXACT, REALS, Array, Either, Field, Fields, Instance, Named, Number, OneOf, Optional
from . import rules
from .values import Words

NUMBERS = (
    *REALS, "float16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool",
)  # fmt: skip
ANY_VALUES = (*NUMBERS, "str", "object")
COUNT = Number(0, EXACT, whole=True)
NOTHING = OneOf(None)


def _array(*shape: str, dtypes: tuple[str, ...] = NUMBERS) -> Array:
    return Array(dtypes, shape, finite=False)


ROW = _array("features")
MAYBE_ROW = Either(NOTHING, ROW)
CHOSEN = _array("features", dtypes=("bool",))
#: State that every estimator of scikit-learn may have.
COMMON: dict[str, Field] = {
    "n_features_in_": Number(0, 2**31 - 1, whole=True, size="features"),
    "feature_names_in_": _array("features", dtypes=("str", "object")),
    "_sklearn_output_config": Named(OneOf("default", "pandas", "polars", None)),
    "classes_": Either(_array("classes", dtypes=ANY_VALUES), Instance(list)),
}
#: State that is not kept: callbacks, what a running fit leaves, the address of an object, and what is made anew.
LEFT_OUT = frozenset({
    "_skl_callbacks", "_skl_callbacks_to_teardown", "_parent_callback_ctx", "_callback_ctx", "_metadata_request",
    "_stop_words_id", "_checked_cv_orig", "_sklearn_version", "scorer_",
})  # fmt: skip
#: Modules whose compiled code takes indices and sizes from fitted attributes.
COMPILED = ("ensemble", "tree", "neighbors", "svm", "cluster", "gaussian_process")


@dataclass(frozen=True)
class Around:
    """A class of scikit-learn, or a search of adatron, and what is known of its state.

    Parameters
    ----------
    fields : the fitted attributes that are checked
    rule : returns a fault of parameters and state in words, or None
    module : the module that has the class; files are below the searches, so it is imported when a file names the class
    """

    name: str
    fields: dict[str, Field] = field(default_factory=dict[str, Field])
    rule: Callable[[dict[str, Any], dict[str, Any]], str | None] | None = None
    module: str = ""

    @property
    def kind(self) -> type[Any] | None:
        """The class; None if the installed scikit-learn does not have it."""
        return _found(self.module, self.name)

    @property
    def key(self) -> str:
        """The name of the class in a file."""
        return _key(self.module, self.name)

    @property
    def state(self) -> Fields:
        """Fields of the whole state."""
        return {name: Optional(one) for name, one in {**COMMON, **self.fields}.items()}


@cache
def _found(module: str, name: str) -> type[Any] | None:
    return getattr(import_module(module), name, None)


def _key(module: str, name: str) -> str:
    return f"adatron.{name}" if module.startswith("adatron.") else name


LINEAR: dict[str, Field] = {"intercept_": Instance(object)}
SCORES: dict[str, Field] = {"scores_": ROW, "pvalues_": MAYBE_ROW}
RANKED: dict[str, Field] = {"support_": CHOSEN, "ranking_": ROW, "n_features_": COUNT}
MACHINES: dict[str, Field] = {"estimators_": Either(Instance(list), Instance(tuple))}
SEARCH: dict[str, Field] = {
    "cv_results_": Instance(dict),
    "best_params_": Instance(dict),
    "best_index_": Number(0, EXACT, whole=True),
    "n_splits_": COUNT,
}
WORDS: dict[str, Field] = {"vocabulary_": Instance(Words), "fixed_vocabulary_": OneOf(True, False)}

_TABLE: dict[str, list[Around]] = {
    "preprocessing": [
        Around("RobustScaler", {"center_": MAYBE_ROW, "scale_": MAYBE_ROW}),
        Around("Normalizer"),
        Around("Binarizer"),
        Around(
            "QuantileTransformer",
            {"quantiles_": _array("quantiles", "features"), "references_": _array("quantiles")},
        ),
        Around("PowerTransformer", {"lambdas_": ROW}),
        Around("KBinsDiscretizer", {"n_bins_": ROW, "bin_edges_": _array("features", dtypes=("object",))}),
        Around("OneHotEncoder", {"categories_": Instance(list)}, rules.one_hot),
        Around("OrdinalEncoder", {"categories_": Instance(list)}, rules.categories),
        Around("LabelBinarizer"),
        Around("LabelEncoder"),
        Around("FunctionTransformer", {}, rules.function),
    ],
    "impute": [
        Around("SimpleImputer", {"statistics_": _array("features", dtypes=ANY_VALUES)}),
        Around("MissingIndicator", {"features_": _array("shown")}),
        Around(
            "KNNImputer",
            {
                "_fit_X": _array("samples", "features"),
                "_mask_fit_X": _array("samples", "features", dtypes=("bool",)),
                "_valid_mask": CHOSEN,
            },
        ),
    ],
    "decomposition": [
        Around(
            "PCA",
            {
                "components_": _array("components", "features"),
                "mean_": MAYBE_ROW,
                "explained_variance_": _array("components"),
            },
        ),
        Around("TruncatedSVD", {"components_": _array("components", "features")}),
    ],
    "feature_selection": [
        *(
            Around(name, SCORES)
            for name in (
                "SelectKBest",
                "SelectPercentile",
                "SelectFpr",
                "SelectFdr",
                "SelectFwe",
                "GenericUnivariateSelect",
            )
        ),
        Around("VarianceThreshold", {"variances_": ROW}),
        Around("SelectFromModel"),
        Around("SequentialFeatureSelector", {"support_": CHOSEN}),
        Around("RFE", RANKED),
        Around("RFECV", RANKED),
    ],
    "feature_extraction.text": [
        Around("CountVectorizer", WORDS, rules.text),
        Around("TfidfVectorizer", WORDS, rules.text),
        Around("HashingVectorizer", {}, rules.text),
        Around("TfidfTransformer", {"idf_": ROW}),
    ],
    "compose": [
        Around("ColumnTransformer", {"transformers_": Instance(list), "output_indices_": Named(Instance(slice))}),
        Around("TransformedTargetRegressor"),
    ],
    "frozen": [Around("FrozenEstimator")],
    "calibration": [
        Around("CalibratedClassifierCV", {"calibrated_classifiers_": Instance(list)}),
        Around("_SigmoidCalibration", {"a_": Number(), "b_": Number()}),
        Around("_TemperatureScaling"),
    ],
    "isotonic": [
        Around("IsotonicRegression", {"X_thresholds_": _array("steps"), "y_thresholds_": _array("steps")}),
    ],
    "multiclass": [
        Around("OneVsRestClassifier", MACHINES),
        Around("OneVsOneClassifier", MACHINES),
        Around("_ConstantPredictor"),
    ],
    "multioutput": [Around("MultiOutputClassifier", MACHINES), Around("MultiOutputRegressor", MACHINES)],
    "ensemble": [
        *(
            Around(name, {**MACHINES, "estimators_features_": Instance(list)})
            for name in ("BaggingClassifier", "BaggingRegressor")
        )
    ],
    "pipeline": [Around("FeatureUnion")],
    "model_selection": [Around("GridSearchCV", SEARCH), Around("RandomizedSearchCV", SEARCH)],
    "model_selection._search_successive_halving": [
        Around("HalvingGridSearchCV", SEARCH),
        Around("HalvingRandomSearchCV", SEARCH),
    ],
    "linear_model": [
        Around(name, LINEAR)
        for name in ("LinearRegression", "Ridge", "RidgeClassifier", "Lasso", "ElasticNet", "LogisticRegression")
    ],
    "svm": [Around(name, LINEAR) for name in ("LinearSVC", "LinearSVR")],
}
_LISTED = [replace(one, module=f"sklearn.{module}") for module, listed in _TABLE.items() for one in listed]
_OURS = [
    Around(name, SEARCH, module="adatron.selection")
    for name in ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV")
]
#: The classes by their names in a file.
AROUND: dict[str, Around] = {one.key: one for one in (*_LISTED, *_OURS)}


def around_of(value: object) -> Around | None:
    """Return the entry of an object's class; None if it has no place in a model file."""
    kind = type(value)
    found = AROUND.get(_key(kind.__module__, kind.__name__))
    known = kind.__module__.startswith(("sklearn.", "adatron."))
    return found if found is not None and known and found.kind is kind else None


def refusal(value: object) -> str:
    """Say why an object of another class has no place in a model file."""
    kind = type(value)
    given = f"{kind.__module__}.{kind.__qualname__}"
    parts = kind.__module__.split(".")
    if parts[0] == "sklearn" and len(parts) > 1 and parts[1] in COMPILED:
        return (
            f"a {given} cannot be stored: compiled code of scikit-learn would read memory wherever its numbers in a "
            "file point. The page on serving lists the classes that can be stored"
        )
    if hasattr(value, "to_local"):
        return f"a {kind.__name__} belongs to a cluster and cannot be stored; store what its to_local() returns"
    return f"a {given} cannot be stored. The page on serving lists the classes of scikit-learn that can be"
