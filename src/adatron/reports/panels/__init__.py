"""The eight questions of a report, one a file: each takes the facts and returns a panel."""

from __future__ import annotations

from collections.abc import Callable

from ..facts import Facts
from ..parts import Panel
from .boundary import boundary
from .chosen import chosen
from .deciding import deciding
from .features import features
from .good import good
from .optimal import optimal
from .robust import robust
from .suspicious import suspicious

PANELS: dict[str, Callable[[Facts], Panel]] = {
    "optimality": optimal,
    "scores": good,
    "parameters": chosen,
    "deciding samples": deciding,
    "suspicious samples": suspicious,
    "boundary": boundary,
    "features": features,
    "robustness": robust,
}

__all__ = ["PANELS"]
