"""The common base of the incremental models: forgetting, reports, files, and attributes that are made on request."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from copy import deepcopy
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...fitting.fits import Fits
from ...model.foreign import of_solution
from ...model.heads import Classes
from ...model.model import Model, Proofs
from ...quoted import quoted
from ..base.attributes import attributes_of, flat, grouped
from ..base.machine import Resolved
from .learning import Learning, Settled
from .report import report
from .store import Store
from .track import Track

Ids = NDArray[np.int64]
Vector = NDArray[np.float64]
OWN = ("_store", "_tracks")  # attributes that a step changes in place
HERE = ("_saved", "_turn", "_asked")  # attributes that belong to this object, and to no copy


class Keeper(Protocol):
    """Keeps a file that holds a model."""

    @property
    def model(self) -> Any:
        """The model in the file: this one, or a pipeline that ends with it."""
        ...

    @property
    def replaced(self) -> bool:
        """Whether the file is there, but is not the one that was written."""
        ...

    def held(self) -> AbstractContextManager[None]:
        """Let no other process replace the file."""
        ...

    def check(self) -> None:
        """Raise ValueError if the file is no longer the one that was written."""
        ...

    def write(self) -> None:
        """Write the file anew, if it is still there."""
        ...

    def remains(self) -> list[str]:
        """Name the things beside the file that may hold a forgotten sample."""
        ...


class Incremental(Learning):
    """Base of the incremental models, used together with the batch class."""

    @property
    def n_refactor_(self) -> int:
        """Gradients that were computed anew because of drift, since ``fit``."""
        check_is_fitted(self)
        return int(sum(track.counts[1] for track in self.tracks))

    @property
    def ids_(self) -> Ids:
        """Ids of the samples in the model, (n_samples,), in the order in which ``support_`` numbers them."""
        check_is_fitted(self)
        return self.store.ids.copy()

    @property
    def model_(self) -> Model:
        """The model of the solution, gathered when it is asked for: no step copies all support vectors."""
        if "_asked" not in vars(self):
            return super().model_
        made = self._asked
        if "model" not in made:
            with self.turn:
                made = self._asked
                if "model" not in made:
                    made["model"] = self._gather()
        return made["model"]

    def part(self, name: str, asked: str) -> Any:
        settled = vars(self).get("_settled")
        if settled is None:
            return super().part(name, asked)
        if name == "compact":
            return False
        return getattr(settled if name in settled._fields else self.model_, name)

    def __sklearn_is_fitted__(self) -> bool:
        return "_asked" in vars(self) or super().__sklearn_is_fitted__()

    def __copy__(self) -> Self:
        """Return a copy with samples and a solution of its own, which do not affect this one."""
        with self.turn:
            other, state = object.__new__(type(self)), vars(self)
            own = deepcopy({name: state[name] for name in OWN if name in state})
            vars(other).update({name: value for name, value in state.items() if name not in HERE}, **own)
            if "_asked" in state:
                other._asked = {**self._asked}
            return other

    def compact(self) -> Self:
        """Return a smaller and faster model with the same decisions, see :meth:`SVC.compact`.

        It has no samples. It predicts, but all methods that need samples, such as ``partial_fit`` and ``forget``, raise
        ValueError.
        """
        return super().compact()

    def with_model(self, model: Model) -> Self:
        """Return a copy of this machine that has another model, and no samples."""
        other, left = object.__new__(type(self)), (*OWN, *HERE, "_fitted", "_settled")
        vars(other).update({name: value for name, value in dict(vars(self)).items() if name not in left}, _model=model)
        return super(Incremental, other).with_model(model)

    def forget(self, ids: Any) -> Self:
        """Unlearn some samples: the solution becomes that of the others, and no byte of these rows stays.

        Parameters
        ----------
        ids : int or array-like of int
            Ids of the samples, see ``partial_fit``.

        Returns
        -------
        self : the estimator
            Before this returns, the files of this estimator are written anew (on the disk, then renamed), if they are
            still there: those that :func:`adatron.save` wrote, and the one it was loaded from. A copy of the estimator,
            by ``copy`` or ``pickle``, knows of no files.

        Notes
        -----
        A scaler before the estimator keeps means and extremes of all samples. :func:`adatron.forget` then refuses, and
        ``deletion_report`` names what stays.

        Raises
        ------
        ValueError
            An id that no sample has, or one named twice; all samples; a nu that becomes infeasible without the samples;
            a file that was replaced by something else, or whose journal has lines still to be learned. The estimator is
            then as it was.
        OSError
            A file cannot be written. The rows have left this estimator but not that file; ``forget([])`` tries again.
        """
        check_is_fitted(self)
        self._refuse_changed()
        slots = self._store.slots(ids)
        if len(slots) == self._store.n:
            raise ValueError("ids must leave at least one sample in the model. Got all of them.")
        with ExitStack() as held:
            for keeper in self.keepers():
                held.enter_context(keeper.held())
            for keeper in self.keepers():
                keeper.check()
            if len(slots):
                self._forget(slots)
            for keeper in self.keepers():
                keeper.write()
        return self

    def _forget(self, slots: Ids) -> None:
        events = self._events()
        with self.in_time(self._store), self._or_as_before() as undo:
            self._remove(slots, undo)
            self._finish(events)
        self._store.generation += 1
        if self.stream_ is not None and "inputs" in self.stream_:  # digests of lines would prove a guess of a row
            lines, inputs = self.stream_["lines"], self.stream_["inputs"]
            blank = {name: {**one, "since": lines[name], "digest": ""} for name, one in inputs.items()}
            self.stream_ = {**self.stream_, "inputs": blank}

    @property
    def generation(self) -> int:
        """The number of times that samples were forgotten; the state of a model with the smaller number is behind."""
        return self.store.generation if "_store" in vars(self) else 0

    @property
    def files_(self) -> list[str]:
        """The files that hold this model, as far as it knows."""
        return sorted(vars(self).get("_saved", {}))

    def keepers(self) -> list[Keeper]:
        """Return the keepers of ``files_``, in the order in which every process locks the files."""
        saved = vars(self).get("_saved", {})
        return [saved[name] for name in sorted(saved)]

    def keeper_of(self, path: str) -> Keeper | None:
        """Return the keeper of one file, or None if this model does not know the file."""
        return vars(self).get("_saved", {}).get(path)

    def remember_file(self, path: str, keeper: Keeper) -> None:
        """Remember a file that holds this model; called when one is saved or loaded."""
        vars(self).setdefault("_saved", {})[path] = keeper

    def deletion_report(self, refit: bool = False) -> dict[str, Any]:
        """Return the proof that the model is the solution of the samples that it still has.

        Parameters
        ----------
        refit : bool, default=False
            Also solve the problem of these samples from nothing, and compare.

        Returns
        -------
        report : dict
            Of values that ``json.dumps`` takes: 'samples', 'arrived', 'kkt_violation', 'duality_gap' (upper bounds for
            all programs, from a gradient computed anew in float64), 'files' written last, 'refits', 'adatron' (the
            version). With ``refit`` also 'largest_difference', the largest difference of decision values of the
            samples, before any division by a margin. Three lists of sentences. 'holds' names things that hold
            forgotten samples or may do so (a journal, a file that another process replaced). 'derived' names numbers
            that were computed from them and stayed (a scaler before the model, ``gamma='scale'``, a class without
            samples). 'unknown' names what no program can know.
        """
        check_is_fitted(self)
        with self.in_time(self.store):
            return report(self, refit, self.files_, self.keepers())

    def _settled_kernel(self) -> Resolved:
        return Resolved(self._settled.kernel, self._settled.gamma, self._settled.kernel)

    def _gather_one(self) -> Model:
        """Return the model of one program."""
        coefficients, settled = self._coefficients_of_all(), self._settled
        support = np.flatnonzero(coefficients[0])
        counts, intercepts = np.array([len(support)], np.int32), np.array([self._fitted[0].intercept])
        parts = {"counts": counts, "intercepts": intercepts, "head": settled.head, "proofs": settled.proofs}
        return self.made(self._store.X, self._settled_kernel(), support, coefficients[:, support], **parts)

    @abstractmethod
    def _gather(self) -> Model:
        """Return the model of the solution."""

    def _coefficients_of_all(self) -> Vector:
        """Return coefficients of all samples, (n_problems, n_samples)."""
        out = np.zeros((len(self._tracks), self._store.n))
        for row, track in zip(out, self._tracks, strict=True):
            row[track.numbers] = track.beta
        return out

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for copies, which know of no files: of a model with samples, not its support vectors."""
        state: Any = super().__getstate__()
        kept = {name: value for name, value in state.items() if name not in HERE}
        if "_settled" not in kept:
            return kept
        settled = flat(type(self), kept.pop("_settled"))
        return {**{name: value for name, value in kept.items() if name not in attributes_of(type(self))}, **settled}

    def lasting_state(self) -> dict[str, Any]:
        """Return the state that a model file keeps besides the parameters."""
        state = super().lasting_state()
        if "_tracks" in state:
            del state["_fitted"]
            state |= {"_store": self._store.state(), "_tracks": [track.state() for track in self._tracks]}
        return state

    def restore_state(self, state: dict[str, Any]) -> None:
        """Restore the state that ``lasting_state`` gave; the paths begin when they are first needed."""
        if "_tracks" not in state:
            super().restore_state(state)
            return
        vars(self).update(state)
        self._settle(grouped(type(self), vars(self)))
        self._store = Store.of(state["_store"])
        self._tracks = [Track.of(self._store, self._settled.kernel, one) for one in state["_tracks"]]
        self._refuse_torn()
        iterations = np.atleast_1d(self.n_iter_).tolist()
        self._finish([now - n for now, n in zip(self._events(), iterations, strict=True)], anew=False)
        _ = self.model_  # non-finite numbers must fail now, not in a prediction

    def _restore(self, own: bool) -> None:
        super()._restore(own)
        if "_tracks" in vars(self) and "_asked" not in vars(self):
            self._refuse_state("all that is known of the solution is missing")

    def _make(self, parts: dict[str, Any]) -> None:
        if "_tracks" not in vars(self):
            super()._make(parts)
            return
        self._settle(parts)
        self._refuse_torn()
        found = vars(self).get("_fitted")
        if not isinstance(found, Fits) or len(found) != len(self._tracks):
            raise ValueError(f"there are not {len(self._tracks)} solutions")
        _ = self.model_  # what is wrong must fail now

    def _settle(self, parts: dict[str, Any]) -> None:
        """Keep what a state says of the solution."""
        proofs, self._asked = Proofs(**parts["proofs"]), {}
        self._settled = Settled(parts["kernel"], parts["gamma"], self._head_of(parts), proofs)

    def _refuse_torn(self) -> None:
        """Fail if samples and programs that came from elsewhere do not fit each other."""
        if fault := next(self.faults(), None):
            raise ValueError(fault)

    def faults(self) -> Iterator[str]:
        if "_tracks" not in vars(self):
            yield from super().faults()
            return
        state, head, kernel = vars(self), self._settled.head, self._settled.kernel
        yield from (f"{name} is missing" for name in ("_store", "_fixed") if name not in state)
        if kernel.name == "precomputed" or (kernel.compiled and not kernel.convex):
            yield f"kernel_ must be positive semi-definite; it is {quoted(kernel)}"
        labels = head.labels if isinstance(head, Classes) else np.zeros(0)
        if not np.array_equal(np.unique(labels), labels):
            yield "classes_ must be in order"
        gamma, proofs = self._settled.gamma, self._settled.proofs
        yield from filter(None, [] if proofs is None else [of_solution(gamma, proofs, head.n_problems)])
        if not isinstance(self._fixed, dict) or self._fixed.keys() != self._foundations().keys():  # pyright: ignore[reportUnnecessaryIsInstance]
            yield "_fixed holds other parameters than those that the solution rests on"
        store, tracks, sizes = self._store, self._tracks, (state.get("n_features_in_"), len(labels), kernel.compiled)
        yield from filter(None, [store.fault(*sizes) if hasattr(store, "fault") else "_store holds no samples"])
        sides: list[Any] = head.problems if isinstance(head, Classes) else [None]
        if not isinstance(tracks, list) or len(tracks) != len(sides):  # pyright: ignore[reportUnnecessaryIsInstance]
            yield f"there are not {len(sides)} programs"
        for track, classes in zip(tracks, sides, strict=False):
            known, apart = hasattr(track, "fault"), isinstance(head, Classes) and head.in_pairs
            yield from filter(None, [track.fault(store, classes, apart) if known else "_tracks holds no programs"])
