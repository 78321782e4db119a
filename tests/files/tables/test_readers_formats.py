"""Every format: the same data give the same table and, from the command line, the same model."""

import bz2
import gzip
import io
import lzma
from datetime import timedelta
from itertools import cycle

import numpy as np
import pytest
from data_files import arff, npy, npz, parquet, rows, svmlight
from scipy import sparse

from adatron.cli import main
from adatron.cli.parts import take_names
from adatron.files import FORMATS, DataError, load, read

COMPRESSIONS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
needs = {"parquet": "pyarrow", "csv": "pandas", "arff": "pandas"}  # formats whose reader is an extra


def grey_values():
    """Small whole numbers, as in images, so that every format holds them exactly."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, (80, 6))
    X[0, -1] = 7  # LIBSVM text tells the number of features by its last one
    return X, np.where(X[:, 0] + X[:, 1] > 250, 3, 1)


def excel(X, y):
    """Return semicolons, decimal commas, a header, a byte order mark and Windows' line ends."""
    header = b"\xef\xbb\xbfa;b;c;d;e;f;class\n"
    return (header + rows(X / 1.0, y, ";").replace(b".", b",")).replace(b"\n", b"\r\n")


def r_like(X, y):
    """Return commas, a header in quotes, and names of rows in quotes above which no name stands."""
    names = ",".join(f'"{name}"' for name in [*"abcdef", "class"]) + "\n"
    lines = rows(X, y, ",").decode().splitlines()
    return (names + "".join(f'"{number}",{line}\n' for number, line in enumerate(lines, 1))).encode()


def arrow(X, y):
    pytest.importorskip("pyarrow.parquet")
    return parquet(X, y)


FILES = {
    "libsvm": lambda X, y: [("a.svm", svmlight(X, y))],
    "csv": lambda X, y: [("a.csv", rows(X, y, ","))],
    "tsv": lambda X, y: [("a.tsv", rows(X, y, "\t"))],
    "table": lambda X, y: [("a.txt", rows(X, y, " "))],
    "npz": lambda X, y: [("a.npz", npz(X=X, y=y))],
    "arff": lambda X, y: [("a.arff", arff(X, y))],
    "parquet": lambda X, y: [("a.parquet", arrow(X, y))],
}
# The same table as other programs write it.
DIALECTS = {
    "excel": lambda X, y: [("excel.csv", excel(X, y))],
    "r": lambda X, y: [("r.csv", r_like(X, y))],
    "bars": lambda X, y: [("bars.txt", rows(X, y, "|"))],
}


def written(folder, files, suffix=""):
    paths = []
    for name, content in files:
        paths.append(str(folder / f"{name}{suffix}"))
        (folder / f"{name}{suffix}").write_bytes(COMPRESSIONS[suffix](content))
    return paths


def test_every_format_is_tested():
    assert set(FILES) == set(FORMATS)


@pytest.mark.parametrize(("format", "suffix"), [*zip(FILES, cycle(COMPRESSIONS)), *((name, "") for name in FILES)])
def test_every_format_gives_the_same_table(format, suffix, tmp_path):
    X, y = grey_values()
    paths = written(tmp_path, FILES[format](X, y), suffix)
    for given in (None, format):  # told by name or content, and by word
        table = read(paths, given)
        dense = table.X.toarray() if sparse.issparse(table.X) else table.X
        assert np.array_equal(dense, X)
        assert dense.dtype == np.float64
        assert np.array_equal(table.y, y)
        assert table.y.dtype == np.int64


