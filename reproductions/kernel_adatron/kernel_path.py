"""Kernel selection by a path: train with a narrow kernel, widen the kernel, go on from the last solution.

The margin depends continuously on the width of the kernel, so the last solution nearly solves the next problem. The
squared distances serve all widths. So a step costs one exponential for each pair of samples, and a few updates.

Source    C. Campbell, N. Cristianini, Simple learning algorithms for training support vector machines (1998), section
          3.4; N. Cristianini, C. Campbell, J. Shawe-Taylor, Dynamically adapting kernels in support vector machines,
          NIPS 11 (1999).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_consistent_length, check_X_y
from sklearn.utils._param_validation import Interval, StrOptions, validate_params  # pyright: ignore[reportPrivateUsage]
from sklearn.utils.multiclass import check_classification_targets

from adatron.certificates import Certificate, bounded, intercept
from adatron.estimators.base.methods import quiet
from adatron.problems import Bias, Dual, ball, csvc
from adatron.problems.dual import Vector, dot
from adatron.quoted import quoted
from adatron.solvers.base import Options
from adatron.solvers.dense import pairs, singles
from adatron.solvers.loop import until_proven
from adatron.solvers.results import Status
from adatron.solvers.start import feasible
from adatron.threads import Pool, allowed_threads
from adatron.threads.gate import one_blas_thread

from .gaussians import Gaussians, squared_distances, weighted
from .radius_margin import vc_bound

RADIUS_ERROR = 1e-3  # Allowed error of the squared radius, which is at most 1.
FAR_AUGMENT = 100.0  # Above it, float32 sums of the constant and a Gaussian lose the Gaussian.
DESCENT_ROUNDS = 20  # Rounds of the dense solver, each from a fresh gradient and with the samples that violate it.
DESCENT_STEPS = 1000  # Most steps of a round, as a multiple of the number of samples.


@dataclass(frozen=True)
class KernelPath:
    """The results for each width, from the narrowest kernel (the largest gamma) to the widest.

    Attributes
    ----------
    gamma : (k,) coefficients of the RBF kernel
    margin : (k,) 1 / norm of w, with the augmenting component of ``bias='augmented'``
    radius_margin : (k,) R^2 / margin^2, R the radius of the smallest ball around the samples
    radius_margin_origin : (k,) R^2 / margin^2, R^2 = max k(x, x) of a ball around the origin
    bound : (k,) bound of the error by the theorem of section 2 (``vc_bound``), nan where it is vacuous or C is finite
    validation_error : (k,) error rate on the validation samples; nan without any
    n_support : (k,) support vectors
    n_iter : (k,) updates of pairs, or of single variables without an explicit bias
    duality_gap : (k,) relative gap, proven in float64
    kernel_evaluations : squared distances that were computed, for all steps together
    coefficients, intercept : (k, n) and (k,) the solutions
    best : the step with the smallest ``radius_margin`` or validation error, the widest kernel of equal ones

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from reproductions.kernel_adatron.kernel_path import kernel_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = kernel_path(scale(X), y, np.logspace(-3, 1, 9), C=10.0)
    >>> bool((path.duality_gap < 1e-2).all())
    True
    """

    gamma: Vector
    margin: Vector
    radius_margin: Vector
    radius_margin_origin: Vector
    bound: Vector
    validation_error: Vector
    n_support: NDArray[np.int64]
    n_iter: NDArray[np.int64]
    duality_gap: Vector
    kernel_evaluations: int
    coefficients: Vector
    intercept: Vector
    best: int

    def table(self) -> str:
        """Return the path as a Markdown table."""
        names = ("gamma", "margin", "radius_margin", "radius_margin_origin", "bound", "validation_error", "n_support")
        lines = ["| " + " | ".join(names) + " |", "|---" * len(names) + "|"]
        for row in zip(*(getattr(self, name) for name in names), strict=True):
            cells = [
                "vacuous" if name == "bound" and np.isnan(v) else f"{v:.4g}" for name, v in zip(names, row, strict=True)
            ]
            lines.append("| " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Any:
        """Draw R^2 / margin^2 and the validation error over gamma, the best step marked; return the axes."""
        from adatron.plots.axes import COLORS, axes

        ax = axes(ax)
        ax.loglog(self.gamma, self.radius_margin, "o-", color=COLORS[0], label="R² / margin², smallest ball")
        ax.loglog(self.gamma, self.radius_margin_origin, "--", color=COLORS[4], label="R² / margin², ball around 0")
        ax.axvline(self.gamma[self.best], color="0.7", zorder=0)
        ax.set(xlabel="gamma", ylabel="R² / margin²")
        lines = ax.get_lines()[:2]
        if not np.isnan(self.validation_error).all():
            right = ax.twinx()
            lines += right.semilogx(self.gamma, self.validation_error, "s-", color=COLORS[2], label="validation error")
            right.set(ylabel="validation error", ylim=(0, None))
        names = [line.get_label() for line in lines]
        ax.legend(lines, names, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
        return ax


@validate_params(
    {
        "C": [Interval(Real, 0.0, None, closed="neither"), Interval(Real, 0.0, None, closed="right")],
        "bias": [StrOptions({"explicit", "augmented", "none"})],
        "augment": [Interval(Real, 0.0, FAR_AUGMENT, closed="right")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "pick": [StrOptions({"bound", "validation"}), None],
        "cache_size": [Interval(Real, 0.0, None, closed="neither")],
        "delta": [Interval(Real, 0.0, 1.0, closed="neither")],
    },
    prefer_skip_nested_validation=True,
)
@quiet
def kernel_path(
    X: Any,
    y: Any,
    gammas: Any,
    *,
    C: float = np.inf,
    bias: str = "explicit",
    augment: float = 1.0,
    validation: tuple[Any, Any] | None = None,
    pick: Literal["bound", "validation"] | None = None,
    tol: float = 1e-3,
    delta: float = 0.05,
    warm: bool = True,
    cache_size: float = 2000,
    n_jobs: int | None = None,
) -> KernelPath:
    """Solve a two-class problem for many widths of the RBF kernel, each from the solution of the last one.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training samples of two classes.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    gammas : array-like of shape (k,)
        Coefficients of the kernel, > 0, in any order.
    C : float, default=inf
        Penalty of margin violations; ``inf`` is the hard margin.
    bias : {'explicit', 'augmented', 'none'}, default='explicit'
        Whether the machines have a constant b, or a constant is added to the kernel instead.
    augment : float, default=1.0
        The augmenting factor of ``bias='augmented'``, at most 100; its square is added to the kernel.
    validation : tuple of (X, y), default=None
        Samples on which the error is measured.
    pick : {'bound', 'validation'}, default=None
        The quantity that the best step minimises: R^2 / margin^2 of the smallest ball, or the validation error. None is
        'validation' if there are such samples.
    tol : float, default=1e-3
        Largest KKT violation.
    delta : float, default=0.05
        Confidence 1 - delta of ``bound``.
    warm : bool, default=True
        False starts every step from zero, for comparison.
    cache_size : float, default=2000
        Megabytes that the kernel matrix and the squared distances may take: 16 n_samples² bytes.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    path : KernelPath

    Raises
    ------
    ValueError
        Bad parameters, a number of classes other than two, more samples than ``cache_size`` allows.

    Examples
    --------
    >>> from reproductions.kernel_adatron.kernel_path import kernel_path
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> path = kernel_path(X, y, [0.1, 1.0, 10.0], C=1.0)
    >>> path.gamma.tolist()
    [10.0, 1.0, 0.1]
    """
    X, codes, classes = _samples(X, y, cache_size)
    gammas = _descending(gammas)
    by_error = pick == "validation" or (pick is None and validation is not None)
    if by_error and validation is None:
        raise ValueError("The 'pick' parameter must be 'bound' without validation samples. Got 'validation' instead.")
    test, truth = (X[:0], codes[:0]) if validation is None else _labelled(*validation, classes)
    if test.shape[1] != X.shape[1]:
        raise ValueError(f"The 'validation' parameter must have {X.shape[1]} features. Got {test.shape[1]} instead.")
    with one_blas_thread(), Pool(allowed_threads(n_jobs)) as pool:
        dual = csvc(np.where(codes == 1, 1.0, -1.0), np.full(len(X), float(C)), cast("Bias", bias), augment)
        walk = _Steps(X, dual, tol, pool, warm)
        steps = [walk.step(float(gamma), delta) for gamma in gammas]
        found = {name: np.array([step[name] for step in steps]) for name in steps[0]}
        found["validation_error"] = _errors(squared_distances(X, test, X, pool), truth, gammas, found, pool)
    _warn_of(gammas[found.pop("open")], np.inf == C)
    score = found["validation_error" if by_error else "radius_margin"]
    best = int(np.flatnonzero(score == score.min())[-1])
    return KernelPath(gamma=gammas, kernel_evaluations=len(X) * (len(X) + 1) // 2, best=best, **found)


def _descending(gammas: Any) -> Vector:
    """Return each gamma once, the largest first."""
    gammas = np.unique(check_array(gammas, ensure_2d=False, dtype="float64").ravel())[::-1]
    if not gammas[-1] > 0:
        raise ValueError(f"The 'gammas' parameter must hold numbers > 0. Got {quoted(gammas[-1])} instead.")
    return gammas


def _samples(X: Any, y: Any, cache_size: float) -> tuple[Vector, NDArray[np.int64], NDArray[Any]]:
    """Return X, the number of each sample's class, and the classes."""
    X, y = check_X_y(X, y, dtype="float64")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) != 2:
        raise ValueError(f"kernel_path needs two classes. Got {len(classes)}: {classes[:5].tolist()}.")
    megabytes = 16 * len(X) ** 2 / 2**20
    if megabytes > cache_size:
        raise ValueError(
            f"kernel_path holds the kernel matrix and the distances: {megabytes:.0f} MB for {len(X)} samples. The "
            f"'cache_size' parameter allows {cache_size:.0f} MB: raise it, or take a part of the samples."
        )
    return X, codes, classes


