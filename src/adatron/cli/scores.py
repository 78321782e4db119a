"""The quality of a model's predictions, for people and for programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..files.labels import as_targets
from ..files.table import whole_if_possible
from .parts import machine_of, task_of
from .report import shortened
from .status import InputError, TableRows

Scores = dict[str, Any]


def scores(model: Any, X: Any, y: Any) -> Scores:
    """Return the quality of a model on data, under the keys of the JSON output.

    Parameters
    ----------
    y : ndarray or None
        The labels; novelty detection does without.
    """
    task = task_of(model)
    if task == "regression":
        return of_regression(model, model.predict(X), y)
    if task == "novelty":
        return of_outliers(model.predict(X), y)
    machine_of(model).head.refuse_several()
    check_classes(model.classes_, y)
    return of_classes(model.predict(X), y) | _ranking(model, X, y)


def of_classes(predicted: Any, y: Any) -> Scores:
    """Return how well classes were predicted; ``report`` is scikit-learn's, in words."""
    from sklearn import metrics

    predicted, y = comparable(predicted, y)
    classes = np.unique(np.concatenate([predicted, y]))
    measure: Any = metrics.precision_recall_fscore_support
    report: Any = metrics.classification_report
    of_each = measure(y, predicted, labels=classes, zero_division=0.0)
    _, recall, _, count = of_each
    return {
        "samples": len(y),
        "accuracy": float(np.mean(predicted == y)),
        "balanced_accuracy": float(np.mean(recall[count > 0])),
        "classes": classes,
        **dict(zip(("precision", "recall", "f1", "samples_of_classes"), of_each, strict=True)),
        "confusion_matrix": metrics.confusion_matrix(y, predicted, labels=classes),
        "report": report(y, predicted, digits=4, zero_division=0.0),
    }


def _ranking(model: Any, X: Any, y: Any) -> Scores:
    """Return the area under the ROC curve of two classes; None unless the labels are those two."""
    from sklearn.metrics import roc_auc_score

    classes, labels = comparable(model.classes_, y)
    if len(classes) != 2 or set(labels.tolist()) != set(classes.tolist()):
        return {"roc_auc": None}
    return {"roc_auc": float(roc_auc_score(labels == classes[1], model.decision_function(X)))}


def of_numbers(predicted: Any, y: Any) -> Scores:
    """Return how well real numbers were predicted."""
    from sklearn.metrics import r2_score

    y = numbers(y)
    error = predicted - y
    return {
        "samples": len(y),
        "r2": float(r2_score(y, predicted)) if len(y) > 1 else None,
        "mae": float(np.mean(np.abs(error))),
        "rmse": float(np.sqrt(np.mean(error**2))),
    }


def of_regression(model: Any, predicted: Any, y: Any) -> Scores:
    """Return how well a model predicted numbers or quantiles.

    Raises
    ------
    InputError
        It predicts several numbers that are no quantiles.
    """
    machine = machine_of(model)
    if "quantile" in machine.get_params(deep=False):
        return of_quantiles(predicted.reshape(len(predicted), -1), y, np.atleast_1d(machine.quantile).tolist())
    if predicted.ndim > 1:
        raise InputError(f"the model predicts {predicted.shape[1]} numbers for a sample, and the data have one label")
    return of_numbers(predicted, y)


def of_quantiles(predicted: Any, y: Any, quantiles: list[float]) -> Scores:
    """Return how well quantiles were predicted: the mean of their pinball losses, and the part of the data below each.

    predicted : (n, n_quantiles)
    """
    from sklearn.metrics import d2_pinball_score, mean_pinball_loss

    y, curves = numbers(y), list(zip(quantiles, predicted.T, strict=True))
    several = len(y) > 1
    return {
        "samples": len(y),
        "quantiles": quantiles,
        "pinball": float(np.mean([mean_pinball_loss(y, one, alpha=tau) for tau, one in curves])),
        "d2": float(np.mean([d2_pinball_score(y, one, alpha=tau) for tau, one in curves])) if several else None,
        "below": [float(np.mean(y < one)) for _, one in curves],
    }


def of_outliers(predicted: Any, y: Any) -> Scores:
    """Return the share of outliers; the accuracy, too, if the labels are 1 and -1 as the predictions are."""
    outliers = int(np.sum(predicted == -1))
    found: Scores = {
        "samples": len(predicted),
        "outliers": outliers,
        "outlier_share": outliers / len(predicted),
        "accuracy": None,
    }
    if y is not None and y.dtype.kind in "iuf" and np.isin(y, (-1, 1)).all():
        found["accuracy"] = float(np.mean(predicted == y))
    return found


def numbers(y: Any) -> Any:
    """Return targets of a regression as numbers.

    Raises
    ------
    ValueError
        A target is text.
    """
    found = as_targets(y)
    if found is None:
        raise InputError(f"regression needs numbers as labels; found {str(y[0])[:50]!r}: --label names the column")
    return found


def comparable(predicted: Any, y: Any) -> tuple[Any, Any]:
    """Return both as text if either is: a column of numbers may stand for text, and text, +1 say, for numbers."""
    if predicted.dtype.kind in "iuf" and y.dtype.kind == "U" and (found := as_targets(y)) is not None:
        y = whole_if_possible(found)
    if "U" in predicted.dtype.kind + y.dtype.kind:
        return predicted.astype(str), y.astype(str)
    return predicted, y


def check_classes(classes: Any, y: Any) -> None:
    """Fail if no label is a class of the model: such labels mean something else."""
    known, labels = (np.unique(some) for some in comparable(classes, y))
    if not np.isin(labels, known).any():
        named = (shortened(list(map(str, some))) for some in (labels, known))
        raise InputError("none of the labels ({}) is a class of the model ({})".format(*named))


def short(found: Scores) -> str:
    """Return the quality in one line."""
    rows = [f"{name} {value}" for name, value in rows_of(found)]
    many = "r2" in found or "pinball" in found
    return f"{', '.join(rows)} ({found['samples']} samples)" if many else rows[0]


def accuracy(found: Scores) -> str:
    """Return the accuracy as people read it."""
    return f"{found['accuracy']:.4%} ({round(found['accuracy'] * found['samples'])} of {found['samples']})"


def rows_of(found: Scores) -> TableRows:
    """Return the quality as rows of a name and a value."""
    if "r2" in found:
        r2 = "unknown" if found["r2"] is None else f"{found['r2']:.6f}"
        return [("R2", r2), ("MAE", f"{found['mae']:.6g}"), ("RMSE", f"{found['rmse']:.6g}")]
    if "pinball" in found:
        d2 = "unknown" if found["d2"] is None else f"{found['d2']:.6f}"
        both = zip(found["quantiles"], found["below"], strict=True)
        below = ", ".join(f"{part:.1%} (quantile {tau:g})" for tau, part in both)
        return [("D2", d2), ("pinball", f"{found['pinball']:.6g}"), ("below", below)]
    if "outliers" in found:
        rows: TableRows = [("outliers", f"{found['outlier_share']:.4%} ({found['outliers']} of {found['samples']})")]
        return [*rows, ("accuracy", accuracy(found))] if found["accuracy"] is not None else rows
    return [("accuracy", accuracy(found))]
