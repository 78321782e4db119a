"""Learning and unlearning along the exact path; if something goes wrong, the solution is as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Ids, Vector
from ..compiled.cache.uninterrupted import uninterrupted
from ..fitting.engine import Settings, solve
from ..fitting.fit import model_of, of_ball
from ..fitting.fits import Fits, Fitted
from ..fitting.programs import Listed, Program
from ..fitting.samples import Samples
from ..gram.source import Source, roughly
from ..kernels import Kernel
from ..model.checks import of_solution
from ..model.layout import Coefficients, divided
from ..model.model import Model, Proofs
from ..model.readout import Classes, Readout
from ..problems import Dual, Problem
from ..quoted import quoted
from ..solvers.path import Stalled, compaction
from ..solvers.results import Status
from ..threads import Clock, OutOfTime
from .store import Store
from .track import Track

Undo = list[Callable[[], object]]
SOLUTION_BYTES = 500 * 2**20  # Bytes for kernel values while a solution is found.
START_TOLERANCES = (1e-6, 1e-10)  # Tolerances of the solution from which a path begins.
HARD_UPDATES = 10_000  # Updates for each sample after which the search for a separating plane ends.
INSEPARABLE = "No plane separates the samples of the classes, as C=inf requires: pass a finite C."
# A path is lost if its violation is above the first, times the largest gradient; a fit if it is above the second, times
# what a translation leaves of that.
LOST_PATH, LOST_FIT = 1e-8, 1e-6


class Foundation(NamedTuple):
    """The parameters that a solution rests on, by name, and the problem that they make."""

    fixed: dict[str, Any]
    problem: Problem


class Limits(NamedTuple):
    """Parameters that may change from step to step: threads, samples that are kept, and seconds of a step."""

    n_jobs: int | None = None
    window: int | None = None
    max_time: float | None = None


@dataclass
class Certified:
    """The certified solution after a step, and its model once somebody has asked for it."""

    fits: Fits
    proofs: Proofs
    model: Model | None = None


class Learner:
    """The samples of an incremental estimator, and the solution of its programs.

    A step holds the lock, and ends with one assignment of ``solution``. Whoever asks for a model has the one before
    the step, or waits.

    Parameters
    ----------
    kernel, gamma, readout : what a fit settles for all later steps
    foundation : what the programs are made of
    limits : those of the next step; whoever asks the estimator for its learner renews them
    lock : the estimator's lock
    warn : tells of solutions that did not converge
    """

    store: Store
    tracks: list[Track]
    solution: Certified

    def __init__(
        self,
        kernel: Kernel,
        gamma: float,
        readout: Readout,
        foundation: Foundation,
        limits: Limits,
        lock: AbstractContextManager[Any],
        warn: Callable[[Fits], None],
    ) -> None:
        self.kernel, self.gamma, self.readout, self.foundation = kernel, gamma, readout, foundation
        self.limits, self.lock, self.warn, self.n_refit = limits, lock, warn, 0

    @property
    def problem(self) -> Problem:
        """The problem of all programs."""
        return self.foundation.problem

    @property
    def proofs(self) -> Proofs:
        """The proofs of the solution."""
        return self.solution.proofs

    @property
    def _sides(self) -> Sequence[tuple[int, int] | None]:
        """The classes of each program, see ``Track``."""
        return self.readout.problems if isinstance(self.readout, Classes) else [None]

    # -- from nothing, from elsewhere, and to elsewhere

    def begin(self, X: Any, y: Vector, weight: Vector, ids: Any) -> None:
        """Solve the problem of checked samples from nothing."""
        store = self.store = Store(X)
        store.append(*self._arriving(X, y, weight, ids))
        store.arrived = store.first = len(y)
        self.tracks = [Track(store, self.kernel, one, len(self._sides) + 1) for one in self._sides]
        with self.in_time():
            for track in self.tracks:
                track.grow(np.arange(store.n))
            if self.kernel.bilinear and (self.problem.sphere or self._goal(self.tracks[0]).balanced):
                store.center = roughly(Source.of(store.X, np.arange(store.n), self.kernel, balanced=True))
            for track in self.tracks:
                self.solve_anew(track)
        self._finish([0] * len(self.tracks))

    def restore(self, state: dict[str, Any], proofs: Proofs, width: Any) -> None:
        """Take a state that ``state`` returned, check it, prove the solution anew, and gather its model.

        proofs : those of the solution, of which the number of steps is no proof and stays
        width : features of a sample

        Raises
        ------
        ValueError, TypeError, AttributeError, IndexError, KeyError
            Something is wrong with it.
        """
        self.store = Store.of(state["_store"])
        self.tracks = [Track.of(self.store, self.kernel, one) for one in state["_tracks"]]
        self.n_refit = int(state["n_refit_"])
        if fault := next(self.faults(proofs, width), None):
            raise ValueError(fault)
        before = zip(self._events(), np.atleast_1d(proofs.n_iter).tolist(), strict=True)
        self._finish([now - n for now, n in before], anew=False)
        self.model()  # what is wrong must fail now, not in a prediction

    def faults(self, proofs: Proofs, width: Any) -> Iterator[str]:
        """Yield what no fit makes; the first of them is true, and the others may follow from it."""
        readout, kernel = self.readout, self.kernel
        if kernel.name == "precomputed" or (kernel.compiled and not kernel.convex):
            yield f"kernel_ must be positive semi-definite; it is {quoted(kernel)}"
        labels = readout.labels if isinstance(readout, Classes) else np.zeros(0)
        if not np.array_equal(np.unique(labels), labels):
            yield "classes_ must be in order"
        sides = self._sides
        yield from filter(
            None, [of_solution(self.gamma, proofs, len(sides)), self.store.fault(width, len(labels), kernel.compiled)]
        )
        if len(self.tracks) != len(sides):
            yield f"there are not {len(sides)} programs"
        apart = isinstance(readout, Classes) and readout.in_pairs
        yield from filter(None, (track.fault(one, apart) for track, one in zip(self.tracks, sides, strict=True)))

    def state(self) -> dict[str, Any]:
        """Return the state of the samples and the programs; the paths begin again when they are first needed."""
        tracks = [track.state() for track in self.tracks]
        return {
            "_store": self.store.state(), "_tracks": tracks, "n_refit_": self.n_refit, "_fixed": self.foundation.fixed
        }  # fmt: skip

    def copy(self, lock: AbstractContextManager[Any]) -> Learner:
        """Return a learner for another estimator: with samples and paths of its own, and the same model."""
        other = object.__new__(Learner)
        with self.lock:
            own = deepcopy({"store": self.store, "tracks": self.tracks})
            vars(other).update({**vars(self), **own, "lock": lock})
        return other

    # -- the model

    def model(self) -> Model:
        """Return the model of the solution, gathered when it is asked for: no step copies all support vectors."""
        solution = self.solution
        if solution.model is None:
            with self.lock:
                solution = self.solution
                if solution.model is None:
                    solution.model = self._gathered(solution)
        return solution.model

    def _gathered(self, solution: Certified) -> Model:
        X, found, readout, sphere = self.store.X, solution.fits.found, self.readout, self.problem.sphere
        moved = np.array([track.missing(track.beta, sphere) for track in self.tracks])
        dense = np.zeros((len(self.tracks), self.store.n))
        for row, track in zip(dense, self.tracks, strict=True):
            row[track.numbers] = track.beta
        by = self.problem.divisors(found.half_width)
        coefficients, intercepts = divided(Coefficients.of(dense), found.intercept - moved, by)
        if isinstance(readout, Classes):
            arranged = coefficients.arranged(self.store.y.astype(np.int64), len(readout.labels), readout.in_pairs)
        else:
            arranged = coefficients.arranged(np.zeros(self.store.n, np.int64), 1)
        support, counts, dual = arranged
        parts: dict[str, Any] = {
            "intercepts": intercepts,
            "counts": counts,
            "readout": readout,
            "proofs": solution.proofs,
        }
        if sphere:
            (track,) = self.tracks
            square, near = self._goal(track).squared_norm(track.beta, track.g), 2.0 * float(found.intercept[0])
            parts |= of_ball(square, near, float(intercepts[0]))
        parts["as_sparse"] = isinstance(self.foundation.fixed["kernel"], str | Kernel)  # not of a function
        return model_of(X, self.kernel, self.gamma, support, dual, self.limits.n_jobs, **parts)

    # -- steps

    @contextmanager
    def in_time(self) -> Iterator[None]:
        """Work on the samples within ``max_time``, in turn; a caller that changes the solution must undo it on failure.

        Raises
        ------
        TimeoutError
            The work takes longer.
        """
        with self.lock:
            limit = self.limits.max_time
            self.store.clock = Clock.starting(limit)
            try:
                yield
            except OutOfTime:
                text = f"The time limit (max_time={limit:g}) was reached; the model is as it was. Raise max_time."
                raise TimeoutError(text) from None
            finally:
                self.store.clock = Clock()

    @contextmanager
    def step(self) -> Iterator[Undo]:
        """Change the solution in time and certify it; restore everything if anything goes wrong.

        The list takes functions that undo what else was done; the last one is called first.
        """
        undo: Undo = []
        with self.in_time():
            before, events = dict(vars(self)), self._events()
            samples, backups = self.store.backup(), [track.backup() for track in self.tracks]
            try:
                yield undo
                self._finish(events)
            except BaseException:
                with uninterrupted():
                    for back in reversed(undo):
                        back()
                    self.store.restore(samples)
                    for track, backup in zip(self.tracks, backups, strict=True):
                        track.restore(backup)
                    vars(self).update(before)
                raise

    def learn(self, X: Any, y: Vector, weight: Vector, ids: Any) -> None:
        """Follow the solution to the solution with more samples."""
        store, n, window = self.store, self.store.n, self.limits.window
        some = self._arriving(X, y, weight, ids)
        with self.step() as undo:
            self._begin_paths()
            store.append(*some)
            store.arrived += len(y)
            grown = [track for track in self.tracks if track.grow(np.arange(n, store.n))]
            self._each(lambda track: track.path(self.problem).extend(self._goal(track)), self._goal, grown)
            excess = max(0, store.n - window) if window else 0
            self._remove(np.sort(np.argsort(store.age, kind="stable")[:excess]), undo)

    def forget(self, slots: Ids) -> None:
        """Follow the solution to the solution without some samples."""
        with self.step() as undo:
            self._remove(slots, undo)
            self.store.generation += 1

    def follow(self, foundation: Foundation) -> None:
        """Follow the solution to that of another C, within a step."""
        self._begin_paths()
        self.foundation = foundation
        self._each(lambda track: track.path(self.problem).follow(self._goal(track)), self._goal)

    def solve_anew(self, track: Track, dual: Dual | None = None) -> None:
        """Find the solution of a program without knowledge of another one's."""
        dual = self._goal(track) if dual is None else dual
        m = len(dual)
        if not m:
            track.begin(np.zeros(0), np.zeros(0))
            return
        samples, limit = Samples.alone(track.numbers), HARD_UPDATES * m if dual.hard_margin else -1
        clock = track.store.clock
        for tol in START_TOLERANCES:
            settings = Settings(
                track.kernel, "auto", "double", SOLUTION_BYTES, self.limits.n_jobs, tol, None, limit, clock, None
            )
            fits = solve(track.store.near(), samples, Listed([Program([0], lambda _: dual)]), settings)
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

    def _arriving(self, X: Any, y: Vector, weight: Vector, ids: Any) -> tuple[Any, ...]:
        """Return the samples that are taken in: those with a weight, and within the window."""
        new, age = self.store.new_ids(ids, len(y)), self.store.arrived + np.arange(len(y))
        kept = np.flatnonzero(weight > 0)[-(self.limits.window or len(y)) :]
        if not len(kept):
            raise ValueError("Invalid input - all samples have zero or negative weights.")
        return X[kept], y[kept], weight[kept], new[kept], age[kept]

    def _goal(self, track: Track) -> Dual:
        return track.dual(self.problem)

    def _begin_paths(self) -> None:
        """Begin each path at its solution, before the samples or the program are others."""
        self._each(lambda track: track.path(self.problem), self._goal)

    def _each(
        self, act: Callable[[Track], object], goal: Callable[[Track], Dual], tracks: list[Track] | None = None
    ) -> None:
        """Do something with each path; if rounding leaves no way, solve the path's goal anew."""
        for track in self.tracks if tracks is None else tracks:
            try:
                act(track)
            except Stalled:
                self.n_refit += 1
                self.solve_anew(track, goal(track))
            track.moved()

    def _remove(self, slots: Ids, undo: Undo) -> None:
        """Take the weight from some samples, and drop them."""
        if not len(slots):
            return
        store, places = self.store, {id(track): track.places(slots) for track in self.tracks}
        some = [track for track in self.tracks if len(places[id(track)])]

        def goal(track: Track) -> Dual:
            return track.dual(self.problem, places[id(track)])

        self._each(lambda track: track.path(self.problem).release(places[id(track)], goal(track)), goal, some)
        order, number = compaction(store.n, slots), np.arange(store.n)
        number[order] = np.arange(len(order))
        for track in self.tracks:
            track.drop(track.places(slots), number, self.problem)
        with uninterrupted():
            undo.append(store.keep(order))

    def _events(self) -> list[int]:
        return [int(track.counts[0]) for track in self.tracks]

    def _finish(self, events: list[int], anew: bool = True) -> None:
        """Certify the solution, and let others see it.

        ``anew`` allows to solve a program anew if its path has lost its way unnoticed.
        """
        since = [now - before for now, before in zip(self._events(), events, strict=True)]
        fitted: list[Fitted] = []
        for track, n in zip(self.tracks, since, strict=True):
            one = track.fitted(self.problem, n)
            if anew and self._is_lost(track, one):  # the path has lost its way unnoticed
                self.n_refit += 1
                self.solve_anew(track)
                one = track.fitted(self.problem, n)
            lost = one.status is Status.CONVERGED and self._is_lost(track, one)
            fitted.append(replace(one, status=Status.STUCK) if lost else one)
        fits = Fits.of(fitted)
        proofs = fits.proofs(alone=len(fits) == 1)
        if not isinstance(self.readout, Classes):
            proofs = proofs._replace(n_iter=int(proofs.n_iter[0]))
        self.warn(fits)
        self.solution = Certified(fits, proofs)

    def _is_lost(self, track: Track, one: Fitted) -> bool:
        most = LOST_PATH * (1.0 + np.abs(track.g).max(initial=0.0))
        return one.certificate.kkt_violation > min(most, LOST_FIT * (1.0 + self._goal(track).variation(track.g)))
