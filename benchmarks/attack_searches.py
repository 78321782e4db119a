"""Random searches over several machines, kernels and steps: whether each score is that of a single fit.

scikit-learn's search over the same machines fits every candidate alone. Where the scores of the two differ, a fit that
goes much nearer to the optimum judges.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import model_selection as theirs
from sklearn.base import clone, is_classifier
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import accuracy_score, check_scoring, make_scorer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

from adatron import kernels
from adatron.selection import GridSearchCV

from .attack_programs import ESTIMATORS
from .attack_verdict import Verdict

TIGHT, TIGHTEST = 1e-6, {"tol": 1e-10, "gap_tol": 1e-13}  # Tolerances of the fits, and of those that judge.
EQUAL = 1e-6  # Difference of two scores that is none.
NEARER = 3.0  # Times that a score may be farther from the judge's than that of the single fit.
TIED = 1e-3  # Relative size of one decision value beside others that leaves a label open.
MOST_CANDIDATES = 8  # Most candidates of a grid.
Rng = np.random.Generator


def wave(y: Any, values: Any) -> float:
    """Score values of a machine of any task; no label hides a difference."""
    first = np.asarray(values, np.float64).reshape(len(y), -1)
    return float(np.mean(np.tanh(first) @ np.cos(1.0 + np.arange(first.shape[1]))))


def of_a_user(X: Any, Z: Any) -> Any:
    """Evaluate a kernel that is a function."""
    return (1.0 + X @ Z.T) ** 2


COMPOSED = 0.5 * kernels.RBF(0.1) + kernels.Linear()
SMOOTH = make_scorer(wave, response_method=("decision_function", "predict"))
SCORINGS: list[Any] = [None, SMOOTH, SMOOTH, {"labels": make_scorer(accuracy_score), "values": SMOOTH}]
STEPS = [StandardScaler(), MinMaxScaler(), MaxAbsScaler(), PCA(2), SelectKBest(k=2), Normalizer(), "passthrough"]
VALUES: dict[str, list[Any]] = {
    "C": [1e-9, 0.1, 1.0, 30.0, 1e4, 1e9, np.inf],
    "nu": [1e-3, 0.1, 0.3, 0.5],
    "gamma": ["scale", "auto", 0.01, 0.1, 1.0, 1e9, 1e-9],
    "kernel": ["rbf", "linear", "poly", "laplacian", kernels.RBF(0.1), COMPOSED, of_a_user],
    "class_weight": [None, "balanced", {1: 5.0}, {1: 0.2}],
    "epsilon": [0.0, 1e-3, 0.1, 1.0, 1e3],
    "bias": ["explicit", "augmented", "none"],
    "augment": ["auto", 1.0, 0.1],
    "multi_class": ["ovo", "ovr"],
    "decision_function_shape": ["ovo", "ovr"],
    "break_ties": [False, True],
    "cache_size": [200, 1],
    "precision": ["auto", "single", "double"],
    "tol": [TIGHT, 1e-8],
    "gap_tol": [None, 1e-9],
    "n_jobs": [None, 1, 2],
    "solver": ["auto", "block", "smo"],
    "coef0": [0.0, 1.0],
    "degree": [2, 3],
}  # fmt: skip
OFTEN = ("C", "nu", "gamma", "kernel", "class_weight")


@dataclass
class Case:
    """A search: its estimator, its candidates, and its data."""

    estimator: Any
    grid: Any
    X: Any
    y: NDArray[Any]
    fit: dict[str, Any]
    settings: dict[str, Any]
    traits: list[str] = field(default_factory=list)

    def results(self, kind: Any) -> Any:
        """Return the results of a class of searches, or what it raises."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                search = kind(clone(self.estimator), self.grid, refit=False, **self.settings)
                return search.fit(self.X, self.y, **self.fit).cv_results_
            except Exception as error:  # compared with that of the other class
                return error


