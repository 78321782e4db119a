"""Fits on a device: the same optimum as on the processor, with the same proof."""

from itertools import product
from typing import ClassVar

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

from adatron import SVC, SVR, NuSVC, NuSVR, OneClassSVM

torch = pytest.importorskip("torch", reason="needs the extra gpu")
from adatron.solvers.plan import VARIABLE_BYTES  # noqa: E402
from twins.devices import device, host, needs_compiler, plain  # noqa: E402
from twins.plain_tiles import PlainTiles  # noqa: E402

X, y = make_classification(240, 8, n_informative=6, flip_y=0.05, random_state=0)
MANY = make_classification(160, 8, n_informative=6, n_classes=4, flip_y=0.05, random_state=0)
WIDE = make_classification(1500, 8, n_informative=6, flip_y=0.1, random_state=0)
R, t = make_regression(160, 6, noise=5.0, random_state=0)
MACHINES = {
    "SVC": lambda **how: SVC(C=3, **how).fit(X, y),
    "SVC augmented": lambda **how: SVC(C=3, bias="augmented", augment=2.0, **how).fit(X, y),
    "SVC none": lambda **how: SVC(C=3, bias="none", **how).fit(X, y),
    "SVC double": lambda **how: SVC(C=3, precision="double", **how).fit(X, y),
    "SVC gap": lambda **how: SVC(C=3, gap_tol=1e-6, **how).fit(X, y),
    "SVC weights": lambda **how: SVC(C=3, class_weight="balanced", **how).fit(X, y, np.linspace(0.0, 2.0, len(y))),
    "SVC poly": lambda **how: SVC(C=0.1, kernel="poly", degree=2, coef0=1.0, **how).fit(X, y),
    "SVC linear": lambda **how: SVC(C=0.1, kernel="linear", **how).fit(X, y),
    "SVC ovo": lambda **how: SVC(C=3, **how).fit(*MANY),
    "SVC ovr": lambda **how: SVC(C=3, multi_class="ovr", **how).fit(*MANY),
    "NuSVC": lambda **how: NuSVC(nu=0.3, **how).fit(X, y),
    "NuSVC ovo": lambda **how: NuSVC(nu=0.3, **how).fit(*MANY),
    "NuSVC augmented": lambda **how: NuSVC(nu=0.3, bias="augmented", **how).fit(X, y),
    "SVR": lambda **how: SVR(C=50, epsilon=5.0, **how).fit(R, t),
    "SVR augmented": lambda **how: SVR(C=50, epsilon=5.0, bias="augmented", **how).fit(R, t),
    "SVR none": lambda **how: SVR(C=50, epsilon=5.0, bias="none", **how).fit(R, t),
    "NuSVR": lambda **how: NuSVR(C=50, nu=0.4, **how).fit(R, t),
    "NuSVR augmented": lambda **how: NuSVR(C=50, nu=0.4, bias="augmented", **how).fit(R, t),
    "OneClassSVM": lambda **how: OneClassSVM(nu=0.2, **how).fit(R),
}


def same_optimum(a, b):
    """Check that both are certified, and that their objectives differ by no more than their gaps."""
    for model in (a, b):
        assert model.fit_status_ == 0
        assert np.max(model.kkt_violation_) <= 1e-3
    gap = np.maximum(a.duality_gap_, b.duality_gap_)
    size = np.maximum(1.0, np.abs(a.dual_objective_))
    assert (np.abs(np.asarray(a.dual_objective_) - b.dual_objective_) <= 1.1 * gap * size + 1e-6 * size).all()


@pytest.mark.parametrize(("name", "block"), [*product(MACHINES, [64]), *product(["SVC", "NuSVR", "SVC none"], [2048])])
def test_every_program_has_the_same_optimum(name, block):
    a, b = MACHINES[name](), MACHINES[name](device=plain(block))
    assert b.route_.device == "twin"
    same_optimum(a, b)


@needs_compiler
@pytest.mark.parametrize("name", ["SVC", "SVC ovo", "SVR augmented", "NuSVR"])
def test_the_cuda_source_fits_with_equal_bits_in_any_order_of_its_threads(name):
    models = [MACHINES[name](device=host(64, seed)) for seed in (1, 2)]
    same_optimum(MACHINES[name](), models[0])
    assert np.array_equal(models[0].dual_coef_, models[1].dual_coef_)
    assert np.array_equal(models[0].intercept_, models[1].intercept_)


def tight(variables, rows, resident):
    """Return memory for so many bytes of each of 8 features of some rows, and the blocks of a program."""
    return 8.0 * 64**2 + VARIABLE_BYTES * (variables + 64) + 8.0 * rows * (resident + 0.5)


@pytest.mark.parametrize(
    ("name", "variables", "rows", "resident"),
    [
        ("SVC", 240, 240, 4),
        ("SVC", 240, 240, 0),
        ("SVC double", 240, 240, 0),
        ("SVR augmented", 160, 160, 0),
        ("NuSVR", 320, 160, 4),
        ("NuSVC ovo", 82, 160, 0),
    ],
)
def test_rows_that_travel_have_the_same_optimum(name, variables, rows, resident):
    a, b = MACHINES[name](), MACHINES[name](device=plain(64, bytes=tight(variables, rows, resident)))
    assert b.route_.resident == resident
    assert "travel there in parts" in str(b.route_).splitlines()[-1]
    same_optimum(a, b)


