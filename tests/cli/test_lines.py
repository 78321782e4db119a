"""Lines of a stream reach the model as samples of a whole file would."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from adatron import SVC, IncrementalSVC, load, save
from lines import told, tool


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(5.0, 2.0, size=(60, 3))
    return X, (X[:, 0] > 5.0).astype(int)


def search(X, y):
    found = GridSearchCV(IncrementalSVC(), {"C": [1.0, 10.0]}, cv=3).fit(X, y).best_estimator_
    return found, found


def nested(X, y):
    steps = make_pipeline(StandardScaler(), MaxAbsScaler()).fit(X)
    last = IncrementalSVC().fit(steps.transform(X), y)
    model = make_pipeline(steps, last)
    return model, last


@pytest.mark.parametrize("make", [search, nested])
def test_steps_of_any_depth_are_taken(make, rows, tmp_path):
    X, y = rows
    model, last = make(X[:40], y[:40])
    save(model, tmp_path / "m")
    lines = "".join(f"{','.join(map(repr, row.tolist()))},{label}\n" for row, label in zip(X[40:], y[40:], strict=True))
    (tmp_path / "more.csv").write_text(lines)
    assert tool("stream", tmp_path / "m", tmp_path / "more.csv", "--quiet") == 0
    loaded = load(tmp_path / "m")
    seen = X[40:] if make is search else model.steps[0][1].transform(X[40:])
    last.partial_fit(seen, y[40:])
    np.testing.assert_allclose(loaded.decision_function(X), model.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("make", [search, nested])
def test_commands_read_data_for_such_models(make, rows, tmp_path, capsys):
    X, y = rows
    save(make(X, y)[0], tmp_path / "m")
    np.savez(tmp_path / "a.npz", X=X, y=y)
    for command in (["info", str(tmp_path / "m")], ["evaluate", str(tmp_path / "m"), str(tmp_path / "a.npz")]):
        assert tool(*command) == 0, capsys.readouterr().err
    assert "accuracy" in capsys.readouterr().out


def test_the_encoding_of_a_stream_is_heeded(tmp_path):
    lines = "größe,länge,art\n" + "".join(f"{i % 7}.5,{-i},{'grün' if i % 2 else 'rot'}\n" for i in range(40))
    (tmp_path / "a.csv").write_bytes(lines.encode("cp1252"))
    arguments = ["stream", str(tmp_path / "m"), str(tmp_path / "a.csv"), "--first", "20", "--quiet"]
    assert tool(*arguments) == 1
    assert tool(*arguments, "--encoding", "cp1252") == 0
    assert load(tmp_path / "m").classes_.tolist() == ["grün", "rot"]


def test_surplus_features_pass_by_steps_in_steps(rows, tmp_path, capsys):
    X, y = rows
    inner = make_pipeline(make_pipeline(StandardScaler(), MinMaxScaler()), SVC()).fit(X, y)
    save(inner, tmp_path / "m")
    texts = [" ".join(f"{i + 1}:{v!r}" for i, v in enumerate(row)) for row in X.tolist()]
    plain = "".join(f"{label} {text}\n" for label, text in zip(y, texts, strict=True))
    (tmp_path / "a.svm").write_text(plain)
    (tmp_path / "b.svm").write_text(plain + "1 1:5 9:0\n")
    predict = ["predict", str(tmp_path / "m"), "--quiet"]
    answers = [told(capsys, *predict, tmp_path / name).out.split()[:60] for name in ("a.svm", "b.svm")]
    assert answers[0] == answers[1] == list(map(str, inner.predict(X).tolist()))
