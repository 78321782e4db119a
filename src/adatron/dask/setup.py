"""From partitions to slabs: facts about all rows, and the samples of a fit in their order on the workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum, inf
from operator import getitem
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..compiled.panels import PASS_COLUMNS
from ..door import inputs
from ..fitting.engine import LEAN_DENSITY, may_be_lean
from ..fitting.samples import Samples
from ..gram import Source
from ..gram.source import SourceFacts
from ..kernels import Kernel
from ..model.model import NOT_FINITE
from ..solvers.plan import SMALL
from . import partition, slab
from .cluster import Call, Cluster, workers_of
from .collections import PARTITION, Blocks
from .far import FarRows, SlabLayout, layout_joined
from .partition import Cut, Ids, PartitionFacts, SlabBounds, Vector
from .slab import Members


class CheckedBlocks:
    """The checked partitions of a training set on a cluster, with facts about all rows.

    A partition is loaded once, and again only if it is lost.

    shape : of all rows
    first : (partitions,) the first row of each
    facts : of each partition
    given : whether the user gives weights
    heaviest, lightest : the largest and the smallest weight
    limit : value of ``time.monotonic()`` after which the fit waits for nothing
    """

    def __init__(self, client: Any, blocks: Blocks, labels: bool, limit: float) -> None:
        self.client, self.blocks, self._labels, self.limit = client, blocks, labels, limit
        self.cluster = Cluster(client, self._loaded, len(blocks), PARTITION, limit)
        self.facts: list[PartitionFacts] = self._ask(partition.facts, labels)
        some = [one for one in self.facts if one.rows]
        if not some:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        columns = {one.columns for one in some}
        if len(columns) > 1:
            raise ValueError(f"Partitions of X have different numbers of features: {sorted(columns)}.")
        if len({one.sparse for one in self.facts}) > 1:
            are = ", ".join(str(i) for i, one in enumerate(self.facts) if one.sparse)
            raise ValueError(f"Partitions of X must be all dense or all sparse. Got sparse ones ({are}) among others.")
        self.shape = sum(one.rows for one in some), columns.pop()
        self.sparse, self.dtype = some[0].sparse, some[0].dtype
        self.first: list[int] = (np.cumsum([one.rows for one in self.facts]) - [o.rows for o in self.facts]).tolist()
        given = [one.weights for one in some if one.weights is not None]
        self.heaviest = max((high for _, high in given), default=1.0)
        self.lightest = min((low for low, _ in given), default=1.0)
        self.given = bool(given)
        if self.given and not self.heaviest > 0:
            raise ValueError("Invalid input - all samples have zero or negative weights.")
        if self.given and self.lightest < 0:
            raise ValueError("Negative values in data passed to `sample_weight`.")
        if max(one.largest for one in some) > np.sqrt(np.finfo(np.float64).max / (self.shape[0] * self.shape[1])):
            raise ValueError(NOT_FINITE)

    def _loaded(self, numbers: list[int]) -> list[Any]:
        """Load and check the partitions with these numbers."""
        own = self.blocks.dtype, self._labels
        given = self.blocks.futures(numbers)
        return [
            self.client.submit(partition.load, *one, i, *own, key=f"adatron-load-{i}-{uuid4().hex[:12]}", pure=False)
            for i, one in zip(numbers, given, strict=True)
        ]

    def parts(self) -> list[Any]:
        """Return the partitions; those that were given back are loaded again."""
        return self.cluster.slabs or self._loaded(list(range(len(self.blocks))))

    def release(self) -> None:
        """Give the partitions back to the cluster."""
        self.cluster.release()
        self.blocks.release()

    def _ask(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        return self.cluster.ask([Call(i, function, arguments) for i in range(len(self.cluster))])

    def _unit(self, weighted: bool) -> float | None:
        """Return the power of two that weights are divided by; None: all count as 1."""
        return float(2.0 ** np.frexp(self.heaviest)[1]) if weighted else None

    def variance(self) -> float:
        """Return ``fitting.samples.variance`` of all rows."""
        (n, d), unit = self.shape, self._unit(self.given and self.lightest != self.heaviest)
        sums, weights = self._totals(partition.weighted_terms, unit, None)
        size = d * (n if unit is None else weights)
        stored = sum(one.stored for one in self.facts)
        mean = sums / size
        squares, _ = self._totals(partition.weighted_terms, unit, mean)
        if not stored:
            return 0.0
        return max(0.0, squares / size - mean * mean) if self.sparse else squares / size

    def gamma(self, value: float | str) -> float:
        """Return the number behind 'scale' and 'auto', as ``inputs.gamma`` does."""
        if not isinstance(value, str):
            return float(value)
        d = self.shape[1]
        return 1.0 / d if value == "auto" else inputs.gamma_of(d, self.variance())

    def augment(self, value: float | str) -> float:
        """Return the augmenting factor, as ``inputs.augment`` does: 'auto' is the root of the mean squared norm."""
        if not isinstance(value, str):
            return float(value)
        sums, weights = self._totals(partition.sizes_terms, self._unit(self.given))
        mean = sums / (weights if self.given else self.shape[0])
        return float(np.sqrt(mean)) or 1.0

    def _totals(self, function: Callable[..., Any], *arguments: Any) -> tuple[float, float]:
        found = self._ask(function, *arguments)
        return fsum(t for terms, _ in found for t in terms), fsum(t for _, terms in found for t in terms)

    def targets(self) -> NDArray[Any]:
        """Return the distinct labels of all partitions."""
        found = [one.targets for one in self.facts if one.rows and one.targets is not None]
        kinds = {"numbers" if some.dtype.kind in "biufc" else "text" if some.dtype.kind in "SU" else str(some.dtype)
                 for some in found}  # fmt: skip
        if len(kinds) > 1:
            raise ValueError(f"Unknown label type: partitions of y must hold one kind of labels. Got {sorted(kinds)}.")
        return np.unique(np.concatenate(found))

    def of_classes(self, classes: NDArray[Any]) -> Vector:
        """Return the number of samples of each class, or their weight if the user gives weights."""
        found = self._ask(partition.weights_of_classes, classes)
        return np.array([fsum(t for part in found for t in part[c]) for c in range(len(classes))])

    def source_facts(self, is_sparse: bool) -> SourceFacts:
        """Return the facts that sources need; ``is_sparse``: whether the rows of the fit are CSR rows."""
        if not is_sparse:
            return SourceFacts(float(self.shape[1]), self.shape[1])
        stored = sum(one.nonzero for one in self.facts)
        return SourceFacts(stored / max(1, self.shape[0]), max(one.longest for one in self.facts))

    def used(self) -> Any:
        """Return the columns that rows use if they are far fewer than all, as ``kernels.columns`` does; else None."""
        stored = sum(one.nonzero for one in self.facts)
        if not self.sparse or self.shape[1] <= max(PASS_COLUMNS, 2 * stored):
            return None
        return np.unique(np.concatenate([one.used for one in self.facts if one.used is not None]))


@dataclass(frozen=True)
class SharedSamples:
    """The samples of a fit.

    rows : the training rows, which are on the workers
    samples : the distinct samples in their order
    codes : (n,) the class, or target, of each row
    classes, class_weight : (n_classes,) the labels and their weights; None without classes
    """

    rows: FarRows
    samples: Samples
    codes: NDArray[Any]
    classes: Any
    class_weight: Any


def share(
    counted: CheckedBlocks,
    classes: NDArray[Any] | None,
    class_weight: Vector | None,
    room: float,
    lean: Callable[[NDArray[np.int64]], bool],
) -> SharedSamples:
    """Bring the samples into their order, on slabs, one for each worker.

    classes : the labels; None in regression, and without targets
    room : see ``FarRows``
    lean : returns whether CSR rows are faster than these dense rows, given how many samples each class has
    """
    client, k = counted.client, 1 if classes is None else len(classes)
    workers = list(workers_of(client)) or [None]
    together = classes is None and counted.facts[0].targets is not None
    how = Cut(len(workers), classes, bounds(counted.facts, len(workers)) if together else None)
    is_sparse = counted.sparse

    def make(numbers: list[int]) -> list[Any]:
        parts = zip(counted.parts(), counted.first, strict=True)
        cuts = [client.submit(partition.cut, part, first, how, class_weight, pure=False) for part, first in parts]
        return [made(j, [client.submit(getitem, some, j, pure=False) for some in cuts]) for j in numbers]

    def made(j: int, pieces: list[Any]) -> Any:
        place = {"workers": [workers[j]], "allow_other_workers": True} if workers[j] else {}
        whole = client.submit(slab.joined, pieces, together, k, pure=False, **place)
        return whole if is_sparse == counted.sparse else client.submit(slab.as_csr, whole, pure=False, **place)

    cluster = Cluster(client, make, len(workers), "Slab", counted.limit)
    held: list[Members] = cluster.ask([Call(j, slab.members) for j in range(len(cluster))])
    counts = np.array([[len(part.rows)] if k == 1 else np.bincount(part.codes, minlength=k) for part in held], np.int64)
    samples, codes, place = _gathered(held, SlabLayout(counts, np.zeros(0, np.int64)), counted.shape[0], together)
    if not counted.sparse and lean(samples.sizes):
        is_sparse = True
        cluster.slabs = [client.submit(slab.as_csr, one, pure=False) for one in cluster.slabs]
        cluster.ask([Call(j, len) for j in range(len(cluster))])
    counted.release()
    cluster.limit = inf
    rows = FarRows(cluster, counted.shape, is_sparse, counted.dtype, SlabLayout(counts, place),
                   counted.source_facts(is_sparse), counted.used(), room)  # fmt: skip
    return SharedSamples(rows, samples, codes, classes, class_weight)


def bounds(facts: Sequence[PartitionFacts], slabs: int) -> SlabBounds:
    """Return bounds that make slabs of about equal sizes; rows with equal targets are divided by their hashes."""
    given = [(one.targets, one.often) for one in facts if one.targets is not None and one.often is not None]
    targets, number = np.unique(np.concatenate([some for some, _ in given]), return_inverse=True)
    often = np.bincount(number, np.concatenate([some for _, some in given]))
    reach = np.cumsum(often)
    ends = reach[-1] * np.arange(1, slabs) / slabs
    at = np.minimum(np.searchsorted(reach, ends), len(targets) - 1)
    fraction = np.clip(1.0 - (reach[at] - ends) / often[at], 0.0, 1.0)
    return SlabBounds(targets[at], (fraction * (2.0**32 - 1.0)).astype(np.uint64) << np.uint64(32))


def _gathered(held: list[Members], layout: SlabLayout, n: int, together: bool) -> tuple[Samples, NDArray[Any], Ids]:
    """Return the samples of all slabs in their order, the class or target of each row, and the sample of each row."""

    def of_samples(name: str) -> NDArray[Any]:
        return layout_joined(layout, [getattr(part, name) for part in held])

    groups, members, own = [], [], []
    for j, run in ((j, run) for run in range(layout.runs) for j in range(len(held))):
        part, before = held[j], int(layout.counts[j, :run].sum())
        some = slice(*np.searchsorted(part.group, [before, before + int(layout.counts[j, run])]).tolist())
        groups.append(part.group[some] - before + layout.first[j, run])
        members.append(part.members[some])
        own.append(part.own[some])
    group, member, weight = map(np.concatenate, (groups, members, own))
    sizes = layout.counts.sum(axis=0)
    of = of_samples("codes")
    place = np.full(n, n, np.int64)
    place[member] = group
    codes = np.zeros(n, of.dtype)
    codes[member] = of[group]
    return Samples(of_samples("rows"), sizes, of_samples("weight"), member, group, weight), codes, place


def lean(
    counted: CheckedBlocks, kernel: Kernel, variables: int, classes: NDArray[Any] | None, class_weight: Vector | None
) -> bool:
    """Return whether one machine would make the dense rows CSR rows, see ``fitting.engine``.

    variables : of the largest program
    """
    n, d = counted.shape
    if not may_be_lean(d, kernel) or variables <= SMALL:
        return False
    step, cluster = -(-n // 1000), counted.cluster
    calls = [Call(i, partition.nonzero_of_some, (first, step)) for i, first in enumerate(counted.first)]
    some = cluster.ask(calls)
    nonzero = sum(one.nonzero for one in counted.facts)
    if sum(count for count, _ in some) > LEAN_DENSITY * sum(size for _, size in some) or nonzero > LEAN_DENSITY * n * d:
        return False
    arguments = class_weight, classes
    largest = max(cluster.ask([Call(i, partition.largest_size, arguments) for i in range(len(cluster))]))
    rows, nothing = sparse.csr_matrix((0, d)), np.zeros(0, np.int64)
    return Source(rows, nothing, kernel, np.zeros(0), facts=counted.source_facts(True)).suits_single(largest)
