"""One program of a machine: from checked samples to the model. A fit of several programs has its own file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...model.solved import of_ball, proofs_of
from ..checks import inputs
from .convergence import warn_unless_converged
from .machine import KernelMachine, Resolved

if TYPE_CHECKING:
    from ...fitting.engine import Settings, SharedGram
    from ...fitting.fits import Fits
    from ...fitting.formulation import Formulation
    from ...fitting.layout import Coefficients
    from ...fitting.samples import Samples
    from ...model.model import Model
    from ...problems import Dual


class ProgramFit(NamedTuple):
    """The solution of one program.

    coefficients : of the samples, before they are multiplied by ``factor``
    intercept : the bias
    factor : of the coefficients
    unit : what weights that are all that bounds the coefficients were divided by
    ball : of a ball, parts that only the model of a ball has
    """

    fitted: Fits
    coefficients: Coefficients
    intercept: float
    factor: float
    unit: float
    ball: dict[str, float | None]


class Measured(NamedTuple):
    """The checked training set of a machine with one program.

    X : (n, d)
    y : (n,) targets; zeros if there are none
    samples : the distinct ones
    repeated : (n,) the user's weights; None is 1
    """

    X: Any
    y: NDArray[np.float64]
    samples: Samples
    repeated: NDArray[np.float64] | None


def measured(X: Any, targets: Any, sample_weight: Any, mergeable: bool) -> Measured:
    """Return the training set of checked rows.

    targets : (n,), or None
    mergeable : whether equal rows are equal samples, if their targets are equal, too
    """
    from ...fitting.samples import canonical

    weight = inputs.weights(X, sample_weight)
    y = np.zeros(X.shape[0]) if targets is None else targets
    values, codes = (y[:1], np.zeros(len(y), np.int64)) if targets is None else np.unique(y, return_inverse=True)
    samples = canonical(X, codes, len(values), weight, mergeable=mergeable).together()
    return Measured(X, y, samples, None if sample_weight is None else weight)


def solved(
    machine: KernelMachine, data: Measured, form: Formulation, resolved: Resolved, settings: Settings
) -> tuple[Model, dict[str, Any]]:
    """Return the model of the program, and further attributes that its formulation finds."""
    part = solution(machine, data, form, settings)
    fitted = part.fitted
    support, counts, dual = part.coefficients.arranged(np.zeros(len(data.y), np.int64), 1)
    proofs = proofs_of(fitted, alone=True, unit=part.unit)
    model = machine.made(
        data.X,
        resolved,
        support,
        part.factor * dual,
        counts=counts,
        intercepts=np.array([part.intercept]),
        head=machine.reads,
        proofs=proofs._replace(n_iter=int(proofs.n_iter[0])),
        **part.ball,
    )
    warn_unless_converged(fitted, data.X, machine.max_iter, values=model.values, kernel=model.kernel.name)
    return model, {} if form.attributes is None else form.attributes(fitted[0])


def solution(
    machine: KernelMachine, data: Measured, form: Formulation, settings: Settings, kept: SharedGram | None = None
) -> ProgramFit:
    """Return the solution of a program; ``kept``: see ``engine.fit``."""
    from ...fitting import engine
    from ...fitting.problems import Listed, Problem
    from ...problems.dual import dot

    distinct, unit = form.units_of(data.samples)
    y, middle = data.y[distinct.rows], form.middle(data.y[distinct.rows])
    _check(form, y, distinct.weight, unit)
    X = inputs.as_dense_if_small(data.X, machine.kernel)
    own = engine.own_values(X, distinct.rows, settings) if form.sphere else np.zeros(0)

    def program(ids: NDArray[np.int64]) -> Dual:
        return form.made(y[ids] - middle, distinct.weight[ids], lambda: own[ids])

    one = Listed([Problem([0], program, form.copies)])
    fitted = engine.fit(X, distinct, one, settings, kept=kept, sphere=form.sphere)
    bound = form.largest(y, distinct.weight)
    coefficients = distinct.spread(fitted.first[1:], fitted.ids, fitted.beta, bound, form.below)
    divisors = None if form.divisors is None else form.divisors(fitted.found.half_width)
    factor = unit if divisors is None else unit / float(divisors[0])
    b, near = factor * float(fitted.found.intercept[0]), factor * float(fitted.found.near[0])
    parts: dict[str, float | None] = {}
    if form.sphere:  # |a|^2 = beta' K beta, from the objective
        square = dot(own, fitted[0].beta) - 2.0 * fitted[0].certificate.dual
        parts = of_ball(square, near, b)
    return ProgramFit(fitted, coefficients, b + middle if middle else b, factor, unit, parts)


def _check(form: Formulation, y: NDArray[np.float64], weight: NDArray[np.float64], unit: float) -> None:
    """Refuse samples whose program has no solution."""
    if form.check is not None:
        values, codes = np.unique(y, return_inverse=True)
        form.check(values, np.asarray(np.bincount(codes, weight, len(values)), np.float64), unit)
