"""The loops over pairs and single variables of a block against a plain twin."""

import numpy as np
import pytest

from adatron.compiled.search import CHUNK
from adatron.kernels import RBF
from adatron.problems import csvc
from adatron.solvers.dense.pairs import pairs
from adatron.solvers.dense.singles import singles
from twins import programs

pytestmark = pytest.mark.plain

DTYPES = (np.float32, np.float64)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bias", ["explicit", "augmented", "none"])
def test_block_loops_reach_the_twin(dtype, bias, rng):
    X = rng.normal(size=(CHUNK, 3))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=CHUNK) > 0, 1.0, -1.0)
    K = RBF(0.5)(X)
    dual = csvc(y, np.full(CHUNK, 2.0), bias)
    beta, g = np.zeros(CHUNK), -y.astype(dtype)
    program = ((K + dual.lambda2).astype(dtype), beta, g, dual.lower, dual.upper)
    limits = (0.0, 1e-4, 20_000, np.zeros(2, np.int64))
    if bias == "explicit":
        pairs(*program, np.array([0, CHUNK]), *limits)
    else:
        singles(*program, *limits)
    assert programs.kkt(K, dual, beta) <= 3e-4
    best = programs.objective(K, dual, programs.solve(K, dual, steps=20_000, tol=1e-6))
    assert programs.objective(K, dual, beta) <= best + 1e-4 * abs(best)
