"""Compile everything once, for containers and read-only installs, and parts ahead, see ``compiled.cache.processes``."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib.util import find_spec
from itertools import product
from threading import Thread
from typing import TYPE_CHECKING
from warnings import catch_warnings

import numpy as np

if TYPE_CHECKING:
    from .problems import Bias


def compiled_functions() -> int:
    """Return how many functions are compiled on the disk, each counted once for every type of its arguments.

    They are those of the cache folder, and those that came with the package.
    """
    from .compiled.cache.folder import cache_folder
    from .compiled.cache.kept import functions_in
    from .compiled.cache.precompiled import precompiled_folder

    return functions_in(cache_folder()) + functions_in(precompiled_folder())


def warmup() -> None:
    """Compile all that is otherwise compiled by the first fits, and keep it in the cache folder.

    It runs small fits and predictions in both precisions, dense and sparse, through each compiled loop. Later
    processes load the machine code from the cache (``ADATRON_CACHE_DIR``, else the user's cache folder). A warm-up
    takes one to two minutes on two idle cores, and longer on a busy machine.

    Examples
    --------
    >>> import adatron
    >>> adatron.warmup()  # doctest: +SKIP
    """
    from scipy import sparse

    from .compiled.cholesky import invert_factor
    from .estimators import SVC
    from .estimators.incremental import IncrementalNuSVC, IncrementalOneClassSVM, IncrementalSVC, IncrementalSVR
    from .selection import GridSearchCV

    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 3))  # more rows than a small problem has, so the tiles are float32
    y = (X[:, 0] > 0.1 * X[:, 1]).astype(int)
    many = rng.normal(size=(2400, 3))
    full = rng.normal(size=(2400, 60))  # CSR rows of few columns are made dense
    thin = sparse.csr_matrix(np.where(np.abs(full) > 1.6, full, 0.0))
    wide = sparse.csr_matrix(np.tile(X[:50], 700))  # few rows, but too many columns to be made dense
    for dtype in (np.float64, np.float32):
        tiles(dtype)
        kernels(dtype)
        classes(dtype)
        for data in (X.astype(dtype), thin[:1200].astype(dtype)):
            SVC(kernel="linear").fit(data, y).predict(data[:2])
            for rows in (slice(None), slice(0, 50)):
                for bias in ("explicit", "none"):
                    SVC(bias=bias).fit(data[rows], y[rows]).predict(data[:2])
        with catch_warnings(action="ignore"):  # two iterations are too few to converge
            for rows, solver in product((slice(None), slice(0, 50)), ("kernel_adatron", "isda")):
                SVC(solver=solver, max_iter=2).fit(X[rows].astype(dtype), y[rows])
        values = (X @ X.T).astype(dtype)
        SVC(kernel="precomputed").fit(values, y).predict(values[:2])
        SVC(kernel="precomputed").fit(values[:50, :50], np.arange(50) % 3)
        SVC().fit(wide.astype(dtype), y[:50])
        for data, bias in product((X[:50], wide), ("explicit", "none")):
            SVC(bias=bias).fit(data.astype(dtype), np.arange(50) % 5)  # many small problems
        for data in (many, thin):
            SVC().fit(data.astype(dtype), np.searchsorted([-0.7, 0.0, 0.7], many[:, 0]))  # pairs of 1,200
    with catch_warnings(action="ignore"):
        SVC(solver="smo", max_iter=2).fit(X[:50], y[:50])
    for data, labels in ((X[:50], y[:50]), (X[:50], np.arange(50) % 3), (wide, np.arange(50) % 3)):
        GridSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=2).fit(data, labels)
    for model in (IncrementalSVC(), IncrementalNuSVC(), IncrementalSVR(), IncrementalOneClassSVM()):
        model.fit(X[:40], y[:40]).partial_fit(X[40:50], y[40:50]).forget([0])
    IncrementalSVC().fit(X[:40], y[:40]).set_C(2.0)
    invert_factor(np.eye(2), 0.0)  # otherwise compiled only for a large C
    walk()
    devices()


def kernels(dtype: type) -> None:
    """Compile all kernels and their sums, products and multiples, for dense and sparse rows."""
    from .compiled.panels import Dense, Sparse
    from .gram.backends.tile_loop import instruction
    from .kernels import ADD, KERNELS, MULTIPLY, SCALE

    for kind in (Dense, Sparse):
        for op in (*range(len(KERNELS)), ADD, MULTIPLY, SCALE):
            instruction(op, kind, np.dtype(dtype))


def tiles(dtype: type) -> None:
    """Compile the tile loops in one precision, and the code that keeps kernel matrices symmetric."""
    from .compiled.submatrix import reflect, transpose
    from .gram import Gram, Source, View
    from .kernels import RBF
    from .threads import Pool

    with Pool(1) as pool:
        view = View.of(Gram(Source.of(np.eye(2), np.arange(2), RBF()), dtype, [2], pool))
        view.accumulate(np.zeros((2, 1)), view.points(np.arange(2)), np.ones((2, 1)))
        view.gram.square(view.points(np.arange(2)), 2)
    reflect(np.eye(2, dtype=dtype), np.zeros(1, np.int64), np.ones(1, np.int64))
    transpose(np.eye(2, dtype=dtype), 0, 1, 1, 2)


def classes(dtype: type) -> None:
    """Compile the votes of hundreds of classes, and the comparison of classes that have as many."""
    from .gram.sums import prefer, tally

    K, dual, ends, intercepts = np.eye(2, 1, dtype=dtype), np.zeros((1, 2)), np.arange(3), np.zeros(1)
    votes, sums = np.zeros((2, 2, 1))
    tally(K, dual, ends, intercepts, True, votes, sums, np.empty((0, 0)))
    prefer(K.astype(np.float64), dual, ends, intercepts, np.zeros(1, np.int64), np.empty((1, 1)))


def devices() -> None:
    """Compile the code of the common kernels for the first GPU, if there is one that torch can use."""
    if find_spec("torch") is None:
        return
    from .devices.device import resolved, unusable
    from .kernels import RBF, Linear, Polynomial, Sigmoid

    with suppress(ImportError, ValueError):  # no compiler, or too old a GPU: a fit there will say so
        device = None if unusable() else resolved("cuda")
        if device is not None:
            for kernel in (RBF(), Linear(), Polynomial(), Sigmoid()):
                device.tiles(kernel).compile()


def blocks(bias: Bias) -> None:
    """Compile the solver of blocks for a form of the bias, in both precisions."""
    from .compiled.panels import Dense
    from .problems import csvc
    from .solvers.batch.loop import parts
    from .solvers.dense import Inner, Layout

    y = np.array([1.0, -1.0])
    dual = csvc(y, np.ones(2), bias)
    layout = Layout.of(dual)
    for dtype in (np.dtype(np.float64), np.dtype(np.float32)):
        parts(Dense, dtype, bool(dual.totals))
        K = np.eye(len(layout.order), dtype=dtype)
        found = Inner(bool).solve(K, layout, dual, np.zeros(2), -y, 1e-3, 10, np.zeros(2, np.int64))
        found.product(found.beta)


def walk() -> None:
    """Compile the active set, for blocks that pairs and singles do not finish."""
    from .compiled.cholesky import rank_of
    from .problems import csvc
    from .solvers.dense import ActiveSet, Layout, unpadded

    dual = csvc(np.array([1.0, -1.0]), np.ones(2), "explicit")
    layout = Layout.of(dual)
    for dtype in (np.float32, np.float64):
        K = unpadded(np.eye(len(layout.order), dtype=dtype), layout)
        rank_of(K, 2, 1e-12)
        ActiveSet(K, dual, np.zeros(2), -dual.t, 1e-12).run(1e-3, np.inf, bool, 10)


def _end_with_parent() -> None:
    sys.stdin.read()
    TURN.end_all()
    os._exit(0)


if __name__ == "__main__":
    from .compiled.cache.processes import TURN  # numba with it: two threads that import it at once would fail

    Thread(target=_end_with_parent, daemon=True).start()
    for part in sys.argv[1:]:
        {
            "pairs": lambda: blocks("explicit"),
            "singles": lambda: blocks("none"),
            "double": lambda: tiles(np.float64),
            "single": lambda: tiles(np.float32),
            "walk": walk,
        }[part]()
