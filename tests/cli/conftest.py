"""Small data in a file, and a model of it."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from adatron.cli import main


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
def model(train_csv, tmp_path):
    path = tmp_path / "m.adatron"
    assert main(["train", str(train_csv), "--model", str(path), "--label", "colour", "--quiet"]) == 0
    return path
