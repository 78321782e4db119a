"""Section 4.2: the USPS digits, each against the rest, without bias."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adatron.solvers import KernelAdatron

from .. import data
from ..report import Section, Sheet
from .machine import error, fitted

RBF_NETWORK = (20, 16, 43, 38, 46, 31, 15, 18, 37, 26)  # Errors for each digit in the paper: this network,
SVM = (16, 8, 25, 19, 29, 23, 14, 12, 25, 16)  # support vector machines,
DIGITS_ERRORS = (13, 10, 21, 24, 26, 19, 15, 11, 26, 14)  # and Kernel-Adatron with the sigma below.
PUBLISHED_SIGMA = (1.8, 1.6, 2.4, 2.0, 4.0, 1.8, 2.4, 2.8, 3.2, 1.6)  # The sigma of each digit.
SIGMAS = (1.0, 1.3, 1.6, 1.8, 2.0, 2.4, 2.8, 3.2, 3.6, 4.0, 5.0, 6.5, 8.0, 10.0)  # All of them, and others around.
QUICK_SIGMAS = (2.0, 4.0)  # The sigma of a quick run.
TRAINING = 6000  # Samples for training, of the 7,291; the rest validates.
CHECKED = 7  # The digit that Kernel-Adatron also learns.

Counts = NDArray[np.int64]


def sections(quick: bool, sheet: Sheet) -> Iterator[Section]:
    """Yield the table of the ten digits."""
    section = Section("Section 4.2: errors on USPS digits")
    X, y, X_test, y_test = data.usps()
    grid = np.array(QUICK_SIGMAS if quick else SIGMAS)
    part = (X[:TRAINING], y[:TRAINING], X[TRAINING:], y[TRAINING:])
    validation = np.array([errors_of_digits(*part, sigma) for sigma in grid])  # (sigmas, digits)
    test = np.array([errors_of_digits(X, y, X_test, y_test, sigma) for sigma in grid])
    best = validation.argmin(axis=0)
    chosen = test[best, np.arange(10)]
    for k in range(10):
        remark = f"sigma {PUBLISHED_SIGMA[k]} there, {grid[best[k]]:g} here; RBF network {RBF_NETWORK[k]}, SVM {SVM[k]}"
        section.add(f"digit {k}", DIGITS_ERRORS[k], int(chosen[k]), None, remark)
    total = int(chosen.sum())
    remark = f"RBF network {sum(RBF_NETWORK)}, SVM {sum(SVM)}"
    section.add("sum of errors", sum(DIGITS_ERRORS), total, total <= sum(DIGITS_ERRORS), remark)
    widest = len(grid) - 1 - validation[::-1].argmin(axis=0)
    section.add("sum, the largest sigma of equally good ones", None, int(test[widest, np.arange(10)].sum()))
    at = int(test.sum(axis=1).argmin())
    section.add("sum, one sigma for all digits, best on the test set", None, int(test[at].sum()), None, f"{grid[at]:g}")
    biased = np.array([errors_of_digits(*part, sigma, "explicit") for sigma in grid]).argmin(axis=0)
    _with_bias(section, X, y, X_test, y_test, grid[best], grid[biased])
    _same_model(section, X, y, X_test, y_test)
    section.remarks.append(
        "Images smoothed by a Gaussian of 0.75 pixels (the paper names no smoothing). Hard margin; sigma of each digit "
        f"by the fewest errors on the last {len(y) - TRAINING} training samples, the smallest of equally good ones, of "
        f"{', '.join(f'{s:g}' for s in grid)}. The optimum does not depend on the solver, so the default one was used."
    )
    curves: dict[str, Any] = {"test": (grid, test.sum(axis=1)), "validation": (grid, validation.sum(axis=1))}
    labels = {"xlabel": "σ", "ylabel": "errors, all digits", "xscale": "log"}
    sheet.draw(section, "digits", curves, **labels)
    yield section


def errors_of_digits(X: Any, y: Any, X_test: Any, y_test: Any, sigma: float, bias: str = "none") -> Counts:
    """Return the errors of each digit against the rest, (10,)."""
    values = fitted(X, y, sigma, bias=bias, multi_class="ovr").decision_function(X_test)
    return np.sum((values >= 0) != (y_test[:, None] == np.arange(10)), axis=0)


def _with_bias(
    section: Section, X: Any, y: Any, X_test: Any, y_test: Any, without: NDArray[Any], sigmas: NDArray[Any]
) -> None:
    """Compare the digits with and without a bias, each with the width that it chose, and with equal widths."""

    def right(widths: NDArray[Any], bias: str) -> NDArray[np.bool_]:
        chosen = zip(range(10), widths, strict=True)
        return np.array([fitted(X, y == k, s, bias=bias).predict(X_test) == (y_test == k) for k, s in chosen])

    none, some, same = right(without, "none"), right(sigmas, "explicit"), right(without, "explicit")
    found = [int((~one).sum()) for one in (none, some, same)]
    section.add("errors without a bias, with one, with one at the sigma of those without", [179, sum(SVM)], found)
    for what, other in (("each with its own sigma", some), ("the same sigma", same)):
        gain, error = int(other.sum()) - int(none.sum()), float(np.sqrt((none != other).sum()))
        section.add(
            f"fewer errors with a bias, {what}", "no difference", f"{gain} ± {error:.1f}", abs(gain) <= 2.0 * error,
            why_not="a narrow kernel is 0 far from all samples, and the bias decides there",
        )  # fmt: skip


def _same_model(section: Section, X: Any, y: Any, X_test: Any, y_test: Any) -> None:
    sigma, label, truth = PUBLISHED_SIGMA[CHECKED], y == CHECKED, y_test == CHECKED
    fast = fitted(X, label, sigma, bias="none")
    slow = fitted(X, label, sigma, bias="none", solver=KernelAdatron())
    both = [round(error(model, X_test, truth) * len(truth)) for model in (slow, fast)]
    bound = fast.duality_gap_ + slow.duality_gap_
    apart = abs(float(slow.dual_objective_ / fast.dual_objective_) - 1.0)
    section.add(
        f"digit {CHECKED}, sigma = {sigma}: errors by Kernel-Adatron, by the default solver", DIGITS_ERRORS[CHECKED],
        both, apart <= bound, f"{int(slow.n_iter_[0])} epochs; dual objectives agree to {apart:.0e}",
    )  # fmt: skip
