"""The programs of a batch in arrays, ready for the compiled loop; afterwards its results in the programs' numbers.

The variables of each equality stand together in a program's matrix, as in ``dense.Layout``, and are padded to whole
vectors: many programs are smaller than a CHUNK. So each segment must belong to one equality.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...certificates.certify import DOUBT, DUAL, GAP, LACK2, MEASURES, SLIP
from ...certificates.gap import SMALLEST
from ...compiled.search import CHUNK, shortest
from ...problems import Dual
from ...problems.dual import NO_ROW, NO_SIGN, Ids, Vector
from ...problems.unit import NONE, units_of
from ..tasks import Tasks

NO_IDS = np.empty(0, np.int64)  # Of programs with nothing to arrange.
OF_GAP = [DUAL, DOUBT, GAP, SLIP, LACK2]  # The measures of ``weigh`` that grow as the objective does.


class Laid(NamedTuple):
    """The places of the variables of programs in their matrices.

    groups, where, first_group : segments, the place of each in a matrix, and where those of each program begin; no
        segments if all programs have one matrix
    places : of each variable in its program's matrix
    starts, stops : (n, e) where the variables of each equality begin and end in the matrix
    widths : rows of each matrix
    """

    groups: Ids
    where: Ids
    first_group: Ids
    places: Ids
    starts: Ids
    stops: Ids
    widths: Ids


class Programs(NamedTuple):
    """Many ``Tasks`` in arrays, one program after the other, with their places in matrices and their results.

    first : where the variables of each program begin
    t, lower, upper, row, sign : as in ``Dual``; the last two may be empty
    totals : (n, p) sums of each program
    beta, g, steps, biases, half_widths, measures : results
    limits : most updates of each program; one with as many steps has met its limit
    units, margins : the number by which those of each program were divided, and the half of a margin, in the program's
        own numbers, above which a smaller unit is looked for; infinite if none is
    flags : see ``results.STOP``
    """

    laid: Laid
    first: Ids
    t: Vector
    lower: Vector
    upper: Vector
    row: Ids
    sign: Vector
    totals: NDArray[np.float64]
    beta: Vector
    g: Vector
    steps: Ids
    limits: Ids
    biases: Vector
    half_widths: Vector
    units: Vector
    margins: Vector
    measures: NDArray[np.float64]
    flags: NDArray[np.int64]

    @classmethod
    def empty(cls) -> Programs:
        """Return an example of the type."""
        v, V, ids, pairs = np.empty(0), np.empty((0, 0)), NO_IDS, np.empty((0, 0), np.int64)
        laid = Laid(ids, ids, ids, ids, pairs, pairs, ids)
        return cls(laid, ids, v, v, v, ids, v, V, v, v, ids, ids, v, v, v, v, V, pairs)


def arranged(tasks: Tasks, some: range, sized: bool, flags: NDArray[np.int64]) -> tuple[Dual, Programs]:
    """Return the programs of a batch as one, and in arrays; ``sized``: in units of their own."""
    dual, totals, row = _joined(tasks, some)
    sizes = tasks.sizes[some.start : some.stop]
    first = np.concatenate([[0], np.cumsum(sizes)])
    begun = tasks.starts(some)
    n, beta = len(some), np.zeros(len(dual)) if begun is None else begun.copy()
    units, margins = np.ones(n), np.full(n, np.inf)
    if sized:
        most = np.maximum.reduceat(np.maximum(-dual.lower, dual.upper), first[:-1])
        units, margins[:] = units_of(totals, most, spread(tasks.gram.spread, dual)), NONE
        each = np.repeat(units, sizes)
        beta, totals = beta / each, totals / units[:, None]
        dual = replace(dual, t=dual.t / each, lower=dual.lower / each, upper=dual.upper / each)
    sign = NO_SIGN if dual.sign is None else dual.sign
    laid = _in_one(sizes) if tasks.gram.in_one else _laid_out(tasks, some, row, totals.shape[1])
    t, lower, upper = dual.t, dual.lower.copy(), dual.upper.copy()
    (steps, limits), (biases, half_widths) = np.zeros((2, n), np.int64), np.zeros((2, n))
    programs = Programs(
        laid, first, t, lower, upper, row, sign, totals.copy(), beta, np.empty(len(beta)), steps, limits, biases,
        half_widths, units, margins, np.zeros((n, MEASURES)), flags,
    )  # fmt: skip
    return dual, programs


def spread(of_samples: tuple[float, float], dual: Dual) -> float:
    """Return the samples' mean squared distance from their mean, or from 0 if no sum of beta alone is fixed."""
    size, level = of_samples
    return size if dual.sign is not None else size - level


