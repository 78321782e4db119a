"""The users' training sets, which are Dask arrays and frames or arrays in memory; predictions of the same kind."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from inspect import Parameter, Signature, signature
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from ..arrays import parts_of
from ..door.columns import as_numbers
from ..quoted import quoted
from .cluster import Call, Cluster, client_of, is_gone, scattered, workers_of


class WithClient:
    """Base of estimators for a cluster, made of those of one machine: a parameter ``client``, never copied nor pickled.

    local : the estimator of one machine, whose parameters a class has
    without : those of its parameters that the class lacks
    """

    client: Any
    _local: ClassVar[type[Any]]

    def __init_subclass__(cls, local: Any = None, without: tuple[str, ...] = (), **kwargs: Any) -> None:
        if local is not None:
            cls._local = local
            constraints = {**local._parameter_constraints, "client": "no_validation"}
            setattr(cls, "_parameter_constraints", constraints)  # noqa: B010 (scikit-learn lists no such values)
            made = _constructor(cls.__qualname__, local, without)
            setattr(cls, "__init__", made)  # noqa: B010 (a type checker reads the one below)
        super().__init_subclass__(**kwargs)

    if TYPE_CHECKING:

        def __init__(self, *args: Any, client: Any = None, **parameters: Any) -> None: ...

    @property
    def client_(self) -> Any:
        """The client that is used: the given one, or the current one."""
        return client_of(self.client)

    def __sklearn_clone__(self) -> Any:
        bare = copy(self)
        bare.client = None
        twin: Any = BaseEstimator.__sklearn_clone__(bare)  # pyright: ignore[reportArgumentType]
        twin.client = self.client
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for copies and pickles, which have no client."""
        state: Any = super().__getstate__()
        return {**state, "client": None}


def _constructor(name: str, local: Any, without: tuple[str, ...]) -> Callable[..., None]:
    """Return the constructor of a class, with the signature of the one-machine estimator's and ``client``."""
    own = [one for parameter, one in signature(local.__init__).parameters.items() if parameter not in without]
    known = Signature([*own, Parameter("client", Parameter.KEYWORD_ONLY, default=None, annotation=Any)])

    def __init__(self: Any, *args: Any, **parameters: Any) -> None:
        known.bind(self, *args, **parameters)  # refuses other parameters
        self.client = parameters.pop("client", None)
        local.__init__(self, *args, **parameters)

    setattr(__init__, "__signature__", known)  # noqa: B010
    __init__.__qualname__ = f"{name}.__init__"
    return __init__


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


def refuse_others(values: Any, name: str) -> None:
    """Refuse Dask's other kinds of data: bags, delayed values, futures, and lists of these."""
    from dask.base import is_dask_collection
    from distributed import Future

    one = values[0] if isinstance(values, (list, tuple)) and len(values) else values  # pyright: ignore
    if isinstance(one, Future) or (
        is_dask_collection(one) and not is_collection(one) and not hasattr(one, "__array__")
    ):
        what = type(one).__name__ if one is values else f"{type(values).__name__} of {type(one).__name__}"
        raise TypeError(
            f"{name} must be a Dask array or data frame, or be in memory. Got a {what}. dask.array.from_delayed and "
            "concatenate make an array of delayed values and futures; to_dataframe() makes a frame of a bag."
        )


def here(client: Any, values: Any, name: str, limit: float = inf) -> Any:
    """Return values in memory; a collection is computed first. See ``wait_for``."""
    refuse_others(values, name)
    if not is_collection(values):
        return values
    with Cluster(client, lambda _: [client.compute(values)], 1, f"The values of {name}", limit) as whole:
        return whole.ask([Call(0, _itself)])[0]


def _itself(values: Any) -> Any:
    return values


