"""The attributes of a fitted machine: each reads a part of its model, and none can be set."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .shown import shown_trace

if TYPE_CHECKING:
    from ...kernels import Kernel
    from ...model.model import Worst
    from ...solvers.found import Traces
    from ...solvers.route import Route

T = TypeVar("T")
Bounds = float | NDArray[np.float64]  # of one problem, or of each
Rows = NDArray[Any] | sparse.csr_matrix


class Attribute(Generic[T]):
    """An attribute that users read. Only a fit changes it, with all others at once.

    path : the part of the model, and the parts of that part; see ``model.Model``
    unfitted : what it is before a fit; None if it is not there
    shown : makes what a user sees of the part; None shows the part itself
    doc : what ``help`` says of it
    """

    def __init__(
        self, *path: str, unfitted: Any = None, shown: Callable[[Any], Any] | None = None, doc: str | None = None
    ) -> None:
        self.path, self.unfitted, self.shown, self.__doc__ = path, unfitted, shown, doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, machine: None, owner: type) -> Self: ...
    @overload
    def __get__(self, machine: object, owner: type | None = None) -> T: ...
    def __get__(self, machine: Any, owner: type | None = None) -> Any:
        if machine is None:
            return self
        if self.unfitted is not None and not machine.__sklearn_is_fitted__():
            return self.unfitted
        part = machine.part(self.path[0], self.name)
        for name in self.path[1:]:
            part = getattr(part, name)
        if part is None and self.path[0] in UNSEEN:
            raise missing(machine, self.name)
        return part if self.shown is None else self.shown(part)

    def __set__(self, machine: Any, value: Any) -> None:
        raise AttributeError(
            f"{self.name} belongs to the fitted model of this {type(machine).__name__}, which only a fit replaces. To "
            "shift a decision, compare decision_function(X) with a number of your own."
        )


class FittedAttributes:
    """The attributes that every fitted machine has."""

    kernel_: Attribute[Kernel] = Attribute("kernel", doc="The kernel of the fit.")
    _gamma: Attribute[float] = Attribute("gamma")
    support_: Attribute[NDArray[np.int32]] = Attribute(
        "support", doc="Numbers of the support vectors among the training samples."
    )
    support_vectors_: Attribute[Rows] = Attribute("vectors", doc="The support vectors.")
    dual_coef_: Attribute[Rows] = Attribute(
        "dual", doc="The coefficients of the support vectors in the decision functions."
    )
    intercept_: Attribute[NDArray[np.float64]] = Attribute("intercepts", doc="The constants of the decision functions.")
    n_support_: Attribute[NDArray[np.int32]] = Attribute("counts", doc="How many support vectors each class has.")
    shape_fit_: Attribute[tuple[int, int]] = Attribute("shape", doc="The shape of the training samples.")
    compact_: Attribute[bool] = Attribute("compact", unfitted=False, doc="Whether ``compact`` made this model.")
    objects_: Attribute[NDArray[Any]] = Attribute(
        "samples", doc="The training samples, if a kernel function takes them and they are not rows of numbers."
    )
    duality_gap_: Attribute[Bounds] = Attribute(
        "proofs", "gap", doc="Relative duality gap of each problem; ``certificate_`` says whether it is an upper bound."
    )
    kkt_violation_: Attribute[Bounds] = Attribute(
        "proofs",
        "violation",
        doc="KKT violation of each problem; ``certificate_`` says whether it is an upper bound.",
    )
    dual_objective_: Attribute[Bounds] = Attribute("proofs", "dual", doc="The dual objective of each problem.")
    primal_objective_: Attribute[Bounds] = Attribute("proofs", "primal", doc="The primal objective of each problem.")
    n_iter_: Attribute[int | NDArray[np.int32]] = Attribute("proofs", "n_iter", doc="The iterations of each problem.")
    fit_status_: Attribute[int] = Attribute("proofs", "status", doc="0 if all problems converged, else 1.")
    trace_: Attribute[dict[str, NDArray[Any]] | Traces] = Attribute(
        "proofs",
        "trace",
        shown=shown_trace,
        doc="What the solver reported on its way, as a dict of arrays for each problem.",
    )
    certificate_: Attribute[Worst] = Attribute(
        "worst",
        doc="What is proven of all problems: the largest gap and violation.",
    )
    route_: Attribute[Route | None] = Attribute("proofs", "route", doc="How the problems were solved, and why so.")


UNSEEN = ("samples", "own_radius")  # parts that few models have; the others have no such attribute
DERIVED = ("offset", "radius", "worst")  # parts that follow from others, and that no state has


def missing(machine: Any, name: str) -> AttributeError:
    """Return the error of an attribute that is not there."""
    return AttributeError(f"{type(machine).__name__!r} object has no attribute {name!r}")


def attributes_of(kind: type) -> dict[str, tuple[str, ...]]:
    """Return the paths of all attributes of a class of machines, by name."""
    found: dict[str, tuple[str, ...]] = {}
    for base in reversed(kind.__mro__):
        own = {name: one.path for name, one in vars(base).items() if isinstance(one, Attribute)}
        found.update({name: path for name, path in own.items() if path[-1] not in DERIVED})
    return found


def flat(kind: type, whole: Any) -> dict[str, Any]:
    """Return the parts of a model, or of another object with such parts, by the names of the attributes."""
    found: dict[str, Any] = {}
    for name, path in attributes_of(kind).items():
        part = getattr(whole, path[0], whole)
        if part is whole:
            continue
        for inner in path[1:]:
            part = getattr(part, inner)
        if not (part is None and path[0] in UNSEEN):
            found[name] = part
    return found


def grouped(kind: type, state: dict[str, Any]) -> dict[str, Any]:
    """Take the attributes out of a state, and return them by the parts of a model that they belong to."""
    parts: dict[str, Any] = {}
    for name, path in attributes_of(kind).items():
        if name not in state:
            continue
        value = state.pop(name)
        if len(path) == 1:
            parts[path[0]] = value
        else:
            parts.setdefault(path[0], {})[path[1]] = value
    return parts
