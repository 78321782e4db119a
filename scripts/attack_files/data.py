"""Damage data files of every format, or craft hostile ones, and read them."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import warnings
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from data_files import Files, npy, samples, valid
from data_hostile import HOSTILE
from scipy import sparse

from adatron.files import DataError, Table, read

Rng = np.random.Generator

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress,
}  # fmt: skip
FILE_BYTES = 2**24  # Bytes that a file may take.
GROWTH = 2**28  # Bytes that an attempt may take: imported packages, and the objects of a line in Python.
HUGE = [0, 1, -1, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1]


def _flip(rng: Rng, data: bytearray) -> None:
    for at in rng.integers(0, len(data), rng.integers(1, 9)):
        data[at] ^= 1 << rng.integers(0, 8)


def _cut(rng: Rng, data: bytearray) -> None:
    del data[rng.integers(0, len(data)) :]


def _double(rng: Rng, data: bytearray) -> None:
    start, end = sorted(rng.integers(0, len(data), 2))
    data[end:end] = data[start:end] * rng.integers(1, 50)


def _leave_out(rng: Rng, data: bytearray) -> None:
    start = rng.integers(0, len(data))
    del data[start : start + rng.integers(1, 64)]


def _zero(rng: Rng, data: bytearray) -> None:
    start, length = rng.integers(0, len(data)), rng.integers(1, 200)
    data[start : start + length] = bytes(len(data[start : start + length]))


def _declare(rng: Rng, data: bytearray) -> None:
    """Write a wrong length where a length may be, most often in the first bytes or in the last."""
    size, order = rng.choice([1, 2, 4, 8]), rng.choice(["little", "big"])
    value = int(rng.choice(HUGE)) if rng.random() < 0.7 else int(rng.integers(0, 300))
    near = min(len(data), 128 if rng.random() < 0.5 else len(data))
    at = int(rng.integers(0, near)) if rng.random() < 0.5 else len(data) - int(rng.integers(1, near + 1))
    data[at : at + size] = (value % 256 ** int(size)).to_bytes(int(size), str(order))


def _insert(rng: Rng, data: bytearray) -> None:
    pieces = [
        b"\xff\xfe", b"\xc3", b"\0", b"\0" * 5000, b'"', b"'", b"\n", b"\r", b"#", b"nan", b"inf", b"1e999", b"?",
        b",,,", b":", b" 99999999:1", b" 9223372036854775808:1", b" -1:1", b"{", b"}", b"@data\n", b"%",
        b"@attribute z {x}\n", b"9" * 5000, b"x" * 200_000, b"1," * 100_000, b"\xef\xbb\xbf", "٣".encode(), b"1_0",
        b"\x1c", b"\x85",
    ]  # fmt: skip
    at = rng.integers(0, len(data) + 1)
    data[at:at] = pieces[rng.integers(len(pieces))]


def _digit(rng: Rng, data: bytearray) -> None:
    """Replace one digit by another, as in the shape that the text of a header declares."""
    digits = [at for at, byte in enumerate(data[:4000]) if chr(byte).isdigit()]
    if digits:
        at = int(rng.choice(digits))
        data[at : at + 1] = str(rng.choice(HUGE)).encode() if rng.random() < 0.3 else b"%d" % rng.integers(0, 10)


DAMAGES = [_flip, _cut, _double, _leave_out, _zero, _declare, _insert, _digit]


def _in_archive(rng: Rng, damage: Callable[[Rng, bytearray], None]) -> bytes:
    """Return a NumPy archive with valid checksums whose member is damaged."""
    out, (X, y) = io.BytesIO(), samples()
    members = {"X.npy": bytearray(npy(X)), "y.npy": bytearray(npy(y))}
    damage(rng, members[str(rng.choice(list(members)))])
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, bytes(data))
    return out.getvalue()


def damaged(rng: Rng) -> tuple[str, Files]:
    """Return a valid file, damaged before or after compression, under its own name or one that tells nothing."""
    damage = DAMAGES[rng.integers(len(DAMAGES))]
    if rng.random() < 0.05:
        return f"npz {damage.__name__[1:]} inside", [("a.npz", _in_archive(rng, damage))]
    files = list(valid()[rng.integers(len(valid()))])
    suffix = str(rng.choice(list(COMPRESSIONS))) if rng.random() < 0.4 else ""
    name, content = files[victim := int(rng.integers(len(files)))]
    late = bool(suffix) and rng.random() < 0.3
    data = bytearray(COMPRESSIONS[suffix](content) if late else content)
    for _ in range(rng.integers(1, 3)):
        if data:
            damage(rng, data)
    files[victim] = (name, bytes(data))
    done = [(n, c if late and i == victim else COMPRESSIONS[suffix](c)) for i, (n, c) in enumerate(files)]
    kind = name.rpartition(".")[2]
    if rng.random() < 0.2:
        return f"{kind} {damage.__name__[1:]}", [(f"{i}{suffix}", c) for i, (_, c) in enumerate(done)]
    return f"{kind} {damage.__name__[1:]}", [(f"{n}{suffix}", c) for n, c in done]


DATES = (
    "yyyy", "yy", "MM", "M", "MMM", "dd", "d", "HH", "h", "a", "ss", "SSS", "EEE", "Z", "D", "Q", "%", "(", "[", "*",
    "'T'", "'", "-", ":", " ", "\\\\",
)  # fmt: skip


def _dates(rng: Rng) -> Files:
    """Return an ARFF file with some form of dates."""
    form = "".join(rng.choice(DATES, rng.integers(1, 9)))
    text = f'@relation r\n@attribute a numeric\n@attribute d date "{form}"\n@data\n1,"2020-01-02"\n2,"1"\n'
    return [("a.arff", text.encode())]


@cache
def _compressed(suffix: str) -> Files:
    """Return a short file that becomes longer than its format may be without a limit of the caller."""
    return [(f"a.csv{suffix}", COMPRESSIONS[suffix]((b"%04000d,0\n" % 1) * 2**15))]


def attempt(rng: Rng, folder: Path) -> tuple[str, str]:
    """Read one file, and return the kind of the damage and how it ended.

    The end is 'refused' with the documented error, which names a file. It is 'right' if the samples are those that were
    written, or 'differs' for others: a text with another digit is a valid file. A crafted file must be refused.
    """
    crafted = rng.random() < 0.1
    if crafted:
        kind = str(rng.choice([*HOSTILE, *(f"compressed {suffix}" for suffix in COMPRESSIONS if suffix)]))
        files = HOSTILE[kind](folder) if kind in HOSTILE else _compressed(kind.removeprefix("compressed "))
    elif rng.random() < 0.05:
        kind, files = "dates", _dates(rng)
    else:
        kind, files = damaged(rng)
    paths = [folder / name for name, _ in files]
    for path, (_, data) in zip(paths, files, strict=True):
        path.write_bytes(data)
    before = _forget_peak()
    options: dict[str, Any] = {"labelled": bool(rng.random() < 0.7)}
    if not crafted and rng.random() < 0.3:
        texts = [None, "auto", (), (0,), (1, 2)][int(rng.integers(5))]
        options |= {"categorical": texts, "allow_missing": bool(rng.random() < 0.7)}
    most = None if kind.startswith("compressed") else FILE_BYTES
    end, peak = _outcome(paths, options, most), _memory("VmHWM") - before
    assert not crafted or end == "refused", f"{kind} was read"
    assert peak < GROWTH, f"{kind}: {peak:,} bytes for a file that may take {FILE_BYTES:,}"
    return kind, end


def _outcome(paths: list[Path], options: dict[str, Any], most: int | None) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy warns of headers that Python 2 wrote
            return _end(read(paths, max_bytes=most, **options), options.get("allow_missing", False))
    except DataError as error:
        message = str(error)
    assert any(message.startswith(str(path)) for path in paths), f"no file is named: {message}"
    assert len(message) < 2000, "a message without an end"
    return "refused"


def _forget_peak() -> int:
    """Let the highest use of memory begin anew, and return the memory in use now."""
    Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def _memory(field: str) -> int:
    """Return a number of bytes from Linux's status of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def _end(table: Table, gaps: bool) -> str:
    """Check a table, and tell whether it holds the samples that were written."""
    values: Any = table.X.data if sparse.issparse(table.X) else table.X
    n, d = table.shape
    assert (values.dtype == object) == bool(table.categorical), values.dtype
    if table.categorical:
        words = values[:, list(table.categorical)].ravel().tolist()
        assert all(isinstance(one, str) or (gaps and one != one) for one in words), "a text that is none"
        values = np.delete(values, table.categorical, axis=1).astype(float)
    assert values.dtype in (np.float32, np.float64), values.dtype
    assert (np.isfinite(values) | (gaps & np.isnan(values))).all(), "not finite"
    assert table.X.ndim == 2, table.shape
    assert min(n, d) > 0, table.shape
    assert table.feature_names is None or len(table.feature_names) == d, "names"
    if table.y is not None:
        assert table.y.shape == (n,), table.y.shape
        assert table.y.dtype.kind in "biuUf", table.y.dtype
        assert table.y.dtype.kind == "U" or np.isfinite(table.y).all(), "labels that are not finite"
    X, y = samples()
    if table.shape != X.shape or table.y is None:
        return "differs"
    same = np.array_equal(table.X.toarray() if sparse.issparse(table.X) else table.X, X)
    return "right" if same and np.array_equal(table.y.astype(str), y.astype(str)) else "differs"
