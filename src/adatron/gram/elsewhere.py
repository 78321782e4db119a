"""Training rows that are not in this process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids
from ..kernels import Kernel
from ..threads.pool import Pool
from .gram import Gram
from .source import Source
from .view import View


class Moments(NamedTuple):
    """Means and standard deviations of features; ``used``: their numbers, None if they count from 0."""

    used: NDArray[Any] | None
    means: NDArray[np.float64]
    spread: NDArray[np.float64]


class Elsewhere(ABC):
    """All training rows X, somewhere else; a fit takes its operands from here instead of making them of an array.

    shape : (n, d)
    is_sparse : whether they are CSR rows
    """

    shape: tuple[int, int]
    is_sparse: bool

    @abstractmethod
    def __getitem__(self, rows: Any) -> Any:
        """Return some rows as an array or CSR matrix: they are fetched."""

    @abstractmethod
    def moments(self) -> Moments:
        """Return means and standard deviations of the features."""

    @abstractmethod
    def source(self, rows: Ids, kernel: Kernel, small: bool, balanced: bool = False) -> Source:
        """Return the source of some rows; ``small``: float32 values are not considered; else see ``Source.of``."""

    @abstractmethod
    def gram(self, source: Source, dtype: Any, sizes: Sequence[int], pool: Pool, slots: int) -> Gram:
        """Return the kernel matrix over the rows of a source, which stay where they are."""

    @abstractmethod
    def fetched(self, source: Source) -> Source:
        """Return the source with its rows in this process, for problems that are solved as a whole."""

    @abstractmethod
    def view(self, gram: Gram, groups: list[int]) -> View:
        """Return the rows of some segments as a view."""
