"""Damage the databases of streams and go on: each is refused, or the model has exactly the lines that it had before.

A database that has lost its last rows looks like one to which less was written. A refused one goes on with
``--accept-loss`` if only rows are damaged; then no sample may have another's id.
"""

from __future__ import annotations

import io
import json
import os
import sqlite3
import sys
import zlib
from collections.abc import Callable
from contextlib import closing, redirect_stderr
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np

import adatron
from adatron import IncrementalSVC
from adatron.cli import main
from adatron.cli.follower import Follower

FIRST, LINES, FEATURES = 20, 12, 2  # Samples of the fit, lines after it, features.
KnownRows = dict[int, tuple[float, ...]]  # rows by their ids


@dataclass(frozen=True)
class Base:
    """A stream that died: the database, and the states of the model after each number of its lines."""

    data: bytes
    states: tuple[KnownRows, ...]


def lines(seed: int) -> list[str]:
    """Return samples as text."""
    rng = np.random.default_rng(seed)
    return [f"{x[0]!r},{x[1]!r},{int(x[0] > 0)}" for x in rng.normal(size=(LINES, FEATURES)).tolist()]


def streamed(path: Path, text: str, *more: str) -> tuple[int, str]:
    """Go on with the model and these lines; return the status and the output."""
    said = io.StringIO()
    before, sys.stdin = sys.stdin, io.StringIO(text)
    try:
        with redirect_stderr(said):
            return main(["stream", str(path), "-", "--quiet", *more]), said.getvalue()
    finally:
        sys.stdin = before


def state(path: Path) -> KnownRows:
    """Return the samples of a model."""
    model = adatron.load(path)
    return {int(one): tuple(row) for one, row in zip(model.ids_, model.store.X.tolist(), strict=True)}


