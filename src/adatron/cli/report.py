"""A fitted model as rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np


def certificate_rows(model: Any) -> list[tuple[str, object]]:
    """Return what proves a fit: over several binary problems the worst one, objectives as sums."""
    return [
        ("support vectors", f"{len(model.support_)} ({_counted(model.classes_, model.n_support_)})"),
        ("updates", int(np.sum(model.n_iter_))),
        ("KKT violation", f"{np.max(model.kkt_violation_):.2e}"),
        ("relative duality gap", f"{np.max(model.duality_gap_):.2e}"),
        ("dual objective", f"{np.sum(model.dual_objective_):.8g}"),
        ("primal objective", f"{np.sum(model.primal_objective_):.8g}"),
        ("converged", "no" if model.fit_status_ else "yes"),
    ]


def kernel_rows(model: Any) -> list[tuple[str, object]]:
    """Return the rows for the classes, the kernel and C."""
    kernel = str(model.kernel)
    if kernel != "linear":
        kernel += f", gamma {model.gamma}"
    return [("classes", _shortened([str(name) for name in model.classes_])), ("kernel", kernel), ("C", f"{model.C:g}")]


def _counted(classes: Any, counts: Any) -> str:
    return _shortened([f"{name}: {count}" for name, count in zip(classes, counts, strict=True)])


def _shortened(words: list[str], most: int = 10) -> str:
    listed = ", ".join(words[:most])
    return listed if len(words) <= most else f"{listed}, ... {len(words)} in all"
