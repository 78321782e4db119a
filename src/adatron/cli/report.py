"""A fitted model, its predictions and their quality, for people and for programs."""

from __future__ import annotations

from functools import partial
from importlib import metadata
from typing import Any, cast

import numpy as np
from sklearn import metrics

from ..files.table import shortened
from ..model.model import IF_SEMIDEFINITE
from ..quality import Scores, of_classes, of_numbers, of_outliers, of_quantiles
from ..quoted import upward
from .labels import check_classes, comparable, has_sides, numbers
from .outputs import InputError, TableRows
from .parts import counting_of, imputing_of, label_of, machine_of, names_of, scaling_of, task_of, texts_of

MOST_ENCODED = 10  # Most encoded features that are shown.
PROGRAM_PARAMETERS = ("C", "nu", "epsilon")  # parameters of the programs, some of which each machine has


def certificate_rows(machine: Any) -> TableRows:
    """Return the proof of a fit: over several binary problems the worst values, objectives as sums."""
    proof, worst, counts = certificate(machine), machine.certificate_, machine.n_support_
    size = "about {:.2e}".format if worst.estimated else partial(upward, digits=3)
    support = str(sum(counts))
    if hasattr(machine, "classes_") and (machine.compact_ or len(counts) == len(machine.classes_)):
        # Those of the full algorithm for input margins have no class.
        names = ["merged"] if machine.compact_ else machine.classes_
        support += f" ({shortened([f'{name}: {count}' for name, count in zip(names, counts, strict=True)])})"
    printed = str(machine.route_).replace(" variables", " variables, the coefficients of distinct samples", 1)
    route = [] if machine.route_ is None else zip(("solved as", "", ""), printed.split("\n"), strict=False)
    return [
        ("support vectors", support),
        ("updates", "unknown" if proof["updates"] is None else proof["updates"]),
        ("KKT violation", size(proof["kkt_violation"])),
        ("relative duality gap", size(proof["duality_gap"])),
        *([] if worst.semidefinite else [("proven", IF_SEMIDEFINITE)]),
        ("dual objective", f"{proof['dual_objective']:.8g}"),
        ("primal objective", f"{proof['primal_objective']:.8g}"),
        *route,
        ("converged", {True: "yes", False: "no", None: "unknown"}[proof["converged"]]),
    ]


def kernel_rows(model: Any) -> TableRows:
    """Return the rows for the label, the classes, the steps before the machine, the kernel and the program."""
    machine, facts = machine_of(model), summary(model)
    rows: TableRows = []
    if facts["label"] is not None:
        rows.append(("label", facts["label"]))
    if facts["classes"] is not None:
        rows.append(("classes", shortened(facts["classes"])))
    for one in facts["encoded"][:MOST_ENCODED]:
        name = "" if one["name"] is None else f" ({one['name']})"
        rows.append(("encoded", f"feature {one['feature']}{name}: {shortened(one['categories'], form=repr)}"))
    if len(facts["encoded"]) > MOST_ENCODED:
        rows.append(("", f"... {len(facts['encoded'])} features in all"))
    if facts["imputed"] is not None:
        rows.append(("missing values", facts["imputed"]))
    if model is not machine:
        rows.append(("scaling", facts["scaling"]))
    rows.append(("kernel", str(machine.kernel) + (f", gamma {machine.gamma}" if machine.kernel != "linear" else "")))
    found = machine.get_params(deep=False)
    if found.get("C") is not None and None in machine._parameter_constraints["C"]:
        found["nu"] = None  # which C replaces
    shown = "{:g}" if _is_ours(machine) else "unknown"
    return [*rows, *((name, shown.format(found[name])) for name in PROGRAM_PARAMETERS if found.get(name) is not None)]


def model_rows(model: Any) -> TableRows:
    """Return all that is known of a model: its class, data, parameters and proof."""
    machine, facts, counted = machine_of(model), summary(model), counting_of(model)
    given = facts["features"]
    own = getattr(machine, "n_features_in_", given)
    described = {"kernel", "gamma", *PROGRAM_PARAMETERS}
    return [
        ("class", facts["class"]),
        ("task", facts["task"]),
        ("features", "unknown" if given is None else given if own == given else f"{given} ({own} after encoding)"),
        *((("features count from", counted),) if counted is not None else ()),
        *kernel_rows(model),
        *((name, value) for name, value in sorted(facts["parameters"].items()) if name not in described),
        *certificate_rows(machine),
    ]


def _is_ours(machine: Any) -> bool:
    """Return whether the way a model was fitted is known; a model of LIBSVM's text was fitted elsewhere."""
    return bool(machine.fit_status_) or not np.isnan(machine.duality_gap_).all()


def certificate(machine: Any) -> dict[str, Any]:
    """Return the certificate under the keys of the JSON output."""
    known = _is_ours(machine)
    return {
        "converged": not machine.fit_status_ if known else None,
        "proven": machine.certificate_.proven if known else None,
        "updates": int(np.sum(machine.n_iter_)) if known else None,
        "kkt_violation": float(np.max(machine.kkt_violation_)),
        "duality_gap": float(np.max(machine.duality_gap_)),
        "dual_objective": float(np.sum(machine.dual_objective_)),
        "primal_objective": float(np.sum(machine.primal_objective_)),
        "route": None if machine.route_ is None else str(machine.route_).split("\n"),
    }


