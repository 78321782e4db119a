"""One program of a machine: from checked samples to the model. A fit of several programs has its own file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..checks import inputs
from .convergence import warn_unless_converged
from .machine import KernelMachine, Resolved, proofs_of

if TYPE_CHECKING:
    from ...fitting.engine import Kept, Settings
    from ...fitting.fits import Fits
    from ...fitting.formulation import Formulation
    from ...fitting.layout import Coefficients
    from ...fitting.samples import Samples
    from ...model.model import Model
    from ...problems import Dual


class Part(NamedTuple):
    """The solution of one program.

    coefficients : of the samples
    intercept : the bias
    unit : what weights that are all that bounds the coefficients were divided by
    """

    fitted: Fits
    coefficients: Coefficients
    intercept: float
    unit: float


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
    fitted, unit = part.fitted, part.unit
    support, counts, dual = part.coefficients.arranged(np.zeros(len(data.y), np.int64), 1)
    proofs = proofs_of(fitted, alone=True, unit=unit)
    model = machine.made(
        data.X,
        resolved,
        support,
        unit * dual,
        counts=counts,
        intercepts=np.array([part.intercept]),
        head=machine.reads,
        proofs=proofs._replace(n_iter=int(proofs.n_iter[0])),
    )
    warn_unless_converged(fitted, data.X, machine.max_iter, values=model.values, kernel=model.kernel.name)
    return model, {} if form.attributes is None else form.attributes(fitted[0])


def solution(
    machine: KernelMachine, data: Measured, form: Formulation, settings: Settings, kept: Kept | None = None
) -> Part:
    """Return the solution of a program; ``kept``: see ``engine.fit``."""
    from ...fitting import engine
    from ...fitting.problems import Listed, Problem

    distinct, unit = form.units_of(data.samples)
    y, middle = data.y, form.middle(data.y[distinct.rows])

    def program(ids: NDArray[np.int64]) -> Dual:
        return form.program(y[distinct.rows[ids]] - middle, distinct.weight[ids])

    problems = Listed([Problem([0], program, form.copies)])
    X = inputs.as_dense_if_small(data.X, machine.kernel)
    fitted = engine.fit(X, distinct, problems, settings, kept=kept)
    coefficients = distinct.spread(fitted.first[1:], fitted.ids, fitted.beta, form.bound, form.below)
    b = unit * fitted[0].intercept
    return Part(fitted, coefficients, b + middle if middle else b, unit)
