"""The checker of the attack knows a good solution from a bad one, and the tool finds false claims; attacks of files."""

from itertools import count, islice
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks import attack, attack_conformal, attack_radii
from benchmarks.__main__ import main
from benchmarks.attack_linear import linear
from benchmarks.attack_lives import lived
from benchmarks.attack_programs import Case
from benchmarks.attack_routes import overlap
from benchmarks.attack_searches import compared, judged_search, search_of
from benchmarks.attack_sequences import sequences
from benchmarks.attack_verdict import Verdict, checked
from click.testing import CliRunner
from scipy.optimize import minimize_scalar
from sklearn import model_selection as theirs
from sklearn import svm
from sklearn.datasets import make_classification

from adatron import SVC, LinearSVC, input_margin, kernels
from adatron.certificates import relative
from machines import altered
from problems import csvc, feasible, nusvc, nusvr, oneclass, samples, svr
from processes import python
from twins import programs as twin
from twins.checker import Program, truth
from twins.fitted import Task, programs, squared, truths
from twins.values import values

SPECS = {
    "linear": (("linear",), kernels.Linear()),
    "rbf": (("rbf", 0.3), kernels.RBF(0.3)),
    "laplacian": (("laplacian", 0.3), kernels.Laplacian(0.3)),
    "poly": (("poly", 0.3, 4, 1.5), kernels.Polynomial(0.3, 4, 1.5)),
    "sigmoid": (("sigmoid", 0.1, -0.5), kernels.Sigmoid(0.1, -0.5)),
    "composed": (
        ("sum", ("scaled", 2.0, ("rbf", 0.3)), ("product", ("linear",), ("laplacian", 0.1))),
        2.0 * kernels.RBF(0.3) + kernels.Linear() * kernels.Laplacian(0.1),
    ),
}
PEERS = {
    "SVC": (svm.SVC, {"C": 10.0}),
    "NuSVC": (svm.NuSVC, {"nu": 0.4}),
    "SVR": (svm.SVR, {"C": 10.0, "epsilon": 0.1}),
    "NuSVR": (svm.NuSVR, {"C": 10.0, "nu": 0.4}),
    "OneClassSVM": (svm.OneClassSVM, {"nu": 0.3}),
}
DUALS = {
    "soft": csvc,
    "augmented": lambda y, w: csvc(y, w, "augmented", 0.5),
    "none": lambda y, w: csvc(y, w, "none"),
    "hard": lambda y, w: csvc(y, np.full(len(y), np.inf)),
    "svr": lambda y, w: svr(y + 0.1 * w, w, 0.3),
    "svr without bias": lambda y, w: svr(y + 0.1 * w, w, 0.3, "none"),
    "nusvc": lambda y, w: nusvc(y, w, 0.2),
    "nusvc without bias": lambda y, w: nusvc(y, w, 0.2, "none"),
    "nusvr": lambda y, w: nusvr(y + 0.1 * w, w, 0.3),
    "oneclass": lambda y, w: oneclass(w, 0.3),
}


def problem(seed=0, n=80, classes=2):
    X, codes = make_classification(
        n, 5, n_informative=4, n_redundant=0, n_classes=classes, flip_y=0.1, random_state=seed
    )
    return X, codes


@pytest.mark.parametrize("name", SPECS)
def test_values_are_those_of_the_kernel_within_their_bound(name):
    X = np.random.default_rng(0).normal(size=(30, 4))
    spec, kernel = SPECS[name]
    K, error = values(spec, X)
    np.testing.assert_allclose(K.astype(float), kernel(X), rtol=1e-13, atol=1e-14)
    again, _ = values(spec, X[:, ::-1])  # sums in another order
    assert (abs(K - again) <= error).all()
    assert error.max() < 1e-15


