"""Machines, folds, scores, steps before, weights and forms of samples: every value meets every other one somewhere."""

import random
import warnings
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn import model_selection as theirs
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.decomposition import PCA
from sklearn.metrics import accuracy_score, make_scorer, mean_absolute_error
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from adatron import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from adatron.selection import GridSearchCV
from covering import covering, named

TIGHT = 1e-6
N = 63
MACHINES = {
    "svc": (SVC(tol=TIGHT), {"C": [0.3, 20.0]}),
    "pairs": (SVC(tol=TIGHT), {"C": [0.3, 20.0], "break_ties": [True]}),
    "rest": (SVC(tol=TIGHT, multi_class="ovr"), {"C": [0.3, 20.0], "class_weight": ["balanced"]}),
    "augmented": (SVC(tol=TIGHT, bias="augmented", augment=1.5), {"C": [0.3, 20.0]}),
    "no bias": (SVC(tol=TIGHT, bias="none"), {"C": [0.3, 20.0], "class_weight": ["balanced"]}),
    "nusvc": (NuSVC(tol=TIGHT), {"nu": [0.35, 0.5]}),
    "svr": (SVR(tol=TIGHT), {"C": [0.3, 20.0], "epsilon": [0.05]}),
    "nusvr": (NuSVR(tol=TIGHT), {"C": [0.3, 20.0], "nu": [0.4]}),
    "nusvr no bias": (NuSVR(tol=TIGHT, bias="none"), {"nu": [0.3, 0.6]}),
    "novelty": (OneClassSVM(tol=TIGHT), {"nu": [0.12, 0.33]}),
}
FOLDS = {
    "default": None,
    "groups": theirs.GroupKFold(4),
    "left out": theirs.LeavePGroupsOut(2),
    "repeated": theirs.RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "drawn": theirs.ShuffleSplit(4, train_size=0.5, test_size=0.3, random_state=0),
    "in time": theirs.TimeSeriesSplit(3, test_size=12),
    "given": theirs.PredefinedSplit(np.arange(N) % 4 - 1),
    "one by one": theirs.LeaveOneOut(),
}
SCORES = {
    "own": {"classes": None, "numbers": None, "novelty": "accuracy"},
    "function": {
        "classes": make_scorer(accuracy_score),
        "numbers": make_scorer(mean_absolute_error, greater_is_better=False),
        "novelty": make_scorer(accuracy_score),
    },
    "several": {
        "classes": ["accuracy", "f1_macro"],
        "numbers": ["neg_mean_squared_error", "neg_median_absolute_error"],
        "novelty": {"a": "accuracy", "b": "f1_macro"},
    },
}
STEPS = {
    "none": ([], {}),
    "scaler": ([("scale", StandardScaler(with_mean=False))], {}),
    "chosen": ([("scale", MaxAbsScaler())], {"scale": [MaxAbsScaler(), "passthrough"]}),
    "reduced": ([("scale", "passthrough"), ("pca", PCA(random_state=0))], {"pca__n_components": [2, 4]}),
}
KERNELS = {
    "rbf": {"gamma": [0.3]},
    "scale": {"gamma": ["scale"]},
    "linear": {"kernel": ["linear"]},
    "laplacian": {"kernel": ["laplacian"], "gamma": [0.2]},
    "poly": {"kernel": ["poly"], "degree": [2], "gamma": [0.2], "coef0": [1.0]},
}
WEIGHTS = ["none", "some", "zeros"]
FORMS = ["double", "single", "sparse", "repeated"]
FACTORS = {
    "machine": list(MACHINES), "folds": list(FOLDS), "scoring": list(SCORES), "steps": list(STEPS),
    "kernel": list(KERNELS), "weights": WEIGHTS, "form": FORMS,
}  # fmt: skip


SOME = random.Random(0).sample(list(product(*FACTORS.values())), 3000)  # noqa: S311 (they have all pairs of values)


def samples(machine, form):
    """Rows and targets, in an order that puts all labels into all folds."""
    if "svr" in machine:
        X, y = make_regression(N, 5, noise=20.0, random_state=0)
        y = y / 100.0
    else:
        k = 3 if machine in ("pairs", "rest") else 2
        X, y = make_classification(N, 5, n_informative=4, n_redundant=0, n_classes=k, n_clusters_per_class=1,
                                   flip_y=0.1, random_state=1)  # fmt: skip
        order = np.argsort(np.argsort(y, kind="stable") % (N // k), kind="stable")
        X, y = X[order], y[order]
        y = 2 * y - 1 if machine == "novelty" else y
    if form == "single":
        X = X.astype(np.float32)
    elif form == "sparse":
        X = sparse.csr_matrix(np.where(np.abs(X) < 0.2, 0.0, X))
    elif form == "repeated" and machine != "novelty":  # there a copy of a support vector is neither in nor out
        X, y = np.vstack([X[:42], X[:21]]), np.concatenate([y[:42], y[:21]])
    return X, y


@pytest.mark.slow
@pytest.mark.parametrize(tuple(FACTORS), covering(SOME), ids=named)
def test_all_meet_all(machine, folds, scoring, steps, kernel, weights, form):
    estimator, grid = MACHINES[machine]
    grid = {**grid, **KERNELS[kernel]}
    before, more = STEPS[steps]
    X, y = samples(machine, form)
    kind = "novelty" if machine == "novelty" else "numbers" if "svr" in machine else "classes"
    fit = {"groups": np.arange(N) % 5} if folds in ("groups", "left out") else {}
    weight = np.random.default_rng(0).choice([0.5, 1.0, 2.0] if weights == "some" else [0.0, 1.0, 1.0], N)
    if before:
        estimator = Pipeline([*before, ("svm", estimator)])
        grid = {**more, **{f"svm__{name}": values for name, values in grid.items()}}
    if weights != "none":
        fit["svm__sample_weight" if before else "sample_weight"] = weight
    settings = {"cv": FOLDS[folds], "scoring": SCORES[scoring][kind], "refit": False}
    settings["return_train_score"] = kind != "novelty"  # support vectors are neither in nor out
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, plain = (
            made(clone(estimator), grid, **settings).fit(X, y, **fit).cv_results_
            for made in (GridSearchCV, theirs.GridSearchCV)
        )
    assert ours["params"] == plain["params"]
    assert set(ours) - set(plain) == {"converged", "max_duality_gap", "proven"}
    scores = [name for name in plain if ("test" in name or "train" in name) and "rank" not in name]
    for name in scores:
        near = 0.03 if "train" in name else 2e-3  # a sample that is at the boundary
        np.testing.assert_allclose(ours[name], plain[name], atol=near, rtol=2e-3, err_msg=name)
    if kernel != "scale" and not before and folds != "one by one":  # all folds of a candidate have shared one time
        assert (ours["std_fit_time"] <= 1e-9 * ours["mean_fit_time"]).all()
    fitted = np.isfinite(ours[next(name for name in scores if name.startswith("mean"))])
    assert ours["converged"][fitted].all()
