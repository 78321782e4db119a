"""Kernels: values, derivatives, proven rounding errors, compiled maps, descriptions, refusals.

Also tested here: ``base``, ``compose``, ``derivatives``, ``exponential``, ``function``, ``given``, ``laplacian``,
``linear``, ``polynomial``, ``precomputed``, ``rbf``, ``sigmoid`` and ``table``.
"""

from __future__ import annotations

import json
import math
import pickle
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.sparse import csr_array, csr_matrix
from sklearn.metrics import pairwise

from adatron import SVC, SVR, IncrementalSVC, NuSVC, OneClassSVM
from adatron.compiled.search import CHUNK
from adatron.files import load, save
from adatron.kernels import (
    ADD,
    KERNELS,
    MULTIPLY,
    RBF,
    SCALE,
    Function,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Product,
    Scaled,
    Sigmoid,
    Sum,
    from_spec,
    resolve,
)
from adatron.kernels.sigmoid import sigmoid_map
from adatron.kernels.table import LEAVES
from machines import values

SINGLE: list[Kernel] = [
    RBF(0.3),
    RBF(0.0),
    Linear(),
    Polynomial(0.5, 3, 1.0),
    Polynomial(0.7, 2, 0.0),
    Polynomial(1.5, 1, -0.5),
    Polynomial(1.0, 0, 0.0),
    Polynomial(0.2, 11, 0.4),
    Sigmoid(0.2, -0.1),
    Laplacian(0.4),
]
TREES: list[Kernel] = [
    RBF(0.3) + 0.5 * Linear(),
    RBF(0.3) * Polynomial(0.5, 2, 1.0) * 0.1,
    (Linear() + RBF(1.0)) * (Sigmoid(0.1, 0.2) + 2 * Polynomial(0.3, 3, 0.1)),
    Laplacian(0.2) * RBF(0.1) + Linear(),
]
ALL = SINGLE + TREES
SMOOTH = [k for k in ALL if k.differentiable]
UNIT = {np.float32: 2.0**-24, np.float64: 2.0**-53}


