"""What incremental models leave on the disk: all of the state, and nothing of what was forgotten."""

import copy
import os
import pickle
import signal
import stat

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import adatron
from adatron import IncrementalSVC
from adatron.cli import main
from adatron.files.atomic import atomic_write, remove_leftovers
from lives import MODELS, Life
from machines import values

SECRET = np.array([12345.678901234567, -98765.432109876543, 31415.926535897932])


def holds(data: bytes, row):
    return any(np.float64(value).tobytes() in data for value in row)


@pytest.mark.parametrize("kind", list(MODELS))
@pytest.mark.parametrize("classes", [2, 4])
def test_a_loaded_model_goes_on(kind, classes, tmp_path):
    life = Life(1, kind, "rbf", False, n=60, classes=classes)
    life.add(3)
    path = tmp_path / "m.adatron"
    adatron.save(life.model, path)
    X, _ = life.samples(9)
    before = values(life.model, X)
    life.model = adatron.load(path)
    np.testing.assert_array_equal(values(life.model, X), before)
    life.assert_solved()
    for _ in range(3):
        life.step()
        life.assert_solved()


def test_counts_and_ids_go_on_after_loading(tmp_path):
    life = Life(1, "svc", "rbf", False)
    X, y = life.samples(2)
    life.model.partial_fit(X, y, ids=[70, 71])
    life.model.forget([71])
    (track,) = life.model.learner.tracks
    track.path(life.model.learner.problem).refresh()
    adatron.save(life.model, tmp_path / "m.adatron")
    loaded = adatron.load(tmp_path / "m.adatron")
    assert loaded.n_refactor_ == life.model.n_refactor_ > 0
    assert loaded.partial_fit(X[:1], y[:1]).ids_[-1] == 72


def test_an_unfitted_model_is_saved_too(tmp_path):
    adatron.save(IncrementalSVC(window=7), tmp_path / "m.adatron")
    assert adatron.load(tmp_path / "m.adatron").window == 7


def with_secret(kind):
    life = Life(2, kind, "rbf", False)
    X = SECRET[None] / 1e5
    life.call(life.model.partial_fit, X, np.array([1]), ids=[1000])
    return life, X[0]


@pytest.mark.parametrize("kind", list(MODELS))
def test_a_forgotten_row_is_nowhere(kind, tmp_path):
    life, row = with_secret(kind)
    paths = [tmp_path / name for name in ("a.adatron", "b.adatron")]
    for path in paths:
        adatron.save(life.model, path)
        assert holds(path.read_bytes(), row)
    values(life.model, row[None])  # support vectors are gathered
    assert holds(pickle.dumps(life.model), row)
    life.model.forget([1000])
    life.assert_solved()
    assert not holds(pickle.dumps(life.model), row)
    for path in paths:
        assert holds(path.read_bytes(), row)  # the caller saves
        assert any(str(path) in one for one in life.model.deletion_report()["holds"])
        adatron.save(life.model, path)
        assert not holds(path.read_bytes(), row)
        np.testing.assert_array_equal(adatron.load(path).ids_, life.model.ids_)
    report = life.model.deletion_report()
    assert report["files"] == [str(path) for path in paths]
    assert report["holds"] == []


def test_kernel_values_of_a_forgotten_row_are_gone(tmp_path):
    life, row = with_secret("svc")
    K = life.model.kernel_(row[None], life.model.store.X)[0]
    life.model.forget([1000])
    assert not holds(pickle.dumps(life.model), K[:-1])


def test_a_row_that_leaves_the_window_is_not_in_the_object():
    life = Life(2, "svc", "rbf", False, window=40)
    X = SECRET[None] / 1e5
    life.model.partial_fit(X, [1])
    assert holds(pickle.dumps(life.model), X[0])
    life.add(40)
    assert not holds(pickle.dumps(life.model), X[0])


def test_a_pipeline_is_saved_without_a_forgotten_row(tmp_path):
    life, _ = with_secret("svc")
    X, y = life.model.store.X.copy(), life.model.store.y.astype(int)
    pipe = make_pipeline(StandardScaler(), IncrementalSVC()).fit(X, y)
    path = tmp_path / "p.adatron"
    adatron.save(pipe, path)
    row = pipe[-1].store.X[40].copy()
    assert holds(path.read_bytes(), row)
    pipe[-1].forget([40])
    adatron.save(pipe, path)
    assert not holds(path.read_bytes(), row)
    np.testing.assert_array_equal(adatron.load(path).decision_function(X), pipe.decision_function(X))


def test_a_deleted_file_stays_deleted_and_a_copy_knows_of_none(tmp_path):
    life, _ = with_secret("svc")
    path = tmp_path / "m.adatron"
    adatron.save(life.model, path)
    for other in (copy.deepcopy(life.model), pickle.loads(pickle.dumps(life.model))):  # noqa: S301 (our own bytes)
        assert other.files_ == []
    path.unlink()
    life.model.forget([1000])
    assert not path.exists()
    assert life.model.deletion_report()["holds"] == []


def killed_while_it_saves(model, path):
    """A child dies within a save, and leaves a file with all of the model."""
    child = os.fork()
    if child == 0:
        os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
        adatron.save(model, path)
    os.waitpid(child, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a fork")
@pytest.mark.parametrize("how", ["stream", "save", "load"])
def test_what_a_killed_process_left_is_removed(how, tmp_path):
    life, row = with_secret("svc")
    path, other = tmp_path / "m.adatron", tmp_path / "other.adatron"
    for place in (path, other):
        adatron.save(life.model, place)
        killed_while_it_saves(life.model, place)
    left = {file for file in tmp_path.iterdir() if file.name.startswith(".")}
    assert len(left) == 2
    assert all(holds(file.read_bytes(), row) for file in left)
    if how == "save":
        adatron.save(life.model, path)
    elif how == "load":
        adatron.load(path)
    else:
        (tmp_path / "lines.csv").write_text("-1000\n")
        assert main(["stream", str(path), str(tmp_path / "lines.csv"), "--quiet"]) == 0
    assert len({file for file in tmp_path.iterdir() if file.name.startswith(".")} & left) == 1  # the other model's
    with atomic_write(path) as stream:
        stream.write(b"new")
        remove_leftovers(path)  # it is no leftover
    assert path.read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_only_has_the_name_of_a_leftover_stays(tmp_path):
    path = tmp_path / "m.adatron"
    life, _ = with_secret("svc")
    adatron.save(life.model, path)
    killed_while_it_saves(life.model, path)
    (left,) = tmp_path.glob(".*")
    pipe, link = (left.with_name(left.name[:-5] + end) for end in ("y.tmp", "z.tmp"))
    os.mkfifo(pipe)  # opening it would wait for ever
    link.symlink_to(path)
    assert 1000 not in adatron.load(path).forget([1000]).ids_
    assert sorted(tmp_path.iterdir()) == sorted([path, pipe, link])


@pytest.mark.skipif(os.name != "posix", reason="folders are synchronised on POSIX")
def test_the_name_of_a_file_is_on_the_disk_too(tmp_path, monkeypatch):
    path, seen = tmp_path / "m.adatron", []
    sync = os.fsync

    def watched(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            seen.append((os.path.samestat(os.fstat(descriptor), tmp_path.stat()), path.exists()))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    adatron.save(IncrementalSVC(), path)
    assert seen == [(True, True)]
