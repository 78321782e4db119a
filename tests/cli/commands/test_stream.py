"""Learning line by line: what is on the disk is the state, whatever happens to the process."""

import io
import json
import os
import signal
import sqlite3
import time
from contextlib import ExitStack, closing

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import adatron
from adatron import IncrementalOneClassSVM, IncrementalSVC, IncrementalSVR, load
from adatron.estimators.base.convergence import warn_unless_converged
from adatron.files.database import Database, Record
from lines import stream, told, tool
from moments import at

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


@pytest.fixture
def reference(data, tmp_path):
    """A model of an undisturbed stream."""
    assert stream(tmp_path / "reference.adatron", data) == 0
    return adatron.load(tmp_path / "reference.adatron")


def assert_same(path, reference):
    model = adatron.load(path)
    assert sorted(model.ids_) == sorted(reference.ids_)
    X, _ = rows(50, seed=1)
    np.testing.assert_allclose(model.decision_function(X), reference.decision_function(X), atol=1e-8)


def test_a_stream_is_partial_fit_and_forget(data, reference, tmp_path, capsys):
    X, y = rows(FIRST + LINES)
    kept = np.setdiff1d(np.arange(len(y)), 3 * np.arange(10))
    assert sorted(reference.ids_) == kept.tolist()
    fresh = IncrementalSVC(gamma=0.5).fit(X[kept], y[kept])
    np.testing.assert_allclose(reference.decision_function(X), fresh.decision_function(X), atol=1e-8)
    path = tmp_path / "reference.adatron"
    out, err = told(capsys, "stream", path, data, "--json")
    result = json.loads(out)
    assert (result["lines"], result["proven"]) == (0, False)  # nothing is learned twice
    assert f"kkt violation          about {result['kkt_violation']:.2e}" in err
    out = told(capsys, "info", path).out
    assert f"KKT violation            about {result['kkt_violation']:.2e}" in out
    assert f"relative duality gap     about {result['duality_gap']:.2e}" in out


def in_a_child(commit, *arguments):
    """Run a stream in a process that dies on its way: ``commit`` is what its database does."""
    if not hasattr(os, "fork"):
        pytest.skip("kills a fork")
    child = os.fork()
    if child == 0:
        try:
            Database.commit = commit
            os._exit(stream(*arguments))
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.slow
@pytest.mark.parametrize(("moment", "before"), [(1, True), (1, False), (4, True), (7, False), (10, True), (16, False)])
def test_a_crash_before_and_after_any_transaction(before, moment, data, path, reference):
    count, original = [moment], Database.commit

    def commit(self):
        count[0] -= 1
        if count[0] or not before:
            original(self)
        if not count[0]:
            os._exit(9)

    assert in_a_child(commit, path, data, "--every", 7) == 9
    assert bool(path.exists() and path.stat().st_size) == (moment > 1 or not before)
    assert stream(path, data, "--every", 7) == 0
    assert_same(path, reference)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a fork")
def test_killed_and_resumed(data, path, reference):
    rng = np.random.default_rng(0)
    for _ in range(100):
        child = os.fork()
        if child == 0:
            os._exit(stream(path, data, "--every", 7))
        time.sleep(rng.uniform(0.0, 0.4))
        os.kill(child, signal.SIGKILL)
        if os.WIFEXITED(os.waitpid(child, 0)[1]):
            break
    assert stream(path, data, "--every", 7) == 0
    assert_same(path, reference)


@pytest.mark.slow
@pytest.mark.parametrize("number", [3, 21, 37, 66])  # 37: a line that forgets
@pytest.mark.parametrize("twice", [False, True])
def test_ctrl_c_ends_between_two_lines(number, twice, data, path, reference):
    """It comes when a line is learned and not yet written; a second one at once makes it a crash."""
    held = []

    def press(_):
        signal.raise_signal(signal.SIGINT)
        held.append(True)

    def press_again(_):
        if held and twice:
            signal.raise_signal(signal.SIGINT)

    learns = (IncrementalSVC.partial_fit, IncrementalSVC.forget)
    with ExitStack() as moments:
        moments.enter_context(at(warn_unless_converged, press, number, end=True))  # ends every change of the model
        for learn in learns:
            moments.enter_context(at(learn, press_again, number=None, end=True))
        assert stream(path, data, "--every", 7) == 130
    assert held
    assert stream(path, data, "--every", 7) == 0
    assert_same(path, reference)


