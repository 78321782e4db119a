"""What predictions of a model need, made once and kept: those of single samples would make it each time.

It belongs to the model's support vectors, its largest arrays, whose numbers may only be read from then on: to change
them in place is an error (but through a view that was taken before). All else that it depends on is compared each time.
It is no attribute of the model: copies, pickles and files do not have it, and it goes with the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast
from weakref import finalize

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..gram.storage import opened

if TYPE_CHECKING:
    from ..estimators.base.machine import KernelMachine
    from ..gram import PairSums
    from .expansion import Expansion

Array = NDArray[Any]
T = TypeVar("T", "Expansion", "PairSums")


class _Prepared(NamedTuple):
    """An expansion, and what it was made of."""

    vectors: list[Array]
    dual: list[Array]  # copies
    others: tuple[Any, ...]
    expansion: Expansion | PairSums

    def suits(self, vectors: list[Array], dual: list[Array], others: tuple[Any, ...]) -> bool:
        same = len(vectors) == len(self.vectors) and all(a is b for a, b in zip(vectors, self.vectors, strict=True))
        return (
            same
            and not any(array.flags.writeable for array in vectors)
            and others == self.others
            and len(dual) == len(self.dual)
            and all(np.array_equal(a, b) for a, b in zip(dual, self.dual, strict=True))
        )


_OF_MODELS: dict[int, _Prepared | None] = {}  # by their ids: models need be neither hashable nor comparable


def prepared(model: KernelMachine, others: tuple[Any, ...], make: Callable[[Any], T]) -> T:
    """The expansion that is kept for a model, or one made of its support vectors now.

    others : what it depends on beside the support vectors and the dual coefficients
    """
    found, attributes = _OF_MODELS.get(id(model)), vars(model)
    vectors, dual = model.support_vectors_, model.dual_coef_
    parts = list(_parts(vectors)), list(_parts(dual))
    if found is not None and found.suits(*parts, others):
        return cast("T", found.expansion)
    expansion = make(_read(vectors))
    lasting = attributes.get("support_vectors_") is vectors  # others are made anew each time
    if lasting and expansion.points.kernel.compiled and all(map(_alone, parts[0])):
        for array in parts[0]:
            _freeze(array)
        if id(model) not in _OF_MODELS:
            finalize(model, _OF_MODELS.pop, id(model), None).atexit = False
        _OF_MODELS[id(model)] = _Prepared(parts[0], [array.copy() for array in parts[1]], others, expansion)
    return expansion


def forget(model: KernelMachine) -> None:
    """Nothing is kept of a model that is fitted again."""
    if id(model) in _OF_MODELS:
        _OF_MODELS[id(model)] = None


def _parts(values: Any) -> Iterator[Array]:
    yield from (values.data, values.indices, values.indptr) if sparse.issparse(values) else (values,)


def _read(vectors: Any) -> Any:
    """The same memory, which stays writable for NumPy: compiled code takes read-only arrays for another type."""
    return vectors if sparse.issparse(vectors) else opened(vectors)


def _alone(array: Array) -> bool:
    """Whether it is all of the memory behind it, not a part of somebody's array."""
    base = array.base
    return not isinstance(base, np.ndarray) or (base.nbytes == array.nbytes and _alone(base))


def _freeze(array: Array) -> None:
    """So that it can no longer be written to, nor made writable without its base."""
    array.flags.writeable = False
    if isinstance(array.base, np.ndarray):
        _freeze(array.base)
