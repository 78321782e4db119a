"""Twins of the compiled loops."""

import numpy as np

from adatron.compiled.micro import BLOCK_POINTS, rows_width
from adatron.compiled.panels import TILE


def pack(X, width, center, dtype):
    blocks = -(-len(X) // width)
    padded = np.zeros((blocks * width, X.shape[1]), dtype)
    padded[: len(X)] = (X - center).astype(dtype)
    return padded.reshape(blocks, width, -1).transpose(0, 2, 1)


def chained_products(X, Z):
    """X Z' with every entry summed in the order of the features."""
    out = np.zeros((len(X), len(Z)), X.dtype)
    for k in range(X.shape[1]):
        out += np.outer(X[:, k], Z[:, k])
    return out


def l1_distances(X, Z):
    return np.abs(X[:, None] - Z[None]).sum(axis=2)


def row_hash(row):
    """splitmix64 summed over the nonzero entries."""
    mask, total = 2**64 - 1, 0
    for k, bits in enumerate(row.view(np.uint64 if row.itemsize == 8 else np.uint32).tolist()):
        if row[k] != 0:
            z = bits ^ (((k + 1) * 0x9E3779B97F4A7C15) & mask)
            z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
            total = (total + (z ^ (z >> 31))) & mask
    return total


__all__ = ["BLOCK_POINTS", "TILE", "chained_products", "l1_distances", "pack", "row_hash", "rows_width"]
