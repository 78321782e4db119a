"""Messages of the library in the words of the tool; those about data keep the user's words."""

import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from adatron import SVC, IncrementalSVC, NuSVC
from adatron.cli import adatron, main
from adatron.cli.wording import PHRASES, in_options
from adatron.files.onnx import to_onnx
from adatron.fitting.placing import refuse_unsuited
from adatron.insight import label_issues
from adatron.kernels import RBF
from adatron.selection import GridSearchCV
from lines import PYTHON, failed

X = np.random.default_rng(0).normal(size=(40, 2))
y = (X[:, 0] > 0).astype(int)
UNEVEN = X * [1.0, 1e9]
ERRORS = (
    lambda: IncrementalSVC().fit(X, y).partial_fit(X[:1], [7]),
    lambda: label_issues(SVC().fit(X, y), X[:20], y[:20]),
    lambda: to_onnx(make_pipeline(Normalizer(), SVC()).fit(X, y)),
    lambda: to_onnx(LogisticRegression().fit(X, y)),
    lambda: SVC(max_iter=1).fit(UNEVEN, y),
    lambda: SVC(max_iter=1).fit(sparse.csr_matrix(UNEVEN), y),
    lambda: SVC(max_time=1e-9, kernel="linear", C=1e9).fit(X, y),
    lambda: SVC().fit(X * 1e-160, y),
    lambda: NuSVC(nu=0.9).fit(X, np.arange(40) < 4),
    lambda: GridSearchCV(SVC(max_iter=1), {"C": [1.0, 10.0]}, cv=2).fit(X, y),
    lambda: GridSearchCV(SVC(kernel="linear"), {"gamma": "auto"}).fit(X, y),
    lambda: refuse_unsuited(SimpleNamespace(name="cuda"), RBF(), sparse.csr_matrix(X)),
)


@pytest.fixture(scope="module")
def said():
    """The messages of real errors and warnings."""
    messages = []
    for fails in ERRORS:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                fails()
            except (ValueError, TypeError) as error:
                messages.append(" ".join(str(error).split()))
        messages += [" ".join(str(one.message).split()) for one in caught]
    return messages


def test_no_parameter_of_python_is_left(said):
    for message in said:
        found = in_options(message)
        assert not PYTHON.search(found)
        assert in_options(found) == found


@pytest.mark.parametrize("phrase", [phrase for phrase, _ in PHRASES])
def test_each_phrase_is_one_of_the_library(said, phrase):
    assert any(re.search(phrase, message) for message in said)


@pytest.mark.parametrize("path", ["runs/C=10/m", "C=10.csv", "a/max_time/b", "max_time.csv", "x-C=1/y", "gamma=0.1/m"])
def test_paths_stay_what_they_are(path):
    assert in_options(f"{path}: not an adatron model file") == f"{path}: not an adatron model file"


def test_what_is_said_is_an_option():
    options = {name for command in adatron.commands.values() for one in command.params for name in one.opts}
    names = ("C", "gap_tol", "max_bytes", "n_features", "zero_based", "cv")
    said = [in_options(f"{name}=1 is wrong").split()[0] for name in names]
    assert set(said) <= options


def test_words_of_the_user_stay_what_they_are(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{a:.3f},{b:.3f},{label}\n" for (a, b), label in zip(X, y, strict=True))
    (tmp_path / "names.csv").write_text("max_time,class_weight,y\n" + rows)
    (tmp_path / "text.csv").write_text("max_time,class_weight,y\n" + rows.replace("\n", "\n1,x,0\n", 1))
    (tmp_path / "labels.csv").write_text("max_time,class_weight,y\n" + "1,2,C=1\n2,1,C=1\n")
    for words, kept in {
        ("names.csv", "--label", "none"): "'max_time', 'class_weight', 'y'",
        ("text.csv",): "column 'class_weight' holds 'x'",
        ("labels.csv",): "have the label C=1,",
        ("C=10 nothing.csv",): "error: C=10 nothing.csv: No such file",
    }.items():
        assert main(["train", *words, "--model", "m"]) > 0
        assert kept in failed(capsys)
