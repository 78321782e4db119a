"""What is refused, and the words that say why: a table of calls for each part of the library, ``words.txt``.

A line at the margin is a call. Below it stands what comes of it, the type of the error and its words; "..." stands for
any words.
"""

import re
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn import svm
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, QuantileTransformer, StandardScaler

TABLES = sorted(Path(__file__).parents[1].glob("*/words.txt"))
PARTS = ("adatron", "estimators", "files", "insight", "intervals", "kernels", "plots", "selection", "solvers")
X, y = make_moons(60, noise=0.2, random_state=0)
NAMES = {
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


def said(call, known):
    """The type and the words of the error, on one line."""
    try:
        eval(call, known)  # noqa: S307 (our own tables)
    except Exception as error:
        return " ".join(f"{type(error).__name__}: {error}".split())
    return "nothing is refused"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.parent.name)
def test_what_is_refused_is_said_in_these_words(table):
    if table.parent.name == "insight":
        pytest.importorskip("matplotlib").use("agg")
    known, wrong = names(), []
    for call, words in re.findall(r"^([^#\s].*)\n((?:    .+\n)+)", table.read_text(), re.MULTILINE):
        wanted, found = " ".join(words.split()), said(call, known)
        if not re.fullmatch(".*".join(map(re.escape, wanted.split("..."))), found):
            wrong.append((call, wanted, found))
    assert wrong == []