def test_a_file_that_could_not_be_written_when_a_line_forgot(data, path, reference, capsys):
    def fail(_):
        raise OSError(28, "No space left on device")

    with at(IncrementalSVC.forget, fail, end=True):
        assert stream(path, data) == 4
    assert "No space left" in capsys.readouterr().err
    assert stream(path, data) == 0
    assert_same(path, reference)


def test_weights_of_classes(data, path, capsys):
    arguments = ["stream", str(path), str(data), "--first", str(FIRST), "--quiet", "--class-weight"]
    assert tool(*arguments, "balanced") == 2
    assert "--class-weight balanced depends on samples that are still to come" in capsys.readouterr().err
    assert "names the class '7'; the classes are 0, 1" in told(capsys, *arguments, "1:2,7:3", status=1).err
    assert tool(*arguments, "1:2,0:0.5") == 0
    assert adatron.load(path).class_weight == {1: 2.0, 0: 0.5}


def test_a_forgotten_row_is_in_no_file(data, path, tmp_path):
    X, y = rows(FIRST)
    adatron.save(IncrementalSVC(gamma=0.5).fit(X, y), path)
    row = "0.123456789012345,0.1,0.2,1"
    (tmp_path / "more.csv").write_text(f"{row}\n-{FIRST}\n0.5,0.5,0.5,zero\n")
    assert stream(path, tmp_path / "more.csv") == 1
    for file in (path, *tmp_path.glob("m.adatron?*")):
        content = file.read_bytes()
        assert b"0.123456789012345" not in content
        assert np.float64(0.123456789012345).tobytes() not in content


def test_standard_input_and_a_window(path, monkeypatch):
    X, y = rows(FIRST + 20)
    lines = "\n".join(text_of(X, y, libsvm=True))
    for part in (lines, "\n".join(text_of(X[:5], y[:5], libsvm=True))):
        monkeypatch.setattr("sys.stdin", io.StringIO(part))
        assert stream(path, "-", "--window", 25) == 0
    model = adatron.load(path)
    assert sorted(model.ids_) == list(range(FIRST, FIRST + 25))


@pytest.mark.parametrize("kind", ["svr", "oneclass", "pipeline"])
def test_other_models(kind, path, tmp_path):
    X, y = rows(FIRST + 5)
    model = {
        "svr": IncrementalSVR(gamma=0.5),
        "oneclass": IncrementalOneClassSVM(gamma=0.5),
        "pipeline": make_pipeline(StandardScaler(), IncrementalSVC(gamma=0.5)),
    }[kind].fit(X[:FIRST], y[:FIRST])
    adatron.save(model, path)
    (tmp_path / "more.csv").write_text("\n".join(text_of(X[FIRST:], y[FIRST:])) + "\n-2\n")
    assert stream(path, tmp_path / "more.csv") == 0
    found = adatron.load(path)
    last = found[-1] if kind == "pipeline" else found
    assert sorted(last.ids_) == [0, 1, *range(3, FIRST + 5)]
    if kind == "pipeline":
        X = model[:-1].transform(X)
    rest = np.delete(np.arange(FIRST + 5), 2)
    fresh = type(last)(gamma=0.5).fit(X[rest], y[rest])
    both = (one.predict(X) if kind == "svr" else one.decision_function(X) for one in (last, fresh))
    np.testing.assert_allclose(*both, atol=1e-8)


def test_bad_lines(path, tmp_path, capsys):
    X, y = rows(FIRST)
    adatron.save(IncrementalSVC(gamma=0.5).fit(X, y), path)
    for content, message in (
        ("1,2,3,1\n1,2,x,1\n", "line 2: column 2 holds 'x', not a finite number"),
        ("1,2,3,7\n", "line 1: y must hold labels among the classes [0 1]. Got 7"),
        ("-999\n", "line 1: ids must be those of samples that are in the model. Got 999"),
        ("1,2,1\n", "line 1"),
    ):
        (tmp_path / "bad.csv").write_text(content)
        assert message in told(capsys, "stream", path, tmp_path / "bad.csv", "--no-skip-learned", status=1).err


