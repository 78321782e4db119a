"""SVMseq's tables and figures.

S. Vijayakumar, S. Wu, Sequential support vector classifiers and regression (1999). The paper names no stopping
threshold, no C for the digits and no scale of the polynomial kernel's inputs; each table names our values.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..held import Said, closed
from ..report import Section, Sheet
from . import angles, cost, digits, regression, sonar

INTRODUCTION = (
    "The paper says that steps of one sample at a time, with the bias as a part of the kernel, find the machine of "
    "the quadratic program in far less time, for classes and for regression. Here the method reaches the proven "
    "optimum, and at convergence it has as few errors on sonar and USPS as the paper's. A bias and a soft margin did "
    "not help on sonar, today's dense methods leave a smaller lead than the paper's, Kernel-Adatron takes the same "
    "steps, and the printed update of regression diverges, because its curvature is twice what the paper takes it "
    "for."
)

SAID = (
    Said("A larger λ gives the best plane", "4.1.1, Table 1", "λ = 5, to the maximal margin", "λ = 5: {} (deviation)"),
    Said("d̃ = d cos φ", "4.1.1 (23-26)", "λ = 1: mean cos² φ", "mean cos² φ, and largest difference: {}"),
    Said(
        "A larger λ converges more slowly", "4.1.1", "epochs, clusters, λ = 10", "{} times the epochs of λ = 2 on the "
        "clusters",
    ),
    Said("- below the magnitude of the inputs", "4.1.1", "epochs, clusters, λ = 2", "{} times those of λ = 0.1"),
    Said("- with kernels", "4.1.1", "epochs, sonar", "{} times the epochs of λ = 0.1 on sonar"),
    Said("‖w*‖² > ¼ makes the plane balanced", "4.1.2", "λ = 0.5: draws that meet", "draws that meet it, balanced: {}"),
    Said("Parallel planes by c", "4.1.2 (28-32)", "c = 2: largest error", "largest error {}"),
    Said("Scaling the inputs brings balance", "4.1.2", "inputs times 0.25", "draws that meet it, balanced: {}"),
    Said("The objective never falls", "4.3.2", "the objective grows", "USPS and MNIST: {}"),
    Said("Orders of magnitude faster, at once", "1, Table 3", "operations, dense / SVMseq at epoch 10", "{} times"),
    Said("- at convergence", "1, Table 3", "operations, dense / SVMseq at epoch 130", "{} times"),
    Said("Other multipliers are exactly 0", "7", "exact zeros", "SVMseq, interior point: {}"),
    Said("Better than networks on sonar", "5.1, Tables 2, 3", "SVMseq - the best network", "{} points more right"),
    Said("7 errors at epoch 10", "5.1, Table 3", "SVMseq, epoch 10", "{} in the library's order; the table has others"),
    Said("5 errors at epoch 50", "5.1, Table 3", "SVMseq, epoch 50", "{}"),
    Said("5 errors at epoch 130", "5.1, Table 3", "SVMseq, epoch 130", "{}"),
    Said("Broad region of good σ", "5.1, Fig. 2a", "σ within 5 points", "σ from, to: {}"),
    Said("Much better than RBF networks", "5.2, Table 4", "RBF networks - SVMseq", "{} errors more"),
    Said("Comparable to tuned machines", "5.2, Table 4", "SVM - SVMseq", "{} errors more"),
    Said("191 errors by rbf", "5.2, Table 4", "RBF, σ = 3.5, default", "{}"),
    Said("No training errors in a few epochs", "5.2, Fig. 3a", "training errors (%), 3a", "per cent by epochs: {}"),
    Said("- on MNIST", "5.2, Fig. 3b", "training errors (%), 3b", "per cent by epochs: {}"),
    Said("Improved by bias", "5", "improved by bias", "sonar, USPS: {} errors fewer"),
    Said("Improved by a soft margin, sonar", "5", "improved by soft margin (C = 1), sonar", "{} errors fewer"),
    Said("Improved by a soft margin, USPS", "5", "improved by soft margin, USPS", "{} errors fewer"),
    Said("Kernel-Adatron has more support vectors", "2", "support vectors, Kernel-Adatron", "{} more"),
    Said("Kernel-Adatron has a plateau", "2", "plateau", "epochs, Kernel-Adatron / SVMseq: {}"),
    Said("The same frame solves regression", "6", "λ = 0: relative duality gap", "relative gap {}"),
    Said("The printed update converges", "6.1", "λ = 0: objective, optimum", "optimum, and where it goes: {}"),
    Said("A narrow valley traps the ascent", "7", "gap, SVMseq / default", "its gap is {} times that of Newton steps"),
    Said("Flop counts of Table 3", "5.1", "", "MATLAB's counter of 1999; by our own rule in the tables above"),
    Said("A proof of convergence in regression", "6.1", "", "announced for another paper; the printed rule diverges"),
)  # fmt: skip


def sections(quick: bool, sheet: Sheet) -> Iterator[Section]:
    """Yield Tables 1 to 4, Figures 1 to 3, what the text says on cost, and section 6."""
    yield from closed("svmseq", _shown(quick, sheet), SAID, quick)


def _shown(quick: bool, sheet: Sheet) -> Iterator[Section]:
    yield from angles.sections(quick, sheet)
    yield from sonar.sections(sheet)
    yield from cost.sections(quick, sheet)
    yield from digits.sections(quick, sheet)
    yield from regression.sections(sheet)
