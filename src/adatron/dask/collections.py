"""What users have: Dask arrays and frames, or arrays here that go to the cluster; predictions of the same kind."""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ..extras import how_to_get
from ..fitting.storage import parts_of
from .cluster import Call, Cluster, is_gone, scattered

Ids = NDArray[np.int64]


def client_of(client: Any) -> Any:
    """Return a client: the given one, or the current one."""
    try:
        from distributed import get_client
    except ImportError as error:
        raise ImportError(f"adatron.dask needs Dask: {how_to_get('dask')}") from error
    if client is not None:
        return client
    try:
        return get_client()
    except ValueError:
        raise ValueError(
            "No Dask client found. Start one (client = distributed.Client(...)), or pass it: client=client."
        ) from None


def cloned(estimator: Any) -> Any:
    """Return an unfitted copy, as ``sklearn.base.clone`` makes it, with the same client, which cannot be copied."""
    bare = copy(estimator)  # the state of a copy has no client
    twin: Any = BaseEstimator.__sklearn_clone__(bare)
    twin.client = estimator.client
    return twin


def is_array(X: Any) -> bool:
    """Return whether this is a Dask array."""
    import dask.array as da

    return isinstance(X, da.Array)


def is_frame(X: Any) -> bool:
    """Return whether this is a Dask data frame or series."""
    try:
        import dask.dataframe as dd
    except ImportError:
        return False
    return isinstance(X, (dd.DataFrame, dd.Series))  # pyright: ignore[reportPrivateImportUsage]


def is_collection(X: Any) -> bool:
    """Return whether this is a Dask array or frame."""
    return is_array(X) or is_frame(X)


class Blocks:
    """The partitions of a training set: rows, targets and weights, as Dask's delayed objects or as arrays here.

    lengths : rows of each partition; None if they are not known yet
    names : of the features, or None
    dtype : float32 if all numbers of the rows are known to be float32, else float64
    limit : value of ``time.monotonic()`` after which no length is waited for
    """

    def __init__(self, client: Any, X: Any, y: Any, weight: Any, limit: float) -> None:
        self.client = client
        self.names, self.dtype = _names(X), _dtype(X)
        self._kept: list[Any] | None = None  # rows that were loaded for their lengths, so that nothing is loaded twice
        X = _in_rows(X)
        if is_collection(X):
            self.lengths, count = _lengths(X), X.npartitions
            if self.lengths is None and any(v is not None and not _parallel(v, count) for v in (y, weight)):
                X = _delayed(X)
                self.lengths = self._counted(X, limit)
        else:
            n = _length(X)
            ends = np.linspace(0, n, max(1, len(client.scheduler_info(n_workers=-1)["workers"])) + 1).astype(int)
            self.lengths, count = np.diff(ends).tolist(), len(ends) - 1
            X = _split(X, self.lengths)
        others = [None if v is None else self._aligned(v, name, count)
                  for v, name in ((y, "y"), (weight, "sample_weight"))]  # fmt: skip
        self._rows = _delayed(X)
        self._others = [None if column is None else _delayed(column) for column in others]

    def __len__(self) -> int:
        return len(self._rows)

    def _counted(self, rows: list[Any], limit: float) -> list[int]:
        """Load the rows, keep them, and return their lengths."""
        kept = self._kept = self.client.compute(rows)

        def again(numbers: list[int]) -> list[Any]:
            for i in numbers:
                if is_gone(kept[i]):
                    kept[i] = self.client.compute(rows[i])
            return [kept[i] for i in numbers]

        with Cluster(self.client, again, len(kept), PARTITION, limit) as loaded:
            return loaded.ask([Call(i, _length) for i in range(len(kept))])

    def _aligned(self, values: Any, name: str, count: int) -> Any:
        """Return a column in the partitions of the rows, as a collection or as arrays; ``count``: of the partitions."""
        if not is_collection(values):
            assert self.lengths is not None  # noqa: S101 (for the type checker)
            if _length(values) != sum(self.lengths):
                raise ValueError(
                    f"X and {name} have inconsistent lengths: {sum(self.lengths)} rows and {_length(values)} values."
                )
            return _split(values, self.lengths)
        own = _lengths(values)
        if is_array(values):
            if values.ndim == 2 and values.shape[1] == 1:
                values = values[:, 0]
            if own is not None and self.lengths is not None and own != self.lengths:
                if sum(own) != sum(self.lengths):
                    raise ValueError(f"X and {name} have inconsistent lengths: {sum(self.lengths)} and {sum(own)}.")
                values = values.rechunk((tuple(self.lengths),))
        if values.npartitions != count:
            raise ValueError(
                f"X has {count} partitions and {name} has {values.npartitions}. Both need the same; "
                "compute_chunk_sizes() of Dask arrays makes lengths known."
            )
        return values

    def futures(self, numbers: list[int]) -> list[tuple[Any, ...]]:
        """Return rows, targets and weights of some partitions on the cluster; all that is delayed in one graph."""
        from dask.delayed import Delayed

        columns = [self._rows if self._kept is None else self._kept, *self._others]
        found = [[None if column is None else column[i] for column in columns] for i in numbers]
        for kind, move in ((Delayed, self.client.compute), (object, self._scattered)):
            open_ones = [(row, k) for row in found for k, one in enumerate(row) if _waits(one, kind)]
            if open_ones:
                for (row, k), future in zip(open_ones, move([row[k] for row, k in open_ones]), strict=True):
                    row[k] = future
        return [tuple(row) for row in found]

    def _scattered(self, parts: list[Any]) -> list[Any]:
        return scattered(self.client, parts)

    def release(self) -> None:
        """Give back what was kept; rows that are asked for again are loaded again."""
        self._kept = None


