"""A model that learns line by line and outlives being killed: the model file, its journal, and the lines."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..files import DataError
from ..files.journal import Journal, Record, journal_of
from .interrupt import Interrupt
from .lines import Lines


class Learner:
    """The model in a file, with what its journal adds.

    Parameters
    ----------
    path : path
        The model file, which is there.
    source : str
        Name of the input, which the model remembers with the lines that it has learned of it.
    lines : Lines
        How lines are read.
    every : int
        Lines after which the model file is written anew.

    Raises
    ------
    ModelFileError
        The model cannot be read, or the journal is that of another one.
    ValueError
        The model is not an incremental one, or not fitted.
    """

    def __init__(self, path: Path, source: str, lines: Lines, every: int, window: int | None = None) -> None:
        from ..files import load
        from ..files.atomic import remove_leftovers

        remove_leftovers(path)
        self.path, self.source, self.lines, self.every = path, source, lines, every
        self.model: Any = load(path)
        self.last: Any = incremental(self.model)
        self.lines.expect(self.model, self.last)
        if window is not None:
            self.last.set_params(window=window)
        if self.last.stream_ is None:
            self.last.stream_ = new_stream()
            self._save()
        begun: dict[str, Any] = self.last.stream_
        self.journal = Journal(journal_of(path), begun["name"])
        self.replayed = 0
        for record in self.journal.records:
            if record.number > begun["number"]:
                self._learn(record)
                self.replayed += 1
        self._snapshot()

    @property
    def done(self) -> int:
        """Lines of the input that were learned before."""
        return self.last.stream_["lines"].get(self.source, 0)

    def follow(self, lines: Iterator[tuple[int, str]]) -> int:
        """Learn numbered lines, and write the model; how many there were.

        A first Ctrl-C waits until a line is learned and written. A second one breaks off within the line: nothing more
        is written then, and the next run goes on as after a kill.
        """
        count, broken_off = 0, False
        try:
            for line, text in lines:
                with Interrupt(wanted=True) as interrupt:
                    try:
                        self._take(Record(self.last.stream_["number"] + 1, self.source, line, text))
                    except KeyboardInterrupt:
                        broken_off = True
                        raise
                count += 1
                if interrupt.asked:
                    raise KeyboardInterrupt
        finally:
            if not broken_off:
                self._snapshot()
        return count

    def _take(self, record: Record) -> None:
        """Learn or forget, and have that on the disk."""
        one = self.lines.forgotten(record.line, record.text)
        if one is not None:
            self._snapshot()  # the journal's rows are not to outlive the line
            self._learn(record, one)  # forget writes the model file
            return
        self._learn(record)
        self.journal.append(record)
        if record.number % self.every == 0:
            self._snapshot()

    def _learn(self, record: Record, one: int | None = None) -> None:
        """Learn the record's sample, or forget one; the model then says that it has."""
        before, samples = self.last.stream_, self._samples
        said = {"number": record.number, "lines": {**before["lines"], record.source: record.line}}
        self.last.stream_ = {**before, **said}  # before forget writes the file
        try:
            if one is not None:
                self.last.forget([one])
            else:
                X, y = self.lines.parse(record.line, record.text)
                self.last.partial_fit(X, y)
        except BaseException as error:
            if self._samples == samples:  # else only a file could not be written
                self.last.stream_ = before
            if type(error) is not ValueError:  # a DataError has its line, and no other kind is about one
                raise
            raise DataError(self.lines.name, str(error), record.line) from error

    @property
    def _samples(self) -> tuple[int, int]:
        """How many samples came, and how many are there: either changes with every line."""
        return self.last.store.arrived, self.last.store.n

    def _snapshot(self) -> None:
        self._save()
        self.journal.clear()

    def _save(self) -> None:
        from ..files import save

        save(self.model, self.path)


def new_stream(learned: int = 0, lines: dict[str, int] | None = None) -> dict[str, Any]:
    """What a model remembers of streams: a name, the number of the last record, and lines learned of each input."""
    return {"name": secrets.token_hex(16), "number": learned, "lines": lines or {}}


def incremental(model: Any) -> Any:
    """The incremental model at the end of a model.

    Raises
    ------
    ValueError
        There is none.
    """
    from sklearn.utils.validation import check_is_fitted

    from ..estimators.incremental.machine import Incremental

    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if not isinstance(last, Incremental):
        raise ValueError(f"the model is a {type(last).__name__}; only the incremental ones learn from a stream")
    check_is_fitted(last)
    return last
