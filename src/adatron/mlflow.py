"""The loader of MLflow for a file of ``adatron.save``: models in MLflow's format without pickle.

``mlflow.pyfunc.save_model(folder, loader_module="adatron.mlflow", data_path=file)`` makes the folder. MLflow's flavour
for scikit-learn takes skops, but refuses to load it where a process has switched the deserialisation of pickles off
(MLFLOW_ALLOW_PICKLE_DESERIALIZATION=false); a file of ``adatron.save`` is loaded there, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .files import load
from .quoted import quoted

__all__: list[str] = []  # MLflow finds the loader by its name

SERVED_METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "score_samples")


def _load_pyfunc(path: str, model_config: Mapping[str, Any] | None = None) -> Predictor:  # pyright: ignore[reportUnusedFunction]
    """Return the object with which ``mlflow.pyfunc`` predicts, from the file of a model."""
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