@pytest.mark.parametrize("name", DUALS)
def test_violation_and_gap_are_those_of_the_definition(name):
    rng = np.random.default_rng(1)
    X, y = samples(1, 25)
    dual = DUALS[name](y, rng.uniform(0.5, 2.0, len(y)))
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    copies = len(dual) // len(y)
    beta = twin.solve(np.tile(K, (copies, copies)), dual, steps=5000 if name == "hard" else 60)
    beta = feasible(dual, rng) if name == "soft" else beta
    ties = {"row": 0 if dual.row is None else dual.row, "sign": 1 if dual.sign is None else dual.sign}
    own = {"epsilon": dual.epsilon, "lambda2": dual.lambda2, "hard": name == "hard", **ties}
    vectors = [v.astype(np.longdouble) for v in (beta, dual.t, dual.lower, dual.upper)]
    rows = np.tile(np.arange(len(y)), copies)
    found = truth(Program(rows, *vectors, dual.totals, **own), K.astype(np.longdouble), 0 * K)
    K = np.tile(K, (copies, copies))
    gap, lower = twin.gap(K, dual, beta), -twin.objective(K, dual, beta)
    assert found.violation.value == pytest.approx(twin.kkt(K, dual, beta), rel=1e-9, abs=1e-12)
    assert found.gap.value == pytest.approx(relative(gap, lower), rel=1e-9, abs=1e-12)
    assert found.dual == pytest.approx(lower, rel=1e-9, abs=1e-12)
    for one in (found.violation, found.gap):
        assert (1 - 1e-9) * one.value - 1e-12 <= one.least <= one.value or one.value == np.inf


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", PEERS)
def test_a_tight_fit_of_another_library_is_a_solution(name, classes):
    estimator, parameters = PEERS[name]
    X, codes = problem(classes=classes)
    y = codes if "SVC" in name else X[:, 0] + 0.3 * codes
    model = estimator(gamma=0.2, tol=1e-7, **parameters).fit(X, y)
    found = truths(model, ("rbf", 0.2), X, y)
    assert len(found) == (6 if classes == 4 and "SVC" in name else 1)
    for one in found:
        assert one.violation.value < 1e-5  # its kernel values are float32
        assert one.gap.value < 1e-4
        assert max(one.excess, one.missed) < 1e-12
    model.dual_coef_ = np.asarray(model.dual_coef_) * np.linspace(0.5, 1.0, len(model.support_))
    assert all(one.violation.value > 1e-3 for one in truths(model, ("rbf", 0.2), X, y))


def claiming(model, **proofs):
    """The machine with other proofs."""
    return altered(model, proofs=model.model_.proofs._replace(**proofs))


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        (lambda m: claiming(m, violation=0.5 * m.kkt_violation_), "violation"),
        (lambda m: claiming(m, gap=0.5 * m.duality_gap_), "gap"),
        (lambda m: claiming(m, gap=float("nan")), "gap"),
        (lambda m: altered(m, dual=0.9 * m.dual_coef_), "tol"),
        (lambda m: altered(m, dual=1.1 * m.dual_coef_), "bounds"),
        (lambda m: altered(m, dual=np.where(np.arange(len(m.support_)) == 0, 0.0, m.dual_coef_)), "sums"),
    ],
)
def test_a_planted_false_claim_is_found(spoil, kind):
    X, y = problem()
    case = Case("SVC", {"C": 3.0, "gamma": 0.2, "tol": 1e-2}, X, y, None, ("rbf", 0.2), "rbf")
    model = SVC(**case.parameters).fit(X, y)
    assert model.kkt_violation_ > 1e-9
    honest, spoilt = Verdict(0, outcome="converged"), Verdict(0, outcome="converged")
    checked(case, model, honest)
    assert not honest.false
    checked(case, spoil(model), spoilt)
    assert kind in {found for found, _ in spoilt.false}


@pytest.mark.parametrize("kind", sorted(attack.KINDS.keys() - {"fits", "lives", "searches", "sequences"}))
def test_no_claim_of_a_kind_is_false(kind):
    numbers = (number for number in count() if attack.kind_of(1, number) == kind)
    for number in islice(numbers, 3):
        one = attack.KINDS[kind][2](1, number)
        assert one.false == one.broken == [], one


@pytest.mark.parametrize("number", [25, 33, 35, 59])
def test_equal_samples_share_a_coefficient_whose_errors_cost_their_square(number):
    """Some of them were filled, as where a bound is the cost: the coefficients were no solution."""
    found = linear(0, number)
    assert found.outcome == "converged"
    assert not found.false


@pytest.mark.parametrize("squared_loss", [False, True])
def test_a_program_with_a_ridge_has_the_objectives_of_its_definition(squared_loss):
    X, y = make_classification(40, 4, random_state=1)
    C = np.linspace(0.5, 2.0, 40)
    loss = "squared_hinge" if squared_loss else "hinge"
    model = LinearSVC(loss=loss, bias="explicit", tol=1e-9, gap_tol=1e-9).fit(X, y, sample_weight=C)
    task = Task("SVC", {"C": 1.0, "bias": "explicit"}, X, y, C)
    (one,) = programs(task, model)
    one = squared(one) if squared_loss else one
    K, error = values(("linear",), X)
    # Away from the optimum, at the best bias for the function there, which a scan finds.
    one = one._replace(beta=0.9 * one.beta)
    found = truth(one, K, error)
    beta, signs = one.beta.astype(float), 2.0 * y - 1.0
    f, own = X @ (X.T @ beta), 0.5 * beta @ (one.ridge * beta) if squared_loss else 0.0
    dual = signs @ beta - 0.5 * beta @ f - own

    def primal(b):
        lacks = np.maximum(0.0, 1.0 - signs * (f + b))
        return 0.5 * beta @ f + C @ (lacks**2 if squared_loss else lacks)

    b = minimize_scalar(primal, bounds=(-20.0, 20.0), method="bounded", options={"xatol": 1e-10}).x
    assert found.dual == pytest.approx(dual, rel=1e-12)
    assert found.primal == pytest.approx(primal(b), rel=1e-8)
    assert found.low <= model.primal_objective_
    assert found.high >= model.dual_objective_


