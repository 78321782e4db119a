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
    proof, worst, counts = certificate(machine), machine.certificate_, machine.n_support_
    size = "about {:.2e}".format if worst.estimated else partial(upward, digits=3)
    support = str(sum(counts))
    if hasattr(machine, "classes_") and (machine.compact_ or len(counts) == len(machine.classes_)):
        # Those of the full algorithm for input margins have no class.
        names = ["merged"] if machine.compact_ else machine.classes_
        support += f" ({shortened([f'{name}: {count}' for name, count in zip(names, counts, strict=True)])})"
    said = str(machine.route_).replace(" variables", " variables, the coefficients of distinct samples", 1)
    route = [] if machine.route_ is None else zip(("solved as", "", ""), said.split("\n"), strict=False)
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
        rows.append(("encoded", f"feature {one['feature']}{name}: {shortened(list(map(repr, one['categories'])))}"))
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
