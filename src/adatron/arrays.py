"""The types of arrays that most modules speak of, and their bound."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]  # Numbers of rows, samples, variables or problems.
Vector = NDArray[np.float64]  # Numbers in double precision, of any shape.
Matrix = NDArray[np.float64]  # The same, of two dimensions.

MOST_COLUMNS = 2**31 - 1  # Most columns of samples: columns have 32-bit numbers in compiled code.
