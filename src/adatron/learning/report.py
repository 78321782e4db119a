"""The proof that a model is the solution of its present samples, and a list of things that still know others."""

from __future__ import annotations

from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from ..model.readout import Classes
from .learner import Learner
from .leave_out import Optimum

STILL_HOLDS = "it was written before samples were forgotten: save the model there again, or delete the file"
OUT_OF_REACH = [
    "copies of the model's files, backups and snapshots of the file system or the disk",
    "copies of the model in this process or another one, pickled ones among them, and what was computed with them",
    "the input files and the data that the samples came from",
    "steps of a pipeline that no file holds: adatron.forget(pipeline, ids) checks them",
    "freed blocks of the disk, swapped memory and freed memory of the process",
]


def report(learner: Learner, refit: bool, saved: dict[str, int], kept: list[str]) -> dict[str, Any]:
    """Return what ``Incremental.deletion_report`` returns: plain values only, which JSON can hold.

    saved : by file, how often samples had been forgotten when it was written
    kept : what steps before the model keep, in sentences
    """
    found: dict[str, Any] = {"samples": learner.store.n, "arrived": learner.store.arrived}
    optima = Optimum.of(learner)
    proofs = [one.prove() for one in optima]
    found["kkt_violation"] = float(max(proof.kkt_violation for proof in proofs))
    found["duality_gap"] = float(max(proof.relative_gap for proof in proofs))
    found["files"] = sorted(saved)
    found["refits"] = learner.n_refit
    if refit:
        found["largest_difference"] = max(_difference(one) for one in optima)
    behind = [path for path, generation in saved.items() if generation < learner.store.generation]
    found["holds"] = [f"{path}: {STILL_HOLDS}" for path in sorted(behind) if Path(path).exists()]
    found["derived"] = list(dict.fromkeys(_derived(learner) + kept))
    found["unknown"] = list(OUT_OF_REACH)
    return found | {"adatron": metadata.version("adatron")}


def _derived(learner: Learner) -> list[str]:
    """Name the parts of the model that were computed from samples that may be gone."""
    found: list[str] = []
    fixed, readout = learner.foundation.fixed, learner.readout
    named = isinstance(fixed["kernel"], str) and hasattr(learner.kernel, "gamma")  # others have their own, or none
    if named and isinstance(fixed["gamma"], str) and fixed["gamma"] == "scale":
        found.append(
            "gamma='scale' was computed from all samples of the first call and stays: fit again to the samples that "
            "are left, or give gamma as a number"
        )
    if len(learner.store.center):
        found.append(
            "the point that is subtracted from all rows is the mean of those of the first call, rounded to about their "
            "spread, and stays: fit again to the samples that are left"
        )
    if isinstance(readout, Classes):
        gone = np.setdiff1d(np.arange(len(readout.labels)), learner.store.y.astype(np.int64))
        found += [f"classes_ keeps the label {readout.labels[one]}, which no sample in the model has" for one in gone]
    return found


def _difference(own: Optimum) -> float:
    """Return the largest difference of decision values of the samples from those of a solution found from nothing."""
    if not len(own.dual):
        return 0.0
    other = own.track.copy()
    own.learner.solve_anew(other)
    anew = replace(own, beta=other.beta, g=other.g)
    return float(np.abs(own.values() - anew.values()).max())
