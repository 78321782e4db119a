"""Data files that are made to do harm: they become too large, or name other files. All of them must be refused."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from data_files import Files, npy, parquet, samples

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
    return [("a.npz", _npz(X=out.getvalue(), y=npy(samples()[1])))]


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
    "npz: shape": lambda _: [("a.npz", _npz(X=_header((2**40, 2**30)), y=npy(samples()[1])))],
    "npz: shape that overflows": lambda _: [("a.npz", _npz(X=_header((2**32, 2**32)), y=npy(samples()[1])))],
    "npz: pickle": _pickle,
    "arff: nominal": _nominal,
    "parquet: zeros": _zeros,
    "parquet: one long text": _repeated,
    "parquet: nested": _nested,
}
