"""Decision values at samples for which the solver has not computed them.

They are summed class by class, for all problems of a fold at once: with ten classes, each class is in nine pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Ids, Vector
from ...certificates.bias import CARE
from ...compiled.precision import UNIT
from ...devices import Device
from ...gram import Gram, Points, Source
from ...kernels import Kernel
from ...model.expansion import CAREFUL_ABOVE, Expansion
from ...threads import Pool
from .cells import Cell
from .programs import Entry, Where
from .rows import SharedRows

PROOFS_CAREFUL_ABOVE = 1e-9  # Error of values above which proofs sum squared distances from differences.
ROUNDINGS = 8.0  # Roundings of a sum beside those of its additions.


class SharedSums:
    """Sums of kernel values between the distinct samples of a search, in double precision.

    mass : largest sum of the sizes of coefficients
    tol : largest error of a sum that errors of kernel values may make
    room : bytes for the matrix of all samples
    device : where sums are made if no bound of their errors is asked for; None is the processor
    """

    def __init__(
        self, rows: SharedRows, kernel: Kernel, mass: float, tol: float, room: float, pool: Pool, device: Device | None
    ) -> None:
        source = Source.of(rows.X, rows.distinct.rows, kernel).cautious(mass, tol)
        self.gram = Gram(source, np.float64, [rows.size], pool)
        self._rows, self._kernel, self._device = rows, kernel, device
        self._K = None
        if device is None and 8.0 * rows.size**2 <= room:
            self._K = self.gram.square(Points(self.gram.source, np.arange(rows.size)), rows.size)

    @property
    def at_hand(self) -> bool:
        """Whether all kernel values are made."""
        return self._K is not None

    def of(self, where: Ids, ids: Ids, B: Vector) -> Vector:
        """Return K[where, ids] @ B, for consecutive ids."""
        if not len(where):
            return np.zeros((0, B.shape[1]))
        if self._K is not None:
            return self._K[where, ids[0] : ids[-1] + 1] @ B
        used, out = B.any(axis=1), np.zeros((len(where), B.shape[1]))
        source = self.gram.source
        remote = None if self._device is None else self._on(self._device, ids[used], B[used])
        if remote is not None:
            X = self._rows.X if self._rows.device_X is None else self._rows.device_X
            return remote.values(X[self._rows.distinct.rows[where]], np.zeros(B.shape[1]), single=False)
        if used.any():
            points = Points(source.take(ids[used]), ids[used])
            self.gram.segment(source.take(where)).accumulate(out, points, np.ascontiguousarray(B[used]))
        return out

    def _on(self, device: Device, ids: Ids, B: Vector) -> Any:
        """Return functions on a device, or None if the device does not evaluate their kernel."""
        return Expansion(self._rows.X[self._rows.distinct.rows[ids]], B, self._kernel, np.arange(len(ids))).on(device)


def rate(rounding: float, magnitude: float, terms: int) -> float:
    """Return a bound of the error of sums of kernel values in double precision, for each unit of |beta|_1.

    rounding, magnitude : bounds of the error of a value, and of a value
    terms : the most terms of a sum
    """
    return CARE * (rounding + UNIT * (terms + ROUNDINGS) * magnitude)


def evaluate(
    entries: list[Entry], cells: list[Cell], train: bool, everywhere: bool, room: float, around: Pool | None,
    threads: int, device: Device | None,
) -> None:  # fmt: skip
    """Find the values of entries that have none, with bounds of their errors.

    train : whether values at the training rows are wanted
    everywhere : whether values at all samples of a problem are wanted, for proofs
    room : bytes for a kernel matrix
    around, threads : the pool that this runs in, and the threads it may have
    device : where values may be summed if nothing is to be proven
    """
    rows, augment = cells[0].fold.rows, cells[0].augment
    groups: dict[int, list[Entry]] = {}
    for entry in entries:
        if entry.values is None:
            groups.setdefault(id(cells[entry.cell].fold), []).append(entry)
    listed = list(groups.values())
    if not listed:
        return
    mass = max(float(np.abs(entry.beta).sum()) for some in listed for entry in some)
    tol = PROOFS_CAREFUL_ABOVE if everywhere else CAREFUL_ABOVE
    with Pool(threads, around=around) as pool:
        sums = SharedSums(rows, cells[0].kernel, mass, tol, room, pool, None if everywhere else device)
        each = rate(sums.gram.rounding, sums.gram.magnitude + augment**2, rows.size) if everywhere else np.inf

        def task(number: int) -> None:
            some, nothing = listed[number], np.empty(0, np.int64)
            fold = cells[some[0].cell].fold
            parts = [
                rows.group[fold.test],
                rows.group[fold.train] if train else nothing,
                np.arange(rows.size) if everywhere else nothing,
            ]
            where, back = np.unique(np.concatenate(parts), return_inverse=True)
            places = Where(*np.split(back, np.cumsum([len(part) for part in parts])[:-1]))
            values = np.tile([entry.intercept for entry in some], (len(where), 1))
            for segment, numbers, B in _by_class(some, rows):
                values[:, numbers] += sums.of(where, rows.ids([segment]), B)
            for entry, own in zip(some, np.ascontiguousarray(values.T), strict=True):
                ids = rows.ids(list(entry.side.segments)) if everywhere else nothing
                entry.values, entry.where = own, places._replace(own=places.own[ids])
                entry.error = each * float(np.abs(entry.beta).sum())

        if sums.at_hand:
            pool.run(task, len(listed))
        else:  # the threads share the kernel values of each
            for number in range(len(listed)):
                task(number)


def _by_class(entries: list[Entry], rows: SharedRows) -> list[tuple[int, list[int], Vector]]:
    """Return, for each class, the numbers of the problems with samples of it, and the coefficients of these samples."""
    parts: dict[int, list[tuple[int, Vector]]] = {}
    for number, entry in enumerate(entries):
        start = 0
        for segment in entry.side.segments:
            end = start + int(rows.distinct.sizes[segment])
            if end > start:
                parts.setdefault(segment, []).append((number, entry.beta[start:end]))
            start = end
    return [(s, [k for k, _ in some], np.stack([beta for _, beta in some], axis=1)) for s, some in parts.items()]
