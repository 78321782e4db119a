"""An MLflow flavour: models of adatron in MLflow's format, stored as safe model files, without pickle.

``save_model`` and ``log_model`` put a file of ``adatron.save`` into a folder of MLflow's format. ``load_model`` returns
the estimator, and ``mlflow.pyfunc.load_model`` something that predicts. All of them also work where a process has
switched the deserialisation of pickles off (MLFLOW_ALLOW_PICKLE_DESERIALIZATION=false).
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from .estimators.forms.way import way_to
from .extras import needed
from .files import load, save
from .quoted import quoted

__all__ = ["FLAVOR_NAME", "get_default_pip_requirements", "load_model", "log_model", "save_model"]

FLAVOR_NAME = "adatron"  # Of the flavour in MLflow's file.
DATA_FOLDER = "data"  # The folder of MLflow's format that holds a model's own files.
FILE = "model.adatron"  # Of the model in the folder.
SERVED_METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "score_samples")
# adatron itself is not pinned: the package index may not have it. Users name the wheel they take it from.
PINNED_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def get_default_pip_requirements() -> list[str]:
    """Return what adatron stands on, with the versions that are installed.

    adatron is not among them: pass its wheel, or the address of its sources, as ``extra_pip_requirements``.

    Examples
    --------
    >>> from adatron.mlflow import get_default_pip_requirements
    >>> [one.partition("==")[0] for one in get_default_pip_requirements()]
    ['numpy', 'scipy', 'scikit-learn', 'numba']
    """
    return [f"{name}=={metadata.version(name)}" for name in PINNED_PACKAGES]


def save_model(
    model: Any,
    path: str | Path,
    *,
    pyfunc_predict_fn: str = "predict",
    signature: Any = None,
    mlflow_model: Any = None,
    pip_requirements: Any = None,
    extra_pip_requirements: Any = None,
    conda_env: Any = None,
    **options: Any,
) -> None:
    """Save a model in a new folder, in MLflow's format.

    Parameters
    ----------
    model : estimator
        One that ``adatron.save`` can store.
    path : path
        The folder, which must not exist or be empty.
    pyfunc_predict_fn : {'predict', 'predict_proba', 'predict_log_proba', 'decision_function', 'score_samples'}
        The method that ``mlflow.pyfunc`` calls; default='predict'.
    signature : mlflow.models.ModelSignature or False, default=None
        By default it comes from the input example, else from the names or the number of the features, if all of these
        are numbers. Named columns of numbers may have any type, such as whole or nullable numbers. False leaves the
        signature out.
    pip_requirements, extra_pip_requirements, conda_env :
        As in ``mlflow.pyfunc.save_model``; by default the installed versions of what adatron stands on. Where the model
        is served, adatron must be there, too: pass its wheel as an extra requirement.
    options :
        Further parameters of ``mlflow.pyfunc.save_model``, such as ``input_example``, ``metadata`` and ``code_paths``.

    Raises
    ------
    ModelFileError
        The model cannot be stored, see ``adatron.save``.
    ValueError
        The model has no such method.
    NotFittedError
        The model is not fitted; nothing is written.
    ImportError
        MLflow is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import adatron.mlflow
    >>> from adatron import SVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> folder = Path(tempfile.mkdtemp()) / "iris"
    >>> adatron.mlflow.save_model(SVC(C=10).fit(X, y), folder)

    >>> (folder / "MLmodel").exists()
    True
    """
    pyfunc, models = _mlflow("mlflow.pyfunc"), _mlflow("mlflow.models")
    if pyfunc_predict_fn not in SERVED_METHODS or not hasattr(model, pyfunc_predict_fn):
        offered = [name for name in SERVED_METHODS if hasattr(model, name)]
        raise ValueError(
            f"The 'pyfunc_predict_fn' parameter must be a method of the model, among {offered}. Got "
            f"{quoted(pyfunc_predict_fn)} instead."
        )
    check_is_fitted(model)
    about = models.Model() if mlflow_model is None else mlflow_model
    about.add_flavor(FLAVOR_NAME, adatron_version=metadata.version("adatron"), data=f"{DATA_FOLDER}/{FILE}")
    if signature is None:
        example = options.get("input_example")
        data, *more = example if isinstance(example, tuple) and len(example) == 2 else (example,)
        table = _table(model, data)
        signature = None if table is None else _signature(model, pyfunc_predict_fn, table)
        if data is not None and table is not None:  # MLflow compares the example with the signature
            options["input_example"] = (table, *more) if more else table
    if pip_requirements is None and conda_env is None:
        more = [f"-r {extra_pip_requirements}"] if isinstance(extra_pip_requirements, str) else extra_pip_requirements
        pip_requirements, extra_pip_requirements = [*get_default_pip_requirements(), *(more or ())], None
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        place = Path(folder) / FILE
        save(model, place)
        warnings.filterwarnings("ignore", ".*An input example was not provided")  # the signature needs none
        pyfunc.save_model(
            path=str(path),
            loader_module="adatron.mlflow",
            data_path=str(place),
            mlflow_model=about,
            signature=signature or None,
            model_config={"pyfunc_predict_fn": pyfunc_predict_fn},
            pip_requirements=pip_requirements,
            extra_pip_requirements=extra_pip_requirements,
            conda_env=conda_env,
            **options,
        )


def log_model(model: Any, name: str = "model", **options: Any) -> Any:
    """Log a model as an artifact of the current run, and return MLflow's ``ModelInfo``.

    Parameters
    ----------
    model : estimator
        As in ``save_model``.
    name : str, default='model'
        The name of the logged model.
    options :
        Parameters of ``save_model``, and those of MLflow's ``Model.log``, such as ``registered_model_name``.

    Examples
    --------
    >>> import mlflow
    >>> import adatron.mlflow
    >>> with mlflow.start_run():  # doctest: +SKIP
    ...     info = adatron.mlflow.log_model(model, "iris")
    >>> adatron.mlflow.load_model(info.model_uri)  # doctest: +SKIP
    """
    check_is_fitted(model)  # before MLflow writes anything
    flavor = import_module(__name__)
    return _mlflow("mlflow.models").Model.log(None, name=name, flavor=flavor, model=model, **options)


def load_model(model_uri: str, dst_path: str | None = None) -> Any:
    """Return the estimator that was saved or logged.

    Parameters
    ----------
    model_uri : str
        A folder, or MLflow's address of a model such as ``runs:/<id>/model`` and ``models:/<name>/<version>``.
    dst_path : str, optional
        The folder to download to.

    Raises
    ------
    ModelFileError
        The file in it is damaged, or no valid model.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import adatron.mlflow
    >>> from adatron import SVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> folder = Path(tempfile.mkdtemp()) / "iris"
    >>> adatron.mlflow.save_model(SVC(C=10).fit(X, y), folder)

    >>> adatron.mlflow.load_model(folder).C
    10
    """
    folder = _mlflow("mlflow.artifacts").download_artifacts(artifact_uri=str(model_uri), dst_path=dst_path)
    return load(Path(folder) / DATA_FOLDER / FILE)


def _load_pyfunc(path: str, model_config: Mapping[str, Any] | None = None) -> Predictor:  # pyright: ignore[reportUnusedFunction]
    """Return what ``mlflow.pyfunc`` predicts with, from the file of a model."""
    method = (model_config or {}).get("pyfunc_predict_fn", "predict")
    if method not in SERVED_METHODS:
        raise ValueError(f"pyfunc_predict_fn must be among {list(SERVED_METHODS)}. Got {quoted(method)} instead.")
    return Predictor(load(path), method)


class Predictor:
    """An estimator that predicts by one of its methods."""

    def __init__(self, model: Any, method: str) -> None:
        self.model, self.method = model, method

    def get_raw_model(self) -> Any:
        """Return the estimator."""
        return self.model

    def predict(self, model_input: Any, params: Mapping[str, Any] | None = None) -> Any:
        """Return what the method says of some rows; there are no further parameters."""
        return getattr(self.model, self.method)(model_input)


def _signature(model: Any, method: str, table: Any) -> Any:
    """Return the types of features and results.

    Columns of numbers have any type. Otherwise MLflow would refuse whole numbers, truth values and nullable columns
    where it knows floats, and floats where it knows these. The model itself checks them.
    """
    from mlflow.models import infer_signature
    from mlflow.types.schema import AnyType, ColSpec, Schema

    found: Any = getattr(model, method)(table)
    if getattr(found, "dtype", np.dtype(float)).kind in "OUS":  # MLflow calls a column of text a string
        found = _pandas().Series(found.astype(object))
    signature = infer_signature(table, found)
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        others = {one.name: one for one in signature.inputs.inputs if _is_other(table[one.name])}
        signature.inputs = Schema([others.get(name) or ColSpec(AnyType(), name) for name in map(str, names)])
    return signature


def _is_other(column: Any) -> bool:
    """Return whether a column holds no numbers."""
    return getattr(column.dtype, "kind", "O") not in "biuf"


def _table(model: Any, example: Any) -> Any:
    """Return samples as the model takes them: an example, else ones; None if features may not be numbers."""
    width, names = getattr(model, "n_features_in_", None), getattr(model, "feature_names_in_", None)
    if (example is None or names is None) and not _numeric(model):
        return None
    if example is None:
        if width is None:
            return None
        example = np.ones((1, width))
    if isinstance(example, dict):
        scalars = all(np.ndim(one) == 0 for one in example.values())
        frame = _pandas().DataFrame([example] if scalars else example)
        return frame.to_numpy() if names is None else frame
    if names is None:
        if sparse.issparse(example) and not sparse.issparse(getattr(way_to(model).machine, "support_vectors_", None)):
            return example.toarray()
        return example if hasattr(example, "shape") else np.atleast_2d(example)
    if hasattr(example, "columns"):
        return example
    values = example.toarray() if sparse.issparse(example) else example
    if len(values) and isinstance(values[0], dict):
        return _pandas().DataFrame(values)
    return _pandas().DataFrame(np.atleast_2d(np.asarray(values)), columns=names)


def _pandas() -> Any:
    return needed("pandas", "mlflow", "MLflow models with names take")


def _numeric(model: Any) -> bool:
    """Return whether a model takes numbers: its machine and all steps before it take no other values."""
    for part in way_to(model).estimators:
        tags: Any = get_tags(part).input_tags
        if isinstance(part, ColumnTransformer) or tags.string or tags.categorical:
            return False
    return True


def _mlflow(module: str) -> Any:
    return needed(module, "mlflow", "The flavour takes")
