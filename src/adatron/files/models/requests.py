"""Keep what `set_fit_request` and its siblings have hung on an estimator, and hang it on a new one.

`set_output` is an entry of the state. Callbacks of scikit-learn are Python code that acts in `fit` only, and left out.
"""

from __future__ import annotations

from typing import Any

from sklearn import config_context

from .archive import InvalidError

ROUTED_METHODS = (
    "fit", "partial_fit", "predict", "predict_proba", "predict_log_proba", "decision_function", "score", "transform",
    "inverse_transform",
)  # fmt: skip
ATTRIBUTE = "_metadata_request"  # Where scikit-learn keeps requests.
Requests = dict[str, dict[str, Any]]


def requests_of(owner: Any) -> Requests:
    """Return what was set for the metadata of each method; empty if nothing was set."""
    found = vars(owner).get(ATTRIBUTE)
    if found is None:
        return {}
    return {name: dict(one.requests) for name in ROUTED_METHODS if (one := getattr(found, name, None)) and one.requests}


def restore_requests(owner: Any, requests: Requests) -> None:
    """Set what `requests_of` gave.

    Raises
    ------
    InvalidError
        There is no such method, or no such metadata.
    """
    with config_context(enable_metadata_routing=True):
        for method, wanted in requests.items():
            if method not in ROUTED_METHODS or not isinstance(wanted, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise InvalidError(f"no metadata can be requested for {str(method)[:50]!r}")
            try:
                getattr(owner, f"set_{method}_request")(**wanted)
            except (AttributeError, TypeError, ValueError) as error:
                raise InvalidError(f"the metadata request of {method!r} is wrong: {str(error)[:200]}") from error