@pytest.mark.parametrize(("scale", "gamma"), [("none", "1e-5"), ("minmax", "0.5")])
def test_every_format_gives_the_same_model(scale, gamma, tmp_path, capsys):
    X, y = grey_values()
    models = {}
    for name, files in (FILES | DIALECTS).items():
        path = tmp_path / f"{name}.adatron"
        paths = written(tmp_path, files(X, y))
        assert main(["train", *paths, "--model", str(path), "--scale", scale, "--gamma", gamma, "--C", "9"]) == 0
        model = load(path)
        models[name] = model if scale == "none" else model[-1]
        take_names(model)  # which plain arrays lack
        assert (model.predict(X) == y).mean() > 0.8
    first = models["csv"]
    for model in models.values():
        dual = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
        assert np.array_equal(model.support_, first.support_)
        assert np.array_equal(dual, first.dual_coef_)
        assert np.array_equal(model.intercept_, first.intercept_)
        assert model.duality_gap_ == first.duality_gap_


@pytest.mark.parametrize("format", ["libsvm", "csv", "npz"])
def test_several_files_are_joined(format, tmp_path):
    X, y = grey_values()
    halves = [tmp_path / "1", tmp_path / "2"]
    for folder, part in zip(halves, (slice(0, 50), slice(50, None)), strict=True):
        folder.mkdir()
        written(folder, FILES[format](X[part], y[part]))
    paths = [next(folder.iterdir()) for folder in halves]
    table = read(paths)
    assert np.array_equal(table.X.toarray() if sparse.issparse(table.X) else table.X, X)
    assert np.array_equal(table.y, y)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_joined_libsvm_files_count_from_the_same_feature(order, tmp_path):
    """Feature 0 in one of them says that all count from 0; one alone could not tell."""
    texts = ["1 0:5 2:7\n", "3 1:2 2:4\n"]
    paths = written(tmp_path, [(f"{i}.svm", texts[i].encode()) for i in order])
    rows = {1: [5, 0, 7], 3: [0, 2, 4]}
    table = read(paths)
    assert table.X.toarray().tolist() == [rows[label] for label in table.y.tolist()]


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32])
def test_the_type_of_a_number_is_not_a_matter_of_the_format(dtype, tmp_path):
    X, y = grey_values()
    X = X.astype(dtype)
    files = [FILES[name](X, y) for name in ("npz", "parquet")]
    assert len({read(written(tmp_path, one)).X.dtype for one in files}) == 1


def test_float32_stays_and_text_labels_too(tmp_path):
    X, y = grey_values()
    text = np.where(y == 1, "dark", "bright")
    (path,) = written(tmp_path, [("a.npz", npz(data=X.astype(np.float32), names=text))])
    table = read(path, label="names")
    assert table.X.dtype == np.float32
    assert table.y.tolist() == text.tolist()


def test_data_to_predict_come_without_labels(tmp_path):
    X, y = grey_values()
    images = written(tmp_path, [("a.npz", npz(X=X.reshape(-1, 2, 3)))])  # an image is a row
    table = read(images, labelled=False, n_features=6)
    assert table.y is None
    assert np.array_equal(table.X, X)
    with pytest.raises(DataError, match="6 features found, 5 expected"):
        read(images, labelled=False, n_features=5)
    assert np.array_equal(read(written(tmp_path, FILES["npz"](X, y)), labelled=False).y, y)


def of_arrow(columns, kind=None, names=("a", "class")):
    """A Parquet file with columns of these names, the first of this type of Arrow."""
    try:
        import pyarrow
        import pyarrow.parquet as files
    except ImportError:
        return b"PAR1"
    first, *others = columns
    arrays = [pyarrow.array(first, getattr(pyarrow, kind)() if kind else None), *map(pyarrow.array, others)]
    out = io.BytesIO()
    files.write_table(pyarrow.Table.from_arrays(arrays, names=list(names)), out)
    return out.getvalue()


def stored(**arrays):
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


