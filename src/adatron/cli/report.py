"""A fitted model, and its quality, for people and for programs."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import numpy as np

from .parts import scaling_of, svc_of

Rows = list[tuple[str, object]]


def certificate_rows(svc: Any) -> Rows:
    """Return the proof of a fit: over several binary problems the worst values, objectives as sums."""
    proof = certificate(svc)
    names = ["merged"] if svc.compact_ else svc.classes_
    counted = zip(names, svc.n_support_, strict=True)
    return [
        ("support vectors", f"{sum(svc.n_support_)} ({_shortened([f'{name}: {count}' for name, count in counted])})"),
        ("updates", _known(proof["updates"])),
        ("KKT violation", f"{proof['kkt_violation']:.2e}"),
        ("relative duality gap", f"{proof['duality_gap']:.2e}"),
        ("dual objective", f"{proof['dual_objective']:.8g}"),
        ("primal objective", f"{proof['primal_objective']:.8g}"),
        *route_rows(svc),
        ("converged", {True: "yes", False: "no", None: "unknown"}[proof["converged"]]),
    ]


def route_rows(svc: Any) -> Rows:
    """Return how the problems were solved, if that is known."""
    said = str(svc.route_).split("\n") if svc.route_ is not None else []
    return list(zip(("solved as", "", ""), said, strict=False))


def kernel_rows(model: Any) -> Rows:
    """Return the rows for the classes, the scaling, the kernel and C."""
    svc = svc_of(model)
    kernel = str(svc.kernel)
    if kernel != "linear":
        kernel += f", gamma {svc.gamma}"
    scaling = [("scaling", scaling_of(model))] if model is not svc else []
    classes = _shortened([str(name) for name in svc.classes_])
    return [("classes", classes), *scaling, ("kernel", kernel), ("C", f"{svc.C:g}" if _is_ours(svc) else "unknown")]


def _is_ours(svc: Any) -> bool:
    """Return whether the way a model was fitted is known; a model of LIBSVM's text was fitted elsewhere."""
    return bool(svc.fit_status_) or not np.isnan(svc.duality_gap_).all()


def comparable(predicted: Any, y: Any) -> tuple[Any, Any]:
    """Return both as text if either is: a column of numbers may stand for text, and text for numbers."""
    if "U" in predicted.dtype.kind + y.dtype.kind:
        return predicted.astype(str), y.astype(str)
    return predicted, y


def check_classes(classes: Any, y: Any) -> None:
    """Fail if no label is a class of the model: such labels mean something else."""
    known, labels = (np.unique(some) for some in comparable(classes, y))
    if not np.isin(labels, known).any():
        named = (_shortened(list(map(str, some))) for some in (labels, known))
        raise ValueError("none of the labels ({}) is a class of the model ({})".format(*named))


def accuracy(right: int, samples: int) -> str:
    """Return the accuracy in the form in which it is shown."""
    return f"{right / samples:.4%} ({right} of {samples})"


def certificate(svc: Any) -> dict[str, Any]:
    """Return the certificate under the keys of the JSON output."""
    known = _is_ours(svc)
    return {
        "converged": not svc.fit_status_ if known else None,
        "updates": int(np.sum(svc.n_iter_)) if known else None,
        "kkt_violation": float(np.max(svc.kkt_violation_)),
        "duality_gap": float(np.max(svc.duality_gap_)),
        "dual_objective": float(np.sum(svc.dual_objective_)),
        "primal_objective": float(np.sum(svc.primal_objective_)),
        "route": None if svc.route_ is None else str(svc.route_).split("\n"),
    }


def summary(model: Any) -> dict[str, Any]:
    """Return a model under the keys of the JSON output."""
    svc = svc_of(model)
    parameters = {name: value for name, value in svc.get_params(deep=False).items() if name != "callback"}
    if not _is_ours(svc):
        parameters["C"] = None
    return {
        "adatron": metadata.version("adatron"),
        "class": type(svc).__name__,
        "features": getattr(svc, "n_features_in_", None),
        "classes": svc.classes_,
        "scaling": scaling_of(model),
        "parameters": parameters,
        "support_vectors": int(sum(svc.n_support_)),
        "support_vectors_of_classes": svc.n_support_,
        **certificate(svc),
    }


def scores(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return the quality of a model on labelled data, under the keys of the JSON output."""
    from sklearn.metrics import balanced_accuracy_score, confusion_matrix, precision_recall_fscore_support

    check_classes(model.classes_, y)
    predicted, y = comparable(model.predict(X), y)
    classes = np.unique(np.concatenate([predicted, y]))
    measure: Any = precision_recall_fscore_support
    of_classes = measure(y, predicted, labels=classes, zero_division=0.0)
    return {
        "samples": len(y),
        "accuracy": float(np.mean(predicted == y)),
        "balanced_accuracy": float(balanced_accuracy_score(y, predicted)),
        "classes": classes,
        **dict(zip(("precision", "recall", "f1", "samples_of_classes"), of_classes, strict=True)),
        "confusion_matrix": confusion_matrix(y, predicted, labels=classes),
    }


def _known(value: Any) -> Any:
    return "unknown" if value is None else value


def _shortened(words: list[str], most: int = 10) -> str:
    listed = ", ".join(words[:most])
    return listed if len(words) <= most else f"{listed}, ... {len(words)} in all"
