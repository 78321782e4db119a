"""The linear machines of several libraries, program by program, and the objective that is recomputed for all."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import sklearn.svm
from scipy import sparse

import adatron

from .cells import threads
from .libraries import CACHE, Library
from .libraries import LIBRARIES as OTHERS

OURS, PEER, MULTICORE, REHLINE = "adatron", "scikit-learn", "liblinear-multicore", "rehline"
ROWS_AT_A_TIME = 8192
Samples = tuple[Any, Any]


class Multicore:
    """The machine of liblinear-multicore; its own form of the data is made before, the weights are read after a fit."""

    def __init__(self, C: float) -> None:
        self.options = f"-s 3 -c {C!r} -e 1e-4 -B 1 -m {threads()}"
        self.code, self.train = import_module("liblinear.liblinear"), import_module("liblinear.liblinearutil").train

    def converted(self, X: Any, y: Any) -> Samples:
        return self.code.problem(y.astype(np.float64), sparse.csr_matrix(X, dtype=np.float64)), np.unique(y)

    def fit(self, problem: Any, classes: Any) -> None:
        self.said: list[bytes] = []
        parameters = self.code.parameter(self.options)
        parameters.print_func = self.code.PRINT_STRING_FUN(self.said.append)
        self.model, self.classes = self.train(problem, parameters), classes

    def read(self) -> None:
        places = [self.model.get_labels().index(one) for one in self.classes]
        parts = [self.model.get_decfun(place) for place in (places if len(places) > 2 else places[1:])]
        self.coef_, self.intercept_ = (np.array(part) for part in zip(*parts, strict=True))
        said = b"".join(self.said).decode()
        self.n_iter_ = [int(count) for count in re.findall(r"#iter = (\d+)", said)]
        self.converged_ = "max number of iterations" not in said


class Program(NamedTuple):
    """The power of what a margin lacks, whether the bias is penalised, the tolerance, and a machine of each library."""

    power: int
    penalised: bool
    tol: float
    machines: dict[str, Callable[[float], Any]]


PROGRAMS = {
    "hinge": Program(1, True, 1e-4, {
        OURS: lambda C: adatron.LinearSVC(loss="hinge", C=C, tol=1e-4),
        PEER: lambda C: sklearn.svm.LinearSVC(loss="hinge", C=C, tol=1e-4, max_iter=1000),
        MULTICORE: Multicore,
        REHLINE: lambda C: import_module("rehline").plq_Ridge_Classifier(loss={"name": "svm"}, C=C, tol=1e-4),
    }),
    "squared hinge": Program(2, True, 1e-4, {
        OURS: lambda C: adatron.LinearSVC(C=C, tol=1e-4),
        PEER: lambda C: sklearn.svm.LinearSVC(dual=False, C=C, tol=1e-4),
    }),
    "hinge, free bias": Program(1, False, 1e-3, {
        OURS: lambda C: adatron.SVC(kernel="linear", C=C, tol=1e-3, cache_size=CACHE, multi_class="ovr"),
        PEER: lambda C: sklearn.svm.SVC(kernel="linear", C=C, tol=1e-3, cache_size=CACHE),
    }),
}  # fmt: skip
MORE = {MULTICORE: Library(MULTICORE, "liblinear"), REHLINE: Library(REHLINE, "rehline", threads="1")}
LIBRARIES = {OURS: OTHERS[OURS], PEER: OTHERS[PEER], **MORE}


def objective(X: Any, y: Any, model: Any, C: float, program: Program) -> float:
    """Return the primal objective of coef_ and intercept_, summed over the problems, in float64."""
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
    weights = np.atleast_2d(np.asarray(coef, np.float64))  # (k, d)
    bias = np.atleast_1d(np.asarray(model.intercept_, np.float64))  # (k,)
    classes = np.unique(y)
    signs = np.where(y[:, None] == (classes if len(classes) > 2 else classes[1:]), 1.0, -1.0)  # (n, k)
    total = 0.5 * float(np.sum(weights**2) + (np.sum(bias**2) if program.penalised else 0.0))
    for start in range(0, len(y), ROWS_AT_A_TIME):
        part = slice(start, start + ROWS_AT_A_TIME)
        lacking = np.maximum(0.0, 1.0 - signs[part] * (X[part].astype(np.float64) @ weights.T + bias))
        total += C * float(np.sum(lacking**program.power))
    return total
