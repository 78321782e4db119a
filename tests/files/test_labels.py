"""Labels come back as they were read: from files of every format, through a model, to the written predictions."""

import io

import numpy as np
import pytest

from adatron.cli import main
from adatron.files import DataError, load, read

X = np.repeat([[0.0, 1.0], [5.0, 0.0]], 6, axis=0) + np.linspace(0, 0.5, 12)[:, None]


def npz(y):
    out = io.BytesIO()
    np.savez(out, X=X, y=y)
    return {"a.npz": out.getvalue()}


def svm(y):
    return {"a.svm": "".join(f"{label} 1:{a} 2:{b}\n" for label, (a, b) in zip(y.tolist(), X, strict=True)).encode()}


def arff(y):
    names = dict.fromkeys(map(str, y.tolist()))
    head = f"@relation r\n@attribute a real\n@attribute b real\n@attribute y {{{','.join(names)}}}\n@data\n"
    return {"a.arff": (head + "".join(f"{a},{b},{c}\n" for (a, b), c in zip(X, y.tolist(), strict=True))).encode()}


LABELS = {
    "beyond 2^53": [2**53 + 1, 2**53],
    "ends of int64": [-(2**63), 2**63 - 1],
    "uint64": np.array([2**64 - 1, 2**64 - 2], np.uint64),
    "text of digits": ["01", "1"],
    "text": ["grün", "日本"],
    "truth values": [True, False],
    "bytes": [b"cat", b"7"],
    "float32": np.array([1, 2], np.float32),
}


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        *((kind, npz) for kind in LABELS),
        *((kind, svm) for kind in [*LABELS][:3]),
        *((kind, arff) for kind in [*LABELS][1:6]),
    ],
)
def test_labels_come_back_as_they_were(kind, form, tmp_path, capsys):
    """LIBSVM text has numbers for labels alone."""
    y = np.repeat(LABELS[kind], 6)
    expected = [value.decode() if isinstance(value, bytes) else value for value in y.tolist()]
    if form is arff:
        y = np.array([str(value) for value in expected])
    paths = []
    for name, content in form(y).items():
        (tmp_path / name).write_bytes(content)
        paths.append(str(tmp_path / name))
    read_as = read(paths).y.tolist()
    if form is arff:  # its labels are names
        assert list(map(str, read_as)) == list(map(str, expected))
    else:
        assert read_as == expected
    model = str(tmp_path / "m.adatron")
    assert main(["train", *paths, "--model", model, "--C", "100", "--gamma", "1", "--quiet"]) == 0
    assert load(model).classes_.tolist() == sorted(set(read_as))
    capsys.readouterr()
    for to in ("libsvm", "csv"):
        assert main(["predict", model, *paths, "--to", to]) == 0
        found = capsys.readouterr()
        assert found.out.split("\n")[to == "csv" : -1] == list(map(str, read_as))
        assert "accuracy 100" in found.err
    assert main(["evaluate", model, *paths, "--json"]) == 0


def test_joined_files_keep_their_labels(tmp_path):
    def joined(*labels):
        paths = []
        for number, y in enumerate(labels):
            paths.append(tmp_path / f"{number}.npz")
            np.savez(paths[-1], X=X[:2], y=np.array(y))
        return read(paths).y

    assert joined([1, 2], np.array([3, 2**63 + 1], np.uint64)).tolist() == [1, 2, 3, 2**63 + 1]
    assert joined([1, 2], [0.5, 1.0]).tolist() == [1.0, 2.0, 0.5, 1.0]
    assert joined(["a", "b"], ["01", "1"]).tolist() == ["a", "b", "01", "1"]
    with pytest.raises(DataError, match=r"1\.npz: no type of 64 bits holds"):
        joined([-1, 2], np.array([3, 2**63 + 1], np.uint64))
    with pytest.raises(DataError, match=r"1\.npz: no type of 64 bits holds"):
        joined([2**53 + 1, 2], [0.5, 1.0])
    with pytest.raises(DataError, match=r"1\.npz: it has truth values for labels, and the file before it numbers"):
        joined([0, 1], [True, False])


@pytest.mark.parametrize(
    ("texts", "numbers"), [(("+6", "7"), (6, 7)), (("12E3", "7"), (12000, 7)), (("007", "8"), (7, 8))]
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_targets_of_a_regression_are_numbers_however_they_are_written(tmp_path, monkeypatch, capsys, texts, numbers):
    monkeypatch.chdir(tmp_path)
    for name, two in (("texts.csv", texts), ("numbers.csv", numbers)):
        (tmp_path / name).write_text("a,label\n" + "".join(f"{i / 7},{two[i % 2]}\n" for i in range(30)))
    command = ["train", "--task", "regression", "--quiet"]
    assert main([*command, "texts.csv", "--model", "t.adatron"]) == 0
    assert main([*command, "numbers.csv", "--model", "n.adatron"]) == 0
    assert main(["evaluate", "t.adatron", "texts.csv"]) == 0
    capsys.readouterr()
    rows = np.linspace(0.0, 4.0, 9)[:, None]
    np.testing.assert_array_equal(load("t.adatron").predict(rows), load("n.adatron").predict(rows))


def test_signs_before_labels_are_no_other_classes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, plus in (("plain.csv", ""), ("signs.csv", "+")):
        rows = [f"{x / 7},{x % 5},{plus + '1' if x > 15 else '-1'}" for x in range(30)]
        (tmp_path / name).write_text("a,b,label\n" + "\n".join(rows) + "\n")
    assert main(["train", "plain.csv", "--model", "m.adatron", "--quiet"]) == 0
    reports = []
    for name in ("plain.csv", "signs.csv"):
        capsys.readouterr()
        assert main(["evaluate", "m.adatron", name]) == 0
        reports.append(capsys.readouterr().out.replace(name, ""))
    assert reports[0] == reports[1]
