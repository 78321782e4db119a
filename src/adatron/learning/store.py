"""The samples of an incremental model: each has an id, and a forgotten sample leaves no byte behind.

Dense rows lie in arrays with spare room, so that a sample comes in or goes without a copy of the others. An empty slot
is filled from the end, and the end is zeroed. CSR rows are copied, which costs as much as one row of K.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..arrays import Ids, Vector
from ..gram.source import less
from ..model.sound import is_vector, meaningless, unreadable
from ..quoted import quoted
from ..threads import Clock

LEAST_ROOM = 64  # Fewest slots of spare room; otherwise an eighth of those in use.
STORED_COLUMNS = ("y", "weight", "ids", "age")  # Arrays beside the rows.
STORED_COUNTS = ("arrived", "first", "next_id", "generation")  # Numbers that outlive samples.


class Store:
    """Samples by slot.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (0, d), which sets how rows are stored

    Attributes
    ----------
    n : samples
    clock : time limit of the present work on the samples
    arrived : number of samples that have ever come, which is the arrival number of the next one
    first : samples that came with the first call
    next_id : larger than each id that a sample ever had
    generation : how often samples were forgotten
    center : (d,) subtracted from the rows where a translation changes nothing; no entries if there is no need
    """

    def __init__(self, X: Any) -> None:
        self.n = self.arrived = self.first = self.next_id = self.generation = 0
        self.clock = Clock()
        self._X: Any = X[:0].astype(np.float64)
        self.center: Vector = np.zeros(0)
        self._columns: dict[str, NDArray[Any]] = {name: np.zeros(0, dtype) for name, dtype in self._types().items()}

    @property
    def X(self) -> Any:
        """The rows, (n, d)."""
        return self._X[: self.n] if isinstance(self._X, np.ndarray) else self._X

    def near(self, which: Any = slice(None)) -> Any:
        """Return the rows less the centre, or some of them by their numbers."""
        return self.moved(self.X if isinstance(which, slice) else self.X[which])

    def moved(self, rows: Any) -> Any:
        """Return rows less the centre."""
        return less(rows, self.center) if len(self.center) else rows

    @property
    def y(self) -> Vector:
        """Targets, or numbers of classes."""
        return self._columns["y"][: self.n]

    @property
    def weight(self) -> Vector:
        """Weights, those of the classes included."""
        return self._columns["weight"][: self.n]

    @property
    def ids(self) -> Ids:
        """Ids of the samples."""
        return self._columns["ids"][: self.n]

    @property
    def age(self) -> Ids:
        """Arrival numbers."""
        return self._columns["age"][: self.n]

    def new_ids(self, ids: Any, count: int) -> Ids:
        """Return checked ids for coming samples; by default arrival numbers, or numbers after the largest id so far.

        Raises
        ------
        ValueError
            The ids are not whole numbers, their count is wrong, or an id is taken.
        """
        found = max(self.arrived, self.next_id) + np.arange(count) if ids is None else whole(ids)
        if len(found) != count:
            raise ValueError(f"ids must name every sample. Got {len(found)} ids for {count} samples.")
        values, counts = np.unique(found, return_counts=True)
        twice = np.concatenate([values[counts > 1], values[np.isin(values, self.ids)]])
        if len(twice):
            raise ValueError(f"ids must be new, each of them once. Got {twice[0]}, which another sample has.")
        return found

    def slots(self, ids: Any) -> Ids:
        """Return the slots of some ids, sorted.

        Raises
        ------
        ValueError
            No sample has an id, or an id comes twice.
        """
        wanted = whole(ids)
        known = np.isin(wanted, self.ids)
        if not known.all():
            raise ValueError(f"ids must be those of samples that are in the model. Got {wanted[~known][0]}.")
        if len(np.unique(wanted)) < len(wanted):
            raise ValueError("ids must not repeat. Got one of them twice.")
        return np.flatnonzero(np.isin(self.ids, wanted))

    def append(self, X: Any, y: Vector, weight: Vector, ids: Ids, age: Ids) -> None:
        """Take in samples; the caller counts those that have arrived."""
        n, new = self.n + len(y), slice(self.n, self.n + len(y))
        columns = {name: _wider(column, self.n, n) for name, column in self._columns.items()}
        dense = isinstance(self._X, np.ndarray)
        rows: Any = _wider(self._X, self.n, n) if dense else sparse.vstack([self._X, X], "csr")
        for name, values in zip(STORED_COLUMNS, (y, weight, ids, age), strict=True):
            columns[name][new] = values
        if dense:
            rows[new] = X
        self.next_id = max(self.next_id, int(ids.max(initial=-1)) + 1)
        self._columns, self._X, self.n = columns, rows, n

    def skip(self, count: int) -> None:
        """Leave out ``count`` arriving samples, so that those that come next get the right ids."""
        self.arrived += count
        self.next_id += count

    def keep(self, order: Ids) -> Callable[[], None]:
        """Keep the samples in ``order``, from ``solvers.path.rows.compaction``; return a function that undoes this."""
        left, n, X = len(order), self.n, self._X
        moved = np.flatnonzero(order != np.arange(left))
        rows = X if isinstance(X, np.ndarray) else X[order]
        # Everything that needs memory comes before the first change.
        parts = [(table, table[moved], table[left:n].copy(), table[order[moved]]) for table in self._dense()]

        def undo() -> None:
            for table, holes, end, _ in parts:
                table[moved], table[left:n] = holes, end
            self._X, self.n = X, n

        for table, _, _, movers in parts:
            table[moved], table[left:] = movers, 0
        self._X, self.n = rows, left
        return undo

    def backup(self) -> tuple[Any, ...]:
        """Return the argument of ``restore``, which works if only ``append`` has changed anything since."""
        return self._X, self.n, self.arrived, self.next_id, self.generation

    def restore(self, backup: tuple[Any, ...]) -> None:
        """Restore the state at ``backup``; the spare room then holds nothing that has come since."""
        X, self.n, self.arrived, self.next_id, self.generation = backup
        if not isinstance(X, np.ndarray):
            self._X = X
        for table in self._dense():
            table[self.n :] = 0

    def _dense(self) -> list[NDArray[Any]]:
        return [table for table in (*self._columns.values(), self._X) if isinstance(table, np.ndarray)]

    def fault(self, width: Any, classes: int, bounded: bool = True) -> str:
        """Return what is wrong with a store that comes from elsewhere, or nothing.

        classes : how many there are; 0 if ``y`` has targets
        bounded : whether the squares of the rows must have a sum
        """
        X, n, center = self.X, self.n, self.center
        if fault := unreadable(X, "d"):
            return f"X of the samples {fault}"
        if X.shape != (n, width) or not n:
            return f"the samples have the shape {X.shape}; {n} samples of {width} features are needed"
        if not is_vector(center, "d") or len(center) not in (0, width) or not np.isfinite(center).all():
            return "center of the samples is no point"
        for name, dtype in self._types().items():
            column: Any = self._columns[name]
            if not isinstance(column, np.ndarray) or column.ndim != 1 or column.dtype != dtype:
                return f"the samples have no {name} each"
        for name, values in (("X", X), ("y", self.y), ("weight", self.weight)):
            if fault := meaningless(values, bounded and name == "X"):
                return f"{name} of the samples {fault}"
        if self.weight.min() < 0.0:
            return f"weight of the samples holds {self.weight.min()}"
        return self._miscounted() or self._beyond(classes)

    def _miscounted(self) -> str:
        """Return what is wrong with the ids and the order of arrival, or nothing."""
        for name in STORED_COUNTS:
            count = getattr(self, name)
            if type(count) is bool or not isinstance(count, Integral) or (int(count) < 0 and name != "next_id"):
                return f"{name} of the samples does not count them"
        if any(len(np.unique(column)) < self.n for column in (self.ids, self.age)):
            return "ids or arrival numbers of the samples come twice"
        if self.next_id <= self.ids.max():
            return "next_id of the samples must be larger than all ids"
        inside = 0 <= self.age.min() <= self.age.max() < self.arrived
        return "" if inside else "arrived of the samples must be larger than all arrival numbers"

    def _beyond(self, classes: int) -> str:
        inside = not classes or np.isin(self.y, np.arange(classes)).all()
        return "" if inside else f"y of the samples is beyond {classes} classes"

    @staticmethod
    def _types() -> dict[str, type[Any]]:
        return {name: np.int64 if name in ("ids", "age") else np.float64 for name in STORED_COLUMNS}

    def state(self) -> dict[str, Any]:
        """Return the state that a file keeps."""
        columns = {name: column[: self.n] for name, column in self._columns.items()}
        counts = {name: getattr(self, name) for name in STORED_COUNTS}
        return {"X": self.X, "center": self.center, **counts, **columns}

    @classmethod
    def of(cls, state: dict[str, Any]) -> Store:
        """Build the store from what ``state`` gave; ``fault`` tells whether it is one."""
        store, X, n = cls(np.zeros((0, 0))), state["X"], len(state["y"])
        if any(len(state[name]) != n for name in STORED_COLUMNS) or X.shape[0] != n:
            raise ValueError(f"the samples have the shape {X.shape}, and other lengths than {n} of y")
        store.n, store.center = n, state.get("center", np.zeros(0))
        store._X = np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X
        store._columns = {name: state[name] for name in STORED_COLUMNS}
        for name in STORED_COUNTS:
            setattr(store, name, state[name])
        return store


def whole(ids: Any) -> Ids:
    """Return ids as a vector of whole numbers."""
    found = np.atleast_1d(np.asarray(ids))
    if found.ndim != 1 or (found.dtype.kind not in "iu" and found.size):
        raise ValueError(f"ids must be whole numbers in one dimension. Got {quoted(ids)}.")
    return found.astype(np.int64)


def _wider(table: NDArray[Any], n: int, more: int) -> NDArray[Any]:
    """Return a table with its first n entries and room for ``more`` of them: itself if it has that room."""
    if more <= len(table):
        return table
    out = np.zeros((more + max(LEAST_ROOM, more // 8), *table.shape[1:]), table.dtype)
    out[:n] = table[:n]
    return out
