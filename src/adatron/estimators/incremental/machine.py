"""The common base of the incremental models: forgetting, reports, files, and attributes that are made on request."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractContextManager, ExitStack
from copy import deepcopy
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..base.callbacks import OURS
from .learning import GATHERED, CompactError, Learning
from .report import report
from .store import Store
from .track import Track

Ids = NDArray[np.int64]
Vector = NDArray[np.float64]
OWN = ("_store", "_tracks", "_gathered")  # attributes that a step changes in place, or is made of


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

    _on_request = tuple(name for name in GATHERED if not name.startswith("_"))

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

    def __getattr__(self, name: str) -> Any:
        """Return an attribute that is gathered from the solution only on request."""
        if vars(self).get("compact_") and isinstance(getattr(type(self), name, None), property):
            raise CompactError  # Python asks here after a property has raised it
        if name not in GATHERED or "_tracks" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if not self._gathered:
            other = self._shadow()
            other._gather()
            self._gathered.update({key: vars(other)[key] for key in GATHERED if key in vars(other)})
        if name not in self._gathered:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self._gathered[name]

    def _shadow(self) -> Self:
        """Return another estimator with the same attributes, which knows of no files."""
        other = object.__new__(type(self))
        vars(other).update(self.__getstate__())
        return other

    def __copy__(self) -> Self:
        """Return a copy with samples and a solution of its own, which do not affect this one."""
        other = self._shadow()
        vars(other).update(deepcopy({name: vars(self)[name] for name in OWN if name in vars(self)}))
        return other

    def compact(self) -> Self:
        """Return a smaller and faster model with the same decisions, see :meth:`SVC.compact`.

        It has no samples. It predicts, but all methods that need samples, such as ``partial_fit`` and ``forget``, raise
        ValueError.
        """
        check_is_fitted(self)
        model = self._shadow()
        if not self.compact_:
            model._gather()
            for name in (*OWN, "_fitted"):
                del vars(model)[name]
        return super(Incremental, model).compact()

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

    def _gather_one(self) -> None:
        """Set the attributes of a model with one program."""
        coefficients = self._coefficients_of_all()
        support = np.flatnonzero(coefficients[0])
        self._n_support = np.array([len(support)], np.int32)
        self._store_support(self._store.X, support, coefficients[:, support], np.array([self._fitted[0].intercept]))

    @abstractmethod
    def _gather(self) -> None:
        """Set the attributes in GATHERED."""

    def _coefficients_of_all(self) -> Vector:
        """Return coefficients of all samples, (n_problems, n_samples)."""
        out = np.zeros((len(self._tracks), self._store.n))
        for row, track in zip(out, self._tracks, strict=True):
            row[track.numbers] = track.beta
        return out

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for copies, which know of no files."""
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_saved"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_tracks" in state:
            self._gathered = {}  # made anew of the checked solution

    def lasting_state(self) -> dict[str, Any]:
        """Return the state that a model file keeps besides the parameters."""
        params = self.get_params(deep=False)
        hidden = {"_store", "_tracks", "_fitted", "_gathered", "_saved", "_kept", *OURS, *params}
        state = {name: value for name, value in vars(self).items() if name not in hidden}
        if "_tracks" in vars(self):
            state["_store"], state["_tracks"] = self._store.state(), [track.state() for track in self._tracks]
        return state

    def restore_state(self, state: dict[str, Any]) -> None:
        """Restore the state that ``lasting_state`` gave; the paths begin when they are first needed."""
        vars(self).update(state)
        if "_tracks" in state:
            self._store = Store.of(state["_store"])
            self._tracks = [Track.of(self._store, self.kernel_, one) for one in state["_tracks"]]
            iterations = np.atleast_1d(self.n_iter_).tolist()
            self._finish([now - n for now, n in zip(self._events(), iterations, strict=True)], anew=False)
            getattr(self, GATHERED[0])  # non-finite numbers must fail now, not in a prediction
