"""Real data from the folder that ADATRON_DATA names, with the C and gamma of this project's tables."""

import gzip
import os
from pathlib import Path

import numpy as np
from benchopt import BaseDataset
from sklearn.datasets import load_svmlight_file

FOLDER = Path(os.environ.get("ADATRON_DATA") or Path(__file__).parents[4] / "shared" / "data")


def libsvm(name):
    X, y = load_svmlight_file(str(FOLDER / name))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # scikit-learn takes no larger ones
    return X, y


def usps():
    """Return even digits against odd ones."""
    table = np.loadtxt(FOLDER / "zip.train.gz")
    return table[:, 1:], table[:, 0] % 2 == 0


def mnist():
    """Return even digits against odd ones, grey values from 0 to 1."""
    with (
        gzip.open(FOLDER / "train-images-idx3-ubyte.gz") as images,
        gzip.open(FOLDER / "train-labels-idx1-ubyte.gz") as y,
    ):
        pixels = np.frombuffer(images.read(), np.uint8, offset=16).reshape(-1, 784)
        return pixels / 255.0, np.frombuffer(y.read(), np.uint8, offset=8) % 2 == 0


SETS = {
    "heart_scale": (lambda: libsvm("heart_scale"), "heart_scale", 1.0, 1 / 13),
    "a9a": (lambda: libsvm("a9a.gz"), "a9a.gz", 1.0, 0.05),
    "ijcnn1": (lambda: libsvm("ijcnn1.trn.bz2"), "ijcnn1.trn.bz2", 32.0, 2.0),
    "USPS": (usps, "zip.train.gz", 10.0, 1 / 128),
    "MNIST": (mnist, "train-images-idx3-ubyte.gz", 10.0, 0.02),
}


class Dataset(BaseDataset):
    name = "files"
    requirements = ["scikit-learn"]
    parameters = {"data": ["heart_scale", "a9a", "ijcnn1", "USPS"]}  # MNIST takes LIBSVM minutes

    def skip(self):
        path = FOLDER / SETS[self.data][1]
        return not path.exists(), f"{path} is missing; ADATRON_DATA names the folder of the data"

    def get_data(self):
        load, _, C, gamma = SETS[self.data]
        X, y = load()
        return {"X": X, "y": np.where(y > 0, 1.0, -1.0), "C": C, "gamma": gamma}
