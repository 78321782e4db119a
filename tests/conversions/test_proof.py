"""Proofs of fits, checked by the program that strangers have, which shares no code with the library."""

import re
import subprocess
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from adatron import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM, QuantileSVR

FOLDER = Path(__file__).parents[2] / "verify"
SPEC = spec_from_file_location("verify", FOLDER / "verify.py")
assert SPEC is not None
assert SPEC.loader is not None
CHECKER = module_from_spec(SPEC)
SPEC.loader.exec_module(CHECKER)

RNG = np.random.default_rng(5)
X = RNG.normal(size=(30, 2))
WEIGHT = RNG.uniform(0.2, 3.0, 30) * (np.arange(30) % 9 > 0)
SIDES = np.where(X[:, 0] + 0.5 * RNG.normal(size=30) > 0, 1, -1)
CLASSES = np.digitize(X[:, 0] + 0.2 * RNG.normal(size=30), [-0.5, 0.5])
TARGETS = X[:, 0] ** 2 + 0.1 * RNG.normal(size=30)
TWICE = np.tile(np.arange(15), 2)
POLY = {"kernel": "poly", "degree": 3, "coef0": 1.0, "gamma": 0.5}
FAR = {"kernel": "linear"}

COMMON = {
    "plain": ({}, X, None),
    "weights": ({"gamma": 0.5}, X, WEIGHT),
    "poly": (POLY, X, None),
    "linear": (FAR, X + 100.0, WEIGHT),
    "rows twice": ({"gamma": 3.0}, X[TWICE], None),
    "csr": ({}, sparse.csr_matrix(X), WEIGHT),
    "float32": ({}, X.astype(np.float32), None),
    "given": ({"kernel": "precomputed"}, np.exp(-((X[:, None] - X) ** 2).sum(axis=2)), WEIGHT),
    "large": ({"gamma": 1e-6}, 1e3 * X, None),
    "small": ({"gamma": 1e6}, 1e-3 * X, WEIGHT),
    "narrow": ({"gamma": 40.0}, X, None),
    "squares": ({"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 2.0}, X, WEIGHT),
}
BIASES = {"augmented": {"bias": "augmented", "augment": 0.7}, "none": {"bias": "none"}}
MACHINES = {
    "svc": (SVC, {"C": 3.0}, SIDES, BIASES),
    "pairs": (SVC, {"class_weight": "balanced"}, CLASSES, {"rest": {"multi_class": "ovr"}}),
    "nusvc": (NuSVC, {"nu": 0.3}, SIDES, BIASES),
    "nu pairs": (NuSVC, {"nu": 0.2}, CLASSES, {"rest": {"multi_class": "ovr"}}),
    "svr": (SVR, {"C": 2.0, "epsilon": 0.05}, TARGETS, BIASES),
    "targets": (SVR, {"gap_tol": 1e-6}, np.stack([TARGETS, 1e3 * X[:, 1]], axis=1), {}),
    "nusvr": (NuSVR, {"nu": 0.4}, TARGETS, {**BIASES, "all": {"nu": 1.0}}),
    "quantile": (QuantileSVR, {"quantile": [0.1, 0.8]}, TARGETS, BIASES),
    "oneclass": (OneClassSVM, {"nu": 0.3}, SIDES, {"tight": {"nu": 0.01}}),
    "svdd": (SVDD, {"nu": 0.3}, np.ones(30), {"hard": {"C": np.inf}}),
    "negatives": (SVDD, {"C": 0.2}, np.where(np.arange(30) % 10 == 3, -1, 1), {}),
}
CASES = [
    pytest.param(machine, *COMMON["plain" if extra else how], extra, id=f"{machine} {how}")
    for machine, (_, _, _, extras) in MACHINES.items()
    for how, extra in [*((how, {}) for how in COMMON), *extras.items()]
]


def claims(text, name):
    return np.array([float.fromhex(one) for one in re.findall(rf"^{name} (\S+)$", text, re.MULTILINE)])


def agrees(text, model):
    """Check a proof, and that its claims are those of the certificate up to rounding."""
    said = CHECKER.verify(text)
    lower, upper = claims(text, "lower"), claims(text, "upper")
    assert len(said) == len(lower) == np.size(model.primal_objective_)
    near = {"rtol": 1e-4, "atol": 1e-9 * float(np.abs(upper).max())}
    np.testing.assert_allclose(upper, np.ravel(model.primal_objective_), **near)
    np.testing.assert_allclose(lower, np.ravel(model.dual_objective_), **near)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Curves of quantiles cross")
@pytest.mark.parametrize(("machine", "common", "rows", "weight", "extra"), CASES)
def test_a_true_proof_is_accepted(machine, common, rows, weight, extra):
    make, own, y, _ = MACHINES[machine]
    if rows is COMMON["rows twice"][1]:
        y = y[TWICE]
    model = make(**{**common, **own, **extra}).fit(rows, y, sample_weight=weight)
    agrees(model.proof(rows, y, weight), model)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_hard_margin(kernel):
    y = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
    model = SVC(C=np.inf, kernel=kernel, gamma=2.0, max_iter=-1).fit(X, y)
    agrees(model.proof(X, y), model)
    rough = SVC(C=np.inf, kernel=kernel, gamma=2.0, tol=1e-1, gap_tol=None).fit(X, y)
    agrees(rough.proof(X, y), rough)


def test_an_optimum_of_nothing_is_no_false_proof():
    model = OneClassSVM(kernel="linear").fit(np.zeros((20, 2)))
    assert CHECKER.verify(model.proof(np.zeros((20, 2))))


def test_several_labels():
    Y = np.stack([SIDES > 0, X[:, 1] > 0.1], axis=1).astype(int)
    model = SVC().fit(X, Y)
    agrees(model.proof(X, Y), model)


def test_the_program_alone_and_its_samples():
    files = sorted((FOLDER / "samples").glob("*.txt"))
    done = subprocess.run(
        [sys.executable, "-I", "-S", FOLDER / "verify.py", *files], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    lines = {path.name: [line for line in done.stdout.splitlines() if f"{path.name}:" in line] for path in files}
    false = {"false-bound.txt": "lower", "false-coefficient.txt": "coefficient", "false-data.txt": "digest"}
    for name, said in lines.items():
        assert all(f": refused: {false[name]}" in line if name in false else ": accepted: " in line for line in said)
        assert said
    assert CHECKER.main([]) == CHECKER.main([str(FOLDER / "README.md")]) == 2
    assert CHECKER.main([str(FOLDER / "samples" / "svc.txt")]) == 0
    assert len((FOLDER / "verify.py").read_text().splitlines()) <= 300


PROOFS = {
    path.stem: path.read_text() for path in sorted((FOLDER / "samples").glob("*.txt")) if "false" not in path.name
}


@pytest.mark.parametrize("name", PROOFS)
def test_no_tighter_claim_is_accepted(name):
    text = PROOFS[name]
    lower, upper, gap = (claims(text, one)[0] for one in ("lower", "upper", "gap"))
    width = upper - lower
    for key, old, new in (
        ("lower", lower, lower + 0.5 * width),
        ("upper", upper, upper - 0.5 * width),
        ("gap", gap, 0.99 * gap),
    ):
        false = text.replace(f"{key} {old.hex()}", f"{key} {new.hex()}", 1)
        assert false != text
        with pytest.raises(CHECKER.Refused, match=f"^{key}"):
            CHECKER.verify(false)


@pytest.mark.parametrize("name", PROOFS)
def test_a_changed_number_is_refused_or_changes_nothing_that_is_claimed(name):
    """Whatever is accepted has the claims of the true proof, or weaker ones, and the same problem and data."""
    lines, rng = PROOFS[name].splitlines(), np.random.default_rng(11)
    numbers = [(i, j) for i, line in enumerate(lines) for j, word in enumerate(line.split()) if "0x" in word]
    told = [lines.index(next(line for line in lines if line.startswith(f"{key} "))) for key in ("lower", "upper")]
    for i, j in [*((i, 1) for i in told), *(numbers[k] for k in rng.choice(len(numbers), 40, replace=False))]:
        words = lines[i].split()
        value = float.fromhex(words[j])
        sample = len(words) == 5
        words[j] = float(rng.choice([-value, value * 1.5, value + 1.0, value * 0.5])).hex()
        changed = float.fromhex(words[j])
        text = "\n".join([*lines[:i], " ".join(words), *lines[i + 1 :]])
        try:
            CHECKER.verify(text)
        except (CHECKER.Refused, SyntaxError):
            continue
        key = words[0]
        if key == "lower":
            assert changed <= value
        elif key in ("upper", "gap"):
            assert changed >= value
        else:  # another point, or a parameter that the problem does not have
            unread = key == "parameter" and value == 0.0
            assert changed == value or (sample and j == 4) or key in ("b", "width", "augment") or unread


def test_a_forged_sum_is_not_mended_beyond_the_bounds():
    """A ball of infinite costs: what is missing of the sum would push a coefficient below 0."""
    text = SVDD(kernel="linear", C=np.inf).fit(X).proof(X)
    lines = text.replace(" 0x1.0000000000000p+0 0x0.0p+0 0x1.0000000000000p+0 ", " 0x1p+0 0x0p+0 inf ").splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("samples")) + 1
    lines[first:] = [" ".join([*line.split()[:4], "0x1p+0"]) for line in lines[first:]]
    one = CHECKER.read("\n".join(lines))[3][0]
    assert set(one["high"]) == {np.inf}
    exact, _ = CHECKER.feasible(one, one["labels"], one["low"], one["high"])
    assert sum(exact) == 1
    assert min(exact) >= 0


@pytest.mark.parametrize("a", [0.0, 5e-324, 1e-17, 0.3, 0.5, 1.0, 2.0, 17.3, 99.9, 100.1, 800.0])
def test_the_exponential_is_enclosed(a):
    low, high = CHECKER.exp_minus(a)
    with localcontext(prec=60):  # exp of decimals is rounded once
        assert Decimal(low) <= (-Decimal(a)).exp() <= Decimal(high)
    if a < 80:
        assert high - low <= 4 * np.spacing(high)


def test_a_kernel_value_is_enclosed():
    for scale in (1.0, 1e8, 1e-170):
        x, z = scale * X[0] + 1e6, scale * X[1] - 1e6
        true = sum(Fraction(a) * Fraction(b) for a, b in zip(x, z, strict=True))
        low, high = CHECKER.kernel_of("linear", [])(x.tolist(), z.tolist())
        assert low <= true <= high
        low, high = CHECKER.kernel_of("polynomial", [0.5, 3.0, 1.0])(x.tolist(), z.tolist())
        assert low <= (true / 2 + 1) ** 3 <= high
