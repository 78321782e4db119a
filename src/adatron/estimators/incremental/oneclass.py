"""Incremental one-class support vector machine."""

from __future__ import annotations

from typing import Any, ClassVar

from ...docstrings import documented
from ..oneclass import OneClassSVM
from .novelty import IncrementalNovelty


@documented
class IncrementalOneClassSVM(IncrementalNovelty, OneClassSVM):
    r"""Novelty detection that learns and unlearns: after each step the exact solution.

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
