"""The papers' tables and figures, published and reproduced side by side: ``python -m reproductions``.

Each module reproduces one paper with the public interface alone: ``sections(quick, sheet)`` yields its tables and
figures one by one; ``INTRODUCTION`` says in three sentences what it claims, what held and what did not. A
new paper is one module and one line of the table here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

from .report import Section, Sheet

PAPERS = {
    "svmseq": "Vijayakumar, Wu, Sequential support vector classifiers and regression (1999)",
    "kernel_adatron": "Campbell, Cristianini, Simple learning algorithms for training support vector machines (1998)",
    "isda": "Huang, Kecman, Bias term b in SVMs again (2004)",
    "handbook": "Mika, Schäfer, Laskov, Tax, Müller, Implementation of SVM, handbook section 15.5 (2004)",
    "akaho": "Akaho, Maximizing the margin in the input space (2002)",
}
#: The data sets of each paper, by their names in ``data.SETS``.
DATA_SETS = {
    "svmseq": ("usps", "mnist", "sonar"),
    "kernel_adatron": ("sonar", "usps", "ionosphere", "pima", "wisconsin"),
    "isda": ("mnist",),
    "handbook": (),
    "akaho": (),
}


def require_data(names: Iterable[str]) -> None:
    """Fail if data sets of some papers are not there, see ``data.require``."""
    from .data import require

    require(dict.fromkeys(one for name in names for one in DATA_SETS[name]))


def introduction(name: str) -> str:
    """Return what opens a paper's page: what it claims, what held here, and the meaning of the marks."""
    from .claims import LEGEND

    return f"{import_module(f'.{name}', __name__).INTRODUCTION}\n\n{LEGEND}\n"


def reproduce(name: str, quick: bool = False, output: Path | None = None) -> Iterator[Section]:
    """Yield the tables and figures of a paper, each as soon as it is ready.

    Parameters
    ----------
    name : key of ``PAPERS``
    quick : smaller data and fewer repetitions
    output : folder for the figures as PNG files; None draws none
    """
    return import_module(f".{name}", __name__).sections(quick, Sheet(output))
