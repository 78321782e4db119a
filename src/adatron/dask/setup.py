"""From partitions to slabs: what is counted of all rows, and the samples of a fit in their order on the workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum
from operator import getitem
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled.panels import COLUMNS
from ..fitting.samples import Samples
from ..gram.source import Facts as SourceFacts
from . import partition, slab
from .cluster import Call, Cluster
from .collections import Blocks
from .far import FarRows, Layout, layout_joined
from .partition import Cut, Facts, Ids, Vector
from .slab import Members


class Counted:
    """The partitions of a training set on a cluster, checked, with what is known of all rows.

    shape : of all rows
    first : (partitions,) the first row of each
    facts : of each partition
    weighted : whether rows have weights that are not all equal
    """

    def __init__(self, client: Any, blocks: Blocks, labels: bool) -> None:
        self.client, self.blocks, self._labels = client, blocks, labels
        self._lean: bool | None = None
        self.first: list[int] = []
        self.cluster = Cluster(client, self._parts, len(blocks))
        self.facts: list[Facts] = self._ask(partition.facts, labels)
        some = [one for one in self.facts if one.rows]
        if not some:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        columns = {one.columns for one in some}
        if len(columns) > 1:
            raise ValueError(f"Partitions of X have different numbers of features: {sorted(columns)}.")
        self.shape = sum(one.rows for one in some), columns.pop()
        self.sparse, self.dtype = some[0].sparse, some[0].dtype
        self.first = (np.cumsum([one.rows for one in self.facts]) - [one.rows for one in self.facts]).tolist()
        self.place(lean=False)
        bounds = [one.weights for one in some]
        given = [pair for pair in bounds if pair is not None]
        self.heaviest = max((high for _, high in given), default=1.0)
        self.lightest = min((low for low, _ in given), default=1.0)
        self.given = bool(given)
        if self.given and not self.heaviest > 0:
            raise ValueError("Invalid input - all samples have zero or negative weights.")
        if self.given and self.lightest < 0:
            raise ValueError("Negative values in data passed to `sample_weight`.")

    def _parts(self, numbers: list[int]) -> list[Any]:
        """Make the partitions with these numbers."""
        given, found = self.blocks.futures(), []
        for i in numbers:
            part = self.client.submit(partition.load, *given[i], i, self.blocks.dtype, self._labels, pure=False)
            if self.first:
                part = self.client.submit(partition.placed, part, self.first[i], bool(self._lean), pure=False)
            found.append(part)
        return found

    def place(self, lean: bool) -> None:
        """Number the rows of the partitions; ``lean``: make dense rows CSR rows."""
        if self._lean != lean:
            self._lean = lean
            self.cluster.slabs = self._parts(list(range(len(self.blocks))))

    def again(self) -> None:
        """Make the partitions again, after they were given back."""
        self.cluster.slabs = self._parts(list(range(len(self.blocks))))

    @property
    def is_sparse(self) -> bool:
        """Whether the rows of the fit are CSR rows."""
        return self.sparse or bool(self._lean)

    def _ask(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        return self.cluster.ask([Call(i, function, arguments) for i in range(len(self.cluster))])

    @property
    def weighted(self) -> bool:
        return self.given and self.lightest != self.heaviest

    @property
    def _unit(self) -> float | None:
        return float(2.0 ** np.frexp(self.heaviest)[1]) if self.weighted else None

    def variance(self) -> float:
        """Return ``fitting.samples.variance`` of all rows."""
        (n, d), unit = self.shape, self._unit
        sums, weights = self._totals(partition.weighted_terms, unit, None)
        size = d * (n if unit is None else weights)
        stored = sum(one.stored for one in self.facts)
        mean = sums / size
        squares, _ = self._totals(partition.weighted_terms, unit, mean)
        if not stored:
            return 0.0
        return max(0.0, squares / size - mean * mean) if self.sparse else squares / size

    def magnitude(self) -> float:
        """Return the root of the mean squared norm of the rows."""
        sums, weights = self._totals(partition.sizes_terms, None if not self.given else self._heavy)
        mean = sums / (self.shape[0] if not self.given else weights)
        return float(np.sqrt(mean)) or 1.0

    @property
    def _heavy(self) -> float:
        return float(2.0 ** np.frexp(self.heaviest)[1])

    def _totals(self, function: Callable[..., Any], *arguments: Any) -> tuple[float, float]:
        found = self._ask(function, *arguments)
        return fsum(t for terms, _ in found for t in terms), fsum(t for _, terms in found for t in terms)

    def targets(self) -> NDArray[Any]:
        """Return the distinct labels of all partitions."""
        return np.unique(np.concatenate([one.targets for one in self.facts if one.rows and one.targets is not None]))

    def of_classes(self, classes: NDArray[Any]) -> Vector:
        """Return how many samples each class has; their weight, if they have weights."""
        found = self._ask(partition.counts, classes)
        if not self.given:
            return np.array([sum(part[c][0] for part in found) for c in range(len(classes))], np.float64)
        return np.array([fsum(t for part in found for t in part[c][1]) for c in range(len(classes))])

    def source_facts(self) -> SourceFacts:
        """Return what sources need to know of all rows."""
        if not (self.sparse or self._lean):
            return SourceFacts(float(self.shape[1]), self.shape[1])
        stored = sum(one.nonzero for one in self.facts)
        return SourceFacts(stored / max(1, self.shape[0]), max(one.longest for one in self.facts))

    def used(self) -> Any:
        """Return the columns that rows use, if these are far fewer than all, as ``kernels.columns`` does."""
        stored = sum(one.nonzero for one in self.facts)
        if not self.sparse or self.shape[1] <= max(COLUMNS, 2 * stored):
            return None
        return np.unique(np.concatenate([one.used for one in self.facts if one.used is not None]))


@dataclass(frozen=True)
class Shared:
    """The samples of a fit, on the workers and, without their rows, here.

    rows : the training rows
    samples : the distinct ones, in their order
    codes : (n,) the class, or target, of each row
    """

    rows: FarRows
    samples: Samples
    codes: NDArray[Any]


def share(
    counted: Counted, classes: NDArray[Any] | None, class_weight: Vector | None, one: bool, room: float
) -> Shared:
    """Bring the samples into their order, on slabs, one for each worker.

    classes : the labels; None in regression, and without targets
    one : the samples are one class in the end, in the order of their targets
    room : see ``FarRows``
    """
    client, k = counted.client, 1 if classes is None else len(classes)
    workers = list(client.scheduler_info(n_workers=-1)["workers"]) or [None]
    bounds = _bounds(counted.facts, len(workers)) if one and counted.facts[0].targets is not None else None
    how = Cut(len(workers), classes, bounds)
    together = bounds is not None

    def make(numbers: list[int]) -> list[Any]:
        if not counted.cluster.slabs:
            counted.again()
        cuts = [client.submit(partition.cut, part, how, class_weight, pure=False) for part in counted.cluster.slabs]
        found = []
        for j in numbers:
            pieces = [client.submit(getitem, some, j, pure=False) for some in cuts]
            place = {"workers": [workers[j]], "allow_other_workers": True} if workers[j] else {}
            found.append(client.submit(slab.joined, pieces, together, k, pure=False, **place))
        return found

    cluster = Cluster(client, make, len(workers))
    held: list[Members] = cluster.ask([Call(j, slab.members) for j in range(len(cluster))])
    facts, used = counted.source_facts(), counted.used()
    counted.cluster.release()
    counts = np.array([[len(part.rows)] if k == 1 else np.bincount(part.codes, minlength=k) for part in held], np.int64)
    samples, codes, place = _gathered(held, Layout(counts, np.zeros(0, np.int64)), counted.shape[0], together)
    layout = Layout(counts, place)
    rows = FarRows(cluster, counted.shape, counted.is_sparse, counted.dtype, layout, facts, used, room)
    return Shared(rows, samples, codes)


def _bounds(facts: Sequence[Facts], slabs: int) -> NDArray[Any]:
    """Return targets that divide all rows into slabs of about equal sizes."""
    values = np.concatenate([one.targets for one in facts if one.rows and one.targets is not None])
    weights = np.concatenate([np.full(len(one.targets), one.rows / len(one.targets))
                              for one in facts if one.rows and one.targets is not None])  # fmt: skip
    order = np.argsort(values, kind="stable")
    reach = np.cumsum(weights[order])
    ends = reach[-1] * np.arange(1, slabs) / slabs if len(reach) else np.zeros(slabs - 1)
    return values[order][np.minimum(np.searchsorted(reach, ends), len(values) - 1)]


def _gathered(held: list[Members], layout: Layout, n: int, together: bool) -> tuple[Samples, NDArray[Any], Ids]:
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
    place = np.full(n, -1, np.int64)
    place[member] = group
    codes = np.zeros(n, of.dtype)
    codes[member] = of[group]
    return Samples(of_samples("rows"), sizes, of_samples("weight"), member, group, weight), codes, place
