"""Section 4.1: n-parity and the two spirals."""

from __future__ import annotations

from collections.abc import Iterator

from adatron.solvers import KernelAdatron

from ..report import Section, Sheet
from .artificial import parity, two_spirals
from .machine import Vector, error, fitted

PARITY = (0.3, 0.5, 0.7, 0.8, 1.0, 1.2, 1.5)  # Values of sigma.
SPIRALS = (0.3, 0.5, 0.7, 1.0)  # Values of sigma.


def sections(quick: bool, sheet: Sheet) -> Iterator[Section]:
    """Yield both problems; neither takes long enough to be made smaller."""
    yield _parity()
    yield _spirals(sheet)


def epochs_to_separate(X: Vector, y: Vector, sigma: float, most: int) -> int | None:
    """Return the epochs of Kernel-Adatron without bias until it classifies every training sample rightly."""
    for epochs in range(1, most + 1):
        if error(fitted(X, y, sigma, bias="none", solver=KernelAdatron(), max_iter=epochs), X, y) == 0:
            return epochs
    return None


def _parity() -> Section:
    section = Section("Section 4.1: n-parity")
    for n in range(3, 7):
        X, y = parity(n)
        once = [sigma for sigma in PARITY if epochs_to_separate(X, y, sigma, 1)]
        section.add(f"epochs to a solution, n = {n}", 1, 1 if once else "more", bool(once), f"sigma <= {max(once):g}")
        solver = KernelAdatron(margin=0.99)
        epochs = [int(fitted(X, y, s, bias="none", solver=solver, tol=1e-9).n_iter_[0]) for s in (0.5, 0.7, 1.0)]
        section.add(f"n = {n}: epochs to the margin 0.99, sigma = 0.5, 0.7, 1", "several", epochs)
    section.remarks.append(f"Without bias (it is 0 by symmetry); sigma of {', '.join(map(str, PARITY))}.")
    return section


def _spirals(sheet: Sheet) -> Section:
    section = Section("Section 4.1: two spirals")
    X, y = two_spirals()
    curves: dict[str, tuple[Vector, Vector]] = {}
    for sigma in SPIRALS:
        model = fitted(X, y, sigma, bias="none", solver=KernelAdatron(), tol=1e-4)
        wrong = error(model, X, y)
        separated = epochs_to_separate(X, y, sigma, 100)
        remark = f"separated after {separated} epochs, optimal after {int(model.n_iter_[0])}"
        section.add(f"sigma = {sigma}: training error", 0, wrong, wrong == 0, remark)
        curves[f"σ = {sigma}"] = (model.trace_["n_iter"], model.trace_["margin"])
    section.remarks.append("194 points of three turns, without bias.")
    labels = {"xlabel": "epochs", "ylabel": "margin", "xscale": "symlog", "ylim": (-1.5, 1.2)}
    sheet.draw(section, "spirals", curves, **labels)
    return section
