"""The solved problems of a fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import overload

import numpy as np

from ..arrays import Ids, Vector
from ..certificates import Certificate
from ..compiled.cache.uninterrupted import cached_property
from ..model.model import Proofs
from ..solvers.results import STATUSES, Found, Status
from ..solvers.route import Route


@dataclass(frozen=True)
class Fitted:
    """One of ``Fits``: a solved problem with its samples and their coefficients.

    ids : distinct samples of the problem, numbered in the whole training set
    beta : coefficient of each sample
    status : None if one of the two sides is empty
    half_width : see ``certificates.half_width``; 0 in problems without nu
    """

    ids: Ids
    beta: Vector
    intercept: float
    half_width: float
    n_iter: int
    status: Status | None
    certificate: Certificate
    trace: dict[str, Vector]


class Fits(Sequence[Fitted]):
    """``Found`` with the samples of each problem, and the route.

    Parameters
    ----------
    found : solutions and certificates
    all_ids : returns the samples of all problems, one problem after the other
    copies : variables of a sample, if there is only one problem
    route : the way that was chosen; None if a fit has several

    Attributes
    ----------
    centred : whether something was subtracted from the rows on the way
    """

    centred = False

    def __init__(self, found: Found, all_ids: Callable[[], Ids], copies: int = 1, route: Route | None = None) -> None:
        self.found, self._all_ids, self.route = found, all_ids, route
        self.beta = found.beta if copies == 1 else found.beta.reshape(copies, -1).sum(axis=0)
        self.first = found.first // copies

    @classmethod
    def joined(cls, parts: Sequence[Fits]) -> Fits:
        """Return fits of one program each as one; their routes differ in little but the ways."""
        if len(parts) == 1:
            return parts[0]
        routes = [part.route for part in parts if part.route is not None]
        ways, then = (np.concatenate([getattr(route, name) for route in routes]) for name in ("ways", "then"))
        route = replace(routes[0], ways=ways, then=then, variables=max(route.variables for route in routes))
        fits = cls.of([part[0] for part in parts], route)
        fits.centred = parts[0].centred
        return fits

    @classmethod
    def of(cls, parts: Sequence[Fitted], route: Route | None = None) -> Fits:
        """Return the solved problems of a list."""
        found = Found(np.array([len(one.ids) for one in parts], np.int64))
        for number, one in enumerate(parts):
            found.keep(number, one.beta, one.n_iter, one.status, one.certificate, one.trace)
            found.intercept[number], found.half_width[number] = one.intercept, one.half_width
        return cls(found, partial(np.concatenate, [one.ids for one in parts]), route=route)

    @cached_property
    def ids(self) -> Ids:
        """The samples of all problems, one problem after the other."""
        return self._all_ids()

    def proofs(self, alone: bool, unit: float = 1.0) -> Proofs:
        """Return the proofs.

        alone : there is one problem only, whose numbers are plain floats
        unit : what weights that are all that bounds the coefficients were divided by
        """
        found, scale = self.found, unit * unit
        n_iter, status = found.n_iter.astype(np.int32), int(not found.good.all())
        if alone:
            proof = found.certificate(0)
            gap = proof.relative_gap if found.solved[0] else 0.0
            numbers = gap, proof.kkt_violation, scale * proof.lower, scale * proof.primal
            trace = {name: one * scale if name == "dual_objective" else one for name, one in found.trace(0).items()}
            return Proofs(*numbers, n_iter, status, trace, self.route)
        gaps = np.where(found.solved, found.relative_gaps, 0.0)
        numbers = gaps, found.violation.copy(), scale * found.lower, scale * found.primal
        return Proofs(*numbers, n_iter, status, found.traces.scaled(scale), self.route)

    def __len__(self) -> int:
        return len(self.found)

    @overload
    def __getitem__(self, index: int) -> Fitted: ...
    @overload
    def __getitem__(self, index: slice) -> list[Fitted]: ...
    def __getitem__(self, index: int | slice) -> Fitted | list[Fitted]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        found, number = self.found, range(len(self))[index]
        own, status = slice(self.first[number], self.first[number + 1]), int(found.status[number])
        return Fitted(
            self.ids[own],
            self.beta[own],
            float(found.intercept[number]),
            float(found.half_width[number]),
            int(found.n_iter[number]),
            STATUSES[status] if found.solved[number] else None,
            found.certificate(number),
            found.trace(number),
        )