def points(seed: int, n: int, d: int, scale: float = 1.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(scale=scale, size=(n, d))


def run_program(kernel: Kernel, X: np.ndarray, Z: np.ndarray, dtype: type) -> np.ndarray:
    """The kernel's postfix program as compiled tiles run it: products summed in order, then maps and operators."""
    X, Z, columns = X.astype(dtype), Z.astype(dtype), len(Z)
    Z = np.concatenate([Z, np.zeros((-columns % CHUNK, Z.shape[1]), dtype)])  # tiles are this wide
    dot, l1 = np.zeros((len(X), len(Z)), dtype), np.zeros((len(X), len(Z)), dtype)
    own = [np.zeros(len(P), dtype) for P in (X, Z)]
    for k in range(X.shape[1]):
        dot += np.outer(X[:, k], Z[:, k])
        l1 += abs(X[:, k, None] - Z[None, :, k])
        own = [sums + P[:, k] * P[:, k] for sums, P in zip(own, (X, Z), strict=True)]
    stack: list[np.ndarray] = []
    for op, parameters in kernel.terms():
        if op == SCALE:
            stack[-1] = stack[-1] * dtype(parameters[0])
        elif op in (ADD, MULTIPLY):
            right, left = stack.pop(), stack.pop()
            stack.append(left + right if op == ADD else left * right)
        else:
            _, leaf, leaf_map = KERNELS[op]
            stack.append((dot if leaf.product == "dot" else l1).copy())
            leaf_map(stack[-1], *own, *parameters)
    (tile,) = stack
    assert tile.dtype == dtype
    return tile[:, :columns]


# --- values


@pytest.mark.parametrize(
    ("kernel", "reference"),
    [
        (RBF(0.3), lambda X, Z: pairwise.rbf_kernel(X, Z, gamma=0.3)),
        (Linear(), pairwise.linear_kernel),
        (Polynomial(0.5, 3, 1.0), lambda X, Z: pairwise.polynomial_kernel(X, Z, degree=3, gamma=0.5, coef0=1)),
        (Sigmoid(0.2, -1.0), lambda X, Z: pairwise.sigmoid_kernel(X, Z, gamma=0.2, coef0=-1)),
        (Laplacian(0.4), lambda X, Z: pairwise.laplacian_kernel(X, Z, gamma=0.4)),
    ],
)
def test_values_agree_with_scikit_learn(kernel: Kernel, reference: Any) -> None:
    X, Z = points(0, 7, 4), points(1, 5, 4)
    np.testing.assert_allclose(kernel(X, Z), reference(X, Z), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel(X), reference(X, X), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernel", ALL, ids=str)
@pytest.mark.parametrize("to_sparse", [csr_array, csr_matrix])
def test_sparse_operands_give_the_dense_values(kernel: Kernel, to_sparse: Any) -> None:
    X, Z = points(0, 7, 6), points(1, 5, 6)
    X[abs(X) < 0.8] = 0.0
    Z[abs(Z) < 0.8] = 0.0
    for left, right in ((to_sparse(X), to_sparse(Z)), (to_sparse(X), Z), (X, to_sparse(Z))):
        np.testing.assert_allclose(kernel(left, right), kernel(X, Z), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernel", ALL, ids=str)
def test_diagonal_magnitude_and_symmetry(kernel: Kernel) -> None:
    X = points(2, 40, 3, 2.0)
    K, norms = kernel(X), (X * X).sum(axis=1)
    np.testing.assert_allclose(kernel.diagonal(norms), np.diag(K), rtol=1e-12)
    np.testing.assert_allclose(K, K.T, rtol=1e-12)
    assert abs(K).max() <= kernel.magnitude(norms.max()) * (1 + 1e-12)
    assert kernel.cost(10.0) >= kernel.cost(1.0) > 0


@pytest.mark.parametrize("kernel", ALL, ids=str)
def test_stationary_kernels_do_not_see_a_shift(kernel: Kernel) -> None:
    X, shift = points(3, 10, 3), np.array([3.0, -2.0, 1.0])
    assert np.allclose(kernel(X + shift), kernel(X)) == (kernel.stationary or kernel == Polynomial(1.0, 0, 0.0))


def test_sums_and_products_are_positive_semidefinite() -> None:
    X = points(4, 30, 2)
    parts: list[Kernel] = [RBF(0.7), Linear(), Polynomial(0.5, 2, 1.0), Laplacian(0.3)]
    for left in parts:
        for right in parts:
            for kernel in (left + right, left * right, 0.3 * left * right + right):
                values = np.linalg.eigvalsh(kernel(X))
                assert values[0] >= -1e-12 * values[-1]


# --- derivatives


@pytest.mark.parametrize("kernel", SMOOTH, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_derivatives_agree_with_central_differences(kernel: Kernel, seed: int) -> None:
    d, h = 3, 1e-5
    x, Z = points(seed, 1, d)[0], points(seed + 100, 6, d)
    z, steps = Z[0], h * np.eye(d)
    gradient = np.stack([(kernel((x + s)[None], Z) - kernel((x - s)[None], Z))[0] / (2 * h) for s in steps], axis=1)
    size = 1.0 + abs(gradient).max()
    np.testing.assert_allclose(kernel.gradient(x, Z), gradient, atol=1e-8 * size)
    cross = np.stack(
        [(kernel.gradient(x, (z + s)[None]) - kernel.gradient(x, (z - s)[None]))[0] / (2 * h) for s in steps], axis=1
    )
    np.testing.assert_allclose(kernel.cross_derivative(x, z), cross, atol=1e-8 * (1.0 + abs(cross).max()))


@pytest.mark.parametrize("kernel", SMOOTH, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_images_are_no_farther_apart_than_the_bound(kernel: Kernel, seed: int) -> None:
    """‖φ(x) - φ(x')‖² = k(x, x) + k(x', x') - 2 k(x, x'), on and inside the sphere around x."""
    rng = np.random.default_rng(seed)
    X, way, radius = points(seed, 60, 3), rng.normal(size=(60, 3)), np.exp(rng.normal(size=60))
    inside = radius * rng.random(60) ** 0.2
    other = X + (inside / np.linalg.norm(way, axis=1))[:, None] * way
    squared = np.diagonal(kernel(X)) + np.diagonal(kernel(other)) - 2.0 * np.diagonal(kernel(X, other))
    norms = np.linalg.norm(X, axis=1)
    bound = kernel.apart(norms, radius)
    assert (np.sqrt(np.maximum(squared, 0.0)) <= bound * (1 + 1e-9) + 1e-7).all()
    assert (kernel.apart(norms, 1.1 * radius) >= bound).all()
    assert (kernel.apart(norms + 0.1, radius) >= bound).all()


@pytest.mark.parametrize("kernel", SMOOTH, ids=str)
def test_no_slope_is_steeper_than_the_bound(kernel: Kernel) -> None:
    Z = points(0, 20, 3)
    bound = kernel.steepness(np.linalg.norm(Z, axis=1))
    for x in points(1, 50, 3, scale=2.0):
        assert (np.linalg.norm(kernel.gradient(x, Z), axis=1) <= bound * (1 + 1e-12) + 1e-12).all()


# --- compiled maps and their rounding errors


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ALL, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled_maps_stay_within_the_proven_error(kernel: Kernel, dtype: Any) -> None:
    """Float32 draws test the bound of each pair; in float64 the reference rounds too: its share is allowed for."""
    sharpest = 0.0
    for seed in range(30):
        d, scale = (1, 2, 7, 40)[seed % 4], (0.01, 0.3, 1.0, 4.0, 30.0)[seed % 5]
        X = points(seed, 12, d, scale)
        Z = X[:8] + (points(seed + 1, 8, d, 0.1 * scale) if seed % 2 else 0.0)
        means = 0.5 * np.add.outer((X * X).sum(axis=1), (Z * Z).sum(axis=1))
        bounds = np.vectorize(lambda mean, d=d: kernel.error_bound(mean, d, UNIT[dtype]))(means)
        if not np.isfinite(bounds).all():
            continue
        errors = abs(run_program(kernel, X, Z, dtype).astype(np.float64) - kernel(X, Z))
        twins = 0.0 if dtype is np.float32 else bounds
        assert (errors <= bounds + twins).all()
        relative, absolute = np.vectorize(lambda mean, d=d: kernel.error_parts(mean, d, UNIT[dtype]))(means)
        assert (errors <= relative * abs(kernel(X, Z)) + absolute + twins).all()
        assert (kernel(X, Z)[relative > 0.0] >= 0.0).all()
        sharpest = max(sharpest, np.max(errors / bounds) if bounds.all() else 0.0)
    constant = kernel in (RBF(0.0), Polynomial(1.0, 0, 0.0))
    assert constant or dtype is np.float64 or sharpest > 1e-3  # a bound that nothing comes near would only waste work


def test_rbf_bound_also_holds_for_true_values_in_long_double() -> None:
    kernel = RBF(0.3)
    for seed in range(10):
        X = points(seed, 20, 10, 3.0)
        exact = np.exp(
            -np.longdouble(0.3) * (np.subtract.outer(X, X).diagonal(0, 1, 3) ** 2).sum(axis=-1, dtype=np.longdouble)
        )
        error = abs(run_program(kernel, X, X, np.float64) - exact).max()
        assert error <= kernel.error_bound((X * X).sum(axis=1).max(), 10, 2.0**-53)


@pytest.mark.parametrize("kernel", ALL, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_maps_are_symmetric_to_the_bit(kernel: Kernel, dtype: Any) -> None:
    X = points(5, 67, 5, 3.0)
    K = run_program(kernel, X, X, dtype)
    np.testing.assert_array_equal(K, K.T)
    if isinstance(kernel, RBF | Laplacian):
        np.testing.assert_array_equal(np.diag(K), 1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sigmoid_map_neither_overflows_nor_loses_its_sign(dtype: Any) -> None:
    tile = np.zeros((1, CHUNK), dtype)
    tile[0, :8] = [-1e30, -50.0, -1.0, -1e-3, 1e-3, 1.0, 50.0, 1e30]
    expected = np.tanh(tile.astype(np.float64))
    sigmoid_map(tile, np.zeros(1, dtype), np.zeros(CHUNK, dtype), 1.0, 0.0, 0.0)
    np.testing.assert_allclose(tile, expected, atol=8 * UNIT[dtype])
    np.testing.assert_array_equal(np.sign(tile), np.sign(expected))


@pytest.mark.parametrize("kernel", ALL, ids=str)
def test_error_bound_is_infinite_where_nothing_is_proven(kernel: Kernel) -> None:
    assert kernel.error_bound(1e37, 10, 2.0**-24) == kernel.error_parts(1e37, 10, 2.0**-24)[1] == math.inf
    if not isinstance(kernel, Polynomial) or kernel.degree:
        bounds = [kernel.error_bound(s, d, 2.0**-24) for s, d in ((1.0, 10), (1.0, 100), (4.0, 100))]
        assert bounds == sorted(bounds)
    assert kernel.error_bound(1.0, 10, 2.0**-53) < 1e-8 * max(kernel.error_bound(1.0, 10, 2.0**-24), 1e-30)
    if isinstance(kernel, Linear):
        assert kernel.error_bound(1.0, 2**24, 2.0**-24) == math.inf


# --- descriptions


@pytest.mark.parametrize("kernel", [*ALL, Precomputed()], ids=str)
def test_spec_and_pickle_round_trip(kernel: Kernel) -> None:
    assert from_spec(json.loads(json.dumps(kernel.spec()))) == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel  # noqa: S301
    assert hash(kernel) == hash(from_spec(kernel.spec()))


def test_functions_and_precomputed_matrices() -> None:
    X, Z = points(0, 6, 3), points(1, 4, 3)
    kernel = Function(pairwise.rbf_kernel)
    assert not kernel.compiled
    assert kernel.terms() == []
    np.testing.assert_array_equal(kernel(X, Z), pairwise.rbf_kernel(X, Z))
    np.testing.assert_array_equal(kernel(csr_array(X)), pairwise.rbf_kernel(csr_array(X)))
    np.testing.assert_array_equal(Precomputed()(X), X)
    assert Precomputed().error_bound(5.0, 1, 2.0**-24) >= 5.0 * 2.0**-24
    for given in (kernel, Precomputed()):
        for combine in (lambda k: k + RBF(), lambda k: RBF() * k, lambda k: 0.5 * k):
            with pytest.raises(TypeError, match="cannot be combined"):
                combine(given)


def test_operators() -> None:
    assert RBF() + Linear() == Sum(RBF(), Linear())
    assert RBF() * Linear() == Product(RBF(), Linear())
    assert 2 * RBF() == RBF() * 2.0 == np.float64(2) * RBF() == Scaled(2.0, RBF())
    assert (RBF() + Laplacian()).stationary
    assert not (RBF() + Linear()).stationary


def test_parameters_become_plain_numbers() -> None:
    kernel = Polynomial(np.float32(0.5), np.int64(2), 1)  # pyright: ignore[reportArgumentType]
    assert [type(v) for v in (kernel.gamma, kernel.degree, kernel.coef0)] == [float, int, float]
    with pytest.raises(AttributeError):
        kernel.gamma = 1.0  # pyright: ignore[reportAttributeAccessIssue]


def test_programs_are_postfix() -> None:
    assert (0.5 * RBF(0.1) + Linear()).terms() == [
        (RBF.op, (0.1, 0.0, 0.0)),
        (SCALE, (0.5, 0.0, 0.0)),
        (Linear.op, (0.0, 0.0, 0.0)),
        (ADD, (0.0, 0.0, 0.0)),
    ]
    assert [leaf.op for _, leaf, _ in KERNELS] == list(range(len(KERNELS)))


def test_resolve() -> None:
    assert resolve("rbf", 0.2, 3, 0.0) == RBF(0.2)
    assert resolve("poly", 0.2, 4, 1.0) == Polynomial(0.2, 4, 1.0)
    assert resolve("sigmoid", 0.2, 3, 1.0) == Sigmoid(0.2, 1.0)
    assert resolve("linear", 0.2, 3, 1.0) == Linear()
    kernel = RBF(0.1) + Linear()
    assert resolve(kernel, 0.2, 3, 0.0) is kernel
    assert resolve(pairwise.rbf_kernel, 0.2, 3, 0.0) == Function(pairwise.rbf_kernel)
    for unknown in ("gaussian", 3, None):
        with pytest.raises(ValueError, match="The 'kernel' parameter must be a str among"):
            resolve(unknown, 0.2, 3, 0.0)
    with pytest.raises(ValueError, match="'kernel' among"):
        from_spec({"kernel": "gaussian"})


def test_names_of_kernels_that_are_not_for_users_are_unknown() -> None:
    own = [name for name, _, _ in KERNELS if name.startswith("_")]
    assert own
    for name in own:
        assert name not in LEAVES
        with pytest.raises(ValueError, match="The 'kernel' parameter must be a str among"):
            resolve(name, 0.2, 3, 0.0)


@dataclass(frozen=True)
class Unlisted(RBF):
    """A formula that nobody added to the table."""

    op = -1


def test_a_formula_that_is_not_in_the_table_is_refused() -> None:
    X = np.random.default_rng(0).normal(size=(12, 2))
    with pytest.raises(ValueError, match=r"compiled only if KERNELS of kernels/table.py has a line for it"):
        SVC(kernel=Unlisted(0.5)).fit(X, X[:, 0] > 0)


MOST = 2**31 - 1
N, WORDS = 120, 12


def words(index=np.int32):
    """The same samples with their used columns only, and among as many columns as there may be."""
    rng = np.random.default_rng(14)
    vocabulary = np.unique(np.concatenate([[0, MOST - 1], rng.integers(0, MOST, 900)]))
    spoken = np.sort([rng.choice(len(vocabulary), WORDS, replace=False) for _ in range(N)], axis=1)
    values, ends = rng.random(N * WORDS) + 0.5, np.arange(N + 1, dtype=index) * WORDS
    y = ((spoken % 2).sum(axis=1) > WORDS / 2).astype(int)
    few = sparse.csr_matrix((values, spoken.ravel(), ends), (N, len(vocabulary)))
    many = sparse.csr_matrix((N, MOST))
    many.data, many.indices, many.indptr = values, vocabulary[spoken.ravel()].astype(index), ends
    return few, many, y, vocabulary


MACHINES = {
    **{kernel: lambda kernel=kernel: SVC(kernel=kernel, gamma=0.05, tol=1e-6)
       for kernel in ("rbf", "linear", "poly", "sigmoid", "laplacian")},
    "scale": lambda: SVC(gamma="scale"),
    "NuSVC": lambda: NuSVC(nu=0.3, gamma=0.05, tol=1e-6),
    "SVR": lambda: SVR(gamma=0.05, tol=1e-6),
    "OneClassSVM": lambda: OneClassSVM(gamma=0.05, tol=1e-6),
    "IncrementalSVC": lambda: IncrementalSVC(gamma=0.05),
    "probability": lambda: SVC(gamma=0.05, tol=1e-6, probability=True),
}  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of the memory in kilobytes")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("machine", MACHINES)
def test_a_machine_of_hashed_words_is_that_of_the_used_columns(machine, index, tmp_path):
    import resource  # other systems have none

    few, many, y, _ = words(index)
    wanted = MACHINES[machine]().fit(few, y)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = MACHINES[machine]().fit(many, y)
    if machine == "scale":
        variance = np.square(many.data).sum() / (N * MOST) - (many.data.sum() / (N * MOST)) ** 2
        assert found.kernel_.gamma == pytest.approx(1 / (MOST * variance))
    else:
        assert_allclose(values(found, many), values(wanted, few), atol=1e-4)
    if machine != "IncrementalSVC":
        assert values(found.compact(), many).shape == values(found, many).shape
    save(found, tmp_path / "m.adatron")
    assert_array_equal(values(load(tmp_path / "m.adatron"), many[:9]), values(found, many[:9]))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


def test_new_rows_may_use_other_columns():
    _, many, y, vocabulary = words()
    model = SVC(gamma=0.05, tol=1e-6).fit(many, y)
    for step in (-1, 1):
        moved = many[:30].copy()
        some = step * (np.arange(moved.nnz) % 3 == 0)
        moved.indices = np.clip(moved.indices.astype(np.int64) + some, 0, MOST - 1)
        moved = sparse.csr_matrix((moved.data, moved.indices.astype(np.int32), moved.indptr), moved.shape)
        moved.sum_duplicates()
        both = np.unique(np.concatenate([vocabulary, moved.indices]))
        narrow = [sparse.csr_matrix((X.data, np.searchsorted(both, X.indices), X.indptr), (X.shape[0], len(both)))
                  for X in (many, moved)]  # fmt: skip
        twin = SVC(gamma=0.05, tol=1e-6).fit(narrow[0], y)
        assert_allclose(model.decision_function(moved), twin.decision_function(narrow[1]), atol=1e-4)


@pytest.mark.parametrize("kernel", [RBF(0.1), Linear(), Polynomial(0.1, 3, 1.0), Laplacian(0.1), RBF(0.1) + Linear()])
def test_kernel_objects_take_such_rows(kernel):
    few, many, _, _ = words()
    assert_allclose(kernel(many[:5], many[5:9]), kernel(few[:5], few[5:9]), rtol=1e-12)


def test_weights_of_features_are_sparse():
    few, many, y, vocabulary = words()
    found, wanted = (SVC(kernel="linear", tol=1e-8).fit(X, y).coef_ for X in (many, few))
    assert found.shape == (1, MOST)
    assert_array_equal(found.indices, vocabulary[wanted.indices])
    assert_allclose(found.data, wanted.data, atol=1e-5)
