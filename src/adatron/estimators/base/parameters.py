"""The parameters that all kernel machines have, and how they are checked."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from ...compiled.cache.collector import collector_paused
from ...model.model import GAP_TOL
from ...quoted import plain_numbers
from ..checks.arrays import device_of, rows_there
from .callbacks import CallbackSupport, together
from .hints import Spelling
from .quiet import quiet_methods
from .shown import fitted_attributes

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
    _good: ClassVar[tuple[tuple[type, object], ...]]  # types and values that passed the last check

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
        found = tuple(zip(map(type, values), values, strict=True))
        plain = all(kind in PLAIN_TYPES for kind, _ in found)
        if not plain or vars(type(self)).get("_good") != found:
            with plain_numbers():
                super()._validate_params()
            if plain:
                type(self)._good = found

    def _keep(self, parameters: dict[str, Any]) -> None:
        """Set an attribute for each parameter of a constructor, given its ``locals()``; scikit-learn reads them."""
        vars(self).update((name, value) for name, value in parameters.items() if name not in ("self", "__class__"))

    def settings(self, kernel: Kernel, clock: Clock, sized: bool, given: Any = None) -> Settings:
        """Return the parameters as a fit takes them; ``sized``: see ``Formulation``, ``given``: X as it came."""
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
            gap_asked=self.gap_tol != GAP_TOL,
            max_iter=int(self.max_iter),
            clock=clock,
            callback=together(own, vars(self).get("_fit_parts")),
            sized=sized,
            device=device,
            there=None if device is None else rows_there(device, given),
        )


def _print_progress(state: Any) -> None:
    print(
        f"problem {state.problem + 1}/{state.n_problems}: {state.seconds:.1f} s, {state.n_iter} iterations, "
        f"KKT violation {state.kkt_violation:.2e}, relative gap {state.duality_gap:.2e}"
    )
