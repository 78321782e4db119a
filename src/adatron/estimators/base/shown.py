"""The table of fitted attributes in a notebook (scikit-learn from 1.9 on), which begins with the certificate."""

from __future__ import annotations

import warnings
from typing import Any

#: What is proven, in the order in which it is shown.
CERTIFICATE = (
    "certificate_",
    "duality_gap_",
    "kkt_violation_",
    "fit_status_",
    "n_iter_",
    "dual_objective_",
    "primal_objective_",
)


def fitted_attributes(estimator: Any, doc_link: str) -> Any:
    """Return the table that scikit-learn draws.

    It reads every attribute, so one that cannot be read (the samples of a compact model) must not be the end of it.
    """
    from sklearn.utils._repr_html.fitted_attributes import (  # pyright: ignore[reportMissingImports]
        AttrsDict,  # pyright: ignore[reportUnknownVariableType]
    )

    public = {name for name in object.__dir__(estimator) if name.endswith("_") and not name.startswith("_")}
    order = [*CERTIFICATE, *sorted(public - set(CERTIFICATE))]
    found: dict[str, dict[str, Any]] = {}
    for name in order:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)
                value = getattr(estimator, name)
        except (AttributeError, ValueError):
            continue
        about = {"type_name": type(value).__name__, "value": value}
        if getattr(value, "shape", ()) != () and hasattr(value, "dtype"):
            about |= {"shape": value.shape, "dtype": value.dtype}
        found[name] = about
    return AttrsDict(fitted_attrs=found, estimator_class=type(estimator), doc_link=doc_link)
