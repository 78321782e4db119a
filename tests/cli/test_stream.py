"""Learning line by line: what is on the disk is the state, whatever happens to the process."""

import io
import json
import os
import signal
import time
from contextlib import suppress

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import adatron
from adatron import IncrementalOneClassSVM, IncrementalSVC, IncrementalSVR
from adatron.cli import main
from adatron.cli.learner import Learner
from adatron.files.journal import Journal, Record

FIRST, LINES = 30, 60


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)


def text_of(X, y, libsvm=False):
    if libsvm:
        return [
            f"{t} " + " ".join(f"{i}:{v!r}" for i, v in enumerate(x.tolist(), 1)) for x, t in zip(X, y, strict=True)
        ]
    return [",".join(map(repr, [*x.tolist(), int(t)])) for x, t in zip(X, y, strict=True)]


@pytest.fixture
def data(tmp_path):
    """Lines that learn and forget."""
    lines = text_of(*rows(FIRST + LINES))
    for one in range(10):
        lines.insert(FIRST + 5 * one + 3, f"-{3 * one}")
    path = tmp_path / "data.csv"
    path.write_text("# a comment\n\n" + "\n".join(lines) + "\n")
    return path


def undisturbed(data, tmp_path):
    path = tmp_path / "reference.adatron"
    assert main(["stream", str(path), str(data), "--first", str(FIRST), "--gamma", "0.5", "--quiet"]) == 0
    return adatron.load(path)


def assert_same(path, reference):
    model = adatron.load(path)
    assert sorted(model.ids_) == sorted(reference.ids_)
    X, _ = rows(50, seed=1)
    np.testing.assert_allclose(model.decision_function(X), reference.decision_function(X), atol=1e-8)


