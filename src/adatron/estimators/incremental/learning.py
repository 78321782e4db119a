"""Learning and unlearning along the exact path; if something goes wrong, the model is as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from numbers import Integral, Real
from threading import RLock
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils._param_validation import Interval

from ...compiled.cache.uninterrupted import uninterrupted
from ...fitting import engine
from ...fitting.fits import Fits, Fitted
from ...fitting.formulation import Formulation
from ...fitting.problems import Listed, Problem
from ...fitting.samples import Samples
from ...fitting.storage import opened, tidy
from ...kernels import Kernel
from ...model.heads import Head
from ...model.model import Proofs
from ...problems import Dual
from ...quoted import quoted
from ...solvers.path import Stalled, compaction
from ...solvers.status import Status
from ...threads import Clock, OutOfTime
from ..base.convergence import warn_unless_converged
from ..base.machine import KernelMachine, Resolved, proofs_of
from ..checks import inputs, objects
from ..checks.arrays import refuse_remote
from ..checks.checked import checked
from .store import Store
from .track import Track

Ids = NDArray[np.int64]
Vector = NDArray[np.float64]
Undo = list[Callable[[], None]]
Sides = Sequence[tuple[int, int] | None]
# Parameters that the solution rests on.
FIXED = ("C", "nu", "epsilon", "kernel", "degree", "gamma", "coef0", "bias", "augment", "multi_class", "class_weight")
CACHE = 500 * 2**20  # Bytes for kernel values while a solution is found.
TRIES = (1e-6, 1e-10)  # Tolerances of the solution from which a path begins.
HARD = 10_000  # Updates for each sample after which the search for a separating plane ends.
INSEPARABLE = "No plane separates the samples of the classes, which C=inf needs: give a finite C."
LOST = 1e-8  # Fraction of the largest gradient; rounding does not explain a larger violation.


class CompactError(ValueError, AttributeError):
    """The model has no samples; also an AttributeError, as ``hasattr`` and ``dir`` ask for properties of samples."""

    def __init__(self) -> None:
        super().__init__("A compact model has no samples to go on from. Take the model from which it was made.")


class Settled(NamedTuple):
    """What is known of a solution before its support vectors are gathered; see ``Model``."""

    kernel: Kernel
    gamma: float
    head: Head
    proofs: Proofs | None = None


class Learning(KernelMachine):
    """Work of an incremental model on its samples and programs.

    A step holds the turn. Meanwhile predictions are by the model that was there before, or wait.
    """

    window: int | None
    _store: Store
    _tracks: list[Track]
    _settled: Settled
    _asked: dict[str, Any]  # holds the model, once somebody has asked for it
    precision = "double"
    stream_: dict[str, Any] | None = None  # record of ``adatron stream``: what it has learned from which input

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "window": [Interval(Integral, 1, None, closed="left"), None],
        "class_weight": [dict, None],
        "augment": [Interval(Real, 0.0, None, closed="neither")],
    }

    def program(self, y: Vector, weight: Vector) -> Dual:
        """Return the program of labels 1 and -1 or of targets, and weights."""
        return self._own_formulation().program(y, weight)

    def divisor(self, half_width: float) -> float:
        """Return the divisor of decision values, from ``certificates.half_width``."""
        divisors = self._own_formulation().divisors
        return 1.0 if divisors is None else float(divisors(np.array([half_width]))[0])

    def _own_formulation(self) -> Formulation:
        return self.formulation(float(getattr(self, "augment", 1.0)))

    @property
    def store(self) -> Store:
        """The samples."""
        self._refuse_compact()
        return self._store

    @property
    def tracks(self) -> list[Track]:
        """The programs with their solutions."""
        self._refuse_compact()
        return self._tracks

    @property
    def _is_new(self) -> bool:
        """Whether there are no samples yet, so that a step is a fit."""
        self._refuse_compact()
        return "_store" not in vars(self)

    def _refuse_compact(self) -> None:
        if "_model" in vars(self):  # the model of samples that it has is gathered from them
            raise CompactError

    @property
    def turn(self) -> AbstractContextManager[Any]:
        """The turn of a step on the samples, or of whoever gathers the support vectors."""
        return vars(self).setdefault("_turn", RLock())

    @contextmanager
    def in_time(self, store: Store) -> Iterator[None]:
        """Do something with the samples within ``max_time``; a caller that changes the model must undo it on failure.

        Raises
        ------
        TimeoutError
            The work takes longer.
        """
        store.clock = Clock.starting(self.max_time)
        try:
            yield
        except OutOfTime:
            text = f"The time limit (max_time={self.max_time:g}) was reached; the model is as it was. Raise max_time."
            raise TimeoutError(text) from None
        finally:
            store.clock = Clock()

    @contextmanager
    def _anew(self) -> Iterator[None]:
        """Let all attributes be set anew; if something goes wrong, the old ones are there again."""
        with self.turn:
            before = dict(vars(self))
            try:
                yield
            except BaseException:
                with uninterrupted():
                    vars(self).update(before)
                    for name in vars(self).keys() - before.keys() - {"_turn"}:
                        del vars(self)[name]
                raise

    def _begin(
        self,
        X: Any,
        y: Vector,
        weight: Vector,
        ids: Any,
        repeated: Vector | None,
        head: Head,
        sides: Sides = (None,),
    ) -> None:
        """Solve the problem of checked samples from nothing.

        repeated : the user's weights; None is 1
        head : that of the model
        sides : the classes of each program, see ``Track``
        """
        resolved = self._suited(X, repeated)
        store = Store(X)
        some = self._arriving(store, X, y, weight, ids)
        store.append(*some)
        store.arrived = store.first = len(y)
        tracks = [Track(store, resolved.kernel, one, len(sides) + 1) for one in sides]
        with self.in_time(store):
            for track in tracks:
                track.grow(np.arange(store.n))
                self.solve_anew(track)
        self._store, self._tracks, self.n_refit_ = store, tracks, 0
        self._fixed, self.stream_ = self._foundations(), None
        self._finish([0] * len(tracks), settled=Settled(resolved.kernel, resolved.gamma, head))

    def _suited(self, X: Any, weight: Vector | None) -> Resolved:
        """Return the kernel, or refuse it."""
        if self._given:
            raise ValueError(
                "An incremental model needs samples, not kernel values: kernel='precomputed' is none for it."
            )
        resolved = self._resolved(X, weight)
        if resolved.kernel.compiled and not resolved.kernel.convex:
            raise ValueError(
                f"An incremental model needs a positive semi-definite kernel. Got {quoted(resolved.kernel)}."
            )
        return resolved

    def _arriving(self, store: Store, X: Any, y: Vector, weight: Vector, ids: Any) -> tuple[Any, ...]:
        """Return the samples that the model takes in: those with a weight, and within the window."""
        new, age = store.new_ids(ids, len(y)), store.arrived + np.arange(len(y))
        kept = np.flatnonzero(weight > 0)[-(self.window or len(y)) :]
        if not len(kept):
            raise ValueError("Invalid input - all samples have zero or negative weights.")
        return X[kept], y[kept], weight[kept], new[kept], age[kept]

    def _learn(self, X: Any, y: Vector, weight: Vector, ids: Any) -> None:
        """Follow the solution to the solution with more samples."""
        self._refuse_changed()
        store, n = self._store, self._store.n
        some, events = self._arriving(store, X, y, weight, ids), self._events()
        with self.in_time(store), self._or_as_before() as undo:
            self._each(lambda track: track.path(self.program), lambda track: track.dual(self.program))
            store.append(*some)
            store.arrived += len(y)
            grown = [track for track in self._tracks if track.grow(np.arange(n, store.n))]
            self._each(lambda track: track.extend(self.program), lambda track: track.dual(self.program), grown)
            excess = max(0, store.n - self.window) if self.window else 0
            gone = np.sort(np.argsort(store.age, kind="stable")[:excess])
            self._remove(gone, undo)
            self._finish(events)

    def _remove(self, slots: Ids, undo: Undo) -> None:
        """Remove some samples."""
        self._release(slots)
        self._drop(slots, undo)

    def _release(self, slots: Ids) -> None:
        """Take the weight from some samples."""
        if not len(slots):
            return
        places = {id(track): track.places(slots) for track in self._tracks}
        some = [track for track in self._tracks if len(places[id(track)])]

        def goal(track: Track) -> Dual:
            return track.dual(self.program, places[id(track)])

        self._each(lambda track: track.path(self.program).release(places[id(track)], goal(track)), goal, some)

    def _drop(self, slots: Ids, undo: Undo) -> None:
        """Drop samples that have no weight."""
        if not len(slots):
            return
        store = self._store
        order, number = compaction(store.n, slots), np.arange(store.n)
        number[order] = np.arange(len(order))
        for track in self._tracks:
            track.drop(track.places(slots), number, self.program)
        with uninterrupted():
            undo.append(store.keep(order))

    def _each(
        self, act: Callable[[Track], object], goal: Callable[[Track], Dual], tracks: list[Track] | None = None
    ) -> None:
        """Do something with each path; if rounding leaves no way, solve the path's goal anew."""
        for track in self._tracks if tracks is None else tracks:
            try:
                act(track)
            except Stalled:
                self.n_refit_ += 1
                self.solve_anew(track, goal(track))
            track.moved()

    def solve_anew(self, track: Track, dual: Dual | None = None) -> None:
        """Find the solution of a program without knowledge of another one's."""
        dual = track.dual(self.program) if dual is None else dual
        m = len(dual)
        if not m:
            track.begin(np.zeros(0), np.zeros(0))
            return
        samples, limit = Samples.alone(track.numbers), HARD * m if dual.hard_margin else -1
        clock = track.store.clock
        for tol in TRIES:
            settings = engine.Settings(
                track.kernel, "auto", self.precision, CACHE, self.n_jobs, tol, None, limit, clock, None
            )
            fits = engine.fit(track.store.X, samples, Listed([Problem([0], lambda _: dual)]), settings)
            clock.check()
            found = fits.found
            if dual.hard_margin and np.isinf(found.gap[0]):
                raise ValueError(INSEPARABLE)
            track.begin(*((np.zeros(m), -dual.t) if found.g is None else (found.beta, found.g)))
            try:
                track.start(dual)
            except Stalled:
                continue
            track.moved()
            return
        raise Stalled

    @contextmanager
    def _or_as_before(self) -> Iterator[Undo]:
        """Restore the model if anything goes wrong; the list takes functions that bring dropped samples back."""
        undo: Undo = []
        samples, backups = self._store.backup(), [track.backup() for track in self._tracks]
        with self._anew():
            try:
                yield undo
            except BaseException:
                with uninterrupted():
                    for back in reversed(undo):
                        back()
                    self._store.restore(samples)
                    for track, backup in zip(self._tracks, backups, strict=True):
                        track.restore(backup)
                raise

    def _events(self) -> list[int]:
        return [int(track.counts[0]) for track in self._tracks]

    def _finish(self, events: list[int], anew: bool = True, settled: Settled | None = None) -> None:
        """Certify the solution; the model of another solution is no longer true.

        ``anew`` allows to solve a program anew if its path has lost its way unnoticed.
        """
        since = [now - before for now, before in zip(self._events(), events, strict=True)]
        fitted: list[Fitted] = []
        for track, n in zip(self._tracks, since, strict=True):
            one = track.fitted(self.program, n)
            if anew and _is_lost(track, one):  # the path has lost its way unnoticed
                self.n_refit_ += 1
                self.solve_anew(track)
                one = track.fitted(self.program, n)
            lost = one.status is Status.CONVERGED and _is_lost(track, one)
            fitted.append(replace(one, status=Status.STUCK) if lost else one)
        self._fitted = Fits.of(fitted)
        proofs = proofs_of(self._fitted, alone=len(fitted) == 1)
        if not is_classifier(self):
            proofs = proofs._replace(n_iter=int(proofs.n_iter[0]))
        warn_unless_converged(self._fitted, None, max_iter=-1)
        self._settled = (settled or self._settled)._replace(proofs=proofs)
        self._asked = {}
        vars(self).pop("_model", None)  # of a compact model

    def _foundations(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in FIXED if name in self.get_params(deep=False)}

    def _refuse_changed(self) -> None:
        """Fail if a parameter that the solution rests on was changed by ``set_params``, or is missing."""
        self._refuse_compact()
        self._validate_params()
        for name, value in self._foundations().items():
            if value != self._fixed[name]:
                before, now = quoted(self._fixed[name]), quoted(value)
                raise ValueError(
                    f"The {name!r} parameter was changed from {before} to {now} after fit. "
                    f"Call fit again{', or set_C' if name == 'C' else ''}."
                )

    def _checked(self, X: Any, first: bool, **targets: Any) -> Any:
        """Return X in float64 as the store keeps it, and y if it is given, checked as scikit-learn does."""
        refuse_remote(self, X)
        found = checked(self, X, (np.float64,), reset=first, order="C", **targets)
        X, y = found if targets else (found, None)
        if not objects.is_function(self.kernel):
            inputs.refuse_huge(X)
        if not first and sparse.issparse(X) != sparse.issparse(self._store.X):
            X = X.toarray() if sparse.issparse(X) else sparse.csr_matrix(X)
        return tidy(X) if sparse.issparse(X) else opened(X), y


def _is_lost(track: Track, one: Fitted) -> bool:
    return one.certificate.kkt_violation > LOST * (1.0 + np.abs(track.g).max(initial=0.0))