class Blocks:
    """The partitions of a training set: rows, targets and weights, as Dask's delayed objects or as arrays in memory.

    lengths : the number of rows of each partition; None if not all are known yet
    names : the names of the features, or None
    dtype : float32 if all numbers of the rows are known to be float32, else float64
    limit : value of ``time.monotonic()`` after which the fit waits for no partition
    """

    def __init__(self, client: Any, X: Any, y: Any, weight: Any, limit: float) -> None:
        self.client, self._limit = client, limit
        X = _in_rows(X)
        self.names, self.dtype = _names(X), _dtype(X)
        self._kept: list[Any] | None = None  # rows that were loaded for their lengths, so that nothing is loaded twice
        y, weight = (None if values is None else _column(values, name)
                     for values, name in ((y, "y"), (weight, "sample_weight")))  # fmt: skip
        if is_collection(X):
            self.lengths, count = _lengths(X), X.npartitions
            # The workers compare the lengths of a column that has as many partitions as X.
            parallel = all(v is None or (is_collection(v) and v.npartitions == count) for v in (y, weight))
            if self.lengths is None and not parallel:
                X = _delayed(X)
                self.lengths = self._counted(X)
        else:
            n = _length(X)
            ends = np.linspace(0, n, max(1, len(workers_of(client))) + 1).astype(int)
            self.lengths, count = np.diff(ends).tolist(), len(ends) - 1
            X = _split(X, self.lengths)
            y, weight = here(client, y, "y", limit), here(client, weight, "sample_weight", limit)
        self._rows = _delayed(X)
        self._others = [None if v is None else _delayed(self._aligned(v, name, count))
                        for v, name in ((y, "y"), (weight, "sample_weight"))]  # fmt: skip

    def __len__(self) -> int:
        return len(self._rows)

    def _counted(self, rows: list[Any]) -> list[int]:
        """Load the rows, keep them, and return their lengths."""
        kept = self._kept = self.client.compute(rows)

        def again(numbers: list[int]) -> list[Any]:
            for i in numbers:
                if is_gone(kept[i]):
                    kept[i] = self.client.compute(rows[i])
            return [kept[i] for i in numbers]

        with Cluster(self.client, again, len(kept), PARTITION, self._limit) as loaded:
            return loaded.ask([Call(i, _length) for i in range(len(kept))])

    def _aligned(self, values: Any, name: str, count: int) -> Any:
        """Return a column divided as the rows are, as a collection or as arrays; ``count``: the partitions."""
        if not is_collection(values):
            if not values.shape:  # one weight for all
                return [values] * count
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
                f"X has {count} partitions and {name} has {values.npartitions}, and Dask does not know all their "
                "lengths. Both need the same partitions, or known lengths: compute_chunk_sizes() of arrays, "
                "to_dask_array(lengths=True) of frames."
            )
        return values

    def futures(self, numbers: list[int]) -> list[tuple[Any, ...]]:
        """Return rows, targets and weights of some partitions on the cluster; one graph computes all delayed ones."""
        from dask.delayed import Delayed

        columns = [self._rows if self._kept is None else self._kept, *self._others]
        found = [[None if column is None else column[i] for column in columns] for i in numbers]
        scatter = partial(scattered, self.client, limit=self._limit)
        for kind, move in ((Delayed, self.client.compute), (object, scatter)):
            open_ones = [(row, k) for row in found for k, one in enumerate(row) if _waits(one, kind)]
            if open_ones:
                for (row, k), future in zip(open_ones, move([row[k] for row, k in open_ones]), strict=True):
                    row[k] = future
        return [tuple(row) for row in found]

    def release(self) -> None:
        """Give back the rows that were kept; if they are asked for again, they are loaded again."""
        self._kept = None


def _waits(one: Any, kind: type) -> bool:
    """Return whether a part of a training set is of this kind, and not on the cluster yet."""
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
    """Return X with chunks by rows only, checked to have two dimensions."""
    refuse_others(X, "X")
    given, X = X, X if hasattr(X, "shape") else np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(
            f"Expected 2D array, got {_dimensions(given, X)} instead. Reshape X to (n_samples, n_features); to_frame() "
            "of a series makes one column."
        )
    if is_array(X) and X.numblocks[1] > 1:
        if np.isnan(X.shape[1]):
            raise ValueError("X has chunks of columns, and Dask does not know how many. Make their lengths known.")
        return X.rechunk({1: X.shape[1]})
    as_numbers(X._meta if is_frame(X) else X if hasattr(X, "iloc") else None)
    return X


