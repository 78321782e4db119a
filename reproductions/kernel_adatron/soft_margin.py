"""Sections 4.2 and 4.3: Wisconsin breast cancer, ionosphere and Pima diabetes; Figure 12."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import cast

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from adatron import SVC
from adatron.arrays import Ids
from adatron.solvers import KernelAdatron

from .. import data
from ..baselines import STAND_INS, scores, spread
from ..claims import beyond
from ..fits import standard_error
from ..report import Section, Sheet
from .machine import Vector, error, fitted, gamma
from .widths import holds

# Published rates of correct answers, in per cent.
CANCER = {"CART": 94.2, "RBF network": 95.9, "linear discriminant": 96.0, "back-propagation network": 96.6}
IONOSPHERE = {"k nearest neighbours": 92.1, "C4.5": 94.1, "back-propagation network": 96.0}
PIMA_TRAINING = 609  # Samples for training.
PIMA_SIGMA = (5.0, 8.0, 11.0, 15.0, 20.0, 30.0, 50.0, 80.0)  # The sigma and C tried here; the paper's are 11
PIMA_C = (0.5, 1.02, 2.0, 5.0)  # and 1.02.
PIMA_SOFT, PIMA_HARD = 0.248, 0.335  # The paper's test errors, with a soft and with a hard margin.


def sections(quick: bool, sheet: Sheet) -> Iterator[Section]:
    """Yield the three medical and radar data sets, and Figure 12."""
    yield _wisconsin(quick)
    yield _figure_12(sheet)
    yield _ionosphere(quick)
    yield _pima(5 if quick else 20)


def _wisconsin(quick: bool) -> Section:
    section = Section("Section 4.2: Wisconsin breast cancer")
    X, y = data.wisconsin()
    sigmas = (3.0, 5.0, 10.0) if quick else (1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0)
    grid = {"gamma": [gamma(s) for s in sigmas], "C": (0.3, 1.0, 3.0) if quick else (0.1, 0.3, 1.0, 3.0, 10.0, np.inf)}
    soft: list[float] = []
    hard: list[float] = []
    splits = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))
    for train, test in splits:
        search = GridSearchCV(SVC(), grid, cv=5).fit(X[train], y[train])
        soft.append(100.0 * cast("float", search.score(X[test], y[test])))
        hard.append(100.0 * (1.0 - error(fitted(X[train], y[train], 3.0), X[test], y[test])))
    section.add("best split, soft margin, %", 98.5, max(soft), holds(max(soft), 98.5))
    section.add("best split, hard margin, sigma = 3, %", 98.5, max(hard), holds(max(hard), 98.5))
    mean = float(np.mean(soft))
    section.add("mean of the splits, soft margin, %", None, mean)
    section.add("mean of the splits, hard margin, sigma = 3, %", None, float(np.mean(hard)))
    for name, published in CANCER.items():
        others = [scores(name, X[train], y[train], X[test], y[test])[0] for train, test in splits]
        section.add(f"{name}, %", published, spread(others))
        gain = np.subtract(soft, others)
        section.add(
            f"soft margin - {name}, points", max(0.0, 98.5 - published), spread(list(gain)),
            beyond(float(gain.mean()), standard_error(gain)),
        )  # fmt: skip
    section.remarks.append(
        "10-fold cross-validation of the 683 complete patients, 9 features as they are (1 to 10); C and sigma of the "
        "soft margin by 5-fold cross-validation within each training set. The paper gives the best test performance of "
        "its splits, not how many and how large they were."
    )
    return section


def _figure_12(sheet: Sheet) -> Section:
    section = Section("Figure 12: test and training error over C, ionosphere")
    X, y, *test = data.ionosphere()
    costs = np.arange(1.0, 10.1, 0.25)
    solver = KernelAdatron(rate=1.0, mu=0.2)
    models = [fitted(X, y, 1.5, C=C, solver=solver) for C in costs]
    tested, trained = (np.array([error(model, *part) for model in models]) for part in (test, (X, y)))
    rising = int(np.sum(np.diff(trained) > 1e-12))
    section.add("test error, smallest", 0.04, float(tested.min()), bool(tested.min() <= 0.04))
    section.add(
        "training error at C = 1, 10", "falls", [float(trained[0]), float(trained[-1])], trained[-1] < trained[0]
    )
    section.add("steps of C at which the training error rises", 0, rising)
    curves = {"test": (costs, tested), "training": (costs, trained)}
    sheet.draw(section, "figure_12", curves, xlabel="C", ylabel="error", ylim=(0, None))
    return section


def _ionosphere(quick: bool) -> Section:
    section = Section("Section 4.3: ionosphere")
    X, y, *test = data.ionosphere()
    sigmas = np.arange(0.5, 2.51, 0.25 if quick else 0.1).round(2)
    costs = np.arange(1.0, 10.01, 1.0 if quick else 0.25)
    soft = {(C, s): 100.0 * (1.0 - error(fitted(X, y, s, C=C), *test)) for C, s in product(costs, sigmas)}
    hard = {s: 100.0 * (1.0 - error(fitted(X, y, s), *test)) for s in sigmas}
    top = max(soft.values())
    C, sigma = min((pair for pair, value in soft.items() if value == top), key=lambda p: abs(p[1] - 1.5))
    wrong = 100.0 * error(fitted(X, y, sigma, C=C), X, y)
    remark = f"C = {C:g}, sigma = {sigma:g}, one of {sum(v == top for v in soft.values())}"
    section.add("soft margin, best of the grid, %", 96.0, top, holds(top, 96.0), remark)
    section.add("training error there, %", 1.0, wrong)
    best = max(hard, key=lambda s: hard[s])
    section.add("hard margin, best of the grid, %", 92.0, hard[best], holds(hard[best], 92.0), f"sigma = {best:g}")
    section.add("soft better than hard by, %", 4.0, top - hard[best], top > hard[best])
    for name, published in IONOSPHERE.items():
        others = scores(name, X, y, *test, repeats=10)
        mean, sampled = float(np.mean(others)), 100.0 * float(np.sqrt(0.05 * 0.95 / len(test[1])))
        section.add(f"{name}, %", published, f"{mean:.1f}")
        holds_here = beyond(top - mean, sampled)
        section.add(f"soft margin - {name}, points", 96.0 - published, f"{top - mean:.2f} ± {sampled:.2f}", holds_here)
    section.remarks.append(
        "First 200 of 351 samples for training, the other 151 for the test (the paper: 150); best of a grid on "
        f"these. {STAND_INS}. Networks: 12 hidden units, ten starts. The error is that of 151 samples at 95 %."
    )
    return section


def _pima(draws: int) -> Section:
    section = Section("Section 4.3: Pima diabetes")
    X, y = data.pima()
    rng = np.random.default_rng(0)
    splits = [rng.permutation(len(y)) for _ in range(draws)]
    _raw_features(section, X, y, splits)
    _standardised_features(section, X, y, splits)
    section.remarks.append(
        f"Means of {len(splits)} random splits into 609 and 159 (there are 768 patients, not 770), in parentheses "
        "their range; the best of the grid is that on the test samples, as in the paper, whose split and preprocessing "
        "are unknown. Its training error at C = 1.02 and sigma = 11 is nearly its test error: so it is here with "
        "standardised features, but for features as they are that kernel is too narrow (training error below 0.1), and "
        "the soft margin gains less. Standardised features need a narrower kernel for the hard margin: at sigma = 11 "
        "no solution was found in ten seconds."
    )
    return section


def _raw_features(section: Section, X: Vector, y: Vector, splits: list[Ids]) -> None:
    """Add the results for features as they are: the paper's parameters, and the best of a grid."""
    errors, hard = np.zeros((len(splits), len(PIMA_C), len(PIMA_SIGMA))), np.zeros(len(splits))
    for k, order in enumerate(splits):
        train, test = order[:PIMA_TRAINING], order[PIMA_TRAINING:]
        hard[k] = error(fitted(X[train], y[train], 11.0), X[test], y[test])
        for (i, C), (j, sigma) in product(enumerate(PIMA_C), enumerate(PIMA_SIGMA)):
            errors[k, i, j] = error(fitted(X[train], y[train], sigma, C=C), X[test], y[test])
    soft = errors[:, PIMA_C.index(1.02), PIMA_SIGMA.index(11.0)]
    best = errors.reshape(len(splits), -1).min(axis=1)
    top = float(best.mean())
    section.add("soft margin, best of the grid for each split", PIMA_SOFT, top, top <= PIMA_SOFT)
    section.add("hard margin, sigma = 11", PIMA_HARD, float(hard.mean()))
    _add_gain(section, "best soft better than hard by", hard - best, True)
    section.add("soft margin, sigma = 11, C = 1.02", PIMA_SOFT, float(soft.mean()))
    _add_gain(section, "soft better than hard by, both at sigma = 11", hard - soft, False)


