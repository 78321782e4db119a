"""What a fit leaves behind: one value, which says what was found, what is proven of it, and how it predicts.

A fit, a file, a pickle and a cluster make it in the same way. Everything that predictions and compiled loops rely on is
checked when it is made, and nothing of it changes afterwards. So whoever holds a model holds all of it: a fit in
another thread makes another one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids, Vector, for_reading, parts_of, writable
from ..quoted import upward
from .checks import RELIED_ON, first_fault
from .readout import Classes, Readout

if TYPE_CHECKING:
    from ..kernels import Kernel
    from ..solvers.route import Route
    from .function import DecisionFunctions

#: Parts that are small, so that a copy of somebody else's array costs little.
SMALL_PARTS = ("dual", "intercepts", "support", "counts", "tilts", "problem")

IF_SEMIDEFINITE = "if the kernel is positive semi-definite"
NOT_FINITE = (
    "The dual coefficients or intercepts are not finite. The input data may contain large values and need to be "
    "preprocessed."
)
GAP_TOL = 1e-3  # Default of gap_tol: fits aim at it and may stop above it.


class Proofs(NamedTuple):
    """The proof of a solution, and how it was found: plain numbers for one problem, arrays for several.

    gap, violation : relative duality gap, and violation of the optimality conditions
    dual, primal : ends of the optimum
    n_iter, trace : what the solver counted, and where it was when
    status : 0 if the rule that was asked for is met
    route : how the problems were solved; None of models that were not fitted as a whole
    """

    gap: Any
    violation: Any
    dual: Any
    primal: Any
    n_iter: Any
    status: int
    trace: Any
    route: Route | None = None


@dataclass(frozen=True)
class OverallCertificate:
    """The certificate of all problems of a fitted model together.

    gap : the largest relative duality gap; inf if an optimum may be 0, nan if a kernel is found not to be positive
        semi-definite
    violation : the largest violation of the optimality (KKT) conditions
    converged : whether the fit met what it was asked for
    problems : how many there are
    estimated : whether the two numbers are estimates, no bounds: an incremental model follows its gradient
    semidefinite : False if the gap is a bound only if the kernel is positive semi-definite, which nobody knows

    Examples
    --------
    >>> from adatron import SVC
    >>> SVC(C=10).fit([[0.0], [1.0], [2.0]], [0, 1, 2]).certificate_.converged
    True
    """

    gap: float
    violation: float
    converged: bool
    problems: int
    estimated: bool = False
    semidefinite: bool = True

    @property
    def proven(self) -> bool:
        """Whether the two numbers are bounds, up to the rounding of given kernel values, whatever the kernel is."""
        return not self.estimated and self.semidefinite and bool(np.isfinite(self.gap))

    @property
    def title(self) -> str:
        """What the two numbers are, in words."""
        if not self.converged:
            return "not converged"
        if self.estimated or not np.isfinite(self.gap):
            return "not proven"
        return "proven" if self.semidefinite else f"proven {IF_SEMIDEFINITE}"

    @property
    def words(self) -> str:
        """The two numbers, or why there are none."""
        if np.isnan(self.violation):
            return "nothing is known"
        if np.isnan(self.gap):
            return (
                f"the kernel is not positive semi-definite on these samples; KKT violation <= {upward(self.violation)}"
            )
        size = "about {:.1e}".format if self.estimated else lambda bound: f"<= {upward(bound)}"
        of = f" (the worst of {self.problems} problems)" if self.problems > 1 else ""
        how = "; deletion_report() has the bounds" if self.estimated else ""
        wide = f"; no gap below {GAP_TOL:.0e} is proven" if self.converged and self.gap > GAP_TOL else ""
        return f"relative duality gap {size(self.gap)}, KKT violation {size(self.violation)}{of}{how}{wide}"

    def __str__(self) -> str:
        """Return the words of whoever prints 'proven' before them, without saying it twice."""
        return self.words if self.title in ("proven", "not proven") else f"{self.title}: {self.words}"

    def __repr__(self) -> str:
        return f"<{self.title}: {self.words}>"

    def _repr_html_(self) -> str:
        return f"<p><b>{self.title.capitalize()}:</b> {self.words.replace('<', '&lt;')}</p>"


@dataclass(frozen=True, eq=False, kw_only=True)
class Model:
    """Σ_j c_j k(z_j, ·) + b for each problem, or such a sum with tilted bases, and the readout that reads the values.

    kernel, gamma : the kernel of the fit, and the number behind gamma='scale'
    vectors : (m, d) array or CSR matrix, the support vectors; none if kernel values are given
    dual : coefficients, dense or CSR: in the arrangement of ``dual_coef_``, or (n_problems, m)
    intercepts : (n_problems,)
    support : (m,) numbers of the support vectors among the training samples
    counts : how many support vectors each class has; of a compact model, and one with tilts, all together
    readout : the meaning of the values
    proofs : the certificates
    shape : of the training set
    width : features of a checked X; None if it is not known
    compact : whether equal support vectors were made one
    samples : training samples of a kernel function that are not rows of numbers
    tilts, problem : (m, d) coefficients of derivatives, and (m,) the problem of each basis, see ``Tilted``
    center_norm : distance of a ball's centre from the origin; None if there is no ball
    own_radius : the radius of a ball, if centred rows have shown more of its digits than the intercept holds
    found : further attributes of an estimator that has just found the model

    Raises
    ------
    ValueError
        The values do not fit each other.
    """

    kernel: Kernel
    vectors: Any
    dual: Any
    intercepts: Vector
    support: NDArray[np.int32]
    counts: NDArray[np.int32]
    readout: Readout
    proofs: Proofs
    shape: tuple[int, ...]
    width: int | None
    gamma: float = 0.0
    compact: bool = False
    samples: Any = None
    tilts: Vector | None = None
    problem: Ids | None = None
    center_norm: float | None = None
    own_radius: float | None = None
    found: dict[str, Any] = field(default_factory=dict[str, Any], repr=False)
    _cache: dict[Any, Any] = field(default_factory=dict[Any, Any], init=False, repr=False)

    def __post_init__(self) -> None:
        if fault := first_fault(RELIED_ON, self):
            raise ValueError(fault)
        for_reading(self.vectors)
        for name in SMALL_PARTS:
            part = getattr(self, name)
            if part is not None and any(array.flags.writeable for array in parts_of(for_reading(part))):
                object.__setattr__(self, name, for_reading(part.copy(), own=True))

    def __getstate__(self) -> dict[str, Any]:
        """Return the parts, without what predictions keep."""
        return {name: value for name, value in vars(self).items() if name != "_cache"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take parts from elsewhere, and check them as new ones."""
        vars(self).update(state, _cache={})
        self.__post_init__()

    @property
    def overall(self) -> OverallCertificate:
        """The certificate of all problems together."""
        from ..certificates.certify import EIGENVALUE_ROWS

        gap, violation = (np.atleast_1d(np.asarray(one, float)) for one in (self.proofs.gap, self.proofs.violation))
        known = self.kernel.convex or self.shape[0] <= EIGENVALUE_ROWS  # of more samples, only some are looked at
        largest = float(gap.max()), float(violation.max())  # nan is the worst gap
        return OverallCertificate(*largest, not self.proofs.status, len(gap), semidefinite=known)

    @property
    def values(self) -> bool:
        """Whether a checked X holds kernel values: a user's, or a function's of samples that are not rows."""
        return self.samples is not None or self.kernel.name == "precomputed"

    @property
    def serving(self) -> Kernel:
        """The kernel of a checked X."""
        from ..kernels import Precomputed

        return self.kernel if self.samples is None else Precomputed()

    @property
    def columns(self) -> Ids:
        """The column of each support vector, for X with kernel values."""
        return np.arange(self.counts.sum()) if self.compact else self.support.astype(np.int64)

    @property
    def offset(self) -> Vector:
        """The opposite of the intercepts; of a ball, the opposite of the squared radius."""
        if self.own_radius is not None:
            return np.array([-(self.own_radius**2)])
        return -self.intercepts if self.center_norm is None else -(self.intercepts + self.center_norm**2)

    @property
    def radius(self) -> float:
        """The radius of a ball."""
        return float(np.sqrt(np.maximum(-self.offset[0], 0.0)))

    @property
    def of_pairs(self) -> bool:
        """Whether ``dual`` has the arrangement of scikit-learn, in which each support vector has a class."""
        return self.tilts is None and not self.compact and isinstance(self.readout, Classes) and self.readout.in_pairs

    def function(self, n_jobs: int | None = None, precision: str = "double") -> DecisionFunctions:
        """Return the decision functions, which are kept: a prediction of one row would take as long to make them."""
        from .function import KernelSum

        if (made := self._cache.get((n_jobs, precision))) is not None:
            return made
        diagonal, intercepts = self.readout.diagonal, writable(self.intercepts)
        if diagonal and self.serving.stationary:  # k(x, x) is the same everywhere
            diagonal, intercepts = 0.0, intercepts + diagonal * self.serving.diagonal(np.zeros(1))
        parts = self.serving, self.vectors, self.dual, intercepts, self.columns, n_jobs
        if self.tilts is not None and self.problem is not None:
            from .tilted import Tilted

            made = Tilted(*parts, tilts=self.tilts, problem=self.problem)
        else:
            counts = self.counts if self.of_pairs else None
            sums = self._cache.setdefault("sums", {})
            made = KernelSum(*parts, counts=counts, precision=precision, cache=sums, diagonal=diagonal)
            made = made if self.own_radius is None else replace(made, square=self.own_radius**2)
        return self._cache.setdefault((n_jobs, precision), made)

    def coefficients(self) -> Vector:
        """Return coefficients of the support vectors, (n_problems, m)."""
        return self.function().coefficients()
