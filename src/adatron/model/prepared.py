"""The sum over the support vectors, prepared once and kept: predictions of single samples would prepare it each time.

It is made of the model's support vectors, its largest arrays, whose numbers may only be read since they were stored: to
change them in place is an error (except through a view that was taken before). All else that it depends on is compared
each time. It hangs on the model, but copies, pickles and files do not have it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..fitting.storage import opened, parts_of

Array = NDArray[Any]


class Kept:
    """A place for what predictions keep ready; no prediction changes the model."""

    last: Prepared | None = None


class Prepared(NamedTuple):
    """An expansion, and what it was made of."""

    vectors: list[Array]
    dual: list[Array]  # copies
    others: tuple[Any, ...]
    expansion: Any

    @property
    def lasting(self) -> bool:
        """Whether it is worth keeping: nobody changes the support vectors unnoticed."""
        return self.expansion.points.kernel.compiled and not any(array.flags.writeable for array in self.vectors)

    def suits(self, vectors: list[Array], dual: list[Array], others: tuple[Any, ...]) -> bool:
        """Return whether it was made of these."""
        same = len(vectors) == len(self.vectors) and all(a is b for a, b in zip(vectors, self.vectors, strict=True))
        return (
            same
            and not any(array.flags.writeable for array in vectors)
            and others == self.others
            and len(dual) == len(self.dual)
            and all(np.array_equal(a, b) for a, b in zip(dual, self.dual, strict=True))
        )


def prepared(
    kept: Prepared | None, vectors: Any, dual: Any, others: tuple[Any, ...], make: Callable[[Any], Any]
) -> Prepared:
    """Return what the last prediction kept if it suits, or an expansion made of the support vectors now.

    vectors, dual : support vectors and dual coefficients
    others : what it depends on besides
    """
    parts = list(parts_of(vectors)), list(parts_of(dual))
    if kept is not None and kept.suits(*parts, others):
        return kept
    return Prepared(parts[0], [array.copy() for array in parts[1]], others, make(_read(vectors)))


def _read(vectors: Any) -> Any:
    """Return the same memory as writable for NumPy: compiled code takes read-only arrays for another type."""
    return vectors if sparse.issparse(vectors) else opened(vectors)
