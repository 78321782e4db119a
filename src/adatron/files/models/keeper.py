"""The files that hold an incremental model: it writes them anew when it forgets, and no older state may write them."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from ...estimators.forms.way import way_to
from ...estimators.incremental.machine import Incremental
from ...lock import locked
from ..atomic import leftovers, remove_leftovers
from ..journal import Journal, journal_of, read_journal
from ..table import ModelFileError

Stamp = tuple[int, int, int]


@dataclass
class Keeper:
    """Keeps a file that holds a model.

    Parameters
    ----------
    model : the model as it was saved or loaded, maybe a pipeline
    last : the incremental part of the model
    place : the model's file
    rewrite : writes a model to a file whose lock is held
    stamp : stamp of the file when it was written or read, see ``stamp``
    generation : how often samples had been forgotten in the model then
    unemptied : number up to which records of the journal were to go
    """

    model: BaseEstimator
    last: Incremental
    place: Path
    rewrite: Callable[[BaseEstimator, Path], None]
    stamp: Stamp
    generation: int
    unemptied: int = 0

    def held(self) -> AbstractContextManager[None]:
        """Let no other process replace the file."""
        return locked(self.place)

    @property
    def replaced(self) -> bool:
        """Whether the file is there, but is not the one that was written."""
        try:
            return stamp(self.place.stat()) != self.stamp
        except FileNotFoundError:
            return False

    def check(self) -> None:
        """Fail if the file is not the one that was written, or its journal has more."""
        if self.replaced:
            raise ModelFileError(
                self.place,
                "it was replaced since the model was saved to it or loaded from it, and may hold what is to be "
                "forgotten: load it again, or delete it, or save the model there again",
            )
        name, number = _stream(self.last)
        more = read_journal(journal_of(self.place), name, number)
        if more.records or more.lost:
            raise ModelFileError(
                journal_of(self.place),
                "it holds lines that were learned after the model was written, and maybe what is to be forgotten: let "
                "`adatron stream` go on with the model first; if it is learning now, write the line -ID to its input",
            )

    def write(self) -> None:
        """Write the file, if it is still there; remove leftovers of killed processes, and empty the journal."""
        remove_leftovers(self.place)
        if self.place.exists():
            self.rewrite(self.model, self.place)
        journal, (name, number) = journal_of(self.place), _stream(self.last)
        if name is not None and journal.exists():
            written = self.last.keeper_of(str(self.place))
            now = written if isinstance(written, Keeper) else self  # the one of the file that was just written
            now.unemptied = number
            # A stream that has the journal locked empties it itself.
            with suppress(ModelFileError), Journal(journal) as emptied:
                if not emptied.read(name, number).records:
                    emptied.clear(name)
                    now.unemptied = 0

    def remains(self) -> list[str]:
        """Name the things beside the file that may hold a forgotten sample."""
        found: list[str] = []
        name, number = _stream(self.last)
        behind = self.last.generation > self.generation
        if not self.place.exists():
            found.append(f"{self.place}: it was moved or deleted; if it was moved, it is as it was")
        elif self.replaced:
            found.append(f"{self.place}: another process has written it since")
        elif behind:
            found.append(f"{self.place}: it could not be written since samples were forgotten; forget([]) tries again")
        gone = number if behind else self.unemptied
        try:
            more = read_journal(journal_of(self.place), name, number)
            old = read_journal(journal_of(self.place), name, 0).records if gone else []
            holds, learned = bool(more.records or more.lost), any(record.number <= gone for record in old)
        except ModelFileError:
            holds, learned = True, False
        if holds:
            found.append(f"{journal_of(self.place)}: a journal with lines that are not in the model")
        if learned:
            found.append(f"{journal_of(self.place)}: a journal with lines from before samples were forgotten")
        return found + [f"{one}: a temporary file, being written or left behind" for one in leftovers(self.place)]


def incremental_part(model: Any) -> Incremental | None:
    """Return the incremental model at the end of a model."""
    last = way_to(model).machine
    return last if isinstance(last, Incremental) else None


def refuse_behind(last: Incremental, place: Path, generation_in: Callable[[Path], int]) -> None:
    """Fail if another process has since forgotten samples in a file of this model: saving would bring them back."""
    keeper = last.keeper_of(str(place.resolve()))
    if keeper is not None and keeper.replaced and generation_in(place) > last.generation:
        raise ModelFileError(
            place,
            "another process has forgotten samples in this file since the model was saved to it or loaded from it, and "
            "saving would bring them back: load it again, or delete the file first",
        )


def _stream(last: Incremental) -> tuple[str | None, int]:
    """Return the name of a model's stream, and the record up to which it has learned."""
    return (None, 0) if last.stream_ is None else (last.stream_["name"], last.stream_["number"])


def stamp(found: os.stat_result) -> Stamp:
    """Return the numbers that tell a file from another one at the same place."""
    return found.st_ino, found.st_mtime_ns, found.st_size