X, Y = grey_values()
HOLE = X.astype(float)
HOLE[3, 2] = np.nan
HEAD = arff(X[:0], Y[:0])
BAD = {
    "lengths in one": ([("a.npz", npz(X=X, y=Y[:-1]))], "80 samples and 79 labels"),
    "flat": ([("a.npz", npz(X=Y, y=Y))], r"features of shape \(80,\)"),
    "complex labels": ([("a.npz", npz(X=X, y=Y * 1j))], "neither numbers nor text"),
    "wide labels": ([("a.npz", npz(X=X, y=X))], r"labels of shape \(80, 6\)"),
    "hole": ([("a.npz", npz(X=HOLE, y=Y))], "sample 3, feature 2 is nan"),
    "hole in labels": ([("a.npz", npz(X=X, y=HOLE[:, 2]))], "label of sample 3"),
    "not NumPy": ([("a.npz", b"1,2,3")], "not a NumPy archive"),
    "broken archive": ([("a.npz", stored(X=X, y=Y).replace(X.tobytes(), X[::-1].tobytes()))], "not a NumPy archive"),
    "pickle": ([("a.npz", npz(X=X, y=np.array([{}] * 80)))], "not a NumPy archive of plain arrays"),
    "one label": ([("a.npz", npz(X=X, y=3))], r"labels of shape \(\)"),
    "zstd": ([("a.csv.zst", b"\x28\xb5\x2f\xfd" + bytes(range(99)))], ".zst is not read: decompress the file, or"),
    "Parquet without rows": (
        [("a.parquet", of_arrow([[], Y[:0]], "float64"))],
        "columns and no rows|takes pyarrow",
    ),
    "Parquet durations": (
        [("a.parquet", of_arrow([[timedelta(seconds=3)], [0]]))],
        "column 'a' holds '3000000 microseconds', a duration: write it as a number|takes pyarrow",
    ),
    "Parquet twice": (
        [("a.parquet", of_arrow([["x", "y"], [1, 2], [0, 1]], names=("a", "a", "class")))],
        "Multiple matches|columns 0 and 1 are both named 'a'|takes pyarrow",
    ),
    "no archive": ([("a.npz", npy(X))], r"not an archive of arrays: numpy.savez\(file, X=X, y=y\) writes one"),
    "no X": ([("a.npz", npz(Z=X, y=Y))], "no array X or data or features; the arrays are Z, y"),
    "no y": ([("a.npz", npz(X=X))], "no array y or target"),
    "Parquet": ([("a.parquet", b"PAR1PAR1")], "not a Parquet file|takes pyarrow"),
}


@pytest.mark.parametrize(("files", "message"), BAD.values(), ids=BAD)
def test_bad_files_are_one_clear_sentence(files, message, tmp_path):
    with pytest.raises(DataError, match=message):
        read(written(tmp_path, files))


def test_views_of_text_are_told_to_be_written_as_text(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    try:
        data = of_arrow([["x"], [0]], "string_view")
    except pyarrow.ArrowNotImplementedError:
        pytest.skip("needs a pyarrow that writes views of text, 18 or newer")
    with pytest.raises(DataError, match="column 'a' holds string_view, neither numbers nor text; write it as string"):
        read(written(tmp_path, [("a.parquet", data)]))


def test_files_that_do_not_belong_together(tmp_path):
    paths = written(tmp_path, [("a.csv", b"1,2,0\n"), ("b.csv", b"1,2,x\n"), ("c.csv", b"1,2,3,0\n")])
    with pytest.raises(DataError, match=r"b.csv: it has text for labels, and the file before it numbers"):
        read(paths[:2])
    with pytest.raises(DataError, match=r"c.csv: its features are not those"):
        read([paths[0], paths[2]])
    with pytest.raises(ValueError, match="no file"):
        read([])


@pytest.mark.parametrize("format", needs)
def test_a_missing_extra_says_how_to_get_it(format, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, needs[format], None)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    (tmp_path / f"a.{format}").write_bytes(HEAD + b"1,2,3,4,5,6,1\n" if format == "arff" else b"1,2\n")
    with pytest.raises(DataError, match=r"pip install '\.\[cli\]'"):
        read(tmp_path / f"a.{format}", format)
