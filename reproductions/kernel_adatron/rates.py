"""Figures 1 and 2: epochs to the margin 0.99 over the learning rate.

Rates outside (0, 2), which the library refuses, are tried with the plain copy of the algorithm.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from adatron.solvers import KernelAdatron

from .. import data
from ..report import Section, Sheet
from .artificial import mirror_symmetry
from .machine import Vector, fitted, gaussian, plain

STOP_MARGIN = 0.99  # At which the algorithm stops; the optimum has 1.
LEGAL = np.r_[0.1:1.95:0.1, 1.95].round(2)  # Rates below 2.
ILLEGAL = (-0.5, -0.1, 0.0, 2.02, 2.1, 2.3)  # Rates outside (0, 2), for which nothing is proven.
COMPARED_RATES = (0.2, 0.6, 1.0)  # rates at which the order of the visits is compared
RATE_EPOCHS = 1000  # Epochs after which a rate counts as one that does not converge.
ORDER = (
    "The order of the visits matters as much as the rate, and the paper does not name its own: the library visits one "
    "class after the other, the samples of a class in an order of their content; the plain copy visits them as drawn. "
    "In the library's order both need the same number of epochs. "
)
TRANSIENT = (
    "A margin of 0.99 can be passed long before the solution is reached (it is necessary, not sufficient): hence the "
    "jumps."
)

TrainingSet = tuple[Vector, Vector]
Curves = dict[str, tuple[Vector, Vector]]


def sections(quick: bool, sheet: Sheet) -> Iterator[Section]:
    """Yield Figures 1 and 2."""
    rng = np.random.default_rng(0)
    draws = [mirror_symmetry(200, 30, rng) for _ in range(5 if quick else 20)]
    yield _figure_1(draws, sheet, 3000 if quick else 20_000)
    yield from sonar(sheet)


def sonar(sheet: Sheet) -> Iterator[Section]:
    """Yield Figure 2."""
    train = data.sonar()
    yield _figure_2((train.X, train.y), sheet)


def epochs(X: Vector, y: Vector, sigma: float, rate: float, margin: float | None = STOP_MARGIN) -> int:
    """Return the epochs of the library's Kernel-Adatron to a margin, or else to the KKT conditions."""
    solver = KernelAdatron(rate=rate, margin=margin)
    tol = 1e-2 if margin is None else 1e-9
    return int(fitted(X, y, sigma, bias="none", solver=solver, tol=tol).n_iter_[0])


def _figure_1(draws: list[TrainingSet], sheet: Sheet, most: int) -> Section:
    section = Section("Figure 1: epochs to a margin of 0.99 over the rate, mirror symmetry")
    sigma = 7.0
    found = np.median([[epochs(X, y, sigma, rate) for rate in LEGAL] for X, y in draws], axis=0)
    X, y = draws[0]
    _add_rates(section, found, 1.0)
    near = float(found[(LEGAL >= 0.7) & (LEGAL <= 1.3)].min() / found.min())
    section.add("fewest epochs for 0.7 <= rate <= 1.3, best of all = 1", 1.0, near, near <= 1.25)
    K = gaussian(X, sigma)
    _add_illegal(section, K, y)
    drawn = [(plain(K, y, rate, most)[0] or most) / epochs(X, y, sigma, rate) for rate in COMPARED_RATES]
    section.remarks.append(
        f"Medians of {len(draws)} draws. {ORDER}Epochs in the order as drawn, those in the library's order = 1, at "
        f"the rates {', '.join(map(str, COMPARED_RATES))}: "
        f"{', '.join(f'{v:.2g}' for v in drawn)} (at most {most} epochs). {TRANSIENT}"
    )
    _draw(sheet, section, "figure_01", found)
    return section


def _figure_2(train: TrainingSet, sheet: Sheet) -> Section:
    section = Section("Figure 2: epochs to a margin of 0.99 over the rate, sonar")
    X, y = train
    found = np.array([epochs(X, y, 1.0, rate) for rate in LEGAL])
    settled = np.array([epochs(X, y, 1.0, rate, None) for rate in LEGAL])
    _add_rates(section, found, None)
    K = gaussian(X, 1.0)
    shuffled = [np.arange(len(y)), *(np.random.default_rng(k).permutation(len(y)) for k in range(2))]
    means = [
        np.mean([plain(K[np.ix_(p, p)], y[p], rate, RATE_EPOCHS)[0] or RATE_EPOCHS for p in shuffled])
        for rate in COMPARED_RATES
    ]
    best = COMPARED_RATES[int(np.argmin(means))]
    fastest = float(LEGAL[int(np.argmin(settled))])
    section.add("best rate to a KKT violation of 0.01", "below 1", fastest, None, f"{settled.min():.0f} epochs")
    section.add("best rate, samples as in the file or shuffled", "below 1", best, best < 1.0)
    _add_illegal(section, K, y)
    section.remarks.append(
        f"{ORDER}Mean epochs in the other orders at the rates {', '.join(map(str, COMPARED_RATES))}: "
        f"{', '.join(f'{v:.0f}' for v in means)}. {TRANSIENT}"
    )
    _draw(sheet, section, "figure_02", found, {"KKT violation 0.01": (LEGAL, settled)})
    return section


def _add_rates(section: Section, found: Vector, published: float | None) -> None:
    best = float(LEGAL[int(np.argmin(found))])
    shown = "below 1" if published is None else published
    section.add("best rate, the library's order", shown, best, None, f"{found.min():.0f} epochs")
    section.add("epochs at the rate 1", None, float(found[LEGAL == 1.0][0]))
    converged = f"{int(np.isfinite(found).sum())} of {len(found)}"
    section.add("rates in (0, 2) that reach the margin", "all", converged, bool(np.isfinite(found).all()))


def _add_illegal(section: Section, K: Vector, y: Vector) -> None:
    reached = [rate for rate in ILLEGAL if plain(K, y, rate, RATE_EPOCHS)[0] is not None]
    text = ", ".join(map(str, ILLEGAL))
    section.add(f"rates that reach it of {text} ({RATE_EPOCHS} epochs)", "none", reached or "none", not reached)


def _draw(sheet: Sheet, section: Section, name: str, found: Vector, more: Curves | None = None) -> None:
    curves: Curves = {
        "margin 0.99": (LEGAL, found),
        **(more or {}),
        f"rates outside (0, 2): not in {RATE_EPOCHS}": (np.array(ILLEGAL), np.full(len(ILLEGAL), RATE_EPOCHS)),
    }
    sheet.draw(section, name, curves, xlabel="η", ylabel="epochs", yscale="log")