def test_a_line_that_may_forget_or_be_a_sample(tmp_path, capsys):
    """LIBSVM text with the labels 1 and -1: a sample of zeros is written as an id is forgotten."""
    X, y = rows(FIRST + 5)
    lines = text_of(X, 2 * y - 1, libsvm=True)
    data = tmp_path / "data.libsvm"
    for place in (3, FIRST + 3):  # in the first fit, and after it
        data.write_text("\n".join([*lines[:place], "-1", *lines[place:]]) + "\n")
        path = tmp_path / f"{place}.adatron"
        assert stream(path, data) == 1
        assert f"line {place + 1}: '-1' is a sample without features, or forgets sample 1" in capsys.readouterr().err
        assert stream(path, data, "--no-forget") == 0
        assert sorted(adatron.load(path).ids_) == list(range(FIRST + 6))
    path = tmp_path / "forgets.adatron"
    assert stream(path, data, "--forget") == 0
    assert sorted(adatron.load(path).ids_) == [0, *range(2, FIRST + 5)]
    with data.open("a") as more:
        more.write("1 1:0.5\n-3\n")  # no class: it can only forget
    assert tool("stream", path, data) == 0
    assert 3 not in adatron.load(path).ids_


def test_bad_models(data, path, capsys):
    X, y = rows(FIRST)
    adatron.save(adatron.SVC().fit(X, y), path)
    assert tool("stream", path, data) == 1
    assert "the model is a SVC; only the incremental ones learn from a stream" in capsys.readouterr().err
    assert "has its own parameters: leave out --C" in told(capsys, "stream", path, data, "--C", "2", status=2).err
    assert adatron.load(path).predict(X).shape == (FIRST,)  # it is no database
    path.write_text("1,2,3\n")
    assert tool("stream", path, data) == 1
    assert path.read_text() == "1,2,3\n"
    path.write_bytes(b"SQLite format 3\0" + bytes(1000))
    assert "m.adatron: it is a database, but not that of a stream" in told(capsys, "stream", path, data, status=1).err


def test_a_model_that_forgot_goes_on(data, path):
    """The caller saves it to another file, which becomes the database of the next stream."""
    other = path.with_name("other.adatron")
    assert stream(path, data) == 0
    model = adatron.load(path)
    assert model.files_ == [str(path)]
    gone = int(model.ids_[0])
    adatron.save(model.forget([gone]), other)
    assert stream(other, data) == 0
    assert sorted(adatron.load(other).ids_) == sorted(model.ids_)
    assert gone in adatron.load(path).ids_


def bits(path):
    model = adatron.load(path)
    order = np.argsort(model.ids_)
    return model.ids_[order].tolist(), model.store.X[order].tolist(), model.stream_["number"]


@pytest.fixture
def died(data, path, tmp_path, monkeypatch):
    """A model whose stream died: its last ten samples are in lines only. The file, and the whole state."""
    lines = text_of(*rows(20, seed=3))
    (tmp_path / "more.csv").write_text("\n".join(lines[:10]) + "\n")
    assert stream(path, data) == 0
    assert stream(path, tmp_path / "more.csv") == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines[10:])))
    written, original = [], Database.commit

    def commit(self):
        original(self)
        written.append(self)
        if len(written) == 10:
            os._exit(9)

    assert in_a_child(commit, path, "-") == 9
    kept = path.read_bytes()
    assert again(path, monkeypatch) == 0
    whole = bits(path)
    path.write_bytes(kept)
    assert len(whole[0]) == len(adatron.load(path).ids_) + 10
    return path, whole


def again(path, monkeypatch, *more):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    return stream(path, "-", *more)


def sql(path, statement):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


@pytest.mark.parametrize("change", ["UPDATE lines SET checksum = 5", "DELETE FROM lines"])
def test_a_damaged_record_loses_nothing_in_silence(change, died, monkeypatch, capsys):
    path, whole = died
    number = whole[2] - 7
    sql(path, f"{change} WHERE number = {number}")
    damaged = path.read_bytes()
    assert again(path, monkeypatch) == 1
    error = capsys.readouterr().err
    assert f"m.adatron: records {number} of {whole[2] - 9} to {whole[2]} missing" in error
    assert "other records that can be read: 9." in error
    assert "--accept-loss goes on" in error
    assert path.read_bytes() == damaged
    assert again(path, monkeypatch, "--accept-loss") == 0
    ids, X, last = bits(path)
    assert last == whole[2]
    lost = whole[0][-8]
    assert ids == [one for one in whole[0] if one != lost]  # those that came later keep their ids
    assert [x for one, x in zip(*whole[:2], strict=True) if one != lost] == X


