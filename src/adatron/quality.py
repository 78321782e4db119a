"""How well a model predicted: classes, numbers, quantiles, or which samples are new."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn import metrics

Scores = dict[str, Any]


def of_classes(predicted: Any, y: Any) -> Scores:
    """Return the quality of predicted classes; precision, recall and F1 are arrays with an entry for each class."""
    classes = np.unique(np.concatenate([predicted, y]))
    measure: Any = metrics.precision_recall_fscore_support
    of_each = measure(y, predicted, labels=classes, zero_division=0.0)
    _, recall, _, count = of_each
    return {
        "samples": len(y),
        "accuracy": float(np.mean(predicted == y)),
        "balanced_accuracy": float(np.mean(recall[count > 0])),
        "classes": classes,
        **dict(zip(("precision", "recall", "f1", "samples_of_classes"), of_each, strict=True)),
    }


def of_numbers(predicted: Any, y: Any) -> Scores:
    """Return the quality of predicted numbers; one sample has no R²."""
    return {
        "samples": len(y),
        "r2": float(metrics.r2_score(y, predicted)) if len(y) > 1 else None,
        "mae": float(metrics.mean_absolute_error(y, predicted)),
        "rmse": float(metrics.root_mean_squared_error(y, predicted)),
    }


def of_quantiles(predicted: Any, y: Any, quantiles: Sequence[float]) -> Scores:
    """Return the mean pinball loss of predicted quantiles, its D², and the part of the targets below each."""
    curves = list(zip(quantiles, predicted.reshape(len(predicted), -1).T, strict=True))
    score: Any = metrics.d2_pinball_score
    return {
        "samples": len(y),
        "quantiles": quantiles,
        "pinball": float(np.mean([metrics.mean_pinball_loss(y, one, alpha=tau) for tau, one in curves])),
        "d2": float(np.mean([score(y, one, alpha=tau) for tau, one in curves])) if len(y) > 1 else None,
        "below": [float(np.mean(y < one)) for _, one in curves],
    }


def of_outliers(predicted: Any, y: Any) -> Scores:
    """Return the share of outliers; the accuracy, too, unless the labels, 1 and -1 as the predictions, are None."""
    outliers = int(np.sum(predicted == -1))
    return {
        "samples": len(predicted),
        "outliers": outliers,
        "outlier_share": outliers / len(predicted),
        "accuracy": None if y is None else float(np.mean(predicted == y)),
    }
