"""A cell is one setting on one fold. Its programs run over the samples of all folds.

The samples that the fold leaves out have the bounds 0.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor

from ...arrays import Vector
from ...estimators import OneClassSVM
from ...fitting.engine import refuse_unsuited
from ...fitting.samples import unit_of_weights
from ...kernels import Kernel, resolve
from ...model.readout import Classes, Readout
from ...problems import Dual, Problem
from ...problems.problem import no_diagonal
from ...problems.unit import scaled, unit_of
from .candidates import Candidate
from .rows import Fold, Unshared, checking


class Side(NamedTuple):
    """One binary problem.

    segments : the classes whose samples are in the problem
    positive : the class whose label is 1; -1 if the problem has no classes
    """

    segments: tuple[int, ...]
    positive: int


@dataclass(frozen=True)
class Cell:
    """One setting on one fold."""

    candidate: Candidate
    fold: Fold

    @property
    def model(self) -> Any:
        """The machine with its parameters."""
        return self.candidate.model

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel with its numbers."""
        model, gamma = self.model, self.fold.gamma(self.model)
        with checking():
            return resolve(model.kernel, gamma, model.degree, model.coef0)

    @cached_property
    def augment(self) -> float:
        """The augmenting factor; 0 without an augmented bias."""
        return self.fold.augment(self.model)

    @property
    def kind(self) -> Hashable:
        """Return a key that is equal for cells that one call of the engine may solve."""
        model = self.model
        names = ("tol", "max_iter", "gap_tol", "precision", "cache_size", "solver", "n_jobs", "bias", "multi_class")
        settings = tuple(getattr(model, name, None) for name in names)
        bounded = bool(np.isfinite(getattr(model, "C", 0.0)))  # nothing can start from, or move to, an infinite bound
        return type(model), repr(self.kernel.spec()), self.augment, bounded, settings

    def resolved(self) -> Hashable:
        """Work out the kernel, the problems and the readout; raise Unshared if a fit would refuse one of them.

        Return ``kind``.
        """
        _ = self.sides, self.readout
        centred = self.explicit and not isinstance(self.model, OneClassSVM) and self.kernel.bilinear
        if centred and self.fold.rows.remote:  # a fit alone subtracts the mean of its rows
            raise Unshared
        return self.kind

    @cached_property
    def problem(self) -> Problem:
        """The problem of the machine."""
        return self.model.problem(self.augment)

    @cached_property
    def weight(self) -> Vector:
        """The weight of each distinct sample as the programs take it; 0 for samples that are left out."""
        return self.fold.weights(self.model) / self._divisor

    @property
    def unit(self) -> float:
        """The number that the solution of a program is multiplied by."""
        return self._divisor if isinstance(self.model, OneClassSVM) else 1.0

    @cached_property
    def _divisor(self) -> float:
        """The number that the weights are divided by."""
        weight = self.fold.weights(self.model)
        if not (weight > 0.0).any():
            raise Unshared
        return unit_of_weights(weight[weight > 0.0]) if self.problem.in_units else 1.0

    @cached_property
    def sides(self) -> list[Side]:
        """The binary problems."""
        model = self.model
        if not is_classifier(model):
            return [Side((0,), -1)]
        present = self.fold.present().tolist()
        if len(present) < 2:
            raise Unshared
        if len(present) == 2:
            return [Side((present[0], present[1]), present[1])]
        if model.multi_class == "ovo":
            return [Side((a, b), a) for i, a in enumerate(present) for b in present[i + 1 :]]
        whole = tuple(range(len(self.fold.rows.classes)))
        return [Side(whole, one) for one in present]

    @cached_property
    def readout(self) -> Readout:
        """The rule that reads the values of the problems."""
        model = self.model
        if not is_classifier(model):
            return model.readout
        present = self.fold.present()
        in_pairs = len(present) > 2 and model.multi_class == "ovo"
        readout = Classes(self.fold.rows.classes[present], in_pairs, model.decision_function_shape, model.break_ties)
        with checking():
            readout.check()
        return readout

    @cached_property
    def others(self) -> Hashable:
        """Return a key that is equal for cells that differ in C alone."""
        model = self.model
        return tuple(repr(getattr(model, name, None)) for name in ("epsilon", "nu", "quantile", "class_weight"))

    @property
    def provable(self) -> bool:
        """Whether predictions can be proven: they are labels, and the kernel is positive semi-definite.

        If that is not known of a kernel, nothing is proven about samples that were left out.
        """
        return not is_regressor(self.model) and self.kernel.convex

    @property
    def explicit(self) -> bool:
        """Whether the bias is a number of its own, not a part of the normal."""
        return getattr(self.model, "bias", "explicit") == "explicit"

    def check(self) -> None:
        """Raise Unshared if the programs have no solution for the weights of the classes, or a device refuses them."""
        rows = self.fold.rows
        if rows.device is not None:
            with checking():
                refuse_unsuited(rows.device, self.kernel, rows.X)
        if not is_classifier(self.model):
            return
        held = np.asarray(np.bincount(rows.of_class, self.weight, minlength=len(rows.classes)), np.float64)
        with checking():
            self.problem.check(rows.classes, held, 1.0)

    def program(self, side: Side) -> tuple[Dual | None, float]:
        """Return the program of a binary problem over the distinct samples, and the divisor of its numbers.

        The program is None if the programs of many problems are made at once.
        """
        rows, weight = self.fold.rows, self.weight
        others = any(self.present[one] for one in side.segments if one != side.positive)
        if side.positive >= 0 and not (self.present[side.positive] and others):
            raise Unshared
        if self.problem.separable:
            return None, self.unit
        ids = rows.ids(list(side.segments))
        own = weight[ids]
        if side.positive < 0:
            y = np.zeros(len(ids)) if rows.y is None else rows.y[rows.distinct.rows[ids]] - self.middle
        else:
            y = np.where(rows.of_class[ids] == side.positive, 1.0, -1.0)
        dual, unit = self.problem.dual(y, own, no_diagonal), self.unit
        if self.problem.sized and not self.problem.in_units:  # the unit follows from the targets
            unit = unit_of(dual.take(np.tile(own > 0.0, self.problem.copies)), 0.0)
            dual = scaled(dual, unit)
        return dual, unit

    @cached_property
    def middle(self) -> float:
        """The number that is subtracted from targets, see ``Problem.middle``."""
        rows = self.fold.rows
        return 0.0 if rows.y is None else self.problem.middle(rows.y[rows.distinct.rows])

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """Whether each class has any weight."""
        rows = self.fold.rows
        return np.bincount(rows.of_class, self.weight, minlength=len(rows.classes)) > 0.0
