"""A model that learns line by line and outlives being killed: the model file, its journal, and the lines."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...files.journal import Journal, Record
from ..progress import Interrupt
from .inputs import STANDARD_INPUT, STANDARD_NAME, Input, after, begun, new_stream, remembering
from .lines import LineReader


@dataclass(frozen=True)
class Manner:
    """The settings of a stream.

    every : lines after which the model file is written anew
    window : samples that are kept; None keeps as many as the model says
    accept_loss : whether to go on with a journal that has lost records
    """

    every: int = 1000
    window: int | None = None
    accept_loss: bool = False


class Follower:
    """The model in a file, with the records that its journal adds.

    Parameters
    ----------
    path : path
        The model file, which is there.
    given : Input
        Source of the lines.
    lines : LineReader
        How lines are read.
    journal : Journal
        The journal, which no other process can have.
    manner : Manner

    Raises
    ------
    ModelFileError
        The model cannot be read, or the journal belongs to another model, or has lost records.
    ValueError
        The model is not an incremental one, or not fitted.
    """

    def __init__(self, path: Path, given: Input, lines: LineReader, journal: Journal, manner: Manner) -> None:
        self.path, self.given, self.lines, self.journal, self.manner = path, given, lines, journal, manner
        self.model: Any = None
        self.last: Any = None
        self._warned = False
        self.replayed = self._open()
        self._snapshot()

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
            said = {"lines": {**stream["lines"], given.source: done}, "inputs": {**self._inputs, given.source: entry}}
            self._snapshot(said)
        return lines

    def follow(self, lines: Iterator[tuple[int, str]]) -> int:
        """Learn numbered lines, and write the model; return how many lines there were.

        A first Ctrl-C waits until a line is learned and written. A second one breaks off within the line: nothing more
        is written then, and the next run goes on as after a kill.
        """
        count, broken_off = 0, False
        try:
            for line, text in lines:
                with Interrupt(wanted=True) as interrupt:
                    try:
                        self._take(Record(self.last.stream_["number"] + 1, self.given.source, line, text))
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

    def _open(self) -> int:
        """Load the model and learn the records that its journal adds; return how many there were."""
        from ...files import load

        self.model = load(self.path)
        self.last = incremental(self.model)
        self.lines.expect(self.model, self.last)
        if self.manner.window is not None:
            self.last.set_params(window=self.manner.window)
        if self.last.stream_ is None:
            self.last.stream_ = new_stream()
        stream: dict[str, Any] = self.last.stream_
        found = self.journal.read(stream["name"], stream["number"])
        if found.lost and not self.manner.accept_loss:
            raise _lost(self.journal.path, found.lost, len(found.records))
        for record in found.records:
            self._replay(record)
        return len(found.records)

    def _replay(self, record: Record) -> None:
        from ...files import ModelFileError

        self.last.store.skip(record.number - self.last.stream_["number"] - 1)
        try:
            self._learn(record)
        except ValueError as error:
            raise ModelFileError(
                self.journal.path,
                f"record {record.number} cannot be learned ({error}): go on with the options of "
                "the run that wrote it, or move the journal away",
            ) from error

    def _take(self, record: Record) -> None:
        """Learn or forget, and write that to the disk."""
        one = self.lines.forgotten(record.line, record.text)
        if one is not None:
            self._snapshot()  # the journal's rows must not outlive the line
            self._learn(record, one)  # forget writes the model file
            return
        self._learn(record)
        self.journal.append(record)
        if record.number % self.manner.every == 0:
            self._snapshot()

    def _learn(self, record: Record, one: int | None = None) -> None:
        """Learn the record's sample, or forget one; the model then says that it has."""
        from ...files import DataError

        before, samples, lines = self.last.stream_, self._samples, self._lines_of(record)
        self.last.stream_ = remembering(before, record)  # before forget writes the file
        try:
            if one is not None:
                self._forget(one)
            else:
                X, y = lines.parse(record.line, record.text)
                self.last.partial_fit(X, y)
        except BaseException as error:
            if self._samples == samples:  # otherwise only a file could not be written
                self.last.stream_ = before
            if type(error) is not ValueError:  # a DataError has its line, and other errors are not about a line
                raise
            raise DataError(lines.name, str(error), record.line) from error

    def _lines_of(self, record: Record) -> LineReader:
        """Return the reader for lines of a record's input; the input's name may tell the format."""
        if record.source == self.given.source:
            return self.lines
        name = STANDARD_NAME if record.source == STANDARD_INPUT else record.source
        return replace(self.lines, name=name, found=None, like=None)

    def _forget(self, one: int) -> None:
        from ...estimators.incremental.steps import keeping, remembers

        store = self.last.store
        if one not in store.ids and 0 <= one < store.next_id:
            gone = f"sample {one} is not in the model any more: it left the window, or was forgotten before"
            warnings.warn(gone, stacklevel=1)
            self.last.forget([])  # writes the model file, which says that the line was read
            return
        known = remembers(self.model, self.last.store, one)
        self.last.forget([one])
        if known and not self._warned:
            self._warned = True
            warnings.warn(f"sample {one} has left the model, but {'; '.join(keeping(self.model))}", stacklevel=1)

    @property
    def _samples(self) -> tuple[int, int]:
        """How many samples came, and how many are there; one of the two numbers changes with every line."""
        return self.last.store.arrived, self.last.store.n

    def _snapshot(self, said: dict[str, Any] | None = None) -> None:
        """Write the model, with what is ``said`` of its stream, and empty the journal.

        If another process has made the model forget samples meanwhile, the model file no longer has them. The journal
        then adds the lines learned since to the model in that file.
        """
        from ...files.models.model import rewrite

        keeper = self.last.keeper_of(str(self.path.resolve()))
        with self.last.turn, keeper.held():
            if keeper.replaced:
                self._merge()
            self.last.stream_ = {**self.last.stream_, **(said or {})}
            rewrite(self.model, self.path)
            self.journal.clear(self.last.stream_["name"])

    def _merge(self) -> None:
        from ...files import ModelFileError

        before, number = (self.model, self.last), self.last.stream_["number"]
        try:
            self._open()
            if self.last.stream_["number"] != number:
                raise ValueError("it knows other lines")
        except BaseException as error:
            self.model, self.last = before
            if not isinstance(error, ValueError):
                raise
            raise ModelFileError(
                self.path,
                "it was replaced by another model while the stream was learning, and is left as it is; what was "
                f"learned since is in {self.journal.path} ({error})",
            ) from error


def _lost(place: Path, lost: str, there: int) -> Exception:
    from ...files import ModelFileError

    return ModelFileError(
        place,
        f"{lost}; other records that can be read: {there}. Lines that were learned are lost with the journal. If they "
        "came from a file that still has them, move the journal away: the stream reads that file again from the last "
        "line that the model file holds. Otherwise --accept-loss goes on with the records that can be read",
    )


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