class _Steps:
    """The training samples, and the last solution."""

    def __init__(self, X: Vector, dual: Dual, tol: float, pool: Pool, warm: bool) -> None:
        n = len(X)
        self.dual, self.around = dual, ball(np.ones(n))
        self.tol, self.warm = tol, warm
        self.kernel = Gaussians(X, tol, pool)
        self.beta, self.centre = np.zeros((2, n))

    def step(self, gamma: float, delta: float) -> dict[str, Any]:
        """Solve for one gamma."""
        self.kernel.widen(gamma)
        margin = _Descent(self.dual, self.kernel, self.beta)
        status, proof = until_proven(margin, self.tol, Options(tol=self.tol))
        around = _Descent(self.around, self.kernel, self.centre)
        until_proven(around, RADIUS_ERROR, Options(tol=RADIUS_ERROR))
        beta, g = margin.beta, margin.g
        if self.warm:
            self.beta, self.centre = beta, around.beta
        norm2 = self.dual.squared_norm(beta, g)
        radius2 = 1.0 + self.dual.lambda2  # of a ball around the origin: max k(x, x) of the program
        bound = vc_bound(len(beta), radius2, float(1.0 / np.sqrt(norm2)), delta) if self.dual.hard_margin else np.nan
        return {
            "margin": 1.0 / np.sqrt(norm2),
            "radius_margin": -2.0 * self.around.objective(around.beta, around.g) * norm2,
            "radius_margin_origin": radius2 * norm2,
            "bound": bound,
            "n_support": int(np.count_nonzero(beta)),
            "n_iter": margin.n_iter,
            "duality_gap": proof.relative_gap,
            "coefficients": beta,
            "intercept": intercept(self.dual, beta, g),
            "open": status is not Status.CONVERGED,
        }


