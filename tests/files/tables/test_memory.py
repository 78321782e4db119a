"""Data files of strangers: what would fill the memory, or read another file, is refused by name.

Also tested here: ``files/source`` and ``hdf5_storage``.
"""

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from data_files import hdf5, hdf5_samples, npy, samples
from data_hostile import HOSTILE

from adatron.cli import main
from adatron.files import DataError, read
from adatron.files.source import allowed

MOST = 2**24


def peak_of(action):
    """The bytes that an action takes at its worst, beyond what the process has."""
    if sys.platform != "linux":
        return action() or 0

    def memory(field):
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))

    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    action()
    return memory("VmHWM") - before


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_refused_in_little_memory(kind, tmp_path):
    package = {"hdf5": "h5py", "parquet": "pyarrow.parquet"}.get(kind.split(":")[0])
    if package:
        pytest.importorskip(package)
    files = HOSTILE[kind](tmp_path)
    for name, content in files:
        (tmp_path / name).write_bytes(content)

    def refused():
        with pytest.raises(DataError) as error:
            read([tmp_path / name for name, _ in files], max_bytes=MOST)
        assert str(error.value).startswith(str(tmp_path / files[0][0]))

    assert peak_of(refused) < 2**28


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("hdf5: values of another file", "the values of /X are in another file .*secret"),
        ("hdf5: virtual", "/X is virtual: its values are in other files"),
        ("hdf5: link", "'X' is a link to another file .*other.h5"),
    ],
)
def test_the_other_file_of_an_hdf5_file_is_named(kind, message, tmp_path):
    pytest.importorskip("h5py")
    ((name, content),) = HOSTILE[kind](tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        read(tmp_path / name)


def test_links_inside_an_hdf5_file_are_followed(tmp_path):
    h5py = pytest.importorskip("h5py")
    X, y = samples()

    def make(file):
        file["first/X"], file["labels"] = X, y
        file["first/y"] = h5py.SoftLink("/labels")
        file["same"] = h5py.SoftLink("first")
        file["first/far"] = h5py.ExternalLink("nowhere.h5", "/")

    (tmp_path / "a.h5").write_bytes(hdf5(make))
    for group in ("first", "same"):
        table = read(tmp_path / "a.h5" / group)
        assert np.array_equal(table.X, X)
        assert np.array_equal(table.y, y)


@pytest.mark.parametrize("options", [{}, {"chunks": (7,)}, {"chunks": (7,), "compression": "gzip", "shuffle": True}])
def test_texts_of_an_hdf5_file_are_read_however_they_are_stored(options, tmp_path):
    h5py = pytest.importorskip("h5py")
    names = ["dark" if label == 1 else "bright" * 9 for label in samples()[1]]

    def make(file):
        file["X"] = samples()[0]
        file.create_dataset("y", data=names, dtype=h5py.string_dtype(), **options)

    (tmp_path / "a.h5").write_bytes(hdf5(make))
    assert read(tmp_path / "a.h5").y.tolist() == names


def test_max_bytes_bounds_what_is_read(tmp_path):
    X, y = samples()  # int64, as the table is float64
    paths = [tmp_path / "X.npy", tmp_path / "y.npy.gz"]
    paths[0].write_bytes(npy(X))
    paths[1].write_bytes(gzip.compress(npy(y)))
    assert np.array_equal(read(paths, max_bytes=len(npy(X))).X, X)
    with pytest.raises(DataError, match=r"X.npy: contents of .* bytes, more than the 1,000 bytes .* \(max_bytes\)"):
        read(paths, max_bytes=1000)
    with pytest.raises(DataError, match=r"y.npy.gz: contents of more than the 400 bytes"):
        read([paths[1]], max_bytes=400, labelled=False)
    with pytest.raises(ValueError, match="max_bytes is 0; a positive number of bytes is allowed"):
        read(paths, max_bytes=0)


def test_a_device_without_end_is_refused():
    with pytest.raises(DataError, match="/dev/zero: contents of more than the 1,000,000 bytes"):
        read("/dev/zero", max_bytes=1_000_000)


def test_a_header_of_many_columns_is_read(tmp_path):
    """In linear time: comparing each name with each other one takes minutes here."""
    names = tuple(f"n{index}" for index in range(100_000))
    rows = [",".join([*names, "label"]), ",".join(["1"] * 100_001), ",".join(["2"] * 100_001)]
    (tmp_path / "wide.csv").write_text("\n".join(rows))
    table = read(tmp_path / "wide.csv", feature_names=names, n_features=len(names))
    assert table.feature_names == names
    with pytest.raises(DataError, match="another order"):
        read(tmp_path / "wide.csv", feature_names=names[::-1], n_features=len(names))


def npz(**arrays):
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


X, Y = samples()
UNNAMED = {
    "field without end": ("a.csv", b"1,2\n1," + b"x" * 200_000, "line 2: not a table"),
    "byte": ("a.csv", b"1,2\n3,4\n5,\xff\n", "line 3: not a text file"),
    "byte, compressed": ("a.csv.gz", gzip.compress(b"1,2\n3,4\n5,\xff\n"), "line 3: not a text file"),
    "byte of a label": ("a.npz", npz(X=X, y=np.array([b"\xff"] * 40)), "a label is not text"),
    "digits": ("a.svm", b"1 1:2\n1 " + b"9" * 5000 + b":1\n", "line 2: feature 9+"),
    "width": ("a.svm", b"1 1:2\n1 999999999999:1\n", "line 2: feature 999999999999 found"),
    "no columns": ("a.arff", b"@relation r\n@data\n", "."),
    "long name": ("a.csv", b"a,b,y\n" + b"z" * 100_000 + b",1,0\n", r"line 2: column 'a' holds 'zz"),
    "negative shape": ("a.idx", b"\0\0\x08\2" + b"\xff" * 8 + b"1", r"shape \[-1, -1\]"),
    "many dimensions": ("a.idx", b"\0\0\x08\x60" + b"\0\0\0\1" * 96 + b"1", "not an IDX file"),
    "version": ("a.npy", npy(X).replace(b"NUMPY\1", b"NUMPY\7"), "not a NumPy file"),
    "header": ("a.npy", npy(X).replace(b"{'descr'", b"{{{{{{{{"), "not a NumPy file"),
    "records": ("a.npy", npy(np.zeros(4, "f8,f8")), "not a NumPy file of plain arrays"),
    "more than announced": ("a.npy", npy(X) + b"\0", "1601 bytes where its header announces 1600"),
}


@pytest.mark.parametrize(("name", "content", "message"), UNNAMED.values(), ids=UNNAMED)
def test_the_error_names_file_and_line(name, content, message, tmp_path, capsys):
    path = tmp_path / name
    path.write_bytes(content)
    pair = name.endswith((".npy", ".idx"))
    with pytest.raises(DataError, match=message) as error:
        read(path, labelled=not pair)
    assert str(error.value).startswith(str(path))
    assert len(str(error.value)) < 1500
    assert main(["train", *[str(path)] * (1 + pair), "--model", str(tmp_path / "m.adatron")]) == 1
    assert capsys.readouterr().err.startswith(f"error: {path}")


def test_the_command_line_takes_another_limit(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("1,2,0\n" * 500)
    train = ["train", str(tmp_path / "a.csv"), "--model", str(tmp_path / "m.adatron"), "--max-bytes", "1000"]
    assert main(train) == 1
    assert "more than the 1,000 bytes" in capsys.readouterr().err


def test_samples_whose_array_would_fill_the_memory_are_refused(tmp_path, capsys):
    """Against a model of dense samples they are stored as an array."""
    wide = np.random.default_rng(0).normal(size=(20, 500))
    np.savez(tmp_path / "a.npz", X=wide, y=np.arange(20) % 2)
    model = str(tmp_path / "m.adatron")
    assert main(["train", str(tmp_path / "a.npz"), "--model", model, "--quiet"]) == 0
    capsys.readouterr()
    (tmp_path / "a.svm").write_text("1 1:1\n" * 1000)
    assert main(["predict", model, str(tmp_path / "a.svm"), "--max-bytes", "1000000"]) == 1
    assert "a.svm: dense samples of 4,000,000 bytes, more than the 1,000,000" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="a named pipe")
def test_a_pipe_with_the_name_of_an_hdf5_file_is_read_once(tmp_path):
    pytest.importorskip("h5py")
    path = tmp_path / "pipe.h5"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(hdf5(hdf5_samples),), daemon=True)
    writer.start()
    assert np.array_equal(read(path).X, X)
    writer.join(10)


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
def test_a_closed_standard_input_is_an_error(tmp_path):
    command = f"exec '{sys.executable}' -m adatron train - --model '{tmp_path}/m.adatron' <&-"
    ended = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (4, "error: standard input: it is closed\n")


