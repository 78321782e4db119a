"""Small data in a file, and a model of it."""

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, make_blobs

from lines import tool


@pytest.fixture(scope="module")
def samples():
    X, y = make_blobs(60, centers=3, random_state=0)
    return X, np.array(["red", "green", "blue"])[y]


@pytest.fixture
def train_csv(samples, tmp_path):
    X, y = samples
    path = tmp_path / "train.csv"
    rows = [f"{label},{','.join(map(str, x))}" for x, label in zip(X, y, strict=True)]
    path.write_text("\n".join(["colour,a,b", *rows]) + "\n")
    return path


@pytest.fixture
def path(tmp_path):
    """The name of a model file."""
    return tmp_path / "m.adatron"


@pytest.fixture
def model(train_csv, path):
    assert tool("train", train_csv, "--model", path, "--label", "colour", "--quiet") == 0
    return path


@pytest.fixture
def from_0(tmp_path):
    """Two files of LIBSVM text whose features count from 0, and the samples of the second one: it has no feature 0."""
    X = np.arange(1.0, 121.0).reshape(40, 3)
    X[20:, :2] *= -1
    rare = X[15:25].copy()
    rare[:, 0] = 0
    y = np.repeat([0, 1], 20)
    dump_svmlight_file(X, y, str(tmp_path / "a"), zero_based=True)
    dump_svmlight_file(rare, y[15:25], str(tmp_path / "b"), zero_based=True)
    return str(tmp_path / "a"), str(tmp_path / "b"), rare
