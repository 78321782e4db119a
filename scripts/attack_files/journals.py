"""Damage journals and go on with the stream: it is refused, or the model has exactly the acknowledged lines.

A journal that ends earlier than before looks like one to which less was written, so after a cut the whole records
before it must be there. A refused journal goes on with ``--accept-loss``, unless it is not a journal of the model's;
then no sample may have another's id.
"""

from __future__ import annotations

import io
import json
import sys
import zlib
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np

import adatron
from adatron import IncrementalSVC
from adatron.cli import main
from adatron.cli.streams.follower import Follower

FIRST, LINES, FEATURES = 20, 12, 2  # Samples of the fit, records of the journal, features.
KnownRows = dict[int, tuple[float, ...]]  # rows by their ids


@dataclass(frozen=True)
class Base:
    """A stream that died: the model file, and records, some of which the model already has.

    models, states : the model after each number of records
    known : number of records that the model already has
    """

    models: tuple[bytes, ...]
    states: tuple[KnownRows, ...]
    first: bytes
    records: tuple[bytes, ...]
    known: int = 0

    @property
    def model(self) -> bytes:
        """The model file."""
        return self.models[self.known]

    @property
    def journal(self) -> bytes:
        """The whole journal."""
        return self.first + b"".join(self.records)

    def whole(self, end: int) -> int:
        """Return the number of records that are whole if the journal ends there; a line end may lack."""
        ends = len(self.first) + np.cumsum([len(record) for record in self.records])
        return int(np.sum(ends - 1 <= end))


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
    """Return one stream for each seed."""
    with TemporaryDirectory() as folder:
        return made(seed, Path(folder) / "base.adatron")


def made(seed: int, path: Path) -> Base:
    """Let a stream learn and die, and go on with each part of its journal."""
    journal = path.with_name("base.adatron.journal")
    X = np.random.default_rng(seed).normal(size=(FIRST, FEATURES))
    adatron.save(IncrementalSVC(gamma=0.5).fit(X, (X[:, 0] > 0).astype(int)), path)
    must(streamed(path, "")[0] == 0)
    start, states = path.read_bytes(), [state(path)]
    with patch.object(Follower, "_snapshot", lambda self: None):  # a dead process writes nothing
        must(streamed(path, "\n".join(lines(seed)))[0] == 0)
    first, *records = journal.read_bytes().splitlines(keepends=True)
    models = [start]
    for n in range(1, LINES + 1):
        path.write_bytes(start)
        journal.write_bytes(first + b"".join(records[:n]))
        must(streamed(path, "")[0] == 0)
        models.append(path.read_bytes())
        states.append(state(path))
    return Base(tuple(models), tuple(states), first, tuple(records))


@dataclass(frozen=True)
class Damage:
    """A journal, and its allowed outcomes.

    ends : numbers of records that the model may have in the end
    refusal : whether a refusal is also allowed
    """

    data: bytes
    ends: frozenset[int] = frozenset([LINES])
    refusal: bool = True


def flip(rng: np.random.Generator, one: Base) -> Damage:
    """Change one bit."""
    data = bytearray(one.journal)
    data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
    return Damage(bytes(data))


def flips(rng: np.random.Generator, one: Base) -> Damage:
    """Change some bytes near each other."""
    data = bytearray(one.journal)
    at = int(rng.integers(len(data)))
    for place in range(at, min(len(data), at + int(rng.integers(2, 40)))):
        data[place] ^= int(rng.integers(1, 256))
    return Damage(bytes(data))


def cut(rng: np.random.Generator, one: Base) -> Damage:
    """End the journal earlier, maybe with zeros."""
    end = int(rng.integers(len(one.journal) + 1))
    zeros = bytes(int(rng.choice([0, 1, 8, 100, 4096])))
    return Damage(one.journal[:end] + zeros, frozenset([max(one.known, one.whole(end))]), refusal=False)


def zeros(rng: np.random.Generator, one: Base) -> Damage:
    """Put zeros behind the journal, or in the place of some bytes."""
    data = bytearray(one.journal)
    if rng.random() < 0.3:
        return Damage(bytes(data) + bytes(int(rng.integers(1, 10_000))), refusal=False)
    at = int(rng.integers(len(data) - 50))
    data[at : at + 40] = bytes(40)
    return Damage(bytes(data))


def copied(rng: np.random.Generator, one: Base) -> Damage:
    """Write records again, at any place."""
    records = list(one.records)
    for _ in range(int(rng.integers(1, 4))):
        records.insert(int(rng.integers(len(records) + 1)), one.records[rng.integers(LINES)])
    return Damage(one.first + b"".join(records))


def shuffled(rng: np.random.Generator, one: Base) -> Damage:
    """Change the order of the records."""
    return Damage(one.first + b"".join(one.records[i] for i in rng.permutation(LINES)))


