"""The eight questions of a report, one a file: each takes the facts and returns a panel."""

from __future__ import annotations

from collections.abc import Callable

from ..facts import Facts
from ..page import Panel
from .boundary import boundary
from .chosen import chosen
from .deciding import deciding
from .features import features
from .good import good
from .optimal import optimal
from .robust import robust
from .suspicious import suspicious

# Part of the time that is left which each panel may take. The first panel asks for the exact solution, on which
# the next four rest.
PANELS: dict[str, tuple[float, Callable[[Facts], Panel]]] = {
    "optimality": (0.6, optimal),
    "scores": (0.6, good),
    "parameters": (0.4, chosen),
    "deciding samples": (0.3, deciding),
    "suspicious samples": (0.3, suspicious),
    "boundary": (0.4, boundary),
    "features": (0.6, features),
    "robustness": (1.0, robust),
}

__all__ = ["PANELS"]