@cache
def base(seed: int) -> Base:
    """Return one stream for each seed, which has learned and died; its model has none of the lines."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "base.adatron"
        X = np.random.default_rng(seed).normal(size=(FIRST, FEATURES))
        adatron.save(IncrementalSVC(gamma=0.5).fit(X, (X[:, 0] > 0).astype(int)), path)
        must(streamed(path, "")[0] == 0)
        states = [state(path)]
        with patch.object(Follower, "_snapshot", lambda self: None):  # a dead process writes nothing
            must(streamed(path, "\n".join(lines(seed)))[0] == 0)
        data = path.read_bytes()
        must(streamed(path, "")[0] == 0)
        whole = state(path)
        states += [{key: whole[key] for key in range(FIRST + n)} for n in range(1, LINES + 1)]
        return Base(data, tuple(states))


def flip(rng: np.random.Generator, path: Path) -> None:
    """Change some bits."""
    data = bytearray(path.read_bytes())
    for at in rng.integers(len(data), size=int(rng.integers(1, 4))):
        data[at] ^= 1 << int(rng.integers(8))
    path.write_bytes(data)


def near(rng: np.random.Generator, path: Path) -> None:
    """Change some bytes near each other, most often where a page begins."""
    data = bytearray(path.read_bytes())
    begin = 4096 * int(rng.integers(len(data) // 4096)) + int(rng.integers(2) * rng.integers(4096))
    for place in range(begin, min(len(data), begin + int(rng.integers(2, 40)))):
        data[place] = (0, 255, int(rng.integers(256)))[rng.integers(3)]
    path.write_bytes(data)


def pages(rng: np.random.Generator, path: Path) -> None:
    """Copy a page over another one, or exchange two."""
    data = bytearray(path.read_bytes())
    one, other = (slice(4096 * int(n), 4096 * int(n) + 4096) for n in rng.integers(len(data) // 4096, size=2))
    first, second = data[one], data[other]
    data[one] = second
    if rng.random() < 0.5:
        data[other] = first
    path.write_bytes(data)


def cut(rng: np.random.Generator, path: Path) -> None:
    """End the file earlier, or later."""
    size = path.stat().st_size
    ends = int(rng.integers(1, size + 1)), size - size % 4096 - 4096, size + 5000
    os.truncate(path, ends[rng.integers(3)])


def changed(rng: np.random.Generator, path: Path) -> None:
    """Change rows, or the tables, as a stranger may who has SQLite."""
    number = FIRST + int(rng.integers(1, LINES + 2))
    values: list[object] = [
        *(["-", 1, text] for text in ("", "#", "x", "1,2", "1,2,7", "1,nan,1", "\ud800,1,1", "-3", "\0" * 9)),
        *(["-", line, "1,2,1"] for line in (-1, 2**70, 1.5, True, None, "1")),
        *([source, 1, "1,2,x"] for source in (None, 5, [], {}, "")),
        *([], {}, 5, None, "text", ["-", 1, "1,2,x", 5]),
    ]
    payload = json.dumps(values[rng.integers(len(values))]).encode()
    statements = [
        ("UPDATE lines SET record = ?, checksum = ?", (payload, zlib.crc32(payload, number))),
        ("REPLACE INTO lines VALUES (?, ?, ?)", (number, payload, zlib.crc32(payload, number))),
        ("REPLACE INTO lines VALUES (?, ?, ?)", (2**60, payload, 0)),
        ("DELETE FROM lines WHERE number = ?", (number - 1,)),
        ("UPDATE lines SET record = zeroblob(100000) WHERE number = ?", (number,)),
        ("UPDATE model SET bytes = zeroblob(10)", ()),
        ("UPDATE model SET bytes = substr(bytes, ?)", (number,)),
        ("DELETE FROM model", ()),
        ("INSERT INTO model VALUES (7, 'text')", ()),
        ("CREATE VIEW more AS SELECT * FROM lines, lines", ()),
        ("CREATE TRIGGER more AFTER INSERT ON lines BEGIN DELETE FROM model; END", ()),
        ("CREATE TABLE more (a INTEGER PRIMARY KEY, b GENERATED ALWAYS AS (zeroblob(1000000000)))", ()),
        ("PRAGMA user_version = 7", ()),
    ]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(*statements[rng.integers(len(statements))])


def journal(rng: np.random.Generator, path: Path) -> None:
    """Put a journal beside the database that no process of it wrote."""
    path.with_name(path.name + "-journal").write_bytes(rng.bytes(int(rng.choice([1, 600, 5000]))))


DAMAGES: list[Callable[[np.random.Generator, Path], None]] = [flip, near, pages, cut, changed, journal]


def attempt(rng: np.random.Generator, folder: Path) -> tuple[str, str]:
    """Damage a database and go on with it.

    Returns
    -------
    kind : the damage
    how : 'refused', 'right', or 'differs' if a valid row says something else

    Raises
    ------
    AssertionError
        A line is gone without a word, or something else is there.
    """
    damage = DAMAGES[rng.integers(len(DAMAGES))]
    one, path, kind = base(int(rng.integers(2))), folder / "m.adatron", damage.__name__
    beside = path.with_name(path.name + "-journal")
    beside.unlink(missing_ok=True)
    path.write_bytes(one.data)
    damage(rng, path)
    damaged = path.read_bytes()
    status, said = streamed(path, "")
    if status == 0:
        found = state(path)
        if found in one.states:
            return kind, "right"
        must(damage is changed and len(found) <= FIRST + LINES + 1, kind, said)
        return kind, "differs"
    must(status == 1 and str(path) in said and said.startswith("error: "), kind, said)
    must(path.read_bytes() == damaged, kind, "a refusal changed the file")
    if "--accept-loss" in said:
        status, said = streamed(path, "", "--accept-loss")
        must(status == (1 if "cannot be learned" in said else 0), kind, said)
        whole, found = one.states[LINES], state(path)
        wrong = [key for key, row in found.items() if whole.get(key, row) != row]
        must(damage is changed or not wrong, kind, "another row")
    return kind, "refused"


def must(holds: object, *what: object) -> None:
    """Raise AssertionError unless something holds."""
    if not holds:
        raise AssertionError(*what)
