"""The borders between predicted classes in a plane, found more finely than the points between them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.ndimage import maximum_filter, minimum_filter

from ..arrays import Ids, Vector

FINER = 4  # Parts of a step of the grid, in each direction, next to a border.
GridLines = tuple[Vector, Vector]  # the coordinates of a grid


def finely(grid: GridLines, codes: Ids, ask: Callable[[Vector], Ids]) -> tuple[GridLines, Ids]:
    """Return a grid that is ``FINER`` times as fine, and the class at each of its points.

    Points whose neighbours are all of one class take that class. The others are predicted.

    grid : evenly spaced coordinates, to the right and upwards
    codes : (n, m) the class at each point of the grid
    ask : returns the classes at (k, 2) points
    """
    parts = (np.arange(FINER) + 0.5) / FINER - 0.5
    across, up = ((line[:, None] + (line[1] - line[0]) * parts).ravel() for line in grid)
    near = maximum_filter(codes, 3) != minimum_filter(codes, 3)
    fine, open_ = (one.repeat(FINER, axis=0).repeat(FINER, axis=1) for one in (codes, near))
    rows, columns = np.nonzero(open_)
    if len(rows):
        fine[rows, columns] = ask(np.stack([across[columns], up[rows]], axis=1))
    return (across, up), fine
