"""Fits on a device: the same optimum as on the processor, with the same proof."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

from adatron import SVC, SVR, NuSVC, NuSVR, OneClassSVM

torch = pytest.importorskip("torch", reason="needs the extra gpu")
from adatron.devices.plain import PlainTiles  # noqa: E402
from twins.devices import device, host, needs_compiler, plain  # noqa: E402

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


@pytest.mark.parametrize("name", MACHINES)
def test_every_program_has_the_same_optimum(name):
    a, b = MACHINES[name](), MACHINES[name](device=plain(64))
    assert b.route_.device == "twin"
    same_optimum(a, b)


@needs_compiler
@pytest.mark.parametrize("name", ["SVC", "SVC ovo", "SVR augmented", "NuSVR"])
def test_the_cuda_source_fits_with_equal_bits_in_any_order_of_its_threads(name):
    models = [MACHINES[name](device=host(64, seed)) for seed in (1, 2)]
    same_optimum(MACHINES[name](), models[0])
    assert np.array_equal(models[0].dual_coef_, models[1].dual_coef_)
    assert np.array_equal(models[0].intercept_, models[1].intercept_)


def test_two_fits_have_equal_bits():
    a, b = (MACHINES["SVC ovo"](device=plain(64)) for _ in range(2))
    assert np.array_equal(a.dual_coef_, b.dual_coef_)


@pytest.mark.parametrize("name", ["SVC", "NuSVR", "SVC none"])
def test_programs_of_one_block_have_the_same_optimum(name):
    same_optimum(MACHINES[name](), MACHINES[name](device=plain()))


def test_large_programs_are_solved_in_parts():
    wide, labels = make_classification(1600, 6, n_informative=4, flip_y=0.05, random_state=1)
    a, b = (SVC(C=1.0, device=place).fit(wide, labels) for place in (None, plain(64)))
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