def summary(model: Any) -> dict[str, Any]:
    """Return a model under the keys of the JSON output."""
    machine, names = machine_of(model), names_of(model)
    parameters = {name: value for name, value in machine.get_params(deep=False).items() if name != "callback"}
    if "probability" in parameters:
        parameters["probability"] = machine.with_probability  # whose default is 'deprecated'
    if not _is_ours(machine):
        parameters |= dict.fromkeys(name for name in PROGRAM_PARAMETERS if name in parameters)
    return {
        "adatron": metadata.version("adatron"),
        "class": type(machine).__name__,
        "task": task_of(model),
        "features": getattr(model, "n_features_in_", getattr(machine, "n_features_in_", None)),
        "label": label_of(model),
        "classes": getattr(machine, "classes_", None),
        "scaling": scaling_of(model),
        "encoded": [
            {"feature": at, "name": None if names is None else names[at], "categories": list(map(str, known))}
            for at, known in texts_of(model).items()
        ],
        "imputed": imputing_of(model),
        "parameters": parameters,
        "support_vectors": int(sum(machine.n_support_)),
        "support_vectors_of_classes": machine.n_support_ if hasattr(machine, "classes_") else None,
        **certificate(machine),
    }


def scores(model: Any, table: Any) -> Scores:
    """Return the quality of a model on data, under the keys of the JSON output; novelty detection needs no labels."""
    X, y = table.X, table.y
    if task_of(model) != "classification":
        return measured(model, model.predict(X), y)
    machine_of(model).readout.refuse_several()
    check_classes(model.classes_, y)
    found, (classes, labels) = measured(model, model.predict(X), y), comparable(model.classes_, y)
    both = len(classes) == 2 and set(labels.tolist()) == set(classes.tolist())
    area = float(metrics.roc_auc_score(labels == classes[1], model.decision_function(X))) if both else None
    return found | {"roc_auc": area}


def measured(model: Any, predicted: Any, y: Any) -> Scores:
    """Return how well a model predicted; for classes, ``report`` is scikit-learn's, in words."""
    task, machine = task_of(model), machine_of(model)
    if task == "novelty":
        return of_outliers(predicted, y if has_sides(y) else None)
    if task == "classification":
        predicted, y = comparable(predicted, y)
        found, report = of_classes(predicted, y), cast("Any", metrics.classification_report)
        matrix = metrics.confusion_matrix(y, predicted, labels=found["classes"])
        return found | {"confusion_matrix": matrix, "report": report(y, predicted, digits=4, zero_division=0.0)}
    y = numbers(y)
    if "quantile" in machine.get_params(deep=False):
        return of_quantiles(predicted, y, np.atleast_1d(machine.quantile).tolist())
    if predicted.ndim > 1:
        raise InputError(f"the model predicts {predicted.shape[1]} numbers for a sample, and the data have one label")
    return of_numbers(predicted, y)


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
        machine.readout.refuse_several()
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
    machine, columns = machine_of(model), list[tuple[str, list[Any]]]()  # names may be equal

    def add(names: list[str], values: Any) -> None:
        columns.extend(zip(names, values.reshape(len(values), -1).T.tolist(), strict=True))

    if decision:
        values = model.decision_function(X)
        add(_names(machine, values), values)
    if probability:
        add([f"probability {name}" for name in machine.classes_], model.predict_proba(X))
    first, others = "prediction" if task_of(model) == "regression" else "class", list[str]()
    if predicted.ndim > 1:
        several = getattr(machine, "quantile", range(1, predicted.shape[1] + 1))
        first, *others = [f"prediction {name}" for name in several]
    if others and (to == "csv" or not columns):
        add(others, predicted[:, 1:])
    labels = list(map(str, (predicted[:, 0] if others else predicted.ravel()).tolist()))
    if to == "csv":
        from pandas import DataFrame

        names, values = zip((first, labels), *columns, strict=True)
        table = DataFrame(dict(enumerate(values)))
        return table.to_csv(index=False, header=list(names), lineterminator="\n", na_rep="nan")
    header = f"labels {' '.join(map(str, machine.classes_))}\n" if probability else ""
    rows = zip(*(values for _, values in columns), strict=True) if columns else [()] * len(labels)
    words = [" ".join(f"{i}:{value!r}" if decision else repr(value) for i, value in enumerate(row, 1)) for row in rows]
    return header + "".join(f"{name} {row}".rstrip() + "\n" for name, row in zip(labels, words, strict=True))


def _names(machine: Any, values: Any) -> list[str]:
    """Return names of the decision values: one for two classes, or of the classes, or of the pairs."""
    if values.ndim == 1 or values.shape[1] == 1:
        return ["decision"]
    readout, names = machine.readout, machine.classes_
    if readout.columns is not None:
        return [f"decision {number}" for number in range(1, readout.columns + 1)]
    if readout.width == len(names):
        return [f"decision {name}" for name in names]
    return [f"decision {names[a]} {names[b]}" for a, b in readout.problems]
