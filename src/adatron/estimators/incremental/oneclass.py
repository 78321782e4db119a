"""Incremental one-class support vector machine."""

from __future__ import annotations

from typing import Any, ClassVar

from ..oneclass import OneClassSVM
from .novelty import IncrementalNovelty


class IncrementalOneClassSVM(IncrementalNovelty, OneClassSVM):
    r"""Novelty detection that learns and unlearns: after each step the exact solution.

    Parameters
    ----------
    kernel : str, adatron.kernels.Kernel or callable, default='rbf'
        As in :class:`IncrementalSVC`.
    degree : int, default=3
        As in :class:`IncrementalSVC`.
    gamma : {'scale', 'auto'} or float, default='scale'
        As in :class:`IncrementalSVC`.
    coef0 : float, default=0.0
        As in :class:`IncrementalSVC`.
    nu : float, default=0.5
        As in :class:`adatron.OneClassSVM`.
    window : int, default=None
        As in :class:`IncrementalSVC`.
    n_jobs : int, default=None
        As in :class:`IncrementalSVC`.
    max_time : float, default=None
        As in :class:`IncrementalSVC`.

    Attributes
    ----------
    dual_coef_, intercept_, offset_, support_, support_vectors_, n_support_, coef_, shape_fit_ :
        As in :class:`adatron.OneClassSVM`; ``support_`` numbers the samples in the order of ``ids_``.
    ids_, n_iter_, n_refactor_, n_refit_, certificate_, compact_, files_, fit_status_, kernel_, model_, objects_ :
        As in :class:`IncrementalSVC`.
    route_, stream_, trace_ :
        As in :class:`IncrementalSVC`.
    duality_gap_, kkt_violation_, dual_objective_, primal_objective_ : float
        By the gradient that the path follows, after every call; ``deletion_report`` has the bounds.

    References
    ----------
    Laskov, Gehl, Krueger and Mueller, Incremental support vector learning, JMLR 7 (2006) 1909-1936.

    Examples
    --------
    >>> from adatron import IncrementalOneClassSVM
    >>> model = IncrementalOneClassSVM(gamma=1.0, window=5).fit([[0], [0.44], [0.45], [0.46], [1]])
    >>> model.partial_fit([[0.43]]).ids_.tolist()
    [5, 1, 2, 3, 4]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OneClassSVM._parameter_constraints,
        **IncrementalNovelty._parameter_constraints,
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        nu: float = 0.5,
        window: int | None = None,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self._keep(locals())