COMPRESSED = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("extension", COMPRESSED)
def test_a_small_compressed_file_does_not_become_large_unless_asked(extension, tmp_path):
    path = tmp_path / f"a.idx.{extension}"
    images = b"\0\0\x08\2" + (2**17).to_bytes(4) + (2**9).to_bytes(4) + bytes(2**26)
    path.write_bytes(COMPRESSED[extension](images))

    def refused():
        with pytest.raises(DataError, match=r"more than the 67,108,864 bytes .* \(max_bytes\)"):
            read(path, labelled=False)

    assert peak_of(refused) < 2**28
    with pytest.raises(DataError, match=r"features of 536,870,912 bytes, more than the 100,000,000 bytes"):
        read(path, labelled=False, max_bytes=10**8)


@pytest.mark.parametrize("kind", ["parquet", "h5"])
def test_formats_that_say_their_size_may_compress_as_well_as_they_can(tmp_path, kind):
    rows, width = 9000, 1000
    if kind == "h5":
        with pytest.importorskip("h5py").File(tmp_path / "a.h5", "w") as file:
            file.create_dataset("X", (rows, width), compression="gzip", data=np.zeros((rows, width)))
    else:
        arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        hot = arrow.array(np.arange(rows) == 3.0, arrow.bool_()).cast(arrow.float64())
        parquet.write_table(arrow.table({f"c{k}": hot for k in range(width)}), tmp_path / f"a.{kind}")
    path = tmp_path / f"a.{kind}"
    assert path.stat().st_size * 200 < 8 * rows * width
    assert read(path, labelled=False).X.shape == (rows, width)
    with pytest.raises(DataError, match="more than the 10,000,000 bytes"):
        read(path, labelled=False, max_bytes=10**7)


def test_the_limit_of_a_compressed_file_grows_with_it(tmp_path):
    (tmp_path / "small.gz").write_bytes(bytes(10))
    (tmp_path / "large.gz").write_bytes(bytes(10**6))
    (tmp_path / "plain").write_bytes(bytes(10))
    limits = [allowed(tmp_path / name) for name in ("small.gz", "large.gz", "plain")]
    assert limits[0] < limits[1] <= limits[2]