@needs_compiler
def test_rows_that_travel_give_the_same_bits():
    models = [MACHINES["SVC"](device=host(64, bytes=tight(240, 240, resident))) for resident in (12, 4, 0)]
    assert [model.route_.resident for model in models] == [12, 4, 0]
    for model in models[1:]:
        assert np.array_equal(model.dual_coef_, models[0].dual_coef_)
        assert np.array_equal(model.intercept_, models[0].intercept_)


def test_several_problems_with_nu_are_solved_side_by_side():
    class Counting(PlainTiles):
        seen: ClassVar = []

        def ascend(self, block):
            self.seen.append(len(block.K))
            super().ascend(block)

    model = NuSVC(nu=0.3, device=device(Counting, 64)).fit(*MANY)
    assert max(Counting.seen) == 6
    same_optimum(NuSVC(nu=0.3).fit(*MANY), model)


def test_small_margins_of_several_problems_are_found_in_their_own_units():
    tiny = MANY[0] * 1e-4, MANY[1]
    how = {"nu": 0.7, "kernel": "linear"}
    a, b = (NuSVC(**how, device=place).fit(*tiny) for place in (None, plain(64)))
    same_optimum(a, b)
    assert np.mean(a.predict(tiny[0]) == b.predict(tiny[0])) > 0.98


def test_the_width_of_a_tube_keeps_its_digits():
    how = {"C": 1e5, "epsilon": 12345.6789, "tol": 1e-5}
    a, b = (SVR(**how, device=place).fit(R, 1e3 * t) for place in (None, plain(64)))
    assert b.fit_status_ == 0
    assert b.kkt_violation_ <= 1e-5
    assert a.intercept_ == pytest.approx(b.intercept_, rel=1e-8)


@pytest.mark.parametrize("n", [1, 2, 65])
@pytest.mark.parametrize("place", [plain(64), pytest.param(host(64), marks=needs_compiler)], ids=["torch", "source"])
def test_few_rows_and_odd_numbers_of_them(n, place):
    a, b = (OneClassSVM(nu=0.5, device=where).fit(R[:n, :3]) for where in (None, place))
    assert b.route_.device == "twin"
    same_optimum(a, b)


def test_two_fits_have_equal_bits():
    a, b = (MACHINES["SVC ovo"](device=plain(64)) for _ in range(2))
    assert np.array_equal(a.dual_coef_, b.dual_coef_)


def test_large_programs_are_solved_in_parts():
    wide, labels = make_classification(1600, 6, n_informative=4, flip_y=0.05, random_state=1)
    places = None, plain(64), plain(64, bytes=tight(1600, 1600, 0))
    a, *others = (SVC(C=1.0, device=place).fit(wide, labels) for place in places)
    assert [model.route_.resident for model in others] == [12, 0]
    for b in others:
        same_optimum(a, b)


def test_a_small_tolerance_is_met():
    a, b = (SVC(C=3, tol=1e-6, device=place).fit(X, y) for place in (None, plain()))
    assert b.kkt_violation_ <= 1e-6
    assert abs(a.dual_objective_ - b.dual_objective_) <= 1e-6 * abs(a.dual_objective_)


def test_the_limits_of_a_fit_are_kept():
    with pytest.warns(match="max_iter"):
        model = SVC(C=30, max_iter=40, device=plain(64)).fit(X, y)
    assert model.n_iter_[0] <= 40
    with pytest.warns(match="max_time"):
        SVC(C=1e4, tol=1e-10, max_time=0.05, device=plain(64)).fit(*WIDE)


def test_a_callback_sees_and_stops_a_fit():
    seen = []

    def stop(progress):
        seen.append(progress)
        return True

    with pytest.warns(match="the callback asked to stop"):
        SVC(C=1e3, callback=stop, device=plain(64)).fit(*WIDE)
    assert seen[0].kkt_violation > 0.0
    finished = []
    SVC(C=1, callback=finished.append, device=plain()).fit(*MANY)
    assert {one.problem for one in finished} == set(range(6))


def test_traces_have_lines():
    model = MACHINES["SVC"](device=plain(64))
    assert len(model.trace_["n_iter"]) > 1
    assert model.trace_["n_iter"][-1] == model.n_iter_[0]


def test_probabilities_are_fitted_on_the_device():
    a, b = (SVC(probability=True, device=place).fit(*MANY) for place in (None, plain()))
    assert np.abs(a.predict_proba(MANY[0]) - b.predict_proba(MANY[0])).max() < 0.01


class Drifting(PlainTiles):
    """Tiles whose sums in float64 are a little off, as those of a stream that reads X before it is complete."""

    def sums(self, out, low, A, *others):
        super().sums(out, low, A, *others)
        if A.X.dtype == torch.float64:
            out += 1e-6


def test_sums_that_are_wrong_prove_nothing():
    with pytest.raises(RuntimeError, match="Nothing it computed can be proven"):
        SVC(C=3, device=device(Drifting)).fit(X, y)


def test_float64_tiles_take_over_where_float32_does_not_get_there():
    rng = np.random.default_rng(0)
    Z = np.concatenate([rng.standard_normal((150, 3)) * 1e-3 + 3.0, rng.standard_normal((150, 3)) * 1e-3 - 3.0])
    labels = np.tile([0, 1], 150)
    how = {"C": 1e3, "gamma": 1.0, "tol": 1e-6, "precision": "single"}
    a, b = (SVC(**how, device=place).fit(Z, labels) for place in (None, plain()))
    assert b.kkt_violation_ <= 1e-6
    assert abs(a.dual_objective_ - b.dual_objective_) <= 1e-4 * abs(a.dual_objective_)