def search_of(seed: int, number: int) -> Case:
    """Return the search of a number, always and everywhere the same."""
    rng, traits = np.random.default_rng([seed, number, 6]), list[str]()
    n = int(rng.integers(24, 70)) if rng.random() < 0.85 else int(rng.integers(14, 22))
    X, y = _data(rng, n, traits)
    estimator: Any = _machine(rng, str(rng.choice(list(ESTIMATORS))))
    if piped := rng.random() < 0.75:
        estimator = Pipeline([("step", _one_of(rng, STEPS)), ("svm", estimator)])
    grids = [_grid(rng, estimator, piped, traits) for _ in range(_one_of(rng, [1, 1, 2, 3]))]
    fit: dict[str, Any] = {}
    if rng.random() < 0.3:
        weight = rng.integers(0, 4, n) if rng.random() < 0.5 else rng.uniform(0, 2, n)
        fit["svm__sample_weight" if piped else "sample_weight"] = weight
        traits.append("weights")
    settings = {"cv": _folds(rng, n, traits), "scoring": _one_of(rng, SCORINGS)}
    settings["return_train_score"] = bool(rng.random() < 0.2)
    return Case(estimator, grids if len(grids) > 1 else grids[0], X, y, fit, settings, traits)


def _one_of(rng: Rng, some: list[Any]) -> Any:
    return some[rng.integers(len(some))]


def _some(rng: Rng, values: list[Any], most: int) -> list[Any]:
    """Return at least one of some values, each at most once."""
    return [values[k] for k in rng.permutation(len(values))[: rng.integers(1, most + 1)]]


