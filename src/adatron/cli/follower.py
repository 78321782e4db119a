"""A model that learns line by line and outlives being killed: its database, and what it has learned of each input.

The model's ``stream_`` is its memory: the number of its last record and, for each input, the last line that it has
learned, the number of the file, and a digest of the lines after line ``since``, chained from one to the next.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import blake2b
from itertools import chain, islice
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..estimators.incremental.forgetting import keeping, remembers
from ..estimators.incremental.machine import Incremental
from ..files import DataError, ModelFileError, load
from ..files.database import Database, Record
from ..files.models.model import write
from ..files.source import STANDARD_INPUT, Piped, room
from ..pipelines import way_to
from .labels import labelled_for
from .lines import STANDARD_NAME, Input, LineReader
from .outputs import InputError
from .parts import task_of
from .training import Interrupt, remember

BATCH = 32  # Lines of a file that are written together.
Numbered = Iterator[tuple[int, str]]  # lines with their numbers
Memory = dict[str, Any]


class Follower:
    """The model in a database, with the records since it was written.

    every : lines after which the model is written anew
    window : samples that are kept; None keeps as many as the model says
    accept_loss : whether to go on if records are lost, which is an error otherwise
    """

    def __init__(
        self, database: Database, given: Input, lines: LineReader, every: int, window: int | None, accept_loss: bool
    ) -> None:
        self.database, self.given, self.lines, self.every = database, given, lines, every
        data = database.model
        self.model: Any = load(Piped(str(database.path), data), max_bytes=max(room(), len(data)))
        self.last: Any = incremental(self.model)
        lines.expect(self.model, self.last)
        if window is not None:
            self.last.set_params(window=window)
        if self.last.stream_ is None:
            self.last.stream_ = {"number": 0, "inputs": {}}
        self._warned = False
        self.replayed = self._replay(accept_loss)

    def remaining(self, lines: Numbered, skip_learned: bool | None) -> Numbered:
        """Return the lines that are to be learned, and note the file that they come from.

        skip_learned : whether to leave out the lines that were learned of this input, whatever they are; None: only in
            a file, where other lines are an error
        """
        given, memory = self.given, self.last.stream_
        seen, entry = memory["inputs"].get(given.source) or begun(""), begun(given.inode)
        if skip_learned is None and given.again:
            lines, entry = after(lines, given, seen), {**seen, "inode": given.inode}
        elif skip_learned:
            lines = ((number, text) for number, text in lines if number > seen["line"])
            entry = begun(given.inode, seen["line"])
        if given.again:
            self.last.stream_ = {**memory, "inputs": {**memory["inputs"], given.source: entry}}
            self._snapshot()
        return lines

    def follow(self, lines: Numbered) -> int:
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
                if interrupt.requested:
                    raise KeyboardInterrupt
        except DataError:  # the line has changed nothing
            within = False
            raise
        finally:
            if not within:
                self._snapshot()
        return count

    def _replay(self, accept_loss: bool) -> int:
        """Learn the records since the model was written; return how many there were."""
        place = self.database.path
        records, lost = self.database.records(self.last.stream_["number"])
        if lost and not accept_loss:
            raise ModelFileError(
                place,
                f"{lost}; other records that can be read: {len(records)}. If the lines came from a file that still has "
                "them, load the model and save it to another file: a stream with that one reads the lines again. "
                "Otherwise --accept-loss goes on with the records that can be read",
            )
        for record in records:
            self.last.store.skip(record.number - self.last.stream_["number"] - 1)
            try:
                self._learn(record)
            except ValueError as error:
                raise ModelFileError(
                    place,
                    f"record {record.number} cannot be learned ({error}): go on with the options of the run that wrote "
                    "it, or load the model and save it to another file without the lines since",
                ) from error
        if records or lost:
            self._snapshot()
        return len(records)

    def _take(self, record: Record) -> None:
        """Learn or forget, and write that to the disk; a file still has its lines, and they are written in batches."""
        one = self.lines.forgotten(record.line, record.text)
        if one is not None:
            self._forget(record, one)
            return
        self._learn(record)
        self.database.append(record)
        if record.number % self.every == 0:
            self._snapshot()
        elif not self.given.again or record.number % BATCH == 0:
            self.database.commit()

    def _learn(self, record: Record) -> None:
        """Learn the record's sample; the model then says that it has."""
        lines = self.lines
        if record.source != self.given.source:  # the input's name may tell the format
            name = STANDARD_NAME if record.source == STANDARD_INPUT else record.source
            lines = replace(lines, name=name, found={}, like=None)
        X, y = lines.parse(record.line, record.text)
        with _at(lines.name, record.line):
            self.last.partial_fit(X, y)
        self.last.stream_ = remembering(self.last.stream_, record)

    def _forget(self, record: Record, one: int) -> None:
        """Forget a sample as a record says; its row must not outlive the line."""
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
        self._snapshot()
        if warning:
            warnings.warn(warning, stacklevel=1)

    def _snapshot(self) -> None:
        write_model(self.model, self.database)