def test_three_hundred_steps_are_right():
    one = sequences(0, 8)
    assert one.false == one.broken == [], one
    assert one.claims > 50


def test_a_longer_radius_is_found():
    """Three times the distance to the boundary: nearly each of these radii holds a point of another class."""
    X, y = problem()
    model = SVC(C=10.0, gamma=0.2).fit(X, y)
    verdict = Verdict(0)
    attack_radii.look(np.random.default_rng(0), model, X[:8], 3.0 * input_margin(model, X[:8]).distance, None, verdict)
    assert len(verdict.false) >= 6


def test_intervals_that_are_apart_are_found():
    verdict = Verdict(0)
    ends = [("one", np.array([1.0, 2.0]), np.array([1.5, 3.0]))]
    overlap([*ends, ("other", np.array([1.2, 2.5]), np.array([1.3, 4.0]))], verdict)
    assert not verdict.false
    overlap([*ends, ("other", np.array([1.2, 3.5]), np.array([1.3, 4.0]))], verdict)
    assert len(verdict.false) == 1


def test_a_set_that_refits_refute_is_found():
    case = attack_conformal.Case(np.zeros((9, 1)), np.arange(9) % 2, np.zeros((1, 1)), ("linear",), {}, 2, 0.2, [])
    for inside, false in ((True, 0), (False, 1)):  # two of ten places are too strange: eight of nine agree better
        verdict = Verdict(0)
        attack_conformal.in_set(case, "row 0", inside, range(7, 8), verdict)
        assert len(verdict.false) == false


def test_lives_of_incremental_models_are_right():
    for number in range(8):
        one = lived(1, number)
        assert one.false == one.broken == [], one


@pytest.mark.slow
def test_a_short_run_counts_its_programs():
    done = CliRunner().invoke(main, ["attack", "--minutes", "0.03", "--seed", "1"])
    assert done.exit_code in (0, 1), done.output
    counts = next(line for line in done.output.splitlines() if line.startswith("all ")).split()[1:]
    fits, converged, warned, refused = map(int, counts[:4])
    assert fits >= 2
    assert int(counts[-1]) == 0
    assert fits == converged + warned + refused


@pytest.mark.slow
def test_a_fit_that_does_not_end_is_an_entry():
    done = CliRunner().invoke(main, ["attack", "--only", "5", "--limit", "0"])
    assert done.exit_code == 1
    assert "no end within 0 s" in done.output


def test_coefficients_at_their_bounds_are_there_after_the_division_by_the_margin():
    X, _ = problem(n=200)
    y = np.arange(200) % 2
    signs, found = np.where(y == 1, 1.0, -1.0), []
    for off in (0.0, 4e-13):  # a sum of float64 is off by a rounding for each sample
        dual = signs.copy()
        dual[:2] *= 0.5 + off
        model = SimpleNamespace(dual_coef_=dual[None], support_=np.arange(200), class_weight_=np.ones(2))
        model.shape_fit_ = X.shape
        (one,) = programs(Task("NuSVC", {"nu": 199 / 200}, X, y), model)
        found.append(truth(one, *values(("rbf", 0.2), X)).violation.value)
    assert found[1] == pytest.approx(found[0], rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 12, 4))
def test_random_searches_have_the_scores_of_single_fits(start):
    for number in range(start, start + 4):
        verdict = judged_search(5, number)
        assert not verdict.false, verdict.told
        assert not verdict.broken, verdict.told


def test_a_planted_wrong_score_of_a_search_is_found():
    case = search_of(5, 1)
    results = case.results(theirs.GridSearchCV)
    for off in (0.0, 0.1):
        ours, verdict = {**results}, Verdict(0)
        key = next(key for key in results if key.startswith("split0_test") and np.isfinite(results[key]).all())
        ours[key] = results[key] + off
        compared(case, ours, results, verdict)
        assert bool(verdict.false) is (off > 0.0)
    lost = Verdict(0)
    compared(case, ValueError("no"), results, lost)
    assert lost.broken


SCRIPT = Path(__file__).parents[2] / "scripts" / "attack_files"
KINDS = [kind for kind in ("models", "states", "data", "databases") if (SCRIPT / f"{kind}.py").exists()]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_attack_succeeds(kind):
    python(SCRIPT, "--minutes", 2 / 60, "--what", kind)
