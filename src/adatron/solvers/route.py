"""The route of a fit: chosen once, from the sizes of the data and the parameters, and kept with the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids
from ..devices import Device
from ..gram import Source
from ..gram.shared import bytes_shared, readable
from ..problems import Dual
from ..threads.cost import FIT, FIT_BATCHES, FIT_MATRIX, threads_worth
from .base import Solver, Way
from .plan import (
    BESIDE_MATRIX,
    FEW,
    MANY_FEATURES,
    MAX_SINGLE_BLOCK,
    PARTED,
    PLACED_WHY,
    SMALL,
    Plan,
    feature_bytes,
    placed,
    plan,
)

SEVERAL = 8  # Number of problems over all samples from which they share one float64 matrix.
AGAIN = 1.6  # Average number of uses of a given value above which a copy class by class is faster.


@dataclass(frozen=True)
class Sizes:
    """The sizes of the problems.

    segments : (m,) samples of each segment
    variables : (n,) of each problem
    open : (n,) whether there is anything to solve
    duals : the programs if there are few, else one that stands for all
    everywhere : whether every problem is about all samples in the same order
    between : kernel values between two segments that all problems ask for
    chained : whether problems start from others
    max_concurrent : most problems that are solved before others start from them; all if they are not chained
    """

    segments: Ids
    variables: Ids
    open: NDArray[np.bool_]
    duals: Sequence[Dual]
    everywhere: bool
    between: float
    chained: bool
    max_concurrent: int

    @property
    def samples(self) -> int:
        """All of them."""
        return int(self.segments.sum())

    @property
    def work(self) -> float:
        """Kernel values in the matrices of all problems."""
        lengths = self.variables.astype(np.float64)
        return float(lengths @ lengths)

    @property
    def typical(self) -> Dual:
        """A program that has equalities if any has."""
        return max(self.duals, key=lambda dual: len(dual.totals))


@dataclass(frozen=True, eq=False)
class Route:  # noqa: PLW1641 (it has no hash, as arrays have none)
    """How the problems of a fit are solved, and how K is served; ``print`` says it in three lines, or in four.

    Attributes
    ----------
    ways : (n_problems,) the way of each, a number of ``Way``
    then : the way of each if a batch leaves it over, to be solved alone
    variables : variables of the largest problem
    single : whether tiles of kernel values are float32, proven in float64
    reason : why they are float32, or are not
    shared : whether values within classes, or of all samples, are made once for many problems
    held : whether all of K is held
    slots : rows of K that may be stored
    light : whether one thread is enough
    block : most variables of a block
    whole : a problem of up to so many variables is one block
    concurrent : most problems solved at the same time
    memory : bytes for the factors of one problem's Newton steps, or for the rows that its solver stores itself
    device : the device that solves the problems; "" if it is the processor
    placed : why there, if a device was asked for, and whether rows travel there
    resident : bytes on the device for each number of X, see ``devices.rows.RESIDENT``

    Examples
    --------
    >>> from adatron import SVC
    >>> from sklearn.datasets import load_iris
    >>> model = SVC().fit(*load_iris(return_X_y=True))
    >>> model.route_.variables
    100
    """

    block: int
    whole: int
    concurrent: int
    slots: int
    memory: float
    ways: NDArray[np.int8]
    then: NDArray[np.int8]
    variables: int
    single: bool
    reason: str
    shared: bool
    held: bool
    light: bool
    device: str = ""
    placed: str = ""
    resident: int = 0

    @property
    def dtype(self) -> Any:
        """The type of the tiles."""
        return np.float32 if self.single else np.float64

    def of(self, numbers: Ids) -> Route:
        """Return the route of some of the problems."""
        return replace(self, ways=self.ways[numbers], then=self.then[numbers])

    def alone(self, number: int) -> Way:
        """Return the way of a problem that is left over from a batch, or was in none."""
        return Way(int(self.then[number]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Route):
            return NotImplemented
        return all(np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    def __str__(self) -> str:
        counts = np.bincount(self.ways, minlength=len(Way)).tolist()
        solved = [f"{n:,} {Way(k).words}" for k, n in enumerate(counts) if n]
        noun = "problem" if len(self.ways) == 1 else "problems"
        if len(solved) == 1:
            solved = [f"{len(self.ways):,} {noun}, {Way(int(self.ways[0])).words}"]
        else:
            solved = [f"{len(self.ways):,} {noun}: {'; '.join(solved)}"]
        size = f"up to {self.variables:,} variables" if len(self.ways) > 1 else f"{self.variables:,} variables"
        if (self.ways >= Way.DECOMPOSE).any() and self.block > 1:
            size += f", {self.block:,} a block"
        tiles = "float32, proven in float64" if self.single else "float64"
        threads = "1 thread" if self.light else "all threads"
        many = f", up to {self.concurrent:,} problems side by side" if self.concurrent > 1 else ""
        place = f"\non {self.device or 'the processor'}: {self.placed}" if self.placed else ""
        values = f"kernel values in {tiles}: {self.reason}; {self._served()}"
        return f"{solved[0]} ({size})\n{values}\n{threads}{many}{place}"

    def __repr__(self) -> str:
        return f"<route: {str(self).splitlines()[0]}>"

    def _served(self) -> str:
        if self.held:
            return "all of them are held"
        if self.shared:
            return "shared by the problems"
        return f"up to {self.slots:,} rows are stored" if self.slots else "made when they are needed"


def choose_route(
    source: Source, sizes: Sizes, solver: Solver, cache_bytes: float, precision: str, device: Device | None = None
) -> Route:
    """Choose the route of a fit by this table; nothing else decides, no clock and no number of cores.

    cache_bytes : for kernel values
    precision : 'auto', 'single' or 'double'
    device : where to solve the problems; None is the processor

    A problem (``Route.ways``)

    =============================================================  ===================================
    it has nothing to solve                                        TRIVIAL
    its errors cost their square                                   PRIMAL
    the solver goes through single rows, which it stores itself    SINGLE_ROWS
    one of several that share values, finite bounds, up to         BATCH
    ``whole`` variables (all share one matrix: any, without nu)
    up to 1,000 variables, float64, finite bounds, K held or       DENSE
    made by compiled tiles
    up to ``whole`` variables                                      ONE_BLOCK
    a linear kernel of up to 160 features, 4 samples a feature or  FEATURES
    more, finite bounds, float64, X here
    up to 24 blocks, or with infinite bounds                       DECOMPOSE
    more                                                           SHRUNKEN
    =============================================================  ===================================

    A device, if one is asked for, solves all problems, DEVICE each, unless ``placed`` has a reason against it.

    Kernel values (``single``, ``shared``, ``held``, ``slots``)

    =============================================================  ===================================
    precision='double'; small problems; values given or called;    float64
    a linear kernel with few features, unless 'single' is asked
    the proven error of float32 values is small on these data,     float32
    or precision='single' and it says anything
    else                                                           float64
    several problems over all samples, few samples or >= 8         one matrix of all samples, shared
    problems, and four such matrices fit into the memory
    several problems of one block over a few classes, and what     values within classes, shared
    is within the classes fits into a quarter of the memory
    a function's values of small problems                          held
    else                                                           stored as far as memory goes where
                                                                   they are dear, or made again
    =============================================================  ===================================

    Examples
    --------
    >>> from adatron import SVC
    >>> from sklearn.datasets import load_iris
    >>> route = SVC().fit(*load_iris(return_X_y=True)).route_  # what this function chose
    >>> route.single, route.reason
    (False, 'few samples')
    """
    device_plan, largest = "", int(sizes.variables.max())
    if device is not None:
        single, reason = _precision(source, precision, small=False)
        device_plan = placed(source, sizes.variables, sizes.duals, device, solver, single)
        if not isinstance(device_plan, str):
            found, resident = device_plan
            ways = np.where(sizes.open, Way.DEVICE, Way.TRIVIAL).astype(np.int8)
            own, said = (False, False, False), (device.label, PLACED_WHY[resident], resident)
            return Route(*found, ways, ways, largest, single, reason, *own, *said)
    n, alone, kernel = sizes.samples, len(sizes.variables) == 1, source.kernel
    matrix = solver.blocks and sizes.everywhere and not alone and suits(sizes.typical, single=False, everywhere=True)
    few = n <= SMALL or len(sizes.variables) >= SEVERAL  # problems over all samples share one matrix in float64
    matrix = matrix and precision != "single" and few and 4 * 8.0 * n * n <= cache_bytes
    by_features = precision != "single" and _few_features(source, largest, solver, cache_bytes)
    matrix = matrix and not (by_features and largest > MAX_SINGLE_BLOCK)
    small = matrix or largest <= (MAX_SINGLE_BLOCK if sizes.chained else SMALL) or not kernel.compiled
    single, reason = _precision(source, precision, small)
    if by_features and single:
        single, reason = False, "sums over few features are accurate, and cost little"
    found, shared, held = _memory(source, sizes, cache_bytes, solver.blocks, single, matrix)
    if by_features or solver.ridged:  # all threads sum over the features of one problem
        found, held = found._replace(concurrent=1), False
    cost, least = kernel.cost(source.features), FIT_BATCHES if shared else FIT
    work = (n * n if matrix else sizes.work) * cost + (len(sizes.variables) * BESIDE_MATRIX if shared else 0.0)
    one = (n if matrix else largest) ** 2 * cost
    light = kernel.called or threads_worth(one, FIT_MATRIX) == threads_worth(work, least) == 1
    ways, then = _ways(sizes, solver, found, single, shared, matrix, held or not kernel.called, by_features)
    return Route(*found, ways, then, largest, single, reason, shared, held, light, placed=device_plan)


def suits(dual: Dual, single: bool, everywhere: bool) -> bool:
    """Return whether a program is of the kind that is solved in batches, by float32 tiles or others.

    ``everywhere``: all programs have all samples, so that they share one matrix. With nu each needs another order, or
    other signs, and its own unit is finer than float32 values.
    """
    plain = dual.row is None and dual.sign is None
    exact = not (single and dual.lambda2)  # added to float32 values it would be rounded
    return exact and (plain or not (single or everywhere)) and not dual.unbounded and len(dual) > 0


def _few_features(source: Source, largest: int, solver: Solver, memory: float) -> bool:
    """Return whether a linear kernel of rows that are here has few features, beside the largest problem."""
    here = solver.blocks and source.kernel.plain and source.facts is None
    d = source.X.shape[1] if here else 0
    return here and MAX_SINGLE_BLOCK < largest >= FEW * d and d <= MANY_FEATURES and feature_bytes(d) <= memory / 4


def _precision(source: Source, precision: str, small: bool) -> tuple[bool, str]:
    """Choose float32 if its error is proven small; float64 for small problems, without tiles, on request."""
    if precision == "double":
        return False, "asked for"
    if small:
        return False, "few samples" if source.kernel.compiled else "they come from outside"
    requested = precision == "single"
    if source.kernel.plain and not requested and source.uneven:
        return False, "float32 says too little of products of such features"
    if source.suits_single(source.largest, requested):
        return True, "asked for" if requested else "their error is proven small"
    return False, "the error of float32 may be large on these data"


def _memory(
    source: Source, sizes: Sizes, memory: float, blocks: bool, single: bool, matrix: bool
) -> tuple[Plan, bool, bool]:
    """Return sizes for a fit, whether its one-block problems share the values within segments, and whether K is held.

    ``matrix``: all of them share the matrix of all samples.
    """
    n, lengths, dtype = sizes.samples, sizes.variables, np.dtype("f4" if single else "f8")
    compiled, given = source.kernel.compiled, source.columns is not None
    cost = source.kernel.cost(source.features) if compiled else 0.0
    sized = partial(plan, n, lengths, cost, dtype.itemsize, blocks=blocks, max_concurrent=sizes.max_concurrent)
    room = n <= 2 * SMALL and 2 * 8 * n * n <= memory
    if matrix:
        return sized(memory - 8.0 * n * n), True, source.kernel.called and room
    largest = int(lengths.max())
    again = not given or float(np.sum(lengths.astype(np.float64) ** 2)) > AGAIN * n * n
    if blocks and len(lengths) > 1 and suits(sizes.typical, single, sizes.everywhere):
        within = bytes_shared(source, sizes.segments.tolist(), dtype)
        holds_K = not compiled and (not given or not readable(source) or (again and room))
        once = 2 * largest < n or sizes.between <= n * n  # or values are made again for it
        fits = (room or not holds_K) and (once or not compiled) and 4 * within <= memory
        if fits and largest <= (found := sized(memory - within)).whole:
            return found, True, holds_K
    small = largest <= SMALL or not compiled
    return sized(memory), False, small and again and room


def _ways(
    sizes: Sizes, solver: Solver, found: Plan, single: bool, shared: bool, matrix: bool, at_hand: bool, few: bool
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return the way of each problem.

    at_hand : values are held, or made by compiled tiles or of given ones
    few : a linear kernel has few features
    """
    if len(sizes.duals) < len(sizes.variables):  # all are alike except for their sizes
        known, which = np.unique(sizes.variables, return_inverse=True)
        each = [(int(n), sizes.duals[0]) for n in known]
    else:
        each, which = list(zip(sizes.variables.tolist(), sizes.duals, strict=True)), slice(None)
    ways: list[tuple[Way, Way]] = []
    for n, dual in each:
        batched = shared and solver.batches and suits(dual, single, sizes.everywhere)
        batched = batched and (matrix or n <= found.whole)
        own = way_of(n, dual, solver, found.block, found.whole, coarse=single or not at_hand, few=few)
        ways.append((Way.BATCH if batched else own, own))
    numbers = np.array([(first.value, then.value) for first, then in ways], np.int8)  # members take NumPy longer
    first, then = np.where(sizes.open, numbers.T[:, which], np.int8(Way.TRIVIAL.value))
    return first, then


def way_of(n: int, dual: Dual, solver: Solver, block: int, whole: int, coarse: bool, few: bool = False) -> Way:
    """Return the way of a problem that is solved on its own.

    coarse : no float64 values are at hand
    few : a linear kernel has few features
    """
    if not n:
        return Way.TRIVIAL
    if not solver.blocks:
        return Way.PRIMAL if solver.ridged else Way.SINGLE_ROWS
    if n <= min(SMALL, whole) and not (coarse or dual.unbounded):
        return Way.DENSE
    if n <= max(whole, block):
        return Way.ONE_BLOCK
    if few and not dual.unbounded:
        return Way.FEATURES
    return Way.SHRUNKEN if n >= PARTED * block and not dual.unbounded else Way.DECOMPOSE