def _data(rng: Rng, n: int, traits: list[str]) -> tuple[Any, NDArray[Any]]:
    """Return samples, and labels that are numbers, so that machines of all tasks take most of them."""
    X = rng.normal(size=(n, int(rng.integers(2, 7))))
    score = X[:, 0] + 0.5 * X[:, 1] ** 2 + _one_of(rng, [0.0, 0.5]) * rng.normal(size=n)
    kind, form = rng.choice(["1 and -1", "classes", "numbers"], p=[0.45, 0.35, 0.2]), rng.random()
    y = score if kind == "numbers" else np.searchsorted(np.quantile(score, [0.3, 0.7]), score)
    y = np.where(score > np.median(score), 1, -1) if kind == "1 and -1" else y
    if form < 0.15:
        X = X[rng.integers(0, n // 2, n)]
    elif form < 0.25:
        X = X.astype(np.float32)
    elif form < 0.4:
        X = sparse.csr_matrix(np.where(rng.random(X.shape) < 0.6, X, 0.0))
    elif form < 0.5:
        X = X + 100.0
    traits.append(str(kind))
    return X, y


def _machine(rng: Rng, name: str) -> Any:
    """Return a machine with parameters of its own."""
    own: dict[str, Any] = {"C": _one_of(rng, [0.3, 10.0]), "gamma": _one_of(rng, ["scale", 0.05, 0.5])}
    if rng.random() < 0.2:
        own |= {"bias": _one_of(rng, VALUES["bias"]), "precision": _one_of(rng, VALUES["precision"])}
    machine = ESTIMATORS[name](tol=TIGHT)
    return machine.set_params(**{key: value for key, value in own.items() if key in machine.get_params()})


def _grid(rng: Rng, estimator: Any, piped: bool, traits: list[str]) -> dict[str, list[Any]]:
    """Return a grid; its machines have all of its parameters."""
    grid: dict[str, list[Any]] = {}
    machines = [estimator.steps[-1][1] if piped else estimator]
    if piped and rng.random() < 0.6:
        machines = grid["svm"] = [_machine(rng, name) for name in _some(rng, list(ESTIMATORS), 3)]
        traits += ["several machines"] * (len(machines) > 1)
    if piped and rng.random() < 0.3:
        grid["step"] = _some(rng, STEPS, 2)
        traits.append("steps")
    known = [name for name in VALUES if all(name in machine.get_params() for machine in machines)]
    odds = np.array([4.0 if name in OFTEN else 1.0 for name in known])
    for name in rng.choice(known, int(rng.integers(1, 4)), replace=False, p=odds / odds.sum()).tolist():
        grid[f"svm__{name}" if piped else name] = some = _some(rng, VALUES[name], 3)
        traits += ["C inf"] * (name == "C" and np.inf in some)
    before = "svm__" if piped else ""
    if np.inf in grid.get(f"{before}C", []) and f"{before}solver" in grid:  # pairwise steps would take minutes
        grid[f"{before}solver"] = [one for one in grid[f"{before}solver"] if one != "smo"] or ["auto"]
    while np.prod([len(some) for some in grid.values()]) > MOST_CANDIDATES:
        longest = max(grid, key=lambda name: len(grid[name]))
        grid[longest] = grid[longest][:-1]
    return grid


def _folds(rng: Rng, n: int, traits: list[str]) -> Any:
    """Return folds of one of the kinds of scikit-learn, or drawn with repetition; one sample each for few samples."""
    if n < 22:
        traits.append("one left out")
        return theirs.LeaveOneOut()
    shuffled = {"shuffle": True, "random_state": 0}
    drawn = [(rng.integers(0, n, n), rng.permutation(n)[: n // 3]) for _ in range(3)]
    return _one_of(rng, [3, theirs.KFold(3, **shuffled), theirs.ShuffleSplit(3, random_state=0), drawn])


def judged_search(seed: int, number: int) -> Verdict:
    """Make the search of a number, and compare its scores with those of single fits."""
    case = search_of(seed, number)
    told = f"{case.estimator!r} {case.grid!r} {case.X.shape} {case.settings!r} {', '.join(case.traits)}"
    verdict = Verdict(number, "search", "search", [f"search: {trait}" for trait in dict.fromkeys(case.traits)], told)
    begun = monotonic()
    ours, plain = case.results(GridSearchCV), case.results(theirs.GridSearchCV)
    verdict.seconds = monotonic() - begun
    compared(case, ours, plain, verdict)
    return verdict


def compared(case: Case, ours: Any, plain: Any, verdict: Verdict) -> None:
    """Keep what differs between the results of two searches."""
    if isinstance(ours, Exception) or isinstance(plain, Exception):
        verdict.outcome = "refused"
        if type(ours) is not type(plain):
            verdict.outcome = "broken"
            verdict.broken.append(f"ours ends with {ours!r:.300}, scikit-learn's with {plain!r:.300}")
        return
    good = np.asarray(ours.get("converged", np.ones(len(ours["params"]))), bool)
    verdict.outcome = "converged" if good.all() else "warned"
    for name in (key for key in plain if key.startswith("split")):
        fold = int(name.removeprefix("split").partition("_")[0])
        for number, (one, other) in enumerate(zip(ours[name], plain[name], strict=True)):
            verdict.claims += 1
            if (np.isnan(one) and np.isnan(other)) or abs(one - other) <= EQUAL * (1.0 + abs(other)):
                continue
            text = f"{name} of {ours['params'][number]}: {one:.6g} instead of {other:.6g}"
            if np.isnan(one) or np.isnan(other):
                verdict.false.append(("score", text))
            elif good[number] and (say := _judge(case, ours["params"][number], fold, name, one, other)):
                (verdict.false if say == "false" else verdict.undecided).append(("score", text))


def _judge(case: Case, params: dict[str, Any], fold: int, name: str, one: float, other: float) -> str:
    """Say 'false' or 'undecided' of a score of ours that is not the single fit's, or "" if it is as good."""
    model = clone(case.estimator).set_params(**clone(params, safe=False))
    machine = model.steps[-1][1] if isinstance(model, Pipeline) else model
    machine.set_params(**TIGHTEST)
    y = case.y
    cv = theirs.check_cv(case.settings["cv"], y, classifier=is_classifier(case.estimator))
    train, test = list(cv.split(case.X, y))[fold]
    rows = train if "_train_" in name else test
    weights = {key: value[train] for key, value in case.fit.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(case.X[train], y[train], **weights)
        metric = name.partition("_t")[2].partition("_")[2]
        scoring = case.settings["scoring"]
        scorer = scoring[metric] if isinstance(scoring, dict) else check_scoring(model, scoring)
        nearest = float(scorer(model, case.X[rows], y[rows]))
    if machine.fit_status_:
        return "undecided"
    if abs(one - nearest) <= max(NEARER * abs(other - nearest), EQUAL * (1.0 + abs(nearest))):
        return ""
    return "undecided" if _tied(model, machine, case.X[rows]) else "false"


def _tied(model: Any, machine: Any, X: Any) -> bool:
    """Return whether the label of a row is open: a value of a problem is near 0, or two that compete are near."""
    if not hasattr(model, "decision_function"):
        return False
    machine.set_params(**({"decision_function_shape": "ovo", "break_ties": False} if is_classifier(machine) else {}))
    values = np.asarray(model.decision_function(X)).reshape(X.shape[0], -1)
    least, size = np.abs(values).min(axis=1), np.abs(values).max(axis=1)
    if is_classifier(machine) and machine.multi_class == "ovr" and values.shape[1] > 1:
        least = np.diff(np.sort(values, axis=1)[:, -2:], axis=1)[:, 0]
    noise = 10.0 * TIGHT * max(1.0, float(np.abs(machine.intercept_).max()))
    return bool((least <= np.maximum(TIED * size, noise)).any())
