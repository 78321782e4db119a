"""The binary problems that a classifier is made of."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from ..problems import Dual, csvc
from ..problems.dual import Vector
from .engine import Ids, Problem
from .samples import Samples


def binary_problems(
    segments: list[list[int]], multi_class: str, samples: Samples, program: Callable[[Vector, Vector], Dual]
) -> list[Problem]:
    """One against one in scikit-learn's order (the first class is positive), or one against the rest.

    Of two classes the second one is positive. ``segments`` are those of each class, ``program`` is that of labels 1
    and -1, and weights.
    """
    n_classes, of_segments = len(segments), samples.sizes.tolist()
    sizes = [sum(of_segments[s] for s in some) for some in segments]

    def problem(positive: int, classes: list[int]) -> Problem:
        def of_samples(ids: Ids) -> Dual:
            y, own = np.full(len(ids), -1.0), sizes[positive]
            first = sum(sizes[c] for c in classes[: classes.index(positive)])
            y[first : first + own] = 1.0
            if own in (0, len(ids)):
                # The other side has no weight: without an error of this one, beta = 0 and b = y.
                return csvc(y, np.zeros(len(y)), "none")
            return program(y, samples.weight[ids])

        return Problem([s for c in classes for s in segments[c]], of_samples)

    if n_classes == 2:
        return [problem(1, [0, 1])]
    if multi_class == "ovo":
        return [problem(i, [i, j]) for i, j in combinations(range(n_classes), 2)]
    return [problem(i, list(range(n_classes))) for i in range(n_classes)]
