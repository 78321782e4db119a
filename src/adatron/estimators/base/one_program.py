"""The base of the machines with one program: SVR, NuSVR and OneClassSVM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..checks import inputs
from .convergence import warn_unless_converged
from .machine import KernelMachine, Resolved, proofs_of

if TYPE_CHECKING:
    from ...fitting.engine import Settings
    from ...fitting.formulation import Formulation
    from ...fitting.samples import Samples
    from ...model.model import Model
    from ...problems import Dual
    from ...threads import Clock


class OneProgram(KernelMachine):
    """Base of the machines with one program."""

    def _fit(self, X: Any, targets: Any, sample_weight: Any, clock: Clock, given: Any) -> None:
        """Solve the problem of checked samples and keep the model.

        targets : (n,), or None
        given : X as it came, perhaps on a device
        """
        from ...fitting import samples

        weight = inputs.weights(X, sample_weight)
        repeated = None if sample_weight is None else weight
        # Equal rows are one sample only if their targets are equal, too.
        y = np.zeros(X.shape[0]) if targets is None else targets
        values, codes = (y[:1], np.zeros(len(y), np.int64)) if targets is None else np.unique(y, return_inverse=True)
        distinct = samples.canonical(X, codes, len(values), weight, mergeable=self._mergeable).together()
        form = self.formulation(inputs.augment(getattr(self, "augment", 1.0), X, repeated))
        resolved = self._resolved(X, repeated)
        settings = self.settings(resolved.serving, clock, form.sized, given)
        self._model = self._solved(X, y, distinct, form, resolved, settings)

    def _solved(
        self, X: Any, y: Any, distinct: Samples, form: Formulation, resolved: Resolved, settings: Settings
    ) -> Model:
        """Solve the problem of distinct samples and return the model."""
        from ...fitting.problems import Listed, Problem

        distinct, unit = form.units_of(distinct)
        middle = form.middle(y[distinct.rows])

        def program(ids: NDArray[np.int64]) -> Dual:
            return form.program(y[distinct.rows[ids]] - middle, distinct.weight[ids])

        fitted = self._solve(X, distinct, Listed([Problem([0], program, form.copies)]), settings)
        coefficients = distinct.spread(fitted.first[1:], fitted.ids, fitted.beta, form.bound)
        support, counts, dual = coefficients.arranged(np.zeros(X.shape[0], np.int64), 1)
        b, proofs = unit * fitted[0].intercept, proofs_of(fitted, alone=True, unit=unit)
        intercepts, proofs = np.array([b + middle if middle else b]), proofs._replace(n_iter=int(proofs.n_iter[0]))
        parts: dict[str, Any] = {"intercepts": intercepts, "head": self._head_of({}), "proofs": proofs}
        model = self._made(X, resolved, support, unit * dual, counts=counts, **parts)
        warn_unless_converged(fitted, X, self.max_iter, values=model.values)
        if form.attributes is not None:
            vars(self).update(form.attributes(fitted[0]))
        return model
