"""The attributes of a fitted estimator, which read its model and cannot be set, and their table in a notebook."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...docstrings import documented
from ...quoted import upward

if TYPE_CHECKING:
    from ...kernels import Kernel
    from ...model.model import OverallCertificate
    from ...solvers.results import Traces
    from ...solvers.route import Route

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
    from ...solvers.results import Trace

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


T = TypeVar("T")
Bounds = float | NDArray[np.float64]  # of one problem, or of each
Rows = NDArray[Any] | sparse.csr_matrix


class Attribute(Generic[T]):
    """An attribute that users read. Only a fit changes it, with all others at once.

    path : the part of the model, and the parts of that part; see ``model.Model``
    unfitted : what it is before a fit; None if it is not there
    shown : makes what a user sees of the part; None shows the part itself
    __doc__ : what ``help`` says of it: what the docstring of its class does
    """

    def __init__(self, *path: str, unfitted: Any = None, shown: Callable[[Any], Any] | None = None) -> None:
        self.path, self.unfitted, self.shown, self.__doc__ = path, unfitted, shown, None

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


@documented
class FittedAttributes:
    r"""The attributes that every fitted machine has.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Numbers of the support vectors among the training samples.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        The support vectors.
    n_support_ : ndarray of shape (1,)
        How many support vectors there are.
    dual_coef_ : {ndarray, sparse matrix} of shape (n_problems, n_support)
        Coefficients of the support vectors in the decision functions.
    intercept_ : ndarray of shape (n_problems,)
        Constants of the decision functions.
    coef_ : {ndarray, sparse matrix} of shape (n_problems, n_features)
        Weights of the features, with a linear kernel only.
    n_iter_ : int, or ndarray of one for each problem
        Iterations of the solver.
    fit_status_ : int
        0 if all problems converged, else 1.
    shape_fit_ : tuple of int
        Shape of the training samples. ``n_features_in_`` and ``feature_names_in_`` are scikit-learn's.
    kernel_ : adatron.kernels.Kernel
        The kernel of the fit, with the numbers behind 'scale' and 'auto'.
    certificate_ : object with ``gap``, ``violation``, ``converged`` and ``problems``
        What is proven of all binary problems: the largest gap and violation. It prints as one line.
    duality_gap_, kkt_violation_, dual_objective_, primal_objective_ : float, or ndarray of shape (n_problems,)
        The certificate: ``kkt_violation_`` and ``duality_gap_`` are upper bounds, with all rounding errors in them.
        ``duality_gap_`` is (primal - dual) / min(\|primal\|, \|dual\|): no solution is better by a larger part of the
        optimum. (For more than 1,000 samples the divisor is up to an eighth smaller.) It is inf if the two have not
        one sign, so that the optimum may be 0, and nan if the kernel is found not to be positive semi-definite.
        Kernels that need not be so ('sigmoid', given values, functions) are checked on at most 512 samples; beyond
        these the bounds take it for granted. The optimum lies between the objectives (proven up to 1,000 samples,
        estimated above). The gap belongs to the best bias for these coefficients; ``intercept_`` is LIBSVM's.
    model_ : object
        What the fit has found, as one value. No later fit changes it.
    objects_ : ndarray of shape (n_samples,)
        The training samples, if a kernel function takes them and they are not rows of numbers; else it is not there.
    compact_ : bool
        Whether :meth:`compact` made the model; that method explains the attributes of such a model.
    route_ : adatron.solvers.Route
        How the problems were solved; ``print(model.route_)`` says it in three lines.
    trace_ : dict of ndarray, or a sequence of them for each binary problem
        'seconds', 'n_iter', 'kkt_violation', 'duality_gap', 'dual_objective' after each block or epoch, and further
        quantities of the solver. These are estimates of the solver; the last line is proven, as the certificate is. The
        gap is nan where it was not computed.
    """

    kernel_: Attribute[Kernel] = Attribute("kernel")
    _gamma: Attribute[float] = Attribute("gamma")
    support_: Attribute[NDArray[np.int32]] = Attribute("support")
    support_vectors_: Attribute[Rows] = Attribute("vectors")
    dual_coef_: Attribute[Rows] = Attribute("dual")
    intercept_: Attribute[NDArray[np.float64]] = Attribute("intercepts")
    n_support_: Attribute[NDArray[np.int32]] = Attribute("counts")
    shape_fit_: Attribute[tuple[int, int]] = Attribute("shape")
    compact_: Attribute[bool] = Attribute("compact", unfitted=False)
    objects_: Attribute[NDArray[Any]] = Attribute("samples")
    duality_gap_: Attribute[Bounds] = Attribute("proofs", "gap")
    kkt_violation_: Attribute[Bounds] = Attribute("proofs", "violation")
    dual_objective_: Attribute[Bounds] = Attribute("proofs", "dual")
    primal_objective_: Attribute[Bounds] = Attribute("proofs", "primal")
    n_iter_: Attribute[int | NDArray[np.int32]] = Attribute("proofs", "n_iter")
    fit_status_: Attribute[int] = Attribute("proofs", "status")
    trace_: Attribute[dict[str, NDArray[Any]] | Traces] = Attribute("proofs", "trace", shown=shown_trace)
    certificate_: Attribute[OverallCertificate] = Attribute("overall")
    route_: Attribute[Route | None] = Attribute("proofs", "route")


UNSEEN = ("samples", "own_radius")  # parts that few models have; the others have no such attribute
DERIVED = ("offset", "radius", "overall")  # parts that follow from others, and that no state has


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