@contextmanager
def _at(name: str, line: int) -> Iterator[None]:
    """Say in an error about a sample which line of an input it is."""
    try:
        yield
    except ValueError as error:
        raise DataError(name, str(error), line) from error


def after(lines: Numbered, given: Input, seen: Memory) -> Numbered:
    """Return the lines after those that were learned; the learned ones are read here and must be the same."""
    done, last, digest, next_one = seen["line"], 0, "", list[tuple[int, str]]()
    for number, text in lines:
        if number > done:
            next_one.append((number, text))
            break
        last, digest = number, chained(digest, text) if number > seen["since"] else digest
    fault = None
    if last != done:
        fault = f"line {done} is not there"
    elif seen["digest"] != digest:
        fault = f"lines {seen['since'] + 1} to {done} are not those that were learned"
    elif not digest and seen["inode"] not in ("", given.inode):
        fault = "it is another file"
    if fault:
        raise DataError(
            given.name,
            f"the model has learned {done} lines of the file with this name, but {fault}: --no-skip-learned learns it "
            f"from its beginning, as a new one; --skip-learned goes on after line {done}, whatever comes before",
        )
    return chain(next_one, lines)


def begun(inode: str, line: int = 0) -> Memory:
    """Return the memory of an input whose lines after this one are still to come."""
    return {"inode": inode, "line": line, "since": line, "digest": ""}


def chained(digest: str, text: str) -> str:
    """Return the digest of some lines and one more."""
    return blake2b(digest.encode() + text.encode(), digest_size=16).hexdigest()


def remembering(memory: Memory, record: Record) -> Memory:
    """Return the memory of a model that has learned a record."""
    entry = memory["inputs"].get(record.source) or begun("")
    if record.line <= entry["line"]:  # an input that begins again
        entry = begun(entry["inode"], record.line - 1)
    entry = {**entry, "line": record.line, "digest": chained(entry["digest"], record.text)}
    return {"number": record.number, "inputs": {**memory["inputs"], record.source: entry}}


def begin(
    database: Database, given: Input, lines: Numbered, reader: LineReader, first: int, made: Any, chosen: bool
) -> None:
    """Fit a model to the first lines of an input and write it.

    chosen : whether the user named the task
    """
    numbered = list(islice(lines, first))
    if not numbered:
        raise InputError(f"{reader.name}: the file holds no data")
    memory: Memory = {"number": 0, "inputs": {given.source: begun(given.inode)}}
    for number, text in numbered:
        if reader.forgotten(number, text) is not None:
            raise DataError(reader.name, f"{text!r} forgets, but the first {first} lines are for the fit", number)
        memory = remembering(memory, Record(memory["number"] + 1, given.source, number, text))
    task, table = task_of(made), reader.table(numbered[0][0], [text for _, text in numbered])
    if task == "classification" and len(classes := set(table.y.tolist())) == 1:
        raise InputError(
            f"{reader.name}: the first {len(numbered)} lines all have the label {classes.pop()}, and the first fit "
            "needs two classes: --first takes more lines"
        )
    table = labelled_for(made, task, reader.name, table, chosen)
    made.fit(table.X, None if task == "novelty" else table.y)
    made.stream_ = memory
    remember(made, table)
    if reader.names is not None:
        made.header_ = {"names": reader.names, "label": reader.reading["label"]}
    write_model(made, database)


def write_model(model: Any, database: Database) -> None:
    """Write a model, and remove the lines since the last time."""
    stream = io.BytesIO()
    write(model, stream, database.path)
    database.write(stream.getvalue())


def incremental(model: Any) -> Any:
    """Return the incremental model at the end of a model, which must be fitted."""
    last = way_to(model).machine
    if not isinstance(last, Incremental):
        raise ValueError(f"the model is a {type(last).__name__}; only the incremental ones learn from a stream")
    check_is_fitted(last)
    return last
