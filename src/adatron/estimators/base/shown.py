"""The table of fitted attributes in a notebook (scikit-learn from 1.9 on), which begins with the certificate."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...quoted import upward

#: What estimators of each type of scikit-learn are for.
TASK_NAMES = {"classifier": "classification", "regressor": "regression", "outlier_detector": "novelty"}
#: What is proven, in the order in which it is shown.
CERTIFICATE_SHOWN = (
    "certificate_",
    "duality_gap_",
    "kkt_violation_",
    "fit_status_",
    "n_iter_",
    "dual_objective_",
    "primal_objective_",
)


class _Words(str):
    """Words that the table shows as they are, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def shown_trace(trace: Any) -> Any:
    """Return a trace with a repr of one line; a file may have brought a plain dict."""
    from ...solvers.solution import Trace

    return Trace(trace) if isinstance(trace, dict) else trace


def in_short(name: str, value: Any) -> Any:
    """Return what the table shows of an attribute: of a proof of several problems, the worst of them."""
    if name == "certificate_":
        if value.estimated:
            return _Words(f"gap ≈ {value.gap:.1e}, KKT ≈ {value.violation:.1e}")
        return _Words(f"gap ≤ {upward(value.gap)}, KKT ≤ {upward(value.violation)}" if value.proven else value.title)
    if name in ("duality_gap_", "kkt_violation_") and np.ndim(value):
        return _Words(f"{upward(np.max(value))} (worst of {len(value):,})")  # nan is the worst
    return value


def fitted_attributes(estimator: Any, doc_link: str) -> Any:
    """Return the table that scikit-learn draws.

    It reads every attribute, so one that cannot be read (the samples of a compact model) must not be the end of it.
    """
    from sklearn.utils._repr_html.fitted_attributes import (  # pyright: ignore[reportMissingImports]
        AttrsDict,  # pyright: ignore[reportUnknownVariableType]
    )

    public = {name for name in object.__dir__(estimator) if name.endswith("_") and not name.startswith("_")}
    order = [*CERTIFICATE_SHOWN, *sorted(public - set(CERTIFICATE_SHOWN))]
    found: dict[str, dict[str, Any]] = {}
    for name in order:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)
                value = getattr(estimator, name)
        except (AttributeError, ValueError):
            continue
        about = {"type_name": type(value).__name__, "value": in_short(name, value)}
        if getattr(value, "shape", ()) != () and hasattr(value, "dtype"):
            about |= {"shape": value.shape, "dtype": value.dtype}
        found[name] = about
    return AttrsDict(fitted_attrs=found, estimator_class=type(estimator), doc_link=doc_link)
