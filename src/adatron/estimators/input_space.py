"""A classifier whose margin is large where the samples live, with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from ..arrays import Vector, dense_rows
from ..docstrings import documented
from ..model.model import NOT_FINITE, Model, Proofs
from ..problems import CClassification, Problem
from ..quoted import quoted
from .base.attributes import Attribute
from .base.classifier import Classifier
from .base.convergence import warn
from .base.methods import fitting
from .base.parameters import PENALTY

if TYPE_CHECKING:
    from ..fitting.fit import TrainingSet
    from ..fitting.fits import Fits
    from ..fitting.programs import Programs
    from ..fitting.samples import Samples
    from ..fitting.steps import Climb
    from ..threads import Clock

MARGIN_PARAMETERS = (
    "kernel", "degree", "gamma", "coef0", "tol", "cache_size", "class_weight", "verbose", "max_iter",
    "decision_function_shape", "break_ties", "n_jobs", "multi_class", "gap_tol", "max_time", "callback", "device",
)  # fmt: skip
TILTED = ("full", "fixed")  # Algorithms whose decision functions have slopes of the kernel.
# Parameters that not every algorithm reads, with their defaults, and the algorithms that do.
READ_BY = {
    "rule": ("damped", TILTED),
    "hyperplane": ("values", ("full",)),
    "slack": ("feature", TILTED),
    "warm": (False, TILTED),
}
CUT = "The time limit (max_time) was reached before all steps were taken; a larger one may widen the margin."


@documented
class InputMarginSVC(Classifier):
    r"""A support vector classifier that maximises the margin in the input space instead of the feature space.

    The margin is the distance of the samples from the decision boundary as :func:`adatron.input_margin` measures it.
    The fit starts from the solution of :class:`SVC` and improves it by projections onto the boundary and quadratic
    programs in turn. The result is never worse than the start, except by ``rule='printed'``. With a hard margin the
    margin is compared, else

        ½ (ρ / g)² + Σ C_i max(0, 1 - ρ s_i), least over ρ,

    where s_i are the signed distances and g is the mean of ‖∇f‖ / ‖w‖ over the samples of the original machine. With
    the linear kernel this is an SVC's own objective, and the original machine is returned.

    ``rule``, ``hyperplane``, ``slack`` and ``warm`` must keep their defaults where they are not read.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of samples that ask for more distance than they have, > 0, as for SVC; ``inf`` is the hard margin.
        Multiplied by class and sample weights.
    kernel : str or adatron.kernels.Kernel, default='rbf'
        'rbf', 'linear', 'poly', or a kernel object with derivatives.
    algorithm : {'full', 'fixed', 'simplified', 'rescaled'}, default='full'
        'full' projects the samples onto the boundary and moves the bases of the decision function there. It is for few
        features and some thousand samples at most. It holds some twenty n x n matrices, which ``cache_size`` must allow
        (1000 MB for 2,400 samples if a tenth are support vectors, or 1,580 if all are). The others are of section 6 of
        the source. 'fixed' leaves the bases at the samples, and is 'full' otherwise. 'simplified' leaves out the slopes
        of the gradients' sizes ĝ, too: it makes ordinary fits with targets y ĝ. 'rescaled' is the form that the source
        proposes for the code of ordinary machines, with k(x_i, x_j) / (ĝ_i ĝ_j); its constraint Σ ĝ a = 0 differs.
    rule : {'damped', 'best', 'printed'}, default='damped'
        For 'full' and 'fixed'. 'damped' goes towards the solution of each program only as far as the margin grows, and
        ends if it does not grow at all. 'best' goes all the way and keeps the best of all steps. 'printed' is 'best' as
        the source has it: projections are ten steps of its eq. 12 from the last ones, and the best step is that with
        the largest margin by these estimates. It is for comparison: the estimates may be wrong. The other algorithms
        always keep the best step.
    n_steps : int, default=5
        Most steps.
    hyperplane : {'values', 'all_values', 'normal'}, default='values'
        For 'full' only: the quantity that it keeps when the bases move: decision values at the samples, the old bases
        and the new projections (least squares); the same, also at the old projections of samples that are no support
        vectors (eq. 18 of the source); or the normal (least distance in the feature space).
    slack : {'feature', 'input'}, default='feature'
        For 'full' and 'fixed' with a finite C: what costs C. 'feature' is a lack of 1 in the decision value, as in the
        source (eq. 19). 'input' is a lack of the whole margin in the input space: a sample pays for the part of the
        margin that its distance lacks. This is the objective above to first order, so steps gain more often.
    warm : bool, default=False
        For 'full' and 'fixed': whether each program starts from the solution of the one before it. It saves updates.
        'simplified' always does so.
    metric : None, array-like of shape (n_features, n_features) or callable, default=None
        The measure of distance: √(d'Gd) with this matrix G, or with the matrix that a function of one sample returns
        (invariances, the Fisher information). None is the Euclidean length.
    tol : float, default=1e-3
        Largest violation of the optimality (KKT) conditions of each program.
    cache_size : float, default=1000
        Megabytes for kernel values, and for the matrices of the full algorithm.
    max_iter : int, default=-1
        Most updates in each program; -1 is a finite limit that grows with the data.
    n_jobs : int, default=None
        Threads; None and -1 are all that the process may use.
    multi_class : {'ovo', 'ovr'}, default='ovo'
        One classifier for each pair of classes, or for each class against the rest; each has its own margin.
    gap_tol : float or None, default=1e-3
        The relative duality gap that each program goes on to after it meets ``tol``; None asks for ``tol`` alone.
    max_time : float, default=None
        Seconds after which the fit stops and warns, with the best decision function so far; its margin is nan if there
        was no time to measure it.
    callback : callable, default=None
        Called with a :class:`adatron.solvers.Progress` now and then; returning True stops the program.
    device : str, default=None
        'cuda' or 'cuda:1': a GPU of NVIDIA for the machine it starts from, and for predictions with
        ``algorithm='simplified'`` or 'rescaled'. The steps are taken on the processor. None follows X.

    Attributes
    ----------
    margin_ : float, or ndarray of one for each binary problem
        The margin reached in the input space: the smallest distance of a training sample (negative if one is on the
        wrong side), or with a finite C, 1/ρ. With 'simplified' and 'rescaled', only the distances of the 64 samples
        nearest to the boundary by \|f\| / ‖∇f‖ are measured; for the others this estimate is taken.
    margin_path_ : ndarray, or list of them for each binary problem
        The margin of the original machine and after each step; by ``rule='printed'`` the estimated ones.
    projections_ : ndarray of shape (n_samples, n_features), or list of them for each binary problem
        For 'full' and 'fixed': the nearest points of the boundary to the training samples; nan if none was found, or
        for samples that are not in the problem. None for the other algorithms.
    tilts_ : ndarray of shape (n_support, n_features)
        For 'full' and 'fixed', the coefficients of the kernel's slopes; None for the others. The decision function of
        problem p is Σ a_j k(z_j, x) + b_j·∂k(z_j, x)/∂z + intercept_[p], where z, a and b are the rows of
        ``support_vectors_``, ``dual_coef_[p]`` and ``tilts_`` with ``problem_`` equal to p.
    problem_ : ndarray of shape (n_support,)
        For 'full' and 'fixed', the binary problem of each support vector; None for the others.
    support_vectors_, n_support_, dual_coef_ : ndarray
        For 'full', ``support_vectors_`` are the projections of the samples ``support_``. For 'full' and 'fixed'
        ``dual_coef_`` is (n_problems, n_support), and ``n_support_`` is the total number.
    duality_gap_, kkt_violation_, dual_objective_, primal_objective_, n_iter_, fit_status_, trace_ :
        Those of the program that the decision function comes from.

    References
    ----------
    Akaho, Maximizing the margin in the input space (2002).

    Examples
    --------
    >>> from adatron import InputMarginSVC
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.1, random_state=0)
    >>> model = InputMarginSVC(C=float('inf'), gamma=1.0).fit(X, y)
    >>> bool(model.margin_ >= model.margin_path_[0])
    True
    """

    C: float
    algorithm: str
    rule: str
    n_steps: int
    hyperplane: str
    slack: str
    warm: bool
    metric: Any
    margin_: Any
    margin_path_: Any
    projections_: Any
    # None if the bases have none; then the model is a sum as an SVC's
    tilts_: Attribute[NDArray[np.float64] | None] = Attribute("tilts")
    problem_: Attribute[NDArray[np.int32]] = Attribute("problem")
    solver = "auto"
    precision = "auto"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: Classifier._parameter_constraints[name] for name in MARGIN_PARAMETERS},
        **PENALTY,
        "algorithm": [StrOptions({"full", "fixed", "simplified", "rescaled"})],
        "rule": [StrOptions({"damped", "best", "printed"})],
        "n_steps": [Interval(Integral, 0, None, closed="left")],
        "hyperplane": [StrOptions({"values", "all_values", "normal"})],
        "slack": [StrOptions({"feature", "input"})],
        "warm": ["boolean"],
        "metric": ["array-like", callable, None],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        algorithm: str = "full",
        rule: str = "damped",
        n_steps: int = 5,
        hyperplane: str = "values",
        slack: str = "feature",
        warm: bool = False,
        metric: Any = None,
        tol: float = 1e-3,
        cache_size: float = 1000,
        class_weight: dict[Any, float] | str | None = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        n_jobs: int | None = None,
        multi_class: str = "ovo",
        gap_tol: float | None = 1e-3,
        max_time: float | None = None,
        callback: Callable[[Any], object] | None = None,
        device: Any = None,
    ) -> None:
        self._keep(locals())

    def problem(self, augment: float) -> Problem:
        return CClassification(self.C) if self.algorithm == "simplified" else _Unbounded(self.C)

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        from ..fitting.engine import solve
        from ..fitting.fit import model_of_classes
        from ..fitting.fits import Fits
        from ..fitting.programs import Binary
        from ..threads import Clock

        self._refuse_unread()
        clock, data, problem = Clock.starting(self.max_time), self._labelled(X, y, sample_weight), self.problem(1.0)
        programs = Binary.of_classes(problem, data.samples, data.readout.in_pairs)
        settings = self.settings(data.serving, clock, False, X)
        start = solve(data.rows, data.samples, programs, settings)
        climbs = self._climbs(data, programs, start, clock)
        fits = Fits.of([climb.fitted for climb in climbs], start.route)
        feet, alone = None, len(climbs) == 1
        if self.algorithm in TILTED:
            feet = [_projections(climb, data.samples, data.X.shape) for climb in climbs]
            model = self._of_bases(climbs, data, fits.proofs(alone))
        else:
            model = model_of_classes(data, problem, fits, data.samples, self.n_jobs)
        settings.judge(fits, data.X, values=model.values, kernel=model.kernel.name)
        margins, paths = np.array([climb.worth.margin for climb in climbs]), [np.array(c.path) for c in climbs]
        return self._take(
            model,
            margin_=float(margins[0]) if alone else margins,
            margin_path_=paths[0] if alone else paths,
            projections_=feet[0] if feet is not None and alone else feet,
        )

    def _refuse_unread(self) -> None:
        """Refuse a value that the fit would not read.

        Raises
        ------
        ValueError
            A parameter that the algorithm does not have is not its default.
        """
        for name, (default, algorithms) in READ_BY.items():
            value, where = getattr(self, name), f"algorithm={self.algorithm!r}"
            unread = self.algorithm not in algorithms
            if name == "slack" and not unread and np.isinf(self.C):
                unread, where = True, "a hard margin (C=inf)"
            if unread and value != default:
                raise ValueError(
                    f"The {name!r} parameter of InputMarginSVC must be {default!r} with {where}, which does not read "
                    f"it. Got {value!r} instead."
                )

    def _climbs(self, data: TrainingSet, programs: Programs, start: Fits, clock: Clock) -> list[Climb]:
        """Take the steps from the solution of each problem."""
        from ..fitting import steps
        from ..kernels.derivatives import jet
        from ..margins import Metric, Recipe
        from ..threads import Pool, allowed_threads
        from ..threads.gate import one_blas_thread

        kernel, X = data.kernel, data.rows
        jet(kernel)  # or it has no derivative
        if self.algorithm in TILTED and not kernel.convex:
            raise ValueError(
                f"algorithm={self.algorithm!r} needs a positive semi-definite kernel. {quoted(kernel)} may not be one."
            )
        rows = dense_rows(X[data.samples.rows])
        with one_blas_thread(), Pool(allowed_threads(self.n_jobs), clock.limit) as pool:
            settings = replace(self.settings(kernel, clock, sized=False), device=None, device_X=None)
            own = steps.Data(rows, Metric.of(self.metric, rows), settings, pool)
            if self.algorithm in TILTED:
                moves = self.algorithm == "full"
                recipe = Recipe(self.n_steps, self.rule, self.hyperplane, moves, self.slack, self.warm)
                climbs = [steps.full(own, *parts, recipe) for parts in zip(programs, start, strict=True)]
            else:
                rescaled = self.algorithm == "rescaled"
                climbs = steps.simplified(own, X, data.samples, programs, start, self.n_steps, rescaled)
        if any(climb.cut for climb in climbs):
            warn(
                "The time limit (max_time) was reached before all steps were taken; a larger one may widen the margin."
            )
        return climbs

    @staticmethod
    def _of_bases(climbs: list[Climb], data: TrainingSet, proofs: Proofs) -> Model:
        """Return the model of an algorithm whose decision functions have slopes of the kernel."""
        bases, problems = [_bases(climb, data.X.shape[1]) for climb in climbs], np.arange(len(climbs))
        problem = np.repeat(problems, [len(points) for points, _, _, _ in bases])
        points, a, tilts, support = (np.concatenate(part) for part in zip(*bases, strict=True))
        dual = np.where(problem == problems[:, None], a, 0.0)
        intercepts = np.array([c.fitted.intercept if c.stage is None else c.stage.field.f0 for c in climbs])
        if not all(np.isfinite(part).all() for part in (dual, tilts, intercepts)):
            raise ValueError(NOT_FINITE)
        return Model(
            kernel=data.kernel,
            gamma=data.gamma,
            vectors=points,
            dual=dual,
            intercepts=intercepts,
            support=data.samples.rows[support].astype(np.int32),
            counts=np.array([len(tilts)], np.int32),
            readout=data.readout,
            proofs=proofs,
            found=data.found,
            shape=data.X.shape,
            width=data.X.shape[1],
            tilts=tilts,
            problem=problem,
        )


def _bases(climb: Climb, d: int) -> tuple[Vector, Vector, Vector, NDArray[np.int64]]:
    """Return the points, coefficients and tilts of a decision function, and the distinct samples of its bases."""
    if climb.stage is None:
        return np.empty((0, d)), np.empty(0), np.empty((0, d)), np.empty(0, np.int64)
    field = climb.stage.field
    tilts = np.zeros_like(field.points) if field.b is None else field.b
    return field.points, field.a, tilts, climb.fitted.ids[climb.stage.support]


def _projections(climb: Climb, distinct: Samples, shape: tuple[int, int]) -> Vector:
    """Return the nearest points of the boundary to all training samples."""
    of_distinct, found = np.full((len(distinct.rows), shape[1]), np.nan), np.full(shape, np.nan)
    if climb.stage is not None:
        of_distinct[climb.fitted.ids] = climb.stage.feet.projection
    found[distinct.members] = of_distinct[distinct.group]
    return found


class _Unbounded(CClassification):
    """The problem of the start, of steps that leave its bounds."""

    @property
    def separable(self) -> bool:
        return False

    def ends(self, y: Vector, weight: Vector) -> tuple[float, float]:
        return np.inf, np.inf
