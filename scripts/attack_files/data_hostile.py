"""Data files that are made to do harm: they become too large, or name other files. All of them must be refused."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from data_files import Files, hdf5, hdf5_samples, idx, npy, parquet, samples

BOMB = 2**26  # Bytes that a bomb becomes: four times the limit.


def _text(name: str, piece: bytes, pack: Callable[[bytes], bytes]) -> Callable[[Path], Files]:
    packed = cache(lambda: pack(piece * (BOMB // len(piece))))
    return lambda _: [(name, packed())]


def _npz(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return out.getvalue()


def _header(shape: tuple[int, ...], dtype: str = "|u1") -> bytes:
    text = str({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    return b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text


def _h5(make: Callable[[Any], None]) -> Callable[[Path], Files]:
    return lambda _: [("a.h5", hdf5(make))]


def _other(folder: Path) -> str:
    """Write another file that would be readable as one."""
    import h5py

    path = folder / "other.h5"
    with h5py.File(path, "w") as file:
        file["X"] = samples()[0]
    return str(path)


def _external_values(folder: Path) -> Files:
    (folder / "secret").write_bytes(bytes(range(200)))

    def make(file: Any) -> None:
        file.create_dataset("X", (40, 5), "u1", external=[(str(folder / "secret"), 0, 200)])
        file["y"] = samples()[1]

    return [("a.h5", hdf5(make))]


def _virtual(folder: Path) -> Files:
    import h5py

    def make(file: Any) -> None:
        layout = h5py.VirtualLayout((40, 5), "f8")
        layout[:] = h5py.VirtualSource(_other(folder), "X", (40, 5))
        file.create_virtual_dataset("X", layout)
        file["y"] = samples()[1]

    return [("a.h5", hdf5(make))]


def _linked(folder: Path) -> Files:
    import h5py

    def make(file: Any) -> None:
        file["far"] = h5py.ExternalLink(_other(folder), "/")
        file["X"] = h5py.SoftLink("/far/X")
        file["y"] = samples()[1]

    return [("a.h5", hdf5(make))]


def _circle(file: Any) -> None:
    import h5py

    file["X"], file["data"] = h5py.SoftLink("/data"), h5py.SoftLink("/X")
    file["y"] = samples()[1]


def _declared(file: Any) -> None:
    file.create_dataset("X", (10**6, 10**6), "f8", chunks=(100, 100), compression="gzip")
    file["y"] = samples()[1]


def _swollen_chunk(file: Any) -> None:
    """Write a chunk that is much longer, decompressed, than declared."""
    X = file.create_dataset("X", (40, 5), "u1", chunks=(40, 5), compression="gzip")
    X.id.write_direct_chunk((0, 0), zlib.compress(bytes(4 * BOMB)))
    file["y"] = samples()[1]


def _short_chunk(file: Any) -> None:
    """Write a chunk that is shorter than declared: other bytes of the memory would be read."""
    X = file.create_dataset("X", (40, 5), "u1", chunks=(40, 5), compression="gzip")
    X.id.write_direct_chunk((0, 0), zlib.compress(b"abc"))
    file["y"] = samples()[1]


def _shared_text(file: Any) -> None:
    """Write labels of any length, all of which are the same long text."""
    import h5py

    file["X"] = np.ones((4000, 1))
    y = file.create_dataset("y", (4000,), h5py.string_dtype(), chunks=(4000,), compression="gzip")
    y[:1] = ["x" * 100_000]
    _, raw = y.id.read_direct_chunk((0,))
    y.id.write_direct_chunk((0,), zlib.compress(zlib.decompress(raw)[:16] * 4000))


def _short_checksum(file: Any) -> None:
    """Write a chunk that is shorter than its checksum."""
    X = file.create_dataset("X", (40, 5), "u1", chunks=(40, 5), fletcher32=True)
    X.id.write_direct_chunk((0, 0), b"ab")
    file["y"] = samples()[1]


def _texts(change: Callable[[bytearray, int], None]) -> Callable[[Path], Files]:
    """Return a maker of a file with damaged texts; ``change`` gets its bytes, and where the heap begins."""

    def make(_: Path) -> Files:
        data = bytearray(hdf5(hdf5_samples))
        change(data, data.index(b"GCOL"))
        return [("a.h5", bytes(data))]

    return make


def _endless_heap(data: bytearray, start: int) -> None:
    data[start + 16 : start + 200] = bytes(184)


def _huge_record(data: bytearray, start: int) -> None:
    at = data.rindex(b"\1\0\0\0" + start.to_bytes(8, "little"), 0, start)
    data[at : at + 4] = b"\xff\xff\xff\x7f"


def _zeros(_: Path) -> Files:
    return [("a.parquet", parquet(np.zeros((BOMB // 16, 4), np.float32), np.zeros(BOMB // 16, int)))]


def _repeated(_: Path) -> Files:
    return [("a.parquet", parquet(np.zeros((5000, 1)), ["x" * 50_000] * 5000))]


def _nested(_: Path) -> Files:
    return [("a.parquet", parquet(np.zeros((50, 1)), [[{"a": 1}]] * 50))]


def _nominal(_: Path) -> Files:
    head = f"@relation r\n@attribute a numeric\n@attribute class {{1,{'x' * 100_000}}}\n@data\n"
    return [("a.arff", (head + f"1,{'x' * 100_000}\n" + "1,1\n" * 20_000).encode())]


def _pickle(_: Path) -> Files:
    out = io.BytesIO()
    np.save(out, np.array([{}], object))
    return [("X.npy", out.getvalue()), ("y.npy", npy(samples()[1]))]


HOSTILE: dict[str, Callable[[Path], Files]] = {
    "bomb: ones, csv.gz": _text("a.csv.gz", b"1,1,1\n", gzip.compress),
    "bomb: blank lines, csv.bz2": _text("a.csv.bz2", b"\n", bz2.compress),
    "bomb: one line, csv.xz": _text("a.csv.xz", b"11,", lzma.compress),
    "bomb: one line, svm.gz": _text("a.svm.gz", b"1:1 ", gzip.compress),
    "bomb: labels, svm.gz": _text("a.svm.gz", b"1\n", gzip.compress),
    "bomb: comments, no name": _text("a.gz", b"# 1\n", gzip.compress),
    "bomb: table.gz": _text("a.txt.gz", b"1 1\n", gzip.compress),
    "bomb: rows, csv": lambda _: [("a.csv", b"1,a\n" * (2**21))],
    "bomb: one long label, csv": lambda _: [("a.csv", b"1," + b"x" * 100_000 + b"\n" + b"1,a\n" * 40_000)],
    "bomb: quote without end, csv": lambda _: [("a.csv", b'1,2\n"' + b"1,2\n" * (2**21))],
    "bomb: separators first, csv": lambda _: [("a.csv", b";" * (2**23) + b"\n1;2\n")],
    "bomb: separators later, csv": lambda _: [("a.csv", b"1,2\n" * 9 + b"," * (2**23))],
    "bomb: quotes, tsv": lambda _: [("a.tsv", b'1\t""\n' * 1000 + b'"' * (2**23))],
    "bomb: distinct labels, csv": lambda _: [("a.csv", b"".join(b"1,a%d\n" % i for i in range(2**19)))],
    "bomb: feature, svm": lambda _: [("a.svm", b"1 99999999999:1\n2 1:1\n")],
    "bomb: npz": lambda _: [("a.npz", _npz(X=_header((BOMB, 1)) + bytes(BOMB), y=_header((BOMB,)) + bytes(BOMB)))],
    "bomb: npz, then as numbers": lambda _: [
        ("a.npz", _npz(X=_header((BOMB // 8, 1)) + bytes(BOMB // 8), y=_header((BOMB // 8,), "|S1") + bytes(BOMB // 8)))
    ],
    "npy: shape": lambda _: [("X.npy", _header((2**40, 2**30))), ("y.npy", npy(samples()[1]))],
    "npy: shape that overflows": lambda _: [("X.npy", _header((2**32, 2**32))), ("y.npy", npy(samples()[1]))],
    "npy: pickle": _pickle,
    "idx: shape": lambda _: [("X.idx", b"\0\0\x08\3" + b"\x7f\xff\xff\xff" * 3), ("y.idx", idx(samples()[1]))],
    "idx: negative": lambda _: [
        ("X.idx", b"\0\0\x08\2" + b"\xff\xff\xff\xff" * 2 + b"1"),
        ("y.idx", idx(samples()[1])),
    ],
    "arff: nominal": _nominal,
    "hdf5: values of another file": _external_values,
    "hdf5: virtual": _virtual,
    "hdf5: link": _linked,
    "hdf5: circle": _h5(_circle),
    "hdf5: declared size": _h5(_declared),
    "hdf5: swollen chunk": _h5(_swollen_chunk),
    "hdf5: short chunk": _h5(_short_chunk),
    "hdf5: shared text": _h5(_shared_text),
    "hdf5: short checksum": _h5(_short_checksum),
    "hdf5: heap without end": _texts(_endless_heap),
    "hdf5: record of a huge text": _texts(_huge_record),
    "parquet: zeros": _zeros,
    "parquet: one long text": _repeated,
    "parquet: nested": _nested,
}
