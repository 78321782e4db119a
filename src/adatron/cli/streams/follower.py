"""A model that learns line by line and outlives being killed: its database, and the lines."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...files import DataError, ModelFileError, load
from ...files.database import Database, Record
from ...files.models.model import write
from ...files.source import Piped
from ...files.tables.memory import room
from ..progress import Interrupt
from .inputs import STANDARD_INPUT, STANDARD_NAME, Input, after, begun, new_stream, remembering
from .lines import LineReader

BATCH = 32  # Lines of a file that are written together.


@dataclass(frozen=True)
class Manner:
    """The settings of a stream.

    every : lines after which the model is written anew
    window : samples that are kept; None keeps as many as the model says
    accept_loss : whether to go on if records are lost
    """

    every: int = 1000
    window: int | None = None
    accept_loss: bool = False


class Follower:
    """The model in a database, with the records since it was written.

    Parameters
    ----------
    database : Database
        The database, in which a model is.
    given : Input
        Source of the lines.
    lines : LineReader
        How lines are read.
    manner : Manner

    Raises
    ------
    ModelFileError
        The model cannot be read, or records are lost.
    ValueError
        The model is not an incremental one, or not fitted.
    """

    def __init__(self, database: Database, given: Input, lines: LineReader, manner: Manner) -> None:
        self.database, self.given, self.lines, self.manner = database, given, lines, manner
        self.model: Any = None
        self.last: Any = None
        self._warned = False
        self.replayed = self._open()

    @property
    def done(self) -> int:
        """Number of the last line of the input that was learned before."""
        return self.last.stream_["lines"].get(self.given.source, 0)

    @property
    def _inputs(self) -> dict[str, Any]:
        return self.last.stream_["inputs"]

    def remaining(self, lines: Iterator[tuple[int, str]], skip_learned: bool | None) -> Iterator[tuple[int, str]]:
        """Return the lines that are to be learned, and note the file that they come from.

        Parameters
        ----------
        skip_learned : bool or None
            Whether to leave out the lines that were learned of this input, whatever they are; None: only in a file with
            the same lines.

        Raises
        ------
        DataError
            The lines are not the same.
        """
        given, skip = self.given, self.given.again if skip_learned is None else skip_learned
        done, entry = self.done if skip else 0, begun(given.inode)
        if skip and skip_learned is None:
            seen = self._inputs.get(given.source) or begun("", done)
            lines, entry = after(lines, given, done, seen, lambda: self.lines.header), {**seen, "inode": given.inode}
        elif skip:
            lines, entry = ((number, text) for number, text in lines if number > done), begun(given.inode, done)
        if given.again:
            stream = self.last.stream_
            told = {"lines": {**stream["lines"], given.source: done}, "inputs": {**self._inputs, given.source: entry}}
            self.last.stream_ = {**stream, **told}
            self._snapshot()
        return lines

    def follow(self, lines: Iterator[tuple[int, str]]) -> int:
        """Learn numbered lines, and write the model; return how many lines there were.

        A first Ctrl-C waits until a line is learned. A second one breaks off within the line: nothing more is written
        then, and the next run goes on as after a kill.
        """
        count, within = 0, False
        try:
            for line, text in lines:
                with Interrupt(wanted=True) as interrupt:
                    within = True
                    self._take(Record(self.last.stream_["number"] + 1, self.given.source, line, text))
                    within = False
                count += 1
                if interrupt.asked:
                    raise KeyboardInterrupt
        except DataError:  # the line has changed nothing
            within = False
            raise
        finally:
            if not within:
                self._snapshot()
        return count

    def _open(self) -> int:
        """Load the model and learn the records since it was written; return how many there were."""
        data = self.database.model
        self.model = load(Piped(str(self.database.path), data), max_bytes=max(room(), len(data)))
        self.last = incremental(self.model)
        self.lines.expect(self.model, self.last)
        if self.manner.window is not None:
            self.last.set_params(window=self.manner.window)
        if self.last.stream_ is None:
            self.last.stream_ = new_stream()
        records, lost = self.database.records(self.last.stream_["number"])
        if lost and not self.manner.accept_loss:
            raise _lost(self.database.path, lost, len(records))
        for record in records:
            self._replay(record)
        if records or lost:
            self._snapshot()
        return len(records)

    def _replay(self, record: Record) -> None:
        self.last.store.skip(record.number - self.last.stream_["number"] - 1)
        try:
            self._learn(record)
        except ValueError as error:
            raise ModelFileError(
                self.database.path,
                f"record {record.number} cannot be learned ({error}): go on with the options of "
                "the run that wrote it, or load the model and save it to another file without the lines since",
            ) from error

    def _take(self, record: Record) -> None:
        """Learn or forget, and write that to the disk; a file still has its lines, and they are written in batches."""
        one = self.lines.forgotten(record.line, record.text)
        if one is not None:
            warning = self._forget(record, one)
            self._snapshot()  # the rows must not outlive the line
            if warning:
                warnings.warn(warning, stacklevel=1)
            return
        self._learn(record)
        self.database.append(record)
        if record.number % self.manner.every == 0:
            self._snapshot()
        elif not self.given.again or record.number % BATCH == 0:
            self.database.commit()

    def _learn(self, record: Record) -> None:
        """Learn the record's sample; the model then says that it has."""
        lines = self._lines_of(record)
        X, y = lines.parse(record.line, record.text)
        with _at(lines.name, record.line):
            self.last.partial_fit(X, y)
        self.last.stream_ = remembering(self.last.stream_, record)

    def _lines_of(self, record: Record) -> LineReader:
        """Return the reader for lines of a record's input; the input's name may tell the format."""
        if record.source == self.given.source:
            return self.lines
        name = STANDARD_NAME if record.source == STANDARD_INPUT else record.source
        return replace(self.lines, name=name, found=None, like=None)

    def _forget(self, record: Record, one: int) -> str:
        """Forget a sample as a record says; return a warning, or an empty text."""
        from ...estimators.incremental.forgetting import keeping, remembers

        store, warning = self.last.store, ""
        if one not in store.ids and 0 <= one < store.next_id:
            warning = f"sample {one} is not in the model any more: it left the window, or was forgotten before"
        else:
            with _at(self.lines.name, record.line):
                known = remembers(self.model, store, one)
                self.last.forget([one])
            if known and not self._warned:
                self._warned = True
                warning = f"sample {one} has left the model, but {'; '.join(keeping(self.model))}"
        self.last.stream_ = remembering(self.last.stream_, record)
        return warning

    def _snapshot(self) -> None:
        """Write the model, and remove the lines since the last time."""
        self.database.write(as_file(self.model, self.database.path))


