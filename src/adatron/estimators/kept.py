"""What predictions of a model need, kept from one to the next: those of single samples would make it each time.

It belongs to two arrays, which therefore may only be read from then on: a change of their numbers is refused instead
of being overlooked, and another array in their place is noticed. It is no attribute of the model: copies and pickles
do not have it, and it goes with the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import is_ as _is
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .inputs import opened

if TYPE_CHECKING:
    from .expansion import Expansion
    from .machine import KernelMachine

_KEPT: WeakKeyDictionary[KernelMachine, tuple[tuple[Any, ...], Expansion]] = WeakKeyDictionary()


def expansion(model: KernelMachine, make: Callable[[Any], Expansion]) -> Expansion:
    """The expansion that is kept for a model, or one made of its support vectors now."""
    vectors, dual = behind = model.support_vectors_, model.dual_coef_
    arrays = [array for part in behind for array in _arrays(part)]
    of, found = _KEPT.get(model, ((), None))
    if found is not None and all(map(_is, behind, of)) and not any(array.flags.writeable for array in arrays):
        return found
    found = make(vectors if sparse.issparse(vectors) else opened(vectors))
    attributes = vars(model)  # others are made anew each time
    if attributes.get("support_vectors_") is vectors and attributes.get("dual_coef_") is dual:
        for array in arrays:
            array.flags.writeable = False
        _KEPT[model] = behind, found
    return found


def forget(model: KernelMachine) -> None:
    """Nothing is kept of a model that is fitted again."""
    _KEPT.pop(model, None)


def _arrays(values: Any) -> Iterator[NDArray[Any]]:
    """The arrays that hold some numbers, and those that they are parts of, as SciPy's often are."""
    parts = [values.data, values.indices, values.indptr] if sparse.issparse(values) else [values]
    while parts:
        yield from parts
        parts = [part.base for part in parts if isinstance(part.base, np.ndarray)]