class _Descent:
    """Solves one program in rounds over few variables each, so that few rows of K are needed.

    A round solves for the last support vectors and for the samples that violate the conditions. Rounds go on until no
    sample violates them. The start is first scaled, if the scaled point is feasible, because scaling costs nothing.
    """

    def __init__(self, dual: Dual, kernel: Gaussians, start: Vector) -> None:
        self.dual, self.kernel, self.n_iter, self.rounds = dual, kernel, 0, 0
        beta = feasible(dual, start)
        z = kernel.roughly(beta) + dual.lambda2 * float(beta.sum())
        energy = dot(beta, z)
        length = dot(dual.t, beta) / energy if energy > 0 and not any(dual.totals) else 1.0
        if (length * beta <= dual.upper).all() and (length * beta >= dual.lower).all():
            beta, z = length * beta, length * z
        self.beta, self.g, self.inside = beta, z - dual.t, beta != 0

    def propose(self, tol: float) -> tuple[Status, float]:
        """Solve for the variables that take part, in place; all others are 0. Compute the gradient in float64."""
        self.inside |= violators(self.dual, self.beta, self.g, tol)
        rows = np.flatnonzero(self.inside)
        K, n = self.kernel.among(rows), len(rows)
        K[:n, :n] += self.dual.lambda2
        part, lower, upper, slope = np.zeros((4, len(K)))
        part[:n], lower[:n], upper[:n] = self.beta[rows], self.dual.lower[rows], self.dual.upper[rows]
        slope[:n] = self.g[rows]
        program = (K, part, slope.astype(K.dtype), lower, upper)
        limits = (0.0, 0.5 * tol, DESCENT_STEPS * n, np.zeros(2, np.int64))
        tied = bool(self.dual.totals)
        self.n_iter += pairs(*program, np.array([0, len(K)]), *limits) if tied else singles(*program, *limits)
        self.beta[rows] = part[:n]
        self.g = self.kernel.times(self.beta) + self.dual.lambda2 * float(self.beta.sum()) - self.dual.t
        return Status.CONVERGED, tol

    def prove(self) -> Certificate:
        """Prove what is true of the point, in float64."""
        error = (1.0 + self.dual.lambda2) * self.kernel.error(self.beta)  # the constant's sum is rounded less
        errors = np.full(len(self.beta), error)
        return bounded(self.dual, self.beta, self.g, errors, 1.0)  # no Gaussian is larger

    def tighten(self, tol: float, proof: Certificate) -> float | Status:
        """Go on with the samples that still violate the conditions, for some rounds."""
        self.rounds += 1
        return tol if self.rounds < DESCENT_ROUNDS else Status.STUCK


