"""The operations on kernel values that a device offers.

Rows and points are lines of operands. ``rows`` (B, m) and ``points`` (B, p) number them for B problems, as int32.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

DEEP = 8  # Features that a tile takes at a time: operands have a multiple of it.


class DeviceOperand(NamedTuple):
    """Rows of features, float32 or float64, and their squared norms."""

    X: Any  # (n, d), d a multiple of DEEP
    norms: Any  # (n,)


class DeviceBlock(NamedTuple):
    """Blocks of B programs, to be solved where they are; see ``cuda/blocks.cu`` for the shapes."""

    K: Any
    places: Any
    valid: Any
    beta: Any
    g: Any
    lower: Any
    upper: Any
    sign: Any
    group: Any
    rows: Any
    tolerance: Any
    active: Any
    most: Any
    points: Any
    changes: Any
    counts: Any
    steps: Any
    epsilon: float
    groups: int


class Tiles(Protocol):
    """Kernel values of one kernel on one device."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of variables that a block may have."""
        ...

    def compile(self) -> None:
        """Compile all that a fit or a prediction needs."""
        ...

    def operand(self, X: Any) -> DeviceOperand:
        """Return rows (n, d), d a multiple of DEEP, with their norms."""
        ...

    def values(
        self,
        A: DeviceOperand,
        rows: Any,
        B: DeviceOperand,
        points: Any,
        out: Any,
        added: float = 0.0,
        active: Any = None,
    ) -> None:
        """Set out (B, m, n) to the values of rows with points, plus ``added``; None stands for all lines, one problem.

        ``active``: (B,) int32, the problems to do this for.
        """
        ...

    def sums(
        self,
        out: Any,
        low: Any,
        A: DeviceOperand,
        rows: Any,
        nrows: Any,
        B: DeviceOperand,
        points: Any,
        weights: Any,
        npoints: Any,
    ) -> None:
        """Add to out + low (B, N) the weighted sums of kernel values over points, weights (B, p) float64.

        nrows, npoints : (B,) int32, how many of each problem's rows and points there are
        """
        ...

    def weigh(self, out: Any, K: Any, W: Any) -> None:
        """Add K W to out (m, c), for values K (m, n) and weights W (n, c) float64."""
        ...

    def ascend(self, block: DeviceBlock) -> None:
        """Solve the blocks of the programs that are active, each to its tolerance."""
        ...
