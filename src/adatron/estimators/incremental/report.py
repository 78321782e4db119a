"""The proof that a model is the solution of its present samples, and a list of things that still know others."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import numpy as np

from ...certificates import Certificate
from .learning import Learning
from .leave_out import decision
from .steps import keeping
from .track import Track

UNKNOWN = [
    "copies of the model's files, backups and snapshots of the file system or the disk",
    "copies of the model in this process or another one, pickled ones among them, and what was computed with them",
    "the input files and the data that the samples came from",
    "steps of a pipeline that no file holds: adatron.forget(pipeline, ids) checks them",
    "freed blocks of the disk, swapped memory and freed memory of the process",
]


def report(model: Learning, refit: bool, files: list[str], keepers: list[Any]) -> dict[str, Any]:
    """Return what ``Incremental.deletion_report`` returns: plain values only, which JSON can hold."""
    found: dict[str, Any] = {"samples": model.store.n, "arrived": model.store.arrived}
    proofs = [_proof(model, track) for track in model.tracks]
    found["kkt_violation"] = float(max(proof.kkt_violation for proof in proofs))
    found["duality_gap"] = float(max(proof.relative_gap for proof in proofs))
    found["files"] = files
    found["refits"] = model.n_refit_
    if refit:
        found["largest_difference"] = max(_difference(model, track) for track in model.tracks)
    found["holds"] = [sentence for keeper in keepers for sentence in keeper.remains()]
    found["derived"] = list(dict.fromkeys(_derived(model) + [text for k in keepers for text in keeping(k.model)]))
    found["unknown"] = list(UNKNOWN)
    return found | {"adatron": metadata.version("adatron")}


def _derived(model: Learning) -> list[str]:
    """Name the parts of the model that were computed from samples that may be gone."""
    found: list[str] = []
    named = isinstance(model.kernel, str) and hasattr(model.kernel_, "gamma")  # other kernels have their own, or none
    if named and isinstance(model.gamma, str) and model.gamma == "scale":
        found.append(
            "gamma='scale' was computed from all samples of the first call and stays: fit again to the samples that "
            "are left, or give gamma as a number"
        )
    classes = getattr(model, "classes_", None)
    if classes is not None:
        gone = np.setdiff1d(np.arange(len(classes)), model.store.y.astype(np.int64))
        found += [f"classes_ keeps the label {classes[one]}, which no sample in the model has" for one in gone]
    return found


def _proof(model: Learning, track: Track) -> Certificate:
    return track.prove(track.dual(model.program))


def _difference(model: Learning, track: Track) -> float:
    """Return the largest difference of decision values of the samples from those of a solution found from nothing."""
    if not len(track.beta):
        return 0.0
    other = Track.of(track.store, track.kernel, track.state())
    model.solve_anew(other)
    dual = track.dual(model.program)
    values = [decision(dual, one.beta, one.g) for one in (track, other)]
    return float(np.abs(values[0] - values[1]).max())
