"""Incremental C-support vector classification."""

from __future__ import annotations

from typing import Any, ClassVar

from ...docstrings import documented
from ..svc import SVC
from . import c_path
from .classifier import IncrementalClassifier
from .machine import Incremental


@documented
class IncrementalSVC(IncrementalClassifier, SVC):
    r"""C-support vector classification that learns and unlearns: after each step the exact solution.

    ``partial_fit`` adds samples, ``forget`` takes them away, ``set_C`` changes C. The solution follows its exact path.
    It equals a fit to the samples that are then in the model, with the same kernel.

    Notes
    -----
    Memory grows as the free support vectors times all samples. A class whose samples have all gone stays in
    ``classes_``. Its programs then have one side, and always predict the other one.

    References
    ----------
    Cauwenberghs and Poggio, Incremental and decremental support vector machine learning, NIPS 13 (2001).

    Examples
    --------
    >>> from adatron import IncrementalSVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = IncrementalSVC().fit(X[:-1], y[:-1]).partial_fit(X[-1:], y[-1:])
    >>> model.forget([0, 1]).ids_.size
    148
    >>> bool(model.kkt_violation_.max() < 1e-9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SVC._parameter_constraints,
        **Incremental._parameter_constraints,
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        class_weight: dict[Any, float] | None = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        bias: str = "explicit",
        augment: float = 1.0,
        multi_class: str = "ovo",
        window: int | None = None,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self._keep(locals())

    set_C, C_path = c_path.set_C, c_path.C_path
