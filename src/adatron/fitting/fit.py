"""From a checked training set to the model: the programs of a problem, their solutions, and what is proven of them.

A classifier has a program for each pair of classes, for each class, or for each label. Other machines have one, or one
for each target and each quantile. Each of these is solved as if it were alone, so it has the same bits. Those over the
same samples, which differ in their bounds alone, share a kernel matrix. The order of the samples and the centre of the
rows follow from the target, so programs of different targets share no values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ..arrays import Ids, Vector, is_sparse
from ..gram import take_rows
from ..kernels import Kernel, Precomputed
from ..model.layout import Coefficients, divided
from ..model.model import NOT_FINITE, Model
from ..model.readout import Classes
from ..problems import Dual, Problem
from ..problems.dual import dot
from .calibration import NOT_CALIBRATED, Calibration, out_of_fold
from .engine import Settings, SharedGram, own_values, solve
from .fits import Fits
from .programs import Binary, Listed, Program
from .samples import Samples, divide

if TYPE_CHECKING:
    from ..solvers.base import Progress

NO_TARGETS = np.zeros(0)  # Of a classifier, whose labels follow from the program.


@dataclass(frozen=True)
class TrainingSet:
    """The checked samples of a fit.

    X : (n, d) array, CSR rows, or rows that are ``Elsewhere``
    rows : X as it is solved: few numbers in CSR rows are an array
    y : (n,) the number of each sample's class, or its target; 0 if there are several labels, or no targets
    samples : the distinct ones
    kernel, gamma : the kernel of the fit, and the number behind gamma
    readout : the meaning of decision values; ``Classes`` for a classifier
    objects : samples of a kernel function that are not rows of numbers; X has their kernel values
    width : features of a checked X; None if it is not known
    sides : (n_labels, n_classes) 1 or -1, the labels of each class of ``samples``; None if there is one label
    repeated : (n,) the user's weights; None is 1
    found : attributes that the estimator gets with the model
    as_sparse : whether coefficients are sparse if X is, as scikit-learn's are unless the kernel is a function
    """

    X: Any
    rows: Any
    y: Any
    samples: Samples
    kernel: Kernel
    gamma: float
    readout: Any
    objects: Any = None
    width: int | None = None
    sides: Vector | None = None
    repeated: Vector | None = None
    found: dict[str, Any] = field(default_factory=dict[str, Any])
    as_sparse: bool = True

    @property
    def serving(self) -> Kernel:
        """The kernel of X."""
        return self.kernel if self.objects is None else Precomputed()

    def model(self, support: Ids, dual: Any, n_jobs: int | None, **parts: Any) -> Model:
        """Return the model of coefficients, see ``model_of``."""
        own = {"readout": self.readout, "samples": self.objects, "width": self.width, "as_sparse": self.as_sparse}
        found = {**self.found, **parts.pop("found", {})}
        return model_of(self.X, self.kernel, self.gamma, support, dual, n_jobs, found=found, **own, **parts)


def fit(
    data: Sequence[TrainingSet], problems: Sequence[Problem], settings: Settings, calibration: Calibration | None = None
) -> Model:
    """Solve every problem on every training set, and return the model of all solutions together.

    data : one for each target, over the same rows
    calibration : of a classifier with probabilities
    """
    first = data[0]
    if isinstance(first.readout, Classes):
        return _of_classes(first, problems[0], settings, calibration)
    programs = [(own, problem) for own in data for problem in problems]
    reporting, kept, last = _Reporting(settings, len(programs)), SharedGram(), first
    parts: list[tuple[Fits, Coefficients, float, float, dict[str, float | None]]] = []
    for number, (own, problem) in enumerate(programs):
        if own is not last:
            kept, last = SharedGram(), own
        parts.append(_solved(own, problem, reporting.of(number), kept if len(programs) > 1 else None))
    alone = len(parts) == 1 and first.readout.columns is None
    solved, coefficients, intercepts, units, balls = zip(*parts, strict=True)
    fits = Fits.joined(solved)
    support, counts, dual = Coefficients.of_problems(coefficients).arranged(np.zeros(first.X.shape[0], np.int64), 1)
    proofs, widths = fits.proofs(alone, units[0]), fits.found.half_width.tolist()
    found = [problem.attributes(width) for width, (_, problem) in zip(widths, programs, strict=True)]
    model = first.model(
        support,
        dual,
        settings.n_jobs,
        counts=counts,
        intercepts=np.array(intercepts),
        proofs=proofs._replace(n_iter=int(proofs.n_iter[0])) if alone else proofs,
        found=found[0] if alone else {name: np.array([one[name] for one in found]) for name in found[0]},
        **balls[0],
    )
    settings.judge(fits, first.X, values=model.values, kernel=model.kernel.name)
    return model


def _solved(
    data: TrainingSet, problem: Problem, settings: Settings, kept: SharedGram | None
) -> tuple[Fits, Coefficients, float, float, dict[str, float | None]]:
    """Solve one program, ``kept``: see ``solve``.

    Return the fit, the model's coefficients and intercept, what weights were divided by that are all that bounds the
    coefficients, and parts that only the model of a ball has.
    """
    distinct, unit = in_units(data.samples, problem)
    y = data.y[distinct.rows]
    middle = problem.middle(y)
    problem.check(y, distinct.weight, unit)
    own = own_values(data.rows, distinct.rows, settings) if problem.sphere else np.zeros(0)

    def dual(ids: Ids) -> Dual:
        return problem.dual(y[ids] - middle, distinct.weight[ids], lambda: own[ids])

    one = Listed([Program([0], dual, problem.copies)])
    fits = solve(data.rows, distinct, one, settings, kept=kept, sphere=problem.sphere)
    found = fits.found
    below, above = problem.ends(y, distinct.weight)
    coefficients = distinct.spread(fits.first[1:], fits.ids, fits.beta, above, below, problem.even)
    divisors = problem.divisors(found.half_width)
    factor = unit if divisors is None else unit / float(divisors[0])
    b, near = factor * float(found.intercept[0]), factor * float(found.near[0])
    ball = {}
    if problem.sphere:  # |a|^2 = beta' K beta, from the objective
        ball = of_ball(dot(own, fits.beta) - 2.0 * found.certificate(0).dual, near, b)
    coefficients = coefficients._replace(values=factor * coefficients.values)
    return fits, coefficients, b + middle if middle else b, unit, ball


def _of_classes(data: TrainingSet, problem: Problem, settings: Settings, calibration: Calibration | None) -> Model:
    readout = data.readout
    distinct, unit = in_units(data.samples, problem)
    problem.check(readout.labels, distinct.weights_of_classes(), unit)
    folds = None if calibration is None else divide(distinct, calibration.rng)
    programs = Binary.of_classes(problem, distinct, readout.in_pairs, data.sides)
    fits = solve(data.rows, distinct, programs, settings)
    model = model_of_classes(data, problem, fits, distinct, settings.n_jobs, unit)
    widths = fits.found.half_width[fits.found.solved & np.isfinite(fits.found.violation)]
    settings.judge(fits, data.X, values=model.values, kernel=model.kernel.name, doubt=problem.doubt(widths))
    if calibration is None or folds is None:
        return model
    fits, margins, weight = out_of_fold(folds, data.rows, readout, problem, settings, programs, fits)
    slope = calibration.slope(margins, weight) if len(margins) else 0.0
    doubt = NOT_CALIBRATED if slope == 0.0 and settings.clock.late else ""
    settings.judge(fits, data.X, what="problems of the folds", values=model.values, doubt=doubt)
    return replace(model, readout=replace(readout, slope=slope))


def model_of_classes(
    data: TrainingSet, problem: Problem, fits: Fits, samples: Samples, n_jobs: int | None, unit: float = 1.0
) -> Model:
    """Return the model of the solutions of a classifier's programs.

    samples, unit : the distinct samples as they were solved, and what their weights were divided by
    """
    readout = data.readout
    below, above = problem.ends(NO_TARGETS, samples.weight)
    coefficients = samples.spread(fits.first[1:], fits.ids, fits.beta, above, below, problem.even)
    divisors = problem.divisors(fits.found.half_width)
    coefficients, intercepts = divided(coefficients, fits.found.intercept.copy(), divisors)
    support, counts, dual = coefficients.arranged(data.y, readout.groups, readout.in_pairs)
    proofs = fits.proofs(len(fits) == 1, unit)
    return data.model(support, dual, n_jobs, counts=counts, intercepts=intercepts, proofs=proofs)


def model_of(X: Any, kernel: Kernel, gamma: float, support: Ids, dual: Any, n_jobs: int | None, **parts: Any) -> Model:
    """Return the model of coefficients.

    X : the checked samples
    kernel, gamma : the kernel of the fit, and the number behind gamma
    support : numbers of the samples behind the columns of ``dual``
    parts : others, see ``Model`` and ``TrainingSet``
    """
    if not (np.isfinite(dual).all() and np.isfinite(parts["intercepts"]).all()):
        raise ValueError(NOT_FINITE)
    width, values = parts.pop("width", None), parts.get("samples") is not None or kernel.name == "precomputed"
    as_sparse = parts.pop("as_sparse", True) and is_sparse(X)
    return Model(
        kernel=kernel,
        gamma=gamma,
        vectors=X[:0, :0] if values else take_rows(X, support, n_jobs),
        dual=sparse.csr_matrix(dual) if as_sparse else dual,
        support=support.astype(np.int32),
        shape=X.shape,
        width=width if values else X.shape[1],
        **parts,
    )


def of_ball(square: float, near: float, b: float) -> dict[str, float | None]:
    """Return the parts of a ball's model from |a|^2 and the intercept of centred rows, and that of the given ones."""
    norm = float(np.sqrt(max(0.0, square + (near - b))))
    return {"center_norm": norm, "own_radius": None if near == b else float(np.sqrt(max(0.0, near + square)))}


def in_units(samples: Samples, problem: Problem) -> tuple[Samples, float]:
    """Return the samples with weights as the programs take them, and the divisor of these weights."""
    return samples.in_units() if problem.in_units else (samples, 1.0)


class _Reporting:
    """The settings of each of many programs: its reports say which one it is, and a stop is one for all of them.

    The programs still to be solved share the time that is left.
    """

    def __init__(self, settings: Settings, many: int) -> None:
        self.settings, self.many, self.stopped = settings, many, False

    def of(self, number: int) -> Settings:
        """Return the settings of one."""
        callback, share = self.settings.callback, 1.0 / (self.many - number)
        if callback is None or self.many == 1:
            return replace(self.settings, share=share)

        def reporting(progress: Progress) -> bool:
            finished = number + progress.n_finished
            report = replace(progress, problem=number, n_problems=self.many, n_finished=finished)
            self.stopped |= callback(report) is True
            return self.stopped

        return replace(self.settings, callback=reporting, share=share)
