"""Several programs of a regressor over the same rows: one for each target, or one for each quantile.

Each is solved as if it were alone, so it has the same bits. Programs over the same samples, which differ in their
bounds alone, share a kernel matrix. The order of the samples and the centre of the rows follow from the target, so
programs of different targets share no values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...model.heads import Target
from ...model.solved import proofs_of
from .convergence import warn_unless_converged
from .machine import KernelMachine, Resolved
from .one_program import Measured, solution

if TYPE_CHECKING:
    from ...fitting.engine import Settings
    from ...fitting.formulation import Formulation
    from ...model.model import Model
    from ...solvers.route import Route
    from ...solvers.watch import Progress

    MachinePrograms = list[tuple[Measured, Formulation]]


def columns_of(y: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return the targets, one after the other."""
    return [y] if y.ndim == 1 else [np.ascontiguousarray(one) for one in y.T]


def programs_of(data: list[Measured], form: Formulation) -> MachinePrograms:
    """Return the samples and the formulation of each program."""
    return [(one, every) for one in data for every in (form, *form.further)]


def solved_all(
    machine: KernelMachine, programs: MachinePrograms, resolved: Resolved, settings: Settings
) -> tuple[Model, dict[str, Any]]:
    """Return the model of several programs, and further attributes that their formulations find, for each of them."""
    from ...fitting.engine import SharedGram
    from ...fitting.fits import Fits
    from ...fitting.layout import Coefficients

    kept, parts, reporting = (programs[0][0], SharedGram()), [], _Reporting(settings, len(programs))
    for number, (data, form) in enumerate(programs):
        if data is not kept[0]:
            kept = data, SharedGram()
        parts.append(solution(machine, data, form, reporting.of(number), kept[1]))
    fitted = Fits.of([part.fitted[0] for part in parts], _joined([part.fitted.route for part in parts]))
    fitted.centred = parts[0].fitted.centred
    X, found = programs[0][0].X, [part.coefficients for part in parts]
    coefficients = Coefficients(
        np.concatenate([one.values for one in found]),
        np.concatenate([one.samples for one in found]),
        np.repeat(np.arange(len(found)), [len(one.values) for one in found]),
        len(found),
    )
    support, counts, dual = coefficients.arranged(np.zeros(X.shape[0], np.int64), 1)
    model = machine.made(
        X,
        resolved,
        support,
        dual,
        counts=counts,
        intercepts=np.array([part.intercept for part in parts]),
        head=Target(len(parts)),
        proofs=proofs_of(fitted, alone=False),
    )
    warn_unless_converged(fitted, X, machine.max_iter, values=model.values, kernel=model.kernel.name)
    each = [form.attributes(part.fitted[0]) for part, (_, form) in zip(parts, programs, strict=True) if form.attributes]
    return model, {name: np.array([one[name] for one in each]) for name in (each[0] if each else ())}


def _joined(routes: list[Route | None]) -> Route | None:
    """Return the routes of the programs as one; they differ in little but the ways."""
    known = [route for route in routes if route is not None]
    if len(known) < len(routes):
        return None
    ways, then = (np.concatenate([getattr(route, name) for route in known]) for name in ("ways", "then"))
    return replace(known[0], ways=ways, then=then, variables=max(route.variables for route in known))


class _Reporting:
    """The settings of each of many programs: its reports say which one it is, and a stop is one for all of them.

    The programs still to be solved share the time that is left.
    """

    def __init__(self, settings: Settings, many: int) -> None:
        self.settings, self.many, self.stopped = settings, many, False

    def of(self, number: int) -> Settings:
        """Return the settings of one."""
        callback, share = self.settings.callback, 1.0 / (self.many - number)
        if callback is None:
            return replace(self.settings, share=share)

        def told(progress: Progress) -> bool:
            finished = number + progress.n_finished
            report = replace(progress, problem=number, n_problems=self.many, n_finished=finished)
            self.stopped |= callback(report) is True
            return self.stopped

        return replace(self.settings, callback=told, share=share)
