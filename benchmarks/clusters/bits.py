"""Digests of fits on clusters of several sizes, in several chunks and orders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .examples import Example, alone, cluster, digest, mixed, together

SHUFFLED = "shuffled chunks of 997"


class Case(NamedTuple):
    """What is compared: data, parameters that differ from those of the data, and rows for a run of some minutes.

    most : rows of a whole run; None: all
    """

    data: str
    parameters: dict[str, Any]
    rows: int
    most: int | None = None


CASES = [
    Case("ijcnn1", {}, 8_000),
    Case("a9a", {}, 6_000),
    Case("MNIST, two classes", {}, 3_000),
    Case("MNIST", {}, 2_000, 20_000),
    Case("cal.housing, regression", {}, 5_000),
    Case("ijcnn1, one class", {}, 6_000),
    Case("20,000 x 20, C 100", {"gap_tol": 1e-6}, 5_000),
]


def ways(one: Example) -> list[tuple[str, int, Any]]:
    """Return names, lengths of chunks, and orders of partitions."""
    n = one.X.shape[0]
    parts = np.random.default_rng(0).permutation(-(-n // 997))
    return [("four chunks", -(-n // 4), None), ("chunks of 997", 997, None), (SHUFFLED, 997, parts)]


def shuffled(one: Example) -> Example:
    """Return the samples in the order of the shuffled partitions."""
    _, chunks, order = ways(one)[-1]
    n = one.X.shape[0]
    rows = np.concatenate([np.arange(i * chunks, min(n, (i + 1) * chunks)) for i in order])
    return one._replace(X=one.X[rows], y=None if one.y is None else one.y[rows])


def rows(name: str, one: Example, workers: tuple[int, ...], narrow: bool) -> Iterator[dict[str, Any]]:
    """Yield the digest of each fit, and whether it is that of one machine."""
    wanted = {False: alone(one), True: alone(shuffled(one))}
    common = {"data": name, "samples": one.X.shape[0], "machine": f"{one.machine}, {_told(one.parameters)}"}
    for count in workers:
        with cluster(count):
            for way, chunks, order in ways(one):
                found = digest(together(one, chunks, order))
                same = found == wanted[way == SHUFFLED]
                yield {**common, "workers": count, "chunks": way, "digest": found, "same": same}
    if narrow:
        with mixed():
            found = digest(together(one, 997))
            yield {
                **common,
                "workers": "AVX-512 and AVX2",
                "chunks": "997",
                "digest": found,
                "same": found == wanted[False],
            }


def _told(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value:.4g}" for name, value in parameters.items())