def _dimensions(given: Any, values: Any) -> str:
    many = len(values.shape)
    return f"{many}D {type(given).__name__}" if many else quoted(given)


def _column(values: Any, name: str) -> Any:
    """Return targets or weights, checked to be one column, or a single weight for all rows."""
    refuse_others(values, name)
    given, values = values, values if hasattr(values, "iloc") or is_collection(values) else np.asarray(values)
    shape = tuple(values.shape)
    one = name == "sample_weight" and not shape and values.dtype.kind in "biuf" and not is_collection(values)
    if not one and (len(shape) not in (1, 2) or (len(shape) == 2 and shape[1] != 1)):
        got = _dimensions(given, values)
        raise ValueError(f"{name} must have one dimension, with a value for each row of X. Got {got}.")
    return values


def _lengths(X: Any) -> list[int] | None:
    if not is_array(X) or any(np.isnan(n) for n in X.chunks[0]):
        return None
    return [int(n) for n in X.chunks[0]]


def _delayed(X: Any) -> list[Any]:
    """Return the partitions of a collection; arrays in memory are divided already."""
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


PARTITION = "Partition"  # The word for a partition in errors.
LARGE_MODEL = 1 << 20  # Bytes of a model above which it goes to the workers once, not with every graph of predictions.


def lazily(client: Any, method: str, model: Any, X: Any) -> Any:
    """Return the predictions for a Dask array or frame: an array with its chunks, or a series with its index.

    Predictions for two rows tell their type.

    client : the client that the user gave, or None; a small model needs none
    """
    X = _in_rows(X)
    two = _two_rows(X, model.n_features_in_)
    like = _framed(getattr(model, method)(two), two)[:0]
    shipped, predicted = _shipped(client, model), partial(_predicted, method=method, like=like)
    if is_frame(X):
        return X.map_partitions(predicted, shipped, meta=like)
    shape: dict[str, Any] = {"drop_axis": 1} if like.ndim == 1 else {"chunks": (X.chunks[0], (like.shape[1],))}
    return X.map_blocks(predicted, shipped, dtype=like.dtype, meta=like, **shape)


def _two_rows(X: Any, features: int) -> Any:
    """Return two rows like those of a collection."""
    if is_frame(X):
        import pandas as pd

        return pd.DataFrame(np.ones((2, len(X.columns)), _dtype(X)), X._meta_nonempty.index, X.columns)
    rows = np.ones((2, features if np.isnan(X.shape[1]) else X.shape[1]), X.dtype)
    return sparse.csr_matrix(rows) if sparse.issparse(X._meta) else rows


class _Shipped:
    """A model on its way. A worker that gets it imports this package first, see ``__init__``."""

    def __init__(self, model: Any) -> None:
        self.model = model


def _shipped(client: Any, model: Any) -> Any:
    """Return the delayed value of a model for a graph."""
    from dask.delayed import delayed
    from distributed import fire_and_forget

    shipped = _Shipped(model)
    if sum(part.nbytes for part in (*parts_of(model.support_vectors_), *parts_of(model.dual_coef_))) <= LARGE_MODEL:
        return delayed(shipped, pure=False)
    try:
        found = client_of(client)
    except ValueError:  # without a client, this process computes the graph
        return delayed(shipped, pure=False)
    there = scattered(found, shipped)
    for worker in workers_of(found):  # copies outlive the worker that got the model
        fire_and_forget(found.submit(type, there, workers=[worker], allow_other_workers=True, pure=False))
    return delayed(there, pure=False)


def _predicted(X: Any, shipped: _Shipped, method: str, like: Any) -> Any:
    """Return the predictions for a part of a collection; ``like``: the predictions for no rows."""
    if X.shape[0]:
        return _framed(getattr(shipped.model, method)(X), X)
    return like.set_axis(X.index) if hasattr(X, "iloc") else like


def _framed(found: Any, X: Any) -> Any:
    """Return predictions for rows of a frame as a series or frame with their index."""
    if not hasattr(X, "iloc"):
        return found
    import pandas as pd

    return pd.Series(found, X.index) if found.ndim == 1 else pd.DataFrame(found, X.index)