def test_a_record_that_is_no_sample(died, monkeypatch, capsys):
    path, whole = died
    with Database(path) as database:
        database.append(Record(whole[2] + 1, "-", 1, "0.5,zero,1"))
        database.commit()
    before = path.read_bytes()
    assert again(path, monkeypatch) == 1
    assert f"m.adatron: record {whole[2] + 1} cannot be learned (standard input, line 1: " in capsys.readouterr().err
    assert path.read_bytes() == before


def test_records_of_a_file_in_another_format(died, tmp_path):
    """The database has lines with commas; the stream goes on with LIBSVM text."""
    path, whole = died
    (tmp_path / "more.libsvm").write_text("1 1:0.5 2:0.25\n")
    assert stream(path, tmp_path / "more.libsvm") == 0
    ids, X, last = bits(path)
    assert (ids[:-1], X[:-1], last - 1) == whole
    assert X[-1] == [0.5, 0.25, 0.0]


@pytest.mark.parametrize("new", [True, False])
def test_the_second_stream_on_a_model_is_refused(new, data, path, tmp_path, capsys):
    if not new:
        assert stream(path, data) == 0
    before = sorted(tmp_path.iterdir())
    with Database(path):
        assert stream(path, data) == 1
        assert "another `adatron stream` is learning with this model" in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == before


def meanwhile(act, number):
    """Have another process do something when a stream has learned so many lines, before the last one is written."""
    return at(Database.append, lambda _: act(), number)


@pytest.fixture
def running(path, tmp_path):
    """A pipeline and an input with 20 more lines, the last of which forgets: the words of its stream."""
    X, y = rows(FIRST + 19)
    model, data = make_pipeline(StandardScaler(), IncrementalSVC(gamma=0.5)), tmp_path / "data.csv"
    adatron.save(model.fit(X[:FIRST], y[:FIRST]), path)
    data.write_text("\n".join(text_of(X[FIRST:], y[FIRST:])) + "\n-5\n")
    return "stream", path, data, "--quiet", "--every", "5"


def last_of(path):
    return adatron.load(path)[-1]


def test_others_read_while_a_stream_runs_and_save_elsewhere(running, path):
    def read():
        with pytest.raises(ValueError, match="it is the database of a stream"):
            adatron.save(adatron.load(path), path)
        assert len(last_of(path).ids_) == FIRST + 5  # a snapshot came after five

    with meanwhile(read, 8):
        assert tool(*running) == 0
    assert sorted(last_of(path).ids_) == [one for one in range(FIRST + 19) if one != 5]


def test_a_database_that_goes_while_a_stream_runs_is_noticed(running, path, tmp_path, capsys):
    with meanwhile(lambda: path.rename(tmp_path / "other"), 8):
        assert tool(*running) == 1
    assert "m.adatron: it was moved, replaced or changed while the stream was learning" in capsys.readouterr().err
    assert not path.exists()
    (tmp_path / "other").rename(path)
    assert tool(*running) == 0
    assert sorted(last_of(path).ids_) == [one for one in range(FIRST + 19) if one != 5]


def test_a_stream_says_that_a_scaler_remembers(running, capsys):
    warning = "sample 5 has left the model, but the step 'standardscaler' (StandardScaler) keeps"
    assert warning in told(capsys, *running).err
    with running[2].open("a") as more:
        more.write(f"-{FIRST + 2}\n")  # came after the scaler was fitted
    assert not told(capsys, *running).err


def test_a_line_that_forgets_a_sample_which_has_gone_is_only_a_warning(tmp_path, capsys):
    X, y = rows(60)
    lines = [",".join(map(repr, [*x.tolist(), int(label)])) for x, label in zip(X, y, strict=True)]
    data, path = tmp_path / "window.csv", tmp_path / "w.adatron"
    data.write_text("\n".join([*lines[:50], "-3", "-45", "-45", *lines[50:]]) + "\n")
    arguments = ["stream", str(path), str(data), "--first", "30", "--window", "30", "--gamma", "1"]
    said = told(capsys, *arguments).err
    assert "sample 3 is not in the model any more" in said
    assert "sample 45 is not in the model any more" in said
    assert sorted(load(path).ids_) == [i for i in range(29, 60) if i != 45]  # thirty samples
    data.write_text(data.read_text() + "-999\n")
    assert tool("stream", path, data) == 1  # no such sample ever came