def _waits(one: Any, kind: type) -> bool:
    """Return whether part of a training set is of a kind and not on the cluster yet."""
    from distributed import Future

    return one is not None and not isinstance(one, Future) and isinstance(one, kind)


def _length(values: Any) -> int:
    return values.shape[0] if hasattr(values, "shape") else len(values)


def _names(X: Any) -> NDArray[Any] | None:
    from sklearn.utils.validation import _get_feature_names  # pyright: ignore[reportPrivateUsage]

    if is_array(X):
        return None
    return _get_feature_names(X._meta if is_frame(X) else X)


def _dtype(X: Any) -> Any:
    """Return float32 if all numbers are known to be float32, else float64."""
    kinds = list(X.dtypes) if hasattr(X, "dtypes") else [getattr(X, "dtype", None)]
    return np.float32 if kinds and all(kind == np.float32 for kind in kinds) else np.float64


def _in_rows(X: Any) -> Any:
    """Return a Dask array in chunks by rows; check that it has two dimensions."""
    if is_array(X):
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array, got {X.ndim}D array instead. Reshape X to (n_samples, n_features).")
        return X.rechunk({1: X.shape[1]}) if X.numblocks[1] > 1 else X
    return X if is_frame(X) or hasattr(X, "iloc") or hasattr(X, "shape") else np.asarray(X)


def _lengths(X: Any) -> list[int] | None:
    if not is_array(X) or any(np.isnan(n) for n in X.chunks[0]):
        return None
    return [int(n) for n in X.chunks[0]]


def _parallel(values: Any, parts: int) -> bool:
    """Return whether a column has as many partitions as the rows, whose lengths are then compared on the workers."""
    return is_collection(values) and values.npartitions == parts


def _delayed(X: Any) -> list[Any]:
    """Return the partitions of a collection; those of an array here are its parts already."""
    if not is_collection(X):
        return X
    parts = X.to_delayed()
    return list(parts.ravel()) if isinstance(parts, np.ndarray) else list(parts)


def _split(values: Any, lengths: list[int]) -> list[Any]:
    values = values if hasattr(values, "iloc") or hasattr(values, "tocsr") else np.asarray(values)
    if hasattr(values, "tocsr"):
        values = values.tocsr()
    ends = np.cumsum([0, *lengths]).tolist()
    rows = values.iloc if hasattr(values, "iloc") else values
    return [rows[a:b] for a, b in pairwise(ends)]


PARTITION = "Partition"  # For errors.
LARGE = 1 << 20  # Bytes of a model above which it goes to the workers once and not with the graph of its predictions.


def lazily(client: Any, method: str, model: Any, X: Any, columns: int | None, dtype: Any) -> Any:
    """Return the predictions for a Dask array or frame: an array with its chunks, or a series with its index.

    client : as users give it; a small model needs none
    columns : of the result; None: it has one dimension
    """
    shipped = _shipped(client, model)
    X = _in_rows(X)
    if is_frame(X):
        import pandas as pd

        meta = pd.Series([], dtype=dtype) if columns is None else pd.DataFrame(np.empty((0, columns), dtype))
        return X.map_partitions(_predicted_frame, shipped, method, columns, np.dtype(dtype), meta=meta)
    if columns is None:
        return X.map_blocks(_predicted, shipped, method, columns, np.dtype(dtype), drop_axis=1, dtype=dtype,
                            meta=np.empty(0, dtype))  # fmt: skip
    return X.map_blocks(_predicted, shipped, method, columns, np.dtype(dtype), chunks=(X.chunks[0], (columns,)),
                        dtype=dtype, meta=np.empty((0, 0), dtype))  # fmt: skip


class _Shipped:
    """A model on its way. A worker that gets it imports this package first, see ``__init__``."""

    def __init__(self, model: Any) -> None:
        self.model = model


def _shipped(client: Any, model: Any) -> Any:
    """Return what stands for a model in a graph."""
    from dask.delayed import delayed

    shipped = _Shipped(model)
    if sum(part.nbytes for part in (*parts_of(model.support_vectors_), *parts_of(model.dual_coef_))) <= LARGE:
        return delayed(shipped, pure=False)
    try:
        found = client_of(client)
    except ValueError:  # the graph is computed in this process
        return delayed(shipped, pure=False)
    return delayed(found.scatter(shipped, broadcast=True, hash=False), pure=False)


def _predicted(X: Any, shipped: _Shipped, method: str, columns: int | None, dtype: Any) -> Any:
    if not X.shape[0]:
        return np.empty((0,) if columns is None else (0, columns), dtype)
    return getattr(shipped.model, method)(X)


def _predicted_frame(X: Any, shipped: _Shipped, method: str, columns: int | None, dtype: Any) -> Any:
    import pandas as pd

    found = _predicted(X, shipped, method, columns, dtype)
    return pd.Series(found, X.index) if columns is None else pd.DataFrame(found, X.index)