@contextmanager
def _at(name: str, line: int) -> Iterator[None]:
    """Say in an error about a sample which line of an input it is."""
    try:
        yield
    except ValueError as error:
        raise DataError(name, str(error), line) from error


def _lost(place: Path, lost: str, there: int) -> Exception:
    return ModelFileError(
        place,
        f"{lost}; other records that can be read: {there}. If the lines came from a file that still has them, load the "
        "model and save it to another file: a stream with that one reads the lines again. Otherwise --accept-loss goes "
        "on with the records that can be read",
    )


def as_file(model: Any, path: Path) -> bytes:
    """Return what a model file would hold."""
    stream = io.BytesIO()
    write(model, stream, path)
    return stream.getvalue()


def check_model(path: Path) -> None:
    """Fail if the model in a file cannot learn; only others are made into databases."""
    incremental(load(path))


def incremental(model: Any) -> Any:
    """Return the incremental model at the end of a model.

    Raises
    ------
    ValueError
        There is no incremental model.
    """
    from sklearn.utils.validation import check_is_fitted

    from ...estimators.forms.way import way_to
    from ...estimators.incremental.machine import Incremental

    last = way_to(model).machine
    if not isinstance(last, Incremental):
        raise ValueError(f"the model is a {type(last).__name__}; only the incremental ones learn from a stream")
    check_is_fitted(last)
    return last
