"""The CUDA source against float64, against plain torch, and with its threads in other orders."""

import numpy as np
import pytest

from adatron.kernels import RBF, Linear, Polynomial, Sigmoid

torch = pytest.importorskip("torch", reason="needs the extra gpu")
from adatron.devices.cuda_tiles import CudaTiles, DeviceBlock, DeviceOperand  # noqa: E402
from twins.cuda_host import HostCuda  # noqa: E402
from twins.devices import needs_compiler  # noqa: E402
from twins.plain_tiles import PlainTiles  # noqa: E402

pytestmark = needs_compiler
KERNELS = [RBF(0.05), 0.5 * RBF(0.1) * Polynomial(0.1, 3, 1.0) + Linear(), Sigmoid(0.05, 0.1), Polynomial(0.2, 0, 1.0)]
UNIT = {torch.float32: 2.0**-24, torch.float64: 2.0**-53}


def samples(n, d, dtype, seed=0):
    X = np.zeros((n, -(-d // 8) * 8))
    X[:, :d] = np.random.default_rng(seed).standard_normal((n, d)) / np.sqrt(d)
    return torch.from_numpy(X).to(dtype)


def numbers(high, shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).integers(0, high, shape).astype(np.int32))


def tiles(kernel, seed=1):
    return CudaTiles(kernel, HostCuda(seed))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("d", [3, 136])
def test_values_are_within_their_proven_error(kernel, dtype, d):
    X = samples(90, d, dtype)
    made = tiles(kernel)
    operand, K = made.operand(X), torch.empty((2, 70, 45), dtype=dtype)
    rows, points = numbers(90, (2, 70)), numbers(90, (2, 45), 1)
    made.values(operand, rows, operand, points, K, 0.25)
    exact = X.double().numpy()[:, :d]
    bound = kernel.error_bound(float((exact**2).sum(axis=1).max()), d, UNIT[dtype]) + UNIT[dtype]
    for b in range(2):
        truth = kernel(exact[rows[b]], exact[points[b]]) + 0.25
        assert np.abs(K[b].double().numpy() - truth).max() <= bound + 1e-14


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("d", [8, 264])
def test_a_value_depends_on_its_pair_alone(dtype, d):
    made, X = tiles(RBF(0.3)), samples(150, d, dtype)
    operand = made.operand(X)
    K, one = torch.empty((1, 150, 150), dtype=dtype), torch.empty((1, 1, 1), dtype=dtype)
    made.values(operand, None, operand, None, K)
    assert torch.equal(K[0], K[0].T)
    assert (K[0].diagonal() == 1.0).all()
    for i, j in ((3, 149), (140, 7)):
        row, point = (torch.tensor([[number]], dtype=torch.int32) for number in (i, j))
        made.values(operand, row, operand, point, one)
        assert one[0, 0, 0] == K[0, i, j]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("d", [8, 136])
def test_sums_have_equal_bits_in_any_order_of_the_threads(dtype, d):
    X, rows, points = samples(150, d, dtype), numbers(150, (2, 140)), numbers(150, (2, 700), 1)
    weights = torch.from_numpy(np.random.default_rng(2).standard_normal((2, 700)))
    nrows, npoints = torch.tensor([140, 33], dtype=torch.int32), torch.tensor([700, 1], dtype=torch.int32)
    found = []
    for made in (tiles(RBF(0.3), 1), tiles(RBF(0.3), 2), PlainTiles(RBF(0.3))):
        out, low = torch.zeros(2, 140, dtype=torch.float64), torch.zeros(2, 140, dtype=torch.float64)
        operand = made.operand(X)
        made.sums(out, low, operand, rows, nrows, operand, points, weights, npoints)
        assert (out[1, 33:] == 0.0).all()
        found.append(out + low)
    assert torch.equal(found[0], found[1])
    assert (found[0] - found[2]).abs().max() <= (1e-4 if dtype == torch.float32 else 1e-12)


def test_products_with_weights():
    K = torch.from_numpy(np.random.default_rng(0).standard_normal((100, 70)))
    W = torch.from_numpy(np.random.default_rng(1).standard_normal((70, 21)))
    out = torch.ones((100, 21), dtype=torch.float64)
    tiles(RBF(1.0)).weigh(out, K, W)
    assert (out - 1.0 - K @ W).abs().max() < 1e-12


def block(q, groups, epsilon, signed, dtype, lambda2=0.0):
    """Return blocks of three programs, the second of which is not active."""
    rng, B, N = np.random.default_rng(q), 3, q + 40
    X = rng.standard_normal((N, 5))
    K = RBF(0.2)(X) + lambda2
    t = rng.standard_normal((B, N)) if epsilon else np.where(rng.random((B, N)) < 0.5, 1.0, -1.0)
    bounds = (np.full((B, N), -2.0), np.full((B, N), 2.0)) if epsilon else (np.minimum(2 * t, 0), np.maximum(2 * t, 0))
    places = np.stack([rng.permutation(N)[:q] for _ in range(B)])
    valid = (rng.random((B, q)) < 0.9).astype(np.uint8)
    sign = np.where(rng.random((B, N)) < 0.5, 1, -1).astype(np.int8) if signed else None
    group = (rng.random((B, N)) < 0.5).astype(np.int8) if groups == 2 else None
    given = torch.from_numpy
    matrices = given(np.stack([K[np.ix_(p, p)] for p in places])).to(dtype)
    ints = [torch.full((B,), number, dtype=torch.int32) for number in (3000, -1, -1)]
    return DeviceBlock(
        matrices, given(places), given(valid), torch.zeros((B, N), dtype=torch.float64), given(-t), *map(given, bounds),
        None if sign is None else given(sign), None if group is None else given(group),
        given(np.tile(np.arange(N, dtype=np.int32), (B, 1))), torch.full((B,), 1e-3, dtype=torch.float64),
        torch.tensor([1, 0, 1], dtype=torch.int32), ints[0], torch.zeros((B, q), dtype=torch.int32),
        torch.full((B, q), np.nan, dtype=torch.float64), *ints[1:], epsilon, groups,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("q", [64, 256])
@pytest.mark.parametrize(
    ("groups", "epsilon", "signed", "lambda2"),
    [(1, 0.0, False, 0.0), (1, 0.1, False, 0.0), (0, 0.0, False, 0.0), (0, 0.1, False, 4.0), (2, 0.0, False, 0.0),
     (1, 0.0, True, 0.0)],
)  # fmt: skip
def test_blocks_are_solved_step_by_step_as_in_numpy(dtype, q, groups, epsilon, signed, lambda2):
    found = []
    for made in (PlainTiles(RBF(0.2)), tiles(RBF(0.2), 1), tiles(RBF(0.2), 2)):
        some = block(q, groups, epsilon, signed, dtype, lambda2)
        made.ascend(some)
        found.append(some)
    for other in found[1:]:
        for name in ("beta", "changes", "counts", "steps"):
            assert torch.equal(getattr(other, name), getattr(found[0], name)), name
    one = found[1]
    assert one.steps[1] == 0
    assert (one.steps[[0, 2]] < 3000).all()
    for b in (0, 2):
        count = int(one.counts[b])
        assert (one.beta[b, one.points[b, :count].long()] == one.changes[b, :count]).all()
        assert (one.changes[b, count:] == 0.0).all()
        part = one.beta[b] if one.sign is None else one.sign[b] * one.beta[b]
        for r in range(groups):
            own = part if one.group is None else part[one.group[b] == r]
            assert abs(float(own.sum())) < 1e-12


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("groups", [0, 1, 2])
def test_values_that_are_not_numbers_end_a_block(dtype, groups):
    made, some = tiles(RBF(0.2)), block(64, groups, 0.0, False, dtype)
    some.K[:] = float("nan")
    some.g[0, ::2] = float("nan")
    made.ascend(some)
    assert (some.steps <= 3000).all()
    assert ((some.points >= 0) & (some.points < 104)).all()


def test_compiling_ahead_takes_all_that_is_launched():
    class Compiler:
        def __init__(self):
            self.functions = []

        def compiled(self, source, functions):
            self.functions.append((source.splitlines()[0], *functions))
            return self

    engine = Compiler()
    CudaTiles(RBF(0.2), engine).compile()
    assert {head for head, *_ in engine.functions} == {"#define REAL float", "#define REAL double"}
    names = {name for _, *found in engine.functions for name in found}
    assert {"norms", "values_short", "sums_long", "fold", "weighed", "ascend_512_4"} <= names
    assert len(engine.functions) == 4


def test_the_rows_of_a_launch_are_limited():
    class Endless:
        shape, dtype = (70000, 8, 8), torch.float32

        def stride(self, _):
            return 8

    X = samples(8, 8, torch.float32)
    with pytest.raises(ValueError, match="Too many problems"):
        tiles(RBF(1.0)).values(DeviceOperand(X, X[:, 0]), None, DeviceOperand(X, X[:, 0]), None, Endless())
