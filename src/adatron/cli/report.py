"""A fitted model, for people and for programs."""

from __future__ import annotations

from functools import partial
from importlib import metadata
from typing import Any

import numpy as np

from ..model.model import IF_SEMIDEFINITE
from ..quoted import upward
from .labels import shortened
from .outputs import TableRows
from .parts import counting_of, imputing_of, label_of, machine_of, names_of, scaling_of, task_of, texts_of

MOST_ENCODED = 10  # Most encoded features that are shown.
PROGRAM_PARAMETERS = ("C", "nu", "epsilon")  # parameters of the programs, some of which each machine has


def certificate_rows(machine: Any) -> TableRows:
    """Return the proof of a fit: over several binary problems the worst values, objectives as sums."""
    proof, worst = certificate(machine), machine.certificate_
    size = "about {:.2e}".format if worst.estimated else partial(upward, digits=3)
    condition = [] if worst.semidefinite else [("proven", IF_SEMIDEFINITE)]
    return [
        ("support vectors", _support(machine)),
        ("updates", "unknown" if proof["updates"] is None else proof["updates"]),
        ("KKT violation", size(proof["kkt_violation"])),
        ("relative duality gap", size(proof["duality_gap"])),
        *condition,
        ("dual objective", f"{proof['dual_objective']:.8g}"),
        ("primal objective", f"{proof['primal_objective']:.8g}"),
        *route_rows(machine),
        ("converged", {True: "yes", False: "no", None: "unknown"}[proof["converged"]]),
    ]


def _support(machine: Any) -> str:
    """Return how many support vectors there are, in each class if there are classes."""
    counts = machine.n_support_
    if not hasattr(machine, "classes_") or (not machine.compact_ and len(counts) != len(machine.classes_)):
        return str(sum(counts))  # those of the full algorithm for input margins have no class
    names = ["merged"] if machine.compact_ else machine.classes_
    counted = [f"{name}: {count}" for name, count in zip(names, counts, strict=True)]
    return f"{sum(counts)} ({shortened(counted)})"


def route_rows(machine: Any) -> TableRows:
    """Return how the problems were solved, if that is known."""
    if machine.route_ is None:
        return []
    said = str(machine.route_).replace(" variables", " variables, the coefficients of distinct samples", 1)
    return list(zip(("solved as", "", ""), said.split("\n"), strict=False))


def kernel_rows(model: Any) -> TableRows:
    """Return the rows for the label, the classes, the scaling, the kernel and the parameters of the program."""
    machine = machine_of(model)
    kernel = str(machine.kernel)
    if kernel != "linear":
        kernel += f", gamma {machine.gamma}"
    known, found = _is_ours(machine), machine.get_params(deep=False)
    if found.get("C") is not None and None in machine._parameter_constraints["C"]:
        found.pop("nu", None)  # which C replaces
    rows: TableRows = []
    if (label := label_of(model)) is not None:
        rows.append(("label", label))
    if hasattr(machine, "classes_"):
        rows.append(("classes", shortened([str(name) for name in machine.classes_])))
    if model is not machine:
        rows += _of_columns(model)
    own = [
        (name, f"{found[name]:g}" if known else "unknown") for name in PROGRAM_PARAMETERS if found.get(name) is not None
    ]
    return [*rows, ("kernel", kernel), *own]


def _of_columns(model: Any) -> TableRows:
    """Return the rows for what is done with the columns before the machine."""
    rows: TableRows = [("scaling", scaling_of(model))]
    if (strategy := imputing_of(model)) is not None:
        rows.insert(0, ("missing values", strategy))
    texts: TableRows = []
    for one in encoded(model):
        name = "" if one["name"] is None else f" ({one['name']})"
        texts.append(("encoded", f"feature {one['feature']}{name}: {shortened(list(map(repr, one['categories'])))}"))
    more = [("", f"... {len(texts)} features in all")] if len(texts) > MOST_ENCODED else []
    return [*texts[:MOST_ENCODED], *more, *rows]


def encoded(model: Any) -> list[dict[str, Any]]:
    """Return the features that are text, each with its number, its name and its categories."""
    names = names_of(model)
    return [
        {"feature": at, "name": None if names is None else names[at], "categories": list(map(str, known))}
        for at, known in texts_of(model).items()
    ]


def model_rows(model: Any) -> TableRows:
    """Return all that is known of a model: its class, data, parameters and proof."""
    machine = machine_of(model)
    described = {"kernel", "gamma", *PROGRAM_PARAMETERS, "callback"}
    counted = counting_of(model)
    return [
        ("class", type(machine).__name__),
        ("task", task_of(model)),
        ("features", _features(model)),
        *((("features count from", counted),) if counted is not None else ()),
        *kernel_rows(model),
        *((name, value) for name, value in sorted(_parameters(machine).items()) if name not in described),
        *certificate_rows(machine),
    ]


def _features(model: Any) -> str:
    """Return how many features the data have, and how many the machine sees."""
    own = getattr(machine_of(model), "n_features_in_", "unknown")
    given = getattr(model, "n_features_in_", own)
    return str(own) if given == own else f"{given} ({own} after encoding)"


def _parameters(machine: Any) -> dict[str, Any]:
    """Return the parameters, with a truth value for ``probability``, whose default is 'deprecated'."""
    found = machine.get_params(deep=False)
    if "probability" in found:
        found["probability"] = machine.with_probability
    return found


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
    machine = machine_of(model)
    parameters = {name: value for name, value in _parameters(machine).items() if name != "callback"}
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
        "encoded": encoded(model),
        "imputed": imputing_of(model),
        "parameters": parameters,
        "support_vectors": int(sum(machine.n_support_)),
        "support_vectors_of_classes": machine.n_support_ if hasattr(machine, "classes_") else None,
        **certificate(machine),
    }
