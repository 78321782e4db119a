"""The samples in play: the solver looks for its next step only among them."""

from __future__ import annotations

import numpy as np

from ...arrays import Ids, Vector
from ...compiled.search import CHUNK
from ...gram.view import RowCache
from ...problems import Dual
from ..dense.pairs import FAR

GOLDEN = 0.6180339887498949  # its multiples spread evenly


class Active:
    """The part of a problem that some samples make up, in arrays padded to whole CHUNKs, as the searches need.

    Attributes
    ----------
    ids : (n,) the samples
    arrays : (8, size) beta, h = g + b, lower, upper, the rate 1 / K_ii, what growth and shrinkage add to the slope, and
        the violation; each is also an attribute
    """

    def __init__(self, ids: Ids, rows: RowCache, dual: Dual, rate: Vector, beta: Vector, h: Vector) -> None:
        self._prepare(ids, rows)
        n, part, beta, h = len(ids), dual.take(ids), beta[ids], h[ids]
        still = np.zeros(n)
        grow, shrink = part.growth(beta, still), part.shrinkage(beta, still)
        score = np.maximum(grow - h, shrink + h)
        columns = (beta, h, part.lower, part.upper, rate[ids], grow, shrink, score)
        self.arrays[:, :n] = np.maximum(columns, -FAR)

    def _prepare(self, ids: Ids, rows: RowCache) -> None:
        self.ids, self.rows = ids, rows
        self.arrays = np.zeros((8, -(-len(ids) // CHUNK) * CHUNK))
        self.arrays[5:] = -FAR  # the padding cannot move
        self.beta, self.h, self.lower, self.upper, self.rate, self.grow, self.shrink, self.score = self.arrays

    def among(self, keep: Ids, rows: RowCache) -> Active:
        """Return some of the samples, with their rows."""
        part = Active.__new__(Active)
        part._prepare(self.ids[keep], rows)
        part.arrays[:, : len(keep)] = self.arrays[:, keep]
        return part


def promising(score: Vector, beta: Vector, most: int) -> Ids:
    """Return the support vectors and the worst violators, without samples held firmly at a bound; ties are spread."""
    spread = np.argsort((np.arange(len(score)) * GOLDEN) % 1.0)
    wanted = np.where(beta != 0, np.maximum(score, 0.0), score)[spread]
    ids = np.sort(spread[np.argsort(-wanted, kind="stable")][:most])
    return ids[(score[ids] > -score.max()) | (beta[ids] != 0)]