def _joined(tasks: Tasks, some: range) -> tuple[Dual, NDArray[np.float64], Ids]:
    """Return the programs as one, the sums of each, and the equality of each variable within its program."""
    n = len(some)
    if tasks.joined is not None:
        dual = tasks.joined(some)
        if dual.row is None and dual.sign is None:
            return dual, np.tile(dual.totals, (n, 1)), NO_ROW
        totals = np.array(dual.totals).reshape(n, -1)
        if totals.shape[1] == 1 or dual.row is None:
            return dual, totals, NO_ROW
        number = np.repeat(np.arange(n), tasks.sizes[some.start : some.stop])
        return dual, totals, dual.row - totals.shape[1] * number
    duals = [tasks.dual(number) for number in some]
    parts = (np.concatenate([getattr(dual, name) for dual in duals]) for name in ("t", "lower", "upper"))
    row, sign = (
        None if getattr(duals[0], name) is None else np.concatenate([getattr(dual, name) for dual in duals])
        for name in ("row", "sign")
    )
    dual = replace(duals[0], **dict(zip(("t", "lower", "upper"), parts, strict=True)), row=row, sign=sign)
    return dual, np.array([dual.totals for dual in duals]).reshape(n, -1), NO_ROW if row is None else row


def _in_one(sizes: Ids) -> Laid:
    """Return the layout of programs that share one matrix, in which each variable has the place of its number."""
    n, size = len(sizes), int(sizes[0])
    width = -(-size // CHUNK) * CHUNK
    ends = np.tile([0, width], (n, 1))
    places = np.tile(np.arange(size), n)
    return Laid(NO_IDS, NO_IDS, NO_IDS, places, ends, np.full((n, 1), size), np.full(n, width))


def _laid_out(tasks: Tasks, some: range, row: Ids, equalities: int) -> Laid:
    """Return the layout of programs over segments that begin with one of some equalities."""
    first = tasks.first[some.start : some.stop + 1]
    groups, first = tasks.groups[first[0] : first[-1]], first - first[0]
    lengths = np.diff(tasks.gram.starts)[groups]
    n, e, vectors = len(some), max(1, equalities), shortest(tasks.gram.dtype)
    begin = np.cumsum(lengths) - lengths  # the first variable of each segment
    side = row[np.minimum(begin, len(row) - 1)] if len(row) else np.zeros(len(groups), np.int64)
    part = e * np.repeat(np.arange(n), np.diff(first)) + side
    counts = np.bincount(part, lengths, n * e).astype(np.int64).reshape(n, e)
    starts = np.concatenate([np.zeros((n, 1), np.int64), np.cumsum(-(-counts // vectors) * vectors, axis=1)], axis=1)
    order = np.argsort(part, kind="stable")
    before = np.cumsum(lengths[order]) - lengths[order]
    where = np.empty(len(groups), np.int64)
    where[order] = before - before[np.searchsorted(part[order], part[order])] + starts[:, :-1].ravel()[part[order]]
    places = np.arange(int(lengths.sum())) + np.repeat(where - begin, lengths)
    return Laid(groups, where, first, places, starts, starts[:, :-1] + counts, starts[:, -1].copy())


def in_own_numbers(programs: Programs) -> Programs:
    """Return the programs with what was found, in their own numbers instead of those in units of their own.

    Violations, resolutions and limits are left as they are, see ``Certificate.times``.
    """
    units = programs.units
    if (units == 1.0).all():
        return programs
    each, measures = np.repeat(units, np.diff(programs.first)), programs.measures.copy()
    measures[:, OF_GAP] *= (units * units)[:, None]
    measures[:, GAP] = np.where(
        programs.measures[:, GAP] > 0.0, np.maximum(measures[:, GAP], SMALLEST), measures[:, GAP]
    )
    return programs._replace(
        beta=each * programs.beta,
        g=each * programs.g,
        biases=units * programs.biases,
        half_widths=units * programs.half_widths,
        measures=measures,
    )
