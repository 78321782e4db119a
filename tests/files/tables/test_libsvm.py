"""LIBSVM text as other programs write it."""

import numpy as np
import pytest

from adatron.cli import main
from adatron.files import DataError, read

NAME = "a.svm"


@pytest.mark.parametrize("name", ["a.svm", "a"])
def test_a_byte_order_mark_is_no_part_of_the_data(name, write):
    table = read(write(b"\xef\xbb\xbf+1 1:0.5 3:-1\n-1 2:2\n", name))
    assert table.X.toarray().tolist() == [[0.5, 0, -1], [0, 2, 0]]
    assert table.y.tolist() == [1, -1]


def test_query_ids_are_ignored_with_a_word(write, tmp_path, capsys):
    path = write("1 qid:1 1:2\n0 qid:1 1:0\n1 qid:2 1:3\n0 qid:2 1:1\n")
    with pytest.warns(UserWarning, match=r"a\.svm: query ids \(qid\) are ignored"):
        table = read(path)
    assert table.X.toarray().ravel().tolist() == [2, 0, 3, 1]
    assert main(["train", str(path), "--model", str(tmp_path / "m"), "--quiet"]) == 0
    assert "warning: " in capsys.readouterr().err


@pytest.mark.parametrize("labels", [[1e300, 2.5], [10**300, "1e300"]])
def test_large_labels_that_are_not_whole_are_read_as_float64(labels, write):
    """Whole numbers of 64 bits are tested in `test_labels`."""
    table = read(write("".join(f"{label} 1:{i}\n" for i, label in enumerate(labels, 1))))
    assert table.y.tolist() == list(map(float, labels))


def test_labels_beyond_64_bits_are_refused(write):
    with pytest.raises(DataError, match=r"a\.svm: labels are whole numbers of more than 64 bits"):
        read(write("18446744073709551615 1:1\n-1 1:2\n"))


def test_surplus_features_name_the_cure(write):
    path = write("1 1:1 7:2\n")
    with pytest.raises(DataError, match="line 1: feature 7 found, 5 features expected: train with --features 7"):
        read(path, n_features=5)
    with pytest.raises(DataError, match=r"feature 7 found, 5 features.* --features 8"):
        read(path, n_features=5, zero_based=True)
    assert read(path, n_features=5, surplus=True).shape == (1, 7)
    assert read(path, n_features=9, surplus=True).shape == (1, 9)


def test_very_many_features_cost_only_those_that_are_used(write):
    table = read(write("1 5:1 2147483647:2\n-1 1:1\n"))
    assert table.shape == (2, 2**31 - 1)
    with pytest.raises(DataError, match="line 1: feature 2147483648 found, and at most 2147483647"):
        read(write("1 2147483648:1\n"))


@pytest.mark.parametrize("scale", ["none", "standard", "minmax"])
def test_data_with_surplus_features_are_predicted_as_those_of_a_wider_model(scale, write, tmp_path, capsys):
    """The same as training data that say that there are such features, all 0."""
    rng = np.random.default_rng(9)
    X = (rng.random((120, 8)) < 0.4) * rng.integers(1, 9, (120, 8))
    y = np.where(X[:, 0] > X[:, 1], 1, -1)
    X[:80, 5:] = 0
    lines = [f"{label} " + " ".join(f"{i}:{v}" for i, v in enumerate(x, 1) if v) for x, label in zip(X, y, strict=True)]
    train, test = write("\n".join(lines[:80]), "train.svm"), write("\n".join(lines[80:]), "test.svm")
    values = []
    for more in ([], ["--features", "8"]):
        command = ["train", str(train), "--model", str(tmp_path / "m"), "--gamma", "0.1", "--scale", scale, *more]
        assert main([*command, "--test", str(test)]) == 0
        capsys.readouterr()
        assert main(["predict", str(tmp_path / "m"), str(test), "--decision", "--quiet"]) == 0
        values.append([float(line.split(":")[1]) for line in capsys.readouterr().out.splitlines()])
        assert main(["evaluate", str(tmp_path / "m"), str(test)]) == 0
    np.testing.assert_allclose(values[0], values[1], rtol=1e-9, atol=1e-9)
