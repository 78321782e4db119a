"""What is refused and what is told, and in which words: a table of calls, ``words.txt``, for each part."""

from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn import svm
from sklearn.datasets import make_classification, make_moons
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, QuantileTransformer, StandardScaler

from tables import untrue

TABLES = {path.parent.name: path for path in sorted(Path(__file__).parents[1].glob("*/words.txt"))}
SLOW = {"reports": pytest.mark.slow}
PARTS = (
    "adatron",
    "estimators",
    "files",
    "insight",
    "intervals",
    "kernels",
    "plots",
    "reports",
    "selection",
    "solvers",
)
X, y = make_moons(60, noise=0.2, random_state=0)
A, b = make_classification(400, 6, flip_y=0.1, random_state=0)
MANY = np.random.default_rng(0).normal(size=(513, 2))
NAMES = {
    "A": A, "b": b, "UNSCALED": A * [1e5, 1, 1, 1, 1, 1], "noisy": np.where(np.arange(400) % 5, b, np.roll(b, 1)),
    "MANY": MANY, "BOTH": np.concatenate([X, -X]), "odd": np.arange(400) % 2,
    "X": X, "y": y, "K": X @ X.T, "numbers": X[:, 0] + X[:, 1], "two": X + np.arange(2),
    "three": np.where(X[:, 0] > 1.2, 2, y), "labels": np.c_[y, X[:, 1] > 0.3].astype(int),
    "negative": np.where(np.arange(60) % 10 == 3, -1, 1), "GRID": {"C": [0.1, 1.0]},
    "WORDS": np.array([["a", 1.0], ["b", 2.0], ["a", 3.0], ["b", 4.0]], object),
    "letters": lambda A, B: np.array([[float(len(set(a) & set(b))) for b in B] for a in A]),
    "masked": lambda values: np.ma.array(values, mask=np.arange(values.size).reshape(values.shape) == 3),
}  # fmt: skip
OTHERS = (LogisticRegression, MinMaxScaler, OneHotEncoder, QuantileTransformer, Ridge, ShuffleSplit, StandardScaler)


def names():
    """What a call may name: the data, what the library exports, and some things around it."""
    found = {"np": np, "svm": svm, "sparse": import_module("scipy.sparse"), "rbf_kernel": rbf_kernel, **NAMES}
    found |= {"make_pipeline": make_pipeline, "partial": partial, **{one.__name__: one for one in OTHERS}}
    for part in PARTS:
        home = import_module("adatron" if part == "adatron" else f"adatron.{part}")
        found |= {part: home, **{name: getattr(home, name) for name in home.__all__}}
    return found


@pytest.mark.parametrize("part", [pytest.param(part, marks=SLOW.get(part, ())) for part in TABLES])
def test_it_is_said_in_these_words(part):
    if part in ("insight", "reports"):
        pytest.importorskip("matplotlib").use("agg")
    assert untrue(TABLES[part], names()) == []
