"""Data files of strangers: what would fill the memory, or read another file, is refused by name.

Also tested here: ``files/source``.
"""

import bz2
import gzip
import io
import lzma
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from data_files import npy, npz, samples
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


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_refused_in_little_memory(kind, tmp_path):
    if kind.startswith("parquet"):
        pytest.importorskip("pyarrow.parquet")
    files = HOSTILE[kind](tmp_path)
    for name, content in files:
        (tmp_path / name).write_bytes(content)

    def refused():
        with pytest.raises(DataError) as error:
            read([tmp_path / name for name, _ in files], max_bytes=MOST)
        assert str(error.value).startswith(str(tmp_path / files[0][0]))

    assert peak_of(refused) < 2**28


def test_max_bytes_bounds_what_is_read(tmp_path):
    X, y = samples()  # int64, as the table is float64
    path, packed = tmp_path / "a.npz", tmp_path / "a.npz.gz"
    np.savez(path, X=X, y=y)
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for one in (path, packed):
        assert np.array_equal(read(one, max_bytes=path.stat().st_size).X, X)
    with pytest.raises(DataError, match=r"a.npz: contents of .* bytes, more than the 1,000 bytes .* \(max_bytes\)"):
        read(path, max_bytes=1000)
    with pytest.raises(DataError, match=r"a.npz.gz: contents of more than the 1,000 bytes"):
        read(packed, max_bytes=1000)
    with pytest.raises(ValueError, match="max_bytes is 0; a positive number of bytes is allowed"):
        read(path, max_bytes=0)


def test_a_device_without_end_is_refused():
    with pytest.raises(DataError, match="/dev/zero: contents of more than the 1,000,000 bytes"):
        read("/dev/zero", max_bytes=1_000_000)


def archive(member):
    """An archive with X as some bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("X.npy", member)
        file.writestr("y.npy", npy(Y))
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
    "version": ("a.npz", archive(npy(X).replace(b"NUMPY\1", b"NUMPY\7")), "not a NumPy archive"),
    "header": ("a.npz", archive(npy(X).replace(b"{'descr'", b"{{{{{{{{")), "not a NumPy archive"),
    "less than announced": ("a.npz", archive(npy(X)[:-1]), "not a NumPy archive"),
    "negative shape": ("a.npz", archive(npy(X).replace(b"(40, 5)", b"(-4, 5)")), "not a NumPy archive"),
}


@pytest.mark.parametrize(("name", "content", "message"), UNNAMED.values(), ids=UNNAMED)
def test_the_error_names_file_and_line(name, content, message, tmp_path, capsys):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as error:
        read(path)
    assert str(error.value).startswith(str(path))
    assert len(str(error.value)) < 1500
    assert main(["train", str(path), "--model", str(tmp_path / "m.adatron")]) == 1
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


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
def test_a_closed_standard_input_is_an_error(tmp_path):
    command = f"exec '{sys.executable}' -m adatron train - --model '{tmp_path}/m.adatron' <&-"
    ended = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (4, "error: standard input: it is closed\n")


COMPRESSED = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.slow
@pytest.mark.parametrize("extension", COMPRESSED)
def test_a_small_compressed_file_does_not_become_large_unless_asked(extension, tmp_path):
    path = tmp_path / f"a.csv.{extension}"
    path.write_bytes(COMPRESSED[extension]((b"%061d,0\n" % 1) * (2**20 + 1)))

    def refused():
        with pytest.raises(DataError, match=r"contents of more than the 67,108,864 bytes .* \(max_bytes\)"):
            read(path)

    assert peak_of(refused) < 2**29
    assert read(path, max_bytes=10**8).shape == (2**20 + 1, 1)


def test_parquet_which_says_its_size_may_compress_as_well_as_it_can(tmp_path):
    rows, width, path = 9000, 1000, tmp_path / "a.parquet"
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    hot = arrow.array(np.arange(rows) == 3.0, arrow.bool_()).cast(arrow.float64())
    parquet.write_table(arrow.table({f"c{k}": hot for k in range(width)}), path)
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
