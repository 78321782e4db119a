"""Decomposition (15.5.2): the feasible direction beside other choices, its rate, and its linear program."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog

from adatron.arrays import Ids, Vector
from adatron.estimators import SVC
from adatron.kernels import RBF
from adatron.solvers import Decomposition

from ..claims import beyond
from ..fits import OBJECTIVE_ROUNDING, coefficients_of, quietly, standard_error, timed
from ..report import Section, Sheet
from .conditions import GAMMA, C, moons

Q, MOST_SETS = 10, 20_000  # Size of a working set, and most sets.
# Names in the text, and those of ``Decomposition``.
CHOICES = {"feasible direction": "feasible", "random": "random", "Osuna's heuristic": "heuristic"}
TOL = 1e-6  # Down to which the rate is observed.
SET_SIZES = 100_000, 300_000, 1_000_000, 3_000_000  # Samples of which a working set is selected.


def rates(draws: int, sheet: Sheet) -> Section:
    """Count working sets by choice, and fit a line to the logarithm of what is missing."""
    section = Section(f"Section 15.5.2: working sets of {Q} samples by three choices")
    counts, straight, gains = {name: [] for name in CHOICES}, [], []
    curves: dict[str, tuple[Vector, Vector]] = {}
    for seed in range(draws):
        X, y = moons(200, seed)
        best = SVC(C=C, gamma=GAMMA, tol=1e-9).fit(X, y).dual_objective_
        for name, selection in CHOICES.items():
            how: dict[str, Any] = {"tol": TOL, "solver": Decomposition(q=Q, selection=selection), "max_iter": MOST_SETS}
            model = quietly(SVC(C=C, gamma=GAMMA, **how), X, y)
            sets, missing = model.trace_["n_iter"], 1.0 - model.trace_["dual_objective"] / best
            counts[name].append(int(model.n_iter_[0]))
            gains.append(float(np.diff(model.trace_["dual_objective"]).min() / best))
            seen = missing > 1e-11
            curves.setdefault(name, (sets[seen], missing[seen]))
            if selection == "feasible":
                straight.append(_straightness(sets[seen], missing[seen]))
    ratios = {name: np.array(found) / np.array(counts["feasible direction"]) for name, found in counts.items()}
    for name, found in counts.items():
        section.add(f"{name}: mean number of sets", None, float(np.mean(found)))
    for what, name in (("random working sets", "random"), ("Osuna's heuristic, sets", "Osuna's heuristic")):
        ratio, error = float(ratios[name].mean()), standard_error(ratios[name])
        holds = beyond(ratio - 1.0, error) if name == "random" else None
        section.add(f"{what} / feasible direction", None, f"{ratio:.2f} ± {error:.2f}", holds)
    r2 = float(np.median(straight))
    section.add("linear rate: R² of log(D* - D) over the sets, median", "observed", r2, r2 > 0.9)
    section.add("smallest gain of a set, part of the optimum", ">= 0", min(gains), min(gains) > -OBJECTIVE_ROUNDING)
    section.remarks.append(
        f"{draws} draws of 200 samples, C = {C:g}, gamma = {GAMMA:g}, tol = {TOL:g}, means and standard errors of the "
        "draws. R² near 1: the distance to the optimum falls by the same factor at each set, once the first half of "
        "the fall is over. A gain is the rise of the dual objective, up to rounding."
    )
    labels: dict[str, Any] = {"xlabel": "working sets", "ylabel": "1 - D / D*", "xscale": "log", "yscale": "log"}
    sheet.draw(section, "convergence", curves, **labels, title="Decomposition by three choices of the set")
    feasible = curves["feasible direction"]
    labels |= {"xscale": "linear", "title": "The feasible direction: a line is a linear rate"}
    sheet.draw(section, "linear_rate", {"feasible direction": feasible}, **labels)
    return section


def _straightness(sets: Vector, missing: Vector) -> float:
    """Return R² of a line through the logarithm of the second half of the fall."""
    fall = np.log(missing)
    late = fall < 0.5 * (fall[0] + fall[-1])
    return float(np.corrcoef(sets[late], fall[late])[0, 1] ** 2)


def linear_program(draws: int) -> Section:
    """Compare the sorted working set with the solution of (15.41-45), on 100 samples."""
    section = Section("Eqs. (15.41) to (15.45): the feasible direction by sorting and by a linear program")
    ratios, moved, times = [], [], []
    for seed in range(draws):
        X, y = moons(100, seed)
        beta, after = (
            coefficients_of(quietly(SVC(C=C, gamma=GAMMA, solver=Decomposition(q=Q), max_iter=k), X, y), 100)
            for k in (3, 4)
        )
        pull, bounds = -(RBF(GAMMA)(X) @ beta - y), (np.minimum(0.0, C * y), np.maximum(0.0, C * y))
        grow, shrink = beta < bounds[1], beta > bounds[0]
        (value, chosen), sorting = timed(_sorted, pull, grow, shrink)
        best, solving = timed(_program, pull, grow, shrink)
        ratios.append(value / best)
        times.append(solving / max(sorting, 1e-7))
        moved.append(bool(np.isin(np.flatnonzero(after != beta), chosen).all()))
    worst = float(np.abs(np.array(ratios) - 1.0).max())
    section.add("linear program: value of the sorted set / the program's", 1, float(np.mean(ratios)), worst < 1e-6)
    section.add("the library's next set is the sorted one", None, f"{sum(moved)} of {draws}", all(moved))
    section.add("processor time, program / sorting", "inefficient", float(np.median(times)))
    section.add("exponent of the selection's time", "1", _exponent())
    section.remarks.append(
        f"{draws} draws of 100 samples after three working sets. With |d_i| <= 1 and at most q entries, q/2 of either "
        "sign, sorting is not an approximation: it solves the program, whose value is gᵀd. Without the limit of q the "
        "program has all variables in it. The program by HiGHS (SciPy). Selection is a partition "
        f"(np.argpartition) of {SET_SIZES[0]:,} to {SET_SIZES[-1]:,} numbers."
    )
    return section


def _sorted(pull: Vector, grow: Ids, shrink: Ids) -> tuple[float, Ids]:
    up, down = np.where(grow, pull, -np.inf), np.where(shrink, -pull, -np.inf)
    top, low = np.argsort(up)[-Q // 2 :], np.argsort(down)[-Q // 2 :]
    gains = np.sort(up[top])[::-1] + np.sort(down[low])[::-1]
    return float(gains[gains > 0].sum()), np.union1d(top, low)


def _program(pull: Vector, grow: Ids, shrink: Ids) -> float:
    n, ones = len(pull), np.ones(len(pull))
    result = linprog(
        np.concatenate([-pull, pull]), A_ub=np.concatenate([ones, ones])[None], b_ub=[Q],
        A_eq=np.concatenate([ones, -ones])[None], b_eq=[0.0],
        bounds=[(0.0, float(can)) for can in (*grow[:n], *shrink[:n])],
    )  # fmt: skip
    return -float(result.fun)


def _exponent() -> float:
    rng = np.random.default_rng(0)
    best = []
    for n in SET_SIZES:
        values = rng.random(n)
        best.append(min(timed(np.argpartition, values, -Q)[1] for _ in range(5)))
    return float(np.polyfit(np.log(SET_SIZES), np.log(best), 1)[0])
