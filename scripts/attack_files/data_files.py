"""Valid data files of every format."""

from __future__ import annotations

import io
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import dump_svmlight_file

Files = list[tuple[str, bytes]]


@cache
def samples() -> tuple[np.ndarray, np.ndarray]:
    """Return numbers that every format holds exactly, and two classes."""
    rng = np.random.default_rng(0)
    X = rng.integers(1, 256, (40, 5))
    return X, np.where(X[:, 0] + X[:, 1] > 250, 3, 1)


def npy(values: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, values)
    return out.getvalue()


def npz(**arrays: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def rows(X: np.ndarray, y: np.ndarray, between: str) -> bytes:
    return "".join(between.join(map(str, [*x, label])) + "\n" for x, label in zip(X, y, strict=True)).encode()


def with_header(X: np.ndarray, y: np.ndarray) -> bytes:
    return b"a,b,c,d,e,label\n" + rows(X, np.where(y == 1, "dark", '"br,ight"'), ",")


def svmlight(X: np.ndarray, y: np.ndarray) -> bytes:
    out = io.BytesIO()
    dump_svmlight_file(X, y, out, zero_based=False)
    return out.getvalue()


def arff(X: np.ndarray, y: np.ndarray) -> bytes:
    attributes = "".join(f"@attribute a{i} numeric\n" for i in range(X.shape[1]))
    return f"% grey\n@relation grey\n{attributes}@attribute class {{1,3}}\n@data\n".encode() + rows(X, y, ",")


def parquet(X: np.ndarray, y: Any, **options: Any) -> bytes:
    import pyarrow
    import pyarrow.parquet as parquet

    out = io.BytesIO()
    table = pyarrow.table({**{f"a{i}": x for i, x in enumerate(X.T)}, "class": y})
    parquet.write_table(table, out, **options)
    return out.getvalue()


@cache
def valid() -> list[Files]:
    """Return files of every format."""
    X, y = samples()
    return [
        [("a.svm", svmlight(X, y))],
        [("a.csv", rows(X, y, ","))],
        [("b.csv", with_header(X, y))],
        [("a.tsv", rows(X, y, "\t"))],
        [("a.txt", rows(X, y, " "))],
        [("a.npz", npz(X=X, y=y.astype(str)))],
        [("a.arff", arff(X, y))],
        [("a.parquet", parquet(X, y))],
        [("b.parquet", parquet(X, [str(label) for label in y], compression="zstd"))],
    ]
