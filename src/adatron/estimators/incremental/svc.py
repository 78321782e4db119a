"""Incremental C-support vector classification."""

from __future__ import annotations

from typing import Any, ClassVar

from ..svc import SVC
from . import c_path
from .classifier import IncrementalClassifier
from .machine import Incremental


class IncrementalSVC(IncrementalClassifier, SVC):
    r"""C-support vector classification that learns and unlearns: after each step the exact solution.

    ``partial_fit`` adds samples, ``forget`` takes them away, ``set_C`` changes C. The solution follows its exact path.
    It equals a fit to the samples that are then in the model, with the same kernel.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of margin violations, as in :class:`adatron.SVC`.
    kernel : str, adatron.kernels.Kernel or callable, default='rbf'
        As in :class:`adatron.SVC`, except 'precomputed' and 'sigmoid'. It must be positive semi-definite, and a kernel
        of samples.
    degree : int, default=3
        As in :class:`adatron.SVC`.
    gamma : {'scale', 'auto'} or float, default='scale'
        As in :class:`adatron.SVC`; 'scale' and 'auto' are computed from the samples of the first call.
    coef0 : float, default=0.0
        As in :class:`adatron.SVC`.
    class_weight : dict, default=None
        Weights of the classes.
    decision_function_shape : {'ovr', 'ovo'}, default='ovr'
        As in :class:`adatron.SVC`.
    break_ties : bool, default=False
        As in :class:`adatron.SVC`.
    multi_class : {'ovo', 'ovr'}, default='ovo'
        As in :class:`adatron.SVC`.
    bias : {'explicit', 'augmented', 'none'}, default='explicit'
        As in :class:`adatron.SVC`.
    augment : float, default=1.0
        Augmenting factor of ``bias='augmented'``.
    window : int, default=None
        Keep only this many samples, the last ones; None keeps all.
    n_jobs : int, default=None
        Threads of ``fit`` and of predictions, as in :class:`adatron.SVC`.
    max_time : float, default=None
        Seconds after which a call that fits, follows a path or leaves samples out gives up with a TimeoutError. The
        model is then as it was.

    Attributes
    ----------
    classes_, class_weight_, dual_coef_, intercept_, support_, support_vectors_, n_support_, coef_, shape_fit_ :
        As in :class:`adatron.SVC`; ``support_`` numbers the samples in the order of ``ids_``. Made on request.
    ids_ : ndarray of shape (n_samples,)
        Ids of the samples in the model.
    duality_gap_, kkt_violation_, dual_objective_, primal_objective_ : float, or ndarray of one for each binary problem
        By the gradient that the path follows, after every call; ``deletion_report`` has the bounds.
    n_iter_ : int or ndarray
        Events on the path of the last call: variables became free or met a bound.
    n_refactor_, n_refit_ : int
        Counts since ``fit``: gradients computed anew because of drift, and solutions found anew because rounding left
        no way.
    certificate_ : object with ``gap``, ``violation``, ``converged`` and ``problems``
        The largest gap and violation of all binary problems, by the gradient that the path follows.
    files_ : list of str
        The files that this model was saved to or loaded from.
    stream_ : dict or None
        What ``adatron stream`` has learned from which input; None if it has not learned this model.
    compact_, fit_status_, kernel_, model_, objects_, route_, trace_ :
        As in :class:`adatron.SVC`; ``route_`` is None.

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
