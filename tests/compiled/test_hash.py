"""Hashes of rows against a plain twin."""

import numpy as np
import pytest
from scipy import sparse

from adatron.compiled.hash import hash_dense, hash_sparse
from twins.tiles import row_hash

pytestmark = pytest.mark.plain


def test_row_hashes_agree_for_dense_and_sparse(rng):
    X = rng.normal(size=(12, 6)) * (rng.random((12, 6)) < 0.5)
    X[0] = -0.0
    for dtype, bits in ((np.float64, np.uint64), (np.float32, np.uint32)):
        Z = X.astype(dtype)
        S = sparse.csr_matrix(Z)
        sign = np.array(-0.0, dtype).view(bits)[()]
        dense, csr = np.empty(12, np.uint64), np.empty(12, np.uint64)
        hash_dense(Z.view(bits), dense)
        hash_sparse(S.data.view(bits), sign, S.indices, S.indptr.astype(np.int64), csr)
        assert dense.tolist() == csr.tolist() == [row_hash(row) for row in Z]