def test_a_stream_is_partial_fit_and_forget(data, tmp_path, capsys):
    model = undisturbed(data, tmp_path)
    X, y = rows(FIRST + LINES)
    gone = 3 * np.arange(10)
    kept = np.setdiff1d(np.arange(len(y)), gone)
    assert sorted(model.ids_) == kept.tolist()
    fresh = IncrementalSVC(gamma=0.5).fit(X[kept], y[kept])
    np.testing.assert_allclose(model.decision_function(X), fresh.decision_function(X), atol=1e-8)
    before = (tmp_path / "reference.adatron").stat().st_mtime_ns
    assert main(["stream", str(tmp_path / "reference.adatron"), str(data), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lines"] == 0  # nothing is learned twice
    assert (tmp_path / "reference.adatron").stat().st_mtime_ns > before


@pytest.mark.parametrize("at", range(1, 100, 9))
def test_a_crash_at_any_byte_of_the_journal(at, data, tmp_path, monkeypatch):
    """The process dies while it writes a record; what came to the disk of it is cut off at any place."""
    reference, path = undisturbed(data, tmp_path), tmp_path / "m.adatron"
    arguments = ["stream", str(path), str(data), "--first", str(FIRST), "--every", "7", "--quiet"]
    rng, count = np.random.default_rng(at), [at]
    original = Journal.append

    class Died(BaseException):
        pass

    def append(self, record):
        count[0] -= 1
        if count[0] == 0:
            original(self, record)
            size = self.path.stat().st_size
            os.truncate(self.path, rng.integers(max(0, size - 120), size + 1))
            raise Died
        original(self, record)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "append", append)
        patch.setattr("adatron.cli.learner.Learner._snapshot", lambda self: None)  # a dead process writes nothing
        with suppress(Died):
            main([*arguments, "--gamma", "0.5"])
    assert main(arguments) == 0
    assert_same(path, reference)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a fork")
@pytest.mark.parametrize("seed", range(8))
def test_killed_and_resumed(seed, data, tmp_path):
    reference, path = undisturbed(data, tmp_path), tmp_path / "m.adatron"
    arguments = ["stream", str(path), str(data), "--every", "7", "--quiet"]
    _X, _y = rows(FIRST)
    rng = np.random.default_rng(seed)
    for _ in range(100):
        start = [] if path.exists() else ["--first", str(FIRST), "--gamma", "0.5"]
        child = os.fork()
        if child == 0:
            os._exit(main([*arguments, *start]))
        time.sleep(rng.uniform(0.0, 0.4))
        os.kill(child, signal.SIGKILL)
        if os.WIFEXITED(os.waitpid(child, 0)[1]):
            break
    assert main([*arguments, *([] if path.exists() else ["--first", str(FIRST), "--gamma", "0.5"])]) == 0
    assert_same(path, reference)


@pytest.mark.parametrize("at", [*range(3, 70, 9), 37])  # 37: a line that forgets
@pytest.mark.parametrize("twice", [False, True])
def test_ctrl_c_ends_between_two_lines(at, twice, data, tmp_path, monkeypatch):
    """It comes when a line is learned and not yet written; a second one at once makes it a crash."""
    reference, path = undisturbed(data, tmp_path), tmp_path / "m.adatron"
    arguments = ["stream", str(path), str(data), "--every", "7", "--quiet"]
    count, held = [at], []
    finish, learn = IncrementalSVC._finish, Learner._learn

    def interrupted(self, events, **more):
        finish(self, events, **more)
        count[0] -= 1
        if count[0] == 0:
            signal.raise_signal(signal.SIGINT)
            held.append(True)

    def twice_interrupted(self, record, one=None):
        learn(self, record, one)
        if held and twice:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(IncrementalSVC, "_finish", interrupted)
        patch.setattr(Learner, "_learn", twice_interrupted)
        assert main([*arguments, "--first", str(FIRST), "--gamma", "0.5"]) == 130
    assert held
    assert main([*arguments, *([] if path.exists() else ["--first", str(FIRST), "--gamma", "0.5"])]) == 0
    assert_same(path, reference)


def test_a_file_that_could_not_be_written_when_a_line_forgot(data, tmp_path, monkeypatch, capsys):
    reference, path = undisturbed(data, tmp_path), tmp_path / "m.adatron"
    arguments = ["stream", str(path), str(data), "--quiet"]
    forget = IncrementalSVC.forget

    def failing(self, ids):
        forget(self, ids)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(IncrementalSVC, "forget", failing)
        assert main([*arguments, "--first", str(FIRST), "--gamma", "0.5"]) == 4
    assert "No space left" in capsys.readouterr().err
    assert main(arguments) == 0
    assert_same(path, reference)


def test_weights_of_classes(data, tmp_path, capsys):
    path = tmp_path / "m.adatron"
    arguments = ["stream", str(path), str(data), "--first", str(FIRST), "--quiet", "--class-weight"]
    assert main([*arguments, "balanced"]) == 2
    assert "--class-weight balanced depends on samples that are still to come" in capsys.readouterr().err
    assert main([*arguments, "1:2,7:3"]) == 1
    assert "--class-weight names the class '7'; the classes are 0, 1" in capsys.readouterr().err
    assert main([*arguments, "1:2,0:0.5"]) == 0
    assert adatron.load(path).class_weight == {1: 2.0, 0: 0.5}


def test_a_forgotten_row_is_in_no_file(data, tmp_path):
    path = tmp_path / "m.adatron"
    X, y = rows(FIRST)
    adatron.save(IncrementalSVC(gamma=0.5).fit(X, y), path)
    row = "0.123456789012345,0.1,0.2,1"
    (tmp_path / "more.csv").write_text(f"{row}\n-{FIRST}\n0.5,0.5,0.5,zero\n")
    assert main(["stream", str(path), str(tmp_path / "more.csv"), "--quiet"]) == 1
    for file in (path, path.with_name(path.name + ".journal")):
        content = file.read_bytes()
        assert b"0.123456789012345" not in content
        assert np.float64(0.123456789012345).tobytes() not in content


def test_standard_input_and_a_window(tmp_path, monkeypatch, capsys):
    path = tmp_path / "m.adatron"
    X, y = rows(FIRST + 20)
    lines = "\n".join(text_of(X, y, libsvm=True))
    for part in (lines, "\n".join(text_of(X[:5], y[:5], libsvm=True))):
        monkeypatch.setattr("sys.stdin", io.StringIO(part))
        new = [] if path.exists() else ["--first", str(FIRST), "--gamma", "0.5"]
        assert main(["stream", str(path), "-", "--window", "25", *new]) == 0
    assert "samples" in capsys.readouterr().err
    model = adatron.load(path)
    assert sorted(model.ids_) == list(range(FIRST, FIRST + 25))


@pytest.mark.parametrize("kind", ["svr", "oneclass", "pipeline"])
def test_other_models(kind, tmp_path):
    X, y = rows(FIRST + 5)
    model = {
        "svr": IncrementalSVR(gamma=0.5),
        "oneclass": IncrementalOneClassSVM(gamma=0.5),
        "pipeline": make_pipeline(StandardScaler(), IncrementalSVC(gamma=0.5)),
    }[kind].fit(X[:FIRST], y[:FIRST])
    path = tmp_path / "m.adatron"
    adatron.save(model, path)
    (tmp_path / "more.csv").write_text("\n".join(text_of(X[FIRST:], y[FIRST:])) + "\n-2\n")
    assert main(["stream", str(path), str(tmp_path / "more.csv"), "--quiet"]) == 0
    found = adatron.load(path)
    last = found[-1] if kind == "pipeline" else found
    assert sorted(last.ids_) == [0, 1, *range(3, FIRST + 5)]
    if kind == "pipeline":
        X = model[:-1].transform(X)
    rest = np.delete(np.arange(FIRST + 5), 2)
    fresh = type(last)(gamma=0.5).fit(X[rest], y[rest])
    both = (one.predict(X) if kind == "svr" else one.decision_function(X) for one in (last, fresh))
    np.testing.assert_allclose(*both, atol=1e-8)


@pytest.mark.parametrize(
    ("content", "status", "message"),
    [
        ("1,2,3,1\n1,2,x,1\n", 1, "line 2: column 2 holds 'x', not a finite number"),
        ("1,2,3,7\n", 1, "line 1: y must hold labels among the classes"),
        ("-999\n", 1, "line 1: ids must be those of samples that are in the model. Got 999"),
        ("1,2,1\n", 1, "line 1"),
    ],
)
def test_bad_lines(content, status, message, tmp_path, capsys):
    path = tmp_path / "m.adatron"
    X, y = rows(FIRST)
    adatron.save(IncrementalSVC(gamma=0.5).fit(X, y), path)
    (tmp_path / "bad.csv").write_text(content)
    assert main(["stream", str(path), str(tmp_path / "bad.csv")]) == status
    assert message in capsys.readouterr().err


def test_a_line_that_may_forget_or_be_a_sample(tmp_path, capsys):
    """LIBSVM text with the labels 1 and -1: a sample of zeros is written as an id is forgotten."""
    X, y = rows(FIRST + 5)
    lines = text_of(X, 2 * y - 1, libsvm=True)
    data = tmp_path / "data.libsvm"
    for place in (3, FIRST + 3):  # in the first fit, and after it
        data.write_text("\n".join([*lines[:place], "-1", *lines[place:]]) + "\n")
        arguments = ["stream", str(tmp_path / f"{place}.adatron"), str(data), "--quiet"]
        new = ["--first", str(FIRST), "--gamma", "0.5"]
        assert main([*arguments, *new]) == 1
        assert f"line {place + 1}: '-1' is a sample without features, or forgets sample 1" in capsys.readouterr().err
        assert main([*arguments, *([] if place > FIRST else new), "--no-forget"]) == 0
        assert sorted(adatron.load(arguments[1]).ids_) == list(range(FIRST + 6))
    path = tmp_path / "forgets.adatron"
    assert main(["stream", str(path), str(data), *new, "--forget"]) == 0
    assert sorted(adatron.load(path).ids_) == [0, *range(2, FIRST + 5)]
    data.write_text("\n".join([*lines, "1 1:0.5", "-3"]) + "\n")  # no class: it can only forget
    assert main(["stream", str(path), str(data)]) == 0
    assert 3 not in adatron.load(path).ids_


def test_nothing_is_forgotten_before_the_first_fit(tmp_path, capsys):
    lines = text_of(*rows(FIRST))
    (tmp_path / "data.csv").write_text("\n".join([*lines[:7], "-2", *lines[7:]]) + "\n")
    assert main(["stream", str(tmp_path / "m.adatron"), str(tmp_path / "data.csv"), "--first", "20"]) == 1
    assert "line 8: '-2' forgets, but the first 20 lines are for the fit" in capsys.readouterr().err


def test_bad_models(data, tmp_path, capsys):
    X, y = rows(FIRST)
    path = tmp_path / "m.adatron"
    adatron.save(adatron.SVC().fit(X, y), path)
    assert main(["stream", str(path), str(data)]) == 1
    assert "the model is a SVC; only the incremental ones learn from a stream" in capsys.readouterr().err
    assert main(["stream", str(path), str(data), "--C", "2"]) == 2
    assert "has its own parameters: leave out --C" in capsys.readouterr().err
    adatron.save(IncrementalSVC().fit(X, y), path)
    journal = path.with_name(path.name + ".journal")
    journal.write_bytes(b"adatron-journal 1 another\n")
    assert main(["stream", str(path), str(data)]) == 1
    assert "it is the journal of another model" in capsys.readouterr().err


def test_a_journal_keeps_whole_records(tmp_path):
    path = tmp_path / "j"
    journal = Journal(path, "name")
    records = [Record(n, "file", n, "x" * n) for n in range(1, 20)]
    for record in records:
        journal.append(record)
    data = path.read_bytes()
    for end in range(len(data) + 1):
        path.write_bytes(data[:end])
        found = Journal(path, "name").records
        assert found == records[: len(found)]
    damaged = bytearray(data)
    damaged[len(data) // 2] ^= 1
    path.write_bytes(damaged)
    found = Journal(path, "name").records
    assert found == records[: len(found)]
    assert len(found) < len(records)


def test_a_journal_with_lines_must_be_learned_before_something_is_forgotten(data, tmp_path):
    path = tmp_path / "m.adatron"
    new = ["--first", str(FIRST), "--gamma", "0.5", "--quiet"]
    assert main(["stream", str(path), str(data), *new]) == 0
    journal = Journal(tmp_path / "m.adatron.journal", adatron.load(path).stream_["name"])
    journal.append(Record(10**6, "elsewhere", 1, "0.1,0.2,0.3,1"))
    model = adatron.load(path)
    with pytest.raises(ValueError, match=r"journal.*adatron stream"):
        model.forget(model.ids_[:1])
    assert len(adatron.load(path).ids_) == len(model.ids_)
    assert main(["stream", str(path), str(data), "--quiet"]) == 0
    model = adatron.load(path)
    assert model.forget(model.ids_[:1]) is model
