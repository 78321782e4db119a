"""The symmetry of a matrix of kernel values that came from outside.

A fit reads one of the two values of a pair, a prediction the other one. If they differ, either may be meant, so the
largest difference is part of every bound. A matrix that differs by more than rounding is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled.submatrix import asymmetry
from ..threads import Pool, threads_for
from ..threads.cost import COMPARED

LARGEST_ASYMMETRY = 1e-3  # Difference of two mirror images, as a fraction of the largest value, that may be rounding.
SYMMETRY_ROWS = 256  # Rows of a task.


def refuse_asymmetric(K: NDArray[Any], what: str, n_jobs: int | None = 1) -> float:
    """Return the largest |K - K'| of a square matrix.

    Raises
    ------
    ValueError
        The difference is more than rounding; ``what`` begins the sentence that says so.
    """
    n = len(K)
    found = np.zeros(max(1, -(-n // SYMMETRY_ROWS)))

    def task(number: int) -> None:
        found[number] = asymmetry(K, number * SYMMETRY_ROWS, min(n, (number + 1) * SYMMETRY_ROWS))

    with Pool(threads_for(COMPARED * n * n, n_jobs)) as pool:
        pool.run(task, len(found))
    off = float(found.max())
    if off <= LARGEST_ASYMMETRY * float(np.abs(K.diagonal()).max(initial=0.0)):
        return off  # the largest value, which takes two passes to find, is no smaller
    if off > LARGEST_ASYMMETRY * max(abs(float(K.max(initial=0.0))), abs(float(K.min(initial=0.0)))):
        i, j = np.unravel_index(int(np.argmax(np.abs(K - K.T))), K.shape)
        raise ValueError(
            f"{what} is not symmetric: K[{i}, {j}] = {K[i, j]:g}, K[{j}, {i}] = {K[j, i]:g}. The value of a pair must "
            "not depend on its order; (K + K.T) / 2 is symmetric."
        )
    return off