def _warn_of(gammas: Vector, hard: bool) -> None:
    if len(gammas):
        cause = "the classes are not separable by these kernels (use a finite C), or " if hard else ""
        warnings.warn(
            f"No solution was found for gamma = {', '.join(f'{gamma:.4g}' for gamma in gammas)}: "
            f"{cause}tol is too small.",
            ConvergenceWarning,
            stacklevel=5,
        )


def _labelled(X: Any, y: Any, classes: NDArray[Any]) -> tuple[Vector, NDArray[np.int64]]:
    X, y = check_array(X, dtype="float64"), np.asarray(y)
    check_consistent_length(X, y)
    if not np.isin(y, classes).all():
        raise ValueError(f"The 'validation' parameter holds other labels than the classes {classes.tolist()}.")
    return X, np.searchsorted(classes, y)


def _errors(distances: Vector, truth: NDArray[np.int64], gammas: Vector, found: dict[str, Any], pool: Pool) -> Vector:
    """Return error rates of all steps; nan without samples."""
    rates = np.full(len(gammas), np.nan)
    if not len(truth):
        return rates
    for k, (gamma, beta, b) in enumerate(zip(gammas, found["coefficients"], found["intercept"], strict=True)):
        rates[k] = np.mean((weighted(distances, float(gamma), beta, pool) + b >= 0) != (truth == 1))
    return rates


def violators(dual: Dual, beta: Vector, g: Vector, tol: float) -> NDArray[np.bool_]:
    """Return whether each variable violates the conditions by more than tol, alone or with the best partner."""
    grow, shrink = dual.growth(beta, g), dual.shrinkage(beta, g)
    if not dual.totals:
        return np.maximum(grow, shrink) > tol
    wrong = np.zeros(len(beta), bool)
    for tie in dual.ties():
        up, down = grow[tie], shrink[tie]
        wrong[tie] = np.maximum(up + down.max(), down + up.max()) > tol
    return wrong
