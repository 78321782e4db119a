"""The memory of an incremental model of the streams that it has learned from: ``stream_`` of the model.

name : name of the stream, which its journal also has
number : number of the last record
lines : for each input the number of its last line
inputs : for each file the result of `begun`, to recognise the file
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

from ...files.journal import Record

STANDARD_INPUT, STANDARD_NAME = "-", "standard input"
Memory = dict[str, Any]


def new_stream() -> Memory:
    """Return the memory of a model that has not learned from a stream yet."""
    return {"name": secrets.token_hex(16), "number": 0, "lines": {}, "inputs": {}}


def begun(inode: str, line: int = 0) -> dict[str, Any]:
    """Return the facts by which a model recognises an input.

    inode : number of the file
    since, digest : a digest of the lines after line ``since``, chained from one to the next
    """
    return {"inode": inode, "since": line, "digest": ""}


def chained(digest: str, text: str) -> str:
    """Return the digest of some lines and one more."""
    return blake2b(digest.encode() + text.encode(), digest_size=16).hexdigest()


def remembering(before: Memory, record: Record) -> Memory:
    """Return the memory of a model that has learned a record."""
    source, line = record.source, before["lines"].get(record.source, 0)
    said = {**before, "number": record.number, "lines": {**before["lines"], source: record.line}}
    inputs = before["inputs"]
    if source not in inputs:
        return said
    entry = inputs[source] if record.line > line else begun(inputs[source]["inode"], record.line - 1)
    return {**said, "inputs": {**inputs, source: {**entry, "digest": chained(entry["digest"], record.text)}}}


def fitted(source: str, inode: str, lines: Iterable[tuple[int, str]]) -> Memory:
    """Return the memory of a model after a fit to these lines of an input, a file if it has an inode."""
    stream = new_stream()
    if inode:
        stream["inputs"][source] = begun(inode)
    for number, text in lines:
        stream = remembering(stream, Record(stream["number"] + 1, source, number, text))
    return stream