def dropped(rng: np.random.Generator, one: Base) -> Damage:
    """Leave records out; records left out at the end cannot be missed."""
    kept = np.sort(rng.choice(LINES, int(rng.integers(LINES)), replace=False))
    end = max([one.known, *(int(i) + 1 for i in kept)])
    needed = set(range(one.known, end))
    return Damage(
        one.first + b"".join(one.records[i] for i in kept), frozenset([end] if needed <= set(kept.tolist()) else [])
    )


def foreign(rng: np.random.Generator, one: Base) -> Damage:
    """Put other bytes between the records, or anything in the journal's place."""
    data, more = one.journal, rng.integers(0, 256, int(rng.choice([1, 3, 30, 1000]))).astype(np.uint8).tobytes()
    if rng.random() < 0.2:
        return Damage(more, frozenset([one.known] if not more.strip(b"\0") or one.first.startswith(more) else []))
    at = int(rng.integers(len(data) + 1))
    return Damage(data[:at] + more + data[at:])


def mixed(rng: np.random.Generator, one: Base) -> Damage:
    """Put records of another stream between, or another stream's journal in the place of this one."""
    other = base(10)
    if rng.random() < 0.2:
        return Damage(other.journal, frozenset())
    records = list(one.records)
    at = int(rng.integers(LINES + 1))
    records[at : at + int(rng.integers(2))] = [other.records[rng.integers(LINES)]]
    return Damage(one.first + b"".join(records))


def crafted(rng: np.random.Generator, one: Base) -> Damage:
    """Put a record with a valid checksum behind the others, or instead of one; it means nothing or another thing."""
    number = json.loads(one.records[-1][9:])[0] + int(rng.choice([1, 1, 1, 2, 0, -1]))
    values: list[object] = [
        *([number, "-", 1, text] for text in ("", "#", "x", "1,2", "1,2,7", "1,nan,1", "\ud800,1,1", "-3", "\0" * 9)),
        *([number, "-", line, "1,2,1"] for line in (-1, 2**70, 1.5, True, None, "1")),
        *([n, "-", 1, "1,2,1"] for n in (0, -5, 2**53, 2**80, 1.0, "7", None, [number])),
        *([number, source, 1, "1,2,x"] for source in (None, 5, [], {}, "")),
        *([], {}, 5, None, "text", [number], [number, "-", 1, "1,2,x", 5]),
    ]
    payload = json.dumps(values[rng.integers(len(values))]).encode()
    if rng.random() < 0.1:
        payload = b"[" * 100_000 + b"]" * 100_000
    name = one.first.split()[2]
    record = b"%08x %s\n" % (zlib.crc32(payload, zlib.crc32(name)), payload)
    return Damage(one.journal + record, frozenset([LINES, LINES + 1]))


DAMAGES: list[Callable[[np.random.Generator, Base], Damage]] = [
    flip, flips, cut, zeros, copied, shuffled, dropped, foreign, mixed, crafted,
]  # fmt: skip


def attempt(rng: np.random.Generator, folder: Path) -> tuple[str, str]:
    """Damage a journal and go on with it.

    Returns
    -------
    kind : the damage
    how : 'refused', 'right', or 'differs' if a valid record says something else

    Raises
    ------
    AssertionError
        An acknowledged line is gone without a word, or something else is there.
    """
    damage = DAMAGES[rng.integers(len(DAMAGES))]
    one = replace(base(int(rng.integers(2))), known=int(rng.integers(0, LINES, endpoint=True)))
    done = damage(rng, one)
    path = folder / "m.adatron"
    journal = folder / "m.adatron.journal"
    path.write_bytes(one.model)
    journal.write_bytes(done.data)
    kind = damage.__name__
    status, said = streamed(path, "")
    if status == 0:
        end = right(done, state(path), one)
        must(end, kind, said)
        return kind, end
    must(status == 1 and done.refusal, kind, said)
    must(said.startswith(f"error: {journal}: "), kind, said)
    must((path.read_bytes(), journal.read_bytes()) == (one.model, done.data), kind, "a refusal changed a file")
    status, more = streamed(path, "", "--accept-loss")
    must(status == (0 if "--accept-loss" in said and "cannot be learned" not in more else 1), kind, more)
    whole, found = one.states[LINES], state(path)
    must(all(whole.get(key, row) == row for key, row in found.items()), kind, "another row")
    return kind, "refused"


def right(done: Damage, found: KnownRows, one: Base) -> str:
    """Return the name of a state's outcome; an empty word if the state is wrong."""
    if found in [one.states[min(n, LINES)] for n in done.ends]:
        return "right"
    more = LINES + 1 in done.ends and len(found) == FIRST + LINES + 1  # a crafted record is a sample
    return "differs" if more else ""


def must(holds: object, *what: object) -> None:
    """Raise AssertionError unless something holds."""
    if not holds:
        raise AssertionError(*what)
