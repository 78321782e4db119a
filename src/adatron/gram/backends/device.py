"""Rows of K on a device, which makes whole sums for the parts of a fit that the processor computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Ids
from ...devices.rows import DeviceRows

COMPARED_ROWS = 16  # Rows of a sum that the processor computes, too.


@dataclass(frozen=True)
class OnDevice:
    """Some of the rows on a device.

    lines : the line of ``rows`` behind each row
    """

    rows: DeviceRows
    lines: Ids

    def take(self, ids: Ids) -> OnDevice:
        """Return some of these rows."""
        return OnDevice(self.rows, self.lines[ids])

    def accumulate(self, out: NDArray[np.float64], rows: Ids, points: Ids, V: NDArray[np.float64], dtype: Any) -> None:
        """Add K[rows, points] @ V to out, by values of a type."""
        out += self.rows.sums(self.lines[rows], self.lines[points], V, dtype)

    def exact(self, rows: Ids, points: Ids, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return K[rows, points] @ v in double precision."""
        return self.rows.sums(self.lines[rows], self.lines[points], v[:, None], np.float64)[:, 0]

    def norms(self, dtype: Any) -> NDArray[Any]:
        """Return squared norms as the tiles have them."""
        return self.rows.store(dtype).norms[self.lines]


def checked_rows(n: int) -> Ids:
    """Return the places, among n rows of a sum, that the processor computes, too."""
    return np.unique(np.arange(COMPARED_ROWS) * max(0, n - 1) // (COMPARED_ROWS - 1))


def refuse_different(
    label: str, found: NDArray[np.float64], truth: NDArray[np.float64], errors: NDArray[np.float64]
) -> None:
    """Fail unless sums of a device are those of the processor, within the proven errors of both."""
    off = np.abs(found - truth)
    if not (off <= 2.0 * errors + 1e-300).all():
        worst = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
        raise RuntimeError(
            f"{label} returned a sum of kernel values that is off by {off[worst]:.3g}; at most "
            f"{2.0 * errors[worst]:.3g} is allowed. Nothing it computed can be proven. Pass device='cpu', and please "
            "report this."
        )
