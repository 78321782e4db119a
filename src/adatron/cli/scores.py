"""Predictions and their quality, for people and for programs."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import metrics

from .labels import check_classes, comparable, has_sides, numbers
from .outputs import InputError, TableRows
from .parts import machine_of, task_of

Scores = dict[str, Any]


def scores(model: Any, table: Any) -> Scores:
    """Return the quality of a model on data, under the keys of the JSON output; novelty detection needs no labels."""
    X, y = table.X, table.y
    if task_of(model) != "classification":
        return measured(model, model.predict(X), y)
    machine_of(model).head.refuse_several()
    check_classes(model.classes_, y)
    found, (classes, labels) = measured(model, model.predict(X), y), comparable(model.classes_, y)
    both = len(classes) == 2 and set(labels.tolist()) == set(classes.tolist())
    area = float(metrics.roc_auc_score(labels == classes[1], model.decision_function(X))) if both else None
    return found | {"roc_auc": area}


def measured(model: Any, predicted: Any, y: Any) -> Scores:
    """Return how well a model predicted."""
    task = task_of(model)
    if task == "regression":
        return _of_regression(model, predicted, y)
    return _of_classes(predicted, y) if task == "classification" else _of_outliers(predicted, y)


def _of_classes(predicted: Any, y: Any) -> Scores:
    """Return how well classes were predicted; ``report`` is scikit-learn's, in words."""
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


def _of_regression(model: Any, predicted: Any, y: Any) -> Scores:
    """Return how well a model predicted numbers; or quantiles: the mean pinball loss, and the part below each."""
    machine, y = machine_of(model), numbers(y)
    several = len(y) > 1
    if "quantile" in machine.get_params(deep=False):
        quantiles = np.atleast_1d(machine.quantile).tolist()
        curves = list(zip(quantiles, predicted.reshape(len(predicted), -1).T, strict=True))
        d2 = float(np.mean([metrics.d2_pinball_score(y, one, alpha=tau) for tau, one in curves])) if several else None
        return {
            "samples": len(y),
            "quantiles": quantiles,
            "pinball": float(np.mean([metrics.mean_pinball_loss(y, one, alpha=tau) for tau, one in curves])),
            "d2": d2,
            "below": [float(np.mean(y < one)) for _, one in curves],
        }
    if predicted.ndim > 1:
        raise InputError(f"the model predicts {predicted.shape[1]} numbers for a sample, and the data have one label")
    return {
        "samples": len(y),
        "r2": float(metrics.r2_score(y, predicted)) if several else None,
        "mae": float(metrics.mean_absolute_error(y, predicted)),
        "rmse": float(metrics.root_mean_squared_error(y, predicted)),
    }


def _of_outliers(predicted: Any, y: Any) -> Scores:
    """Return the share of outliers; the accuracy, too, if the labels are 1 and -1 as the predictions are."""
    outliers = int(np.sum(predicted == -1))
    return {
        "samples": len(predicted),
        "outliers": outliers,
        "outlier_share": outliers / len(predicted),
        "accuracy": float(np.mean(predicted == y)) if has_sides(y) else None,
    }


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


def compared(model: Any, predicted: Any, y: Any) -> str:
    """Return the quality, unless the labels are placeholders: data to predict often have 0 in their place."""
    task, machine = task_of(model), machine_of(model)
    try:
        if task != "classification":
            rows = [f"{name} {value}" for name, value in rows_of(measured(model, predicted, y))]
            return f"{', '.join(rows)} ({len(predicted)} samples)" if task == "regression" else rows[0]
        machine.head.refuse_several()
        check_classes(machine.classes_, y)
    except ValueError as error:
        return f"no {'errors' if task == 'regression' else 'accuracy'}: {error}"
    given, true = comparable(predicted, y)
    unknown = int((~np.isin(true, comparable(machine.classes_, y)[0])).sum())
    note = f"; labels that are no class of the model: {unknown}" if unknown else ""
    return f"accuracy {accuracy({'accuracy': float((given == true).mean()), 'samples': len(true)})}{note}"


def predictions(model: Any, X: Any, predicted: Any, decision: bool, probability: bool, to: str) -> str:
    """Return a prediction a line, then its values: a table with a header, or as features with their numbers, or plain.

    decision, probability : whether the decision values and the probabilities of the classes follow
    to : 'csv' or 'libsvm'
    """
    machine, columns = machine_of(model), dict[str, list[Any]]()
    if decision:
        values = model.decision_function(X)
        columns |= _by_name(_names(machine, values), values)
    if probability:
        columns |= _by_name([f"probability {name}" for name in machine.classes_], model.predict_proba(X))
    first, *others = _columns(model, predicted)
    if others and (to == "csv" or not columns):
        columns |= _by_name(others, predicted[:, 1:])
    labels = list(map(str, (predicted[:, 0] if others else predicted.ravel()).tolist()))
    if to == "csv":
        from pandas import DataFrame

        return DataFrame({first: labels, **columns}).to_csv(index=False, lineterminator="\n", na_rep="nan")
    header = f"labels {' '.join(map(str, machine.classes_))}\n" if probability else ""
    rows = zip(*columns.values(), strict=True) if columns else [()] * len(labels)
    words = [" ".join(f"{i}:{value!r}" if decision else repr(value) for i, value in enumerate(row, 1)) for row in rows]
    return header + "".join(f"{name} {row}".rstrip() + "\n" for name, row in zip(labels, words, strict=True))


def _by_name(names: list[str], values: Any) -> dict[str, list[Any]]:
    """Return columns beside the predictions."""
    return dict(zip(names, values.reshape(len(values), -1).T.tolist(), strict=True))


def _columns(model: Any, predicted: Any) -> list[str]:
    """Return the names of the columns of predictions."""
    if predicted.ndim == 1:
        return ["prediction" if task_of(model) == "regression" else "class"]
    names = getattr(machine_of(model), "quantile", range(1, predicted.shape[1] + 1))
    return [f"prediction {name}" for name in names]


def _names(machine: Any, values: Any) -> list[str]:
    """Return names of the decision values: one for two classes, or of the classes, or of the pairs."""
    if values.ndim == 1 or values.shape[1] == 1:
        return ["decision"]
    head, names = machine.head, machine.classes_
    if head.columns is not None:
        return [f"decision {number}" for number in range(1, head.columns + 1)]
    if head.width == len(names):
        return [f"decision {name}" for name in names]
    return [f"decision {names[a]} {names[b]}" for a, b in head.problems]
