"""The parameters that all kernel machines have, and how they are checked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from ...compiled.cache.uninterrupted import collector_paused
from ...door.arrays import device_of, device_X_of
from ...model.model import GAP_TOL
from ...quoted import plain_numbers
from .attributes import fitted_attributes
from .convergence import warn_unless_converged
from .methods import CallbackSupport, Spelling, quiet_methods, together

if TYPE_CHECKING:
    from ...fitting.engine import Settings
    from ...kernels import Kernel
    from ...threads import Clock


class NameIn(StrOptions):
    """A name in a table, which is looked up when a model is fitted: importing the package needs nothing heavy."""

    def __init__(self, module: str, table: str, *more: str) -> None:
        super().__init__(set(more))
        self.module, self.table, self.more = module, table, more

    def names(self) -> list[str]:
        """Return all that is allowed."""
        with collector_paused():
            table = getattr(import_module(self.module), self.table)
        return sorted([*table, *self.more])

    def is_satisfied_by(self, val: Any) -> bool:
        return isinstance(val, str) and val in self.names()

    def __str__(self) -> str:
        return f"a str among {self.names()}"


PLAIN_TYPES = {str, int, float, bool, type(None), np.float64, np.int64}  # types of values that never change
PENALTY: dict[str, list[Any]] = {"C": [Interval(Real, 0.0, None, closed="right")]}
NU: dict[str, list[Any]] = {"nu": [Interval(Real, 0.0, 1.0, closed="right")]}
MOST_BYTES = 2.0**62  # of memory
LARGEST_AUGMENT = 1e100  # its square is added to the kernel
BIAS: dict[str, list[Any]] = {
    "bias": [StrOptions({"explicit", "augmented", "none"})],
    "augment": [Interval(Real, 0.0, LARGEST_AUGMENT, closed="right"), StrOptions({"auto"})],
}


class Parameters(CallbackSupport, Spelling, BaseEstimator):
    """Base of the estimators, each of which lists these parameters in its own constructor, as scikit-learn wants.

    ``_parameter_constraints`` is scikit-learn's: it lists what each parameter may be. ``fit`` checks the parameters, a
    constructor does not. A subclass adds its own: ``{**Base._parameter_constraints, "name": [...]}``.

    Parameters
    ----------
    kernel : str, adatron.kernels.Kernel or callable, default='rbf'
        'rbf', 'linear', 'poly', 'sigmoid', 'laplacian', 'precomputed'; a kernel object (``RBF(0.1) + 2 * Linear()``);
        or a function of two arrays of rows that returns their kernel matrix. Each entry must depend on its own pair
        alone; the function is called on blocks of at most 1,024 rows. If the samples are not rows of numbers (texts,
        graphs, series), the function gets all of them at once, as they are.
    degree : int, default=3
        Degree of 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        1 / (n_features * X.var()), 1 / n_features, or the value itself. A sample of weight 2 counts as two in the
        variance.
    coef0 : float, default=0.0
        Constant of 'poly' and 'sigmoid'.
    shrinking : bool, default=True
        Accepted for compatibility, without effect (``solver=ISDA(shrinking=False)`` is another setting).
    tol : float, default=1e-3
        Largest violation of the optimality (KKT) conditions, as in scikit-learn, but certified.
    cache_size : float, default=1000
        Megabytes for kernel values, in all: stored rows, blocks and tiles of all concurrent problems.
    verbose : bool, default=False
        Print a line for each report of progress.
    max_iter : int, default=-1
        Most iterations in a binary problem. The default solver counts updates of pairs (or coordinates), the others
        what ``adatron info --solvers`` says. -1 is a finite limit that grows with the data.
    bias : {'explicit', 'augmented', 'none'}, default='explicit'
        An unpenalised b; b penalised with the weights through a constant feature ``augment``; no b.
    augment : float or 'auto', default=1.0
        Augmenting factor λ of ``bias='augmented'`` (SVMseq's λ; ISDA's 1/k = λ²); 'auto' is the magnitude of the
        inputs, the root of their mean squared norm.
    solver : {'auto', 'block', 'kernel_adatron', 'svmseq', 'isda', 'smo', 'decomposition'} or Solver, default='auto'
        The algorithm, by name or as one of ``adatron.solvers`` with its own parameters. 'auto' is 'block'. Programs of
        nu take those that keep equalities ('block', 'smo', 'decomposition'); novelty detection any but 'svmseq'.
        ``LinearSVC`` and ``LinearSVR`` choose their own, 'primal' if errors cost their square.
    n_jobs : int, default=None
        Threads; None and -1 are all that the process may use, or that joblib allows in its worker. Fits in several
        threads of a process share them. The number cannot change a single bit of the solution.
    precision : {'auto', 'single', 'double'}, default='auto'
        'auto': kernel values in float32 with float64 corrections if float32 is accurate enough. 'single': float32
        wherever it says anything about the values; decision values then come from float32, too. 'double': float64
        throughout, as given values and those of functions always are. Certificates are float64 in any case. With
        'auto' decision values are float64, also for float32 samples, and so are the classes, which float32 may prove.
    gap_tol : float or None, default=1e-3
        The relative duality gap that the fit goes on to after it meets ``tol``. If rounding or a limit ends the fit
        before, it is good with the value 1e-3, and ``certificate_`` says what is proven; with any other value it warns.
        None asks for ``tol`` alone, as scikit-learn does.
    max_time : float, default=None
        Seconds after which the fit stops and warns. Problems of classes, targets or quantiles that wait for each other
        share the time that is left equally. The certificate may take up to a tenth more and 0.2 s; bounds that could
        not be proven in that time are infinite. A call of a kernel function is not interrupted. The time for compiling
        code at first use comes on top.
    callback : callable, default=None
        Called with a :class:`adatron.solvers.Progress` (``n_iter``, ``kkt_violation``, ``duality_gap``, ...) now
        and then; returning True stops the fit.
    device : str, default=None
        Where to solve the problems and to predict: 'cuda' or 'cuda:1' for a GPU of NVIDIA, 'cpu' for the processor.
        None follows X: for a tensor of torch, or an array of CuPy, it is that one's GPU, and predictions come back as
        the same kind. It needs the extra ``gpu``. Small problems are solved on the processor; ``route_`` says where,
        and why. A model file does not keep it. A fit raises ValueError for a GPU that is not there, for sparse X and
        for kernels that a GPU does not evaluate; ImportError without torch; RuntimeError if sums of the GPU differ from
        the processor's.
    """

    # The values hold for machines whose constructor leaves a parameter out. scikit-learn takes machines with a max_iter
    # to count iterations, so each class that does has its own.
    kernel: Any = "rbf"
    degree: int = 3
    gamma: float | str = "scale"
    coef0: float = 0.0
    tol: float = 1e-3
    cache_size: float = 1000
    verbose: bool = False
    max_iter: int
    solver: Any = "auto"
    n_jobs: int | None = None
    precision: str = "auto"
    gap_tol: float | None = GAP_TOL
    max_time: float | None = None
    callback: Callable[[Any], object] | None = None
    device: Any = None
    _parameter_names: ClassVar[list[str]]
    _good: ClassVar[tuple[list[type], list[Any]]]  # types and values that passed the last check

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [NameIn("adatron.kernels.table", "LEAVES"), HasMethods(["terms", "diagonal"]), callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "shrinking": ["boolean"],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "verbose": ["verbose"],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
        "solver": [NameIn("adatron.solvers.table", "SOLVERS", "auto"), HasMethods(["accepts", "solve"])],
        "n_jobs": [Interval(Integral, None, -1, closed="right"), Interval(Integral, 1, None, closed="left"), None],
        "precision": [StrOptions({"auto", "single", "double"})],
        "gap_tol": [Interval(Real, 0.0, None, closed="neither"), None],
        "max_time": [Interval(Real, 0.0, None, closed="neither"), None],
        "callback": [callable, None],
        "device": [str, HasMethods(["tiles", "memory"]), None],
    }

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        quiet_methods(cls)

    def _get_fitted_attr_html(self, doc_link: str = "") -> Any:
        """Return the attributes for a notebook; scikit-learn asks from version 1.9 on."""
        return fitted_attributes(self, doc_link)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Look the names up once: every fit asks, and a small one takes hardly longer than the answer."""
        if "_parameter_names" not in vars(cls):
            cls._parameter_names = super()._get_param_names()
        return cls._parameter_names

    def _validate_params(self) -> None:
        """Validate as scikit-learn does, except what was good the last time, which saves a tenth of a small fit."""
        values = [getattr(self, name) for name in self._get_param_names()]
        kinds = list(map(type, values))
        found, plain = (kinds, values), PLAIN_TYPES.issuperset(kinds)
        if not plain or vars(type(self)).get("_good") != found:
            with plain_numbers():
                super()._validate_params()
            if plain:
                type(self)._good = found

    def _keep(self, parameters: dict[str, Any]) -> None:
        """Set an attribute for each parameter of a constructor, given its ``locals()``; scikit-learn reads them."""
        own = {**parameters}
        del own["self"]
        own.pop("__class__", None)
        vars(self).update(own)

    def settings(self, kernel: Kernel, clock: Clock, sized: bool, given: Any = None) -> Settings:
        """Return the parameters as a fit takes them; ``sized``: see ``Problem``, ``given``: X as it came."""
        from ...fitting.engine import Settings

        device = device_of(self, given)
        own = self.callback or (_print_progress if self.verbose else None)
        return Settings(
            kernel=kernel,
            solver=self.solver,
            precision=self.precision,
            cache_bytes=min(self.cache_size * 2.0**20, MOST_BYTES),
            n_jobs=self.n_jobs,
            tol=float(self.tol),
            gap_tol=self.gap_tol,
            gap_requested=self.gap_tol != GAP_TOL,
            max_iter=int(self.max_iter),
            clock=clock,
            callback=together(own, vars(self).get("_fit_parts")),
            sized=sized,
            device=device,
            device_X=None if device is None else device_X_of(device, given),
            judge=partial(warn_unless_converged, max_iter=int(self.max_iter)),
        )


def _print_progress(state: Any) -> None:
    print(
        f"problem {state.problem + 1}/{state.n_problems}: {state.seconds:.1f} s, {state.n_iter} iterations, "
        f"KKT violation {state.kkt_violation:.2e}, relative gap {state.duality_gap:.2e}"
    )
