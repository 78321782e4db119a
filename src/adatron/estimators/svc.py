"""C-support vector classification with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..docstrings import documented
from ..problems import CClassification, Problem
from .base.classifier import Classifier
from .base.parameters import PENALTY


@documented
class SVC(Classifier):
    r"""C-support vector classification, solved exactly, on all cores, with a proof of optimality.

    A drop-in replacement of :class:`sklearn.svm.SVC`, with its parameters, attributes and conventions, and a
    certificate on every fit. Sparse, dense, weighted and multi-class problems all take the same path. A ``y`` of shape
    (n_samples, T) of 0 and 1 has T labels for each sample, which one fit learns over one kernel matrix.

    The reference of the manual lists what is public in this class and its siblings. ``help`` also shows other names,
    which may change without notice.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of margin violations, > 0; ``inf`` is the hard margin. Multiplied by class and sample weights.

    References
    ----------
    Cortes and Vapnik, Support-vector networks, Machine Learning 20 (1995) 273-297.

    Examples
    --------
    >>> from adatron import SVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=10).fit(X, y)
    >>> bool(model.duality_gap_.max() <= 1e-3)
    True
    """

    C: float

    takes_labels = True
    _theirs = "SVC"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**Classifier._parameter_constraints, **PENALTY}

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 1000,
        class_weight: dict[Any, float] | str | None = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        bias: str = "explicit",
        augment: float | str = 1.0,
        solver: Any = "auto",
        n_jobs: int | None = None,
        precision: str = "auto",
        multi_class: str = "ovo",
        gap_tol: float | None = 1e-3,
        max_time: float | None = None,
        callback: Callable[[Any], object] | None = None,
        device: Any = None,
    ) -> None:
        self._keep(locals())

    def problem(self, augment: float) -> Problem:
        return CClassification(self.C, self.bias, augment)