def _add_gain(section: Section, what: str, gain: Vector, strict: bool) -> None:
    published, mean = round(PIMA_HARD - PIMA_SOFT, 3), float(gain.mean())
    remark = f"({gain.min():.3f} to {gain.max():.3f})"
    section.add(what, published, mean, mean > published - 0.0005 if strict else None, remark)


def _standardised_features(section: Section, X: Vector, y: Vector, splits: list[Ids]) -> None:
    soft: list[float] = []
    trained: list[float] = []
    hard: list[float] = []
    for order in splits:
        train, test = order[:PIMA_TRAINING], order[PIMA_TRAINING:]
        Z = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
        model = fitted(Z[train], y[train], 11.0, C=1.02)
        soft.append(error(model, Z[test], y[test]))
        trained.append(error(model, Z[train], y[train]))
        hard.append(error(fitted(Z[train], y[train], 1.0), Z[test], y[test]))
    section.add("standardised: soft margin, sigma = 11, C = 1.02", PIMA_SOFT, float(np.mean(soft)))
    section.add("standardised: its training error", 0.244, float(np.mean(trained)))
    section.add("standardised: hard margin, sigma = 1", PIMA_HARD, float(np.mean(hard)))
    _add_gain(section, "standardised: soft better than hard by", np.subtract(hard, soft), False)
