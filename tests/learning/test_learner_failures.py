"""Whatever goes wrong, an incremental model is as it was; copies go their own ways."""

import copy
import os
import pickle
import signal
import stat
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import adatron
from adatron import IncrementalNuSVC, IncrementalSVC
from adatron.cli import main
from adatron.compiled.cache.uninterrupted import uninterrupted
from adatron.estimators.base.convergence import warn_unless_converged
from adatron.files.atomic import atomic_write, remove_leftovers
from adatron.kernels import RBF
from adatron.learning import track
from adatron.learning.store import Store
from lives import MODELS, Life
from machines import values
from moments import at, raising


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (lambda m, X, y: m.partial_fit(X, y, ids=[3, 99]), "ids must be new, each of them once. Got 3"),
        (lambda m, X, y: m.partial_fit(X, y, ids=[99, 99]), "ids must be new, each of them once. Got 99"),
        (lambda m, X, y: m.partial_fit(X, y, ids=[99]), "ids must name every sample. Got 1 ids for 2"),
        (lambda m, X, y: m.partial_fit(X, y, ids=[0.5, 1.5]), "ids must be whole numbers"),
        (lambda m, X, y: m.partial_fit(X[:, :2], y), "X has 2 features, but IncrementalSVC is expecting 3"),
        (lambda m, X, y: m.partial_fit(X * np.nan, y), "Input X contains NaN"),
        (lambda m, X, y: m.partial_fit(X, [0, 7]), "y must hold labels among the classes"),
        (lambda m, X, y: m.partial_fit(X, y, classes=[0, 1, 2]), "classes must be those of the first call"),
        (lambda m, X, y: m.partial_fit(X, y, sample_weight=[0, 0]), "all samples have zero or negative weights"),
        (lambda m, X, y: m.forget([1, 77]), "ids must be those of samples that are in the model. Got 77"),
        (lambda m, X, y: m.forget([1, 1]), "ids must not repeat"),
        (lambda m, X, y: m.forget(m.ids_), "ids must leave at least one sample"),
        (lambda m, X, y: m.set_C(-1.0), "The 'C' parameter must be a float"),
        (lambda m, X, y: m.set_params(gamma=3.0).partial_fit(X, y), "The 'gamma' parameter was changed"),
        (lambda m, X, y: m.C_path(np.inf), "A path in C needs finite ends"),
    ],
)
def test_bad_input_leaves_the_model_as_it_was(act, error):
    life = Life(7, "svc", "rbf", False)
    X, y = life.samples(2)
    with pytest.raises(ValueError, match=error):
        act(life.model, X, y)
    life.model.set_params(gamma=0.5)
    life.assert_solved()


@pytest.mark.parametrize("kind", list(MODELS))
def test_a_fit_that_fails_leaves_the_model_as_it_was(kind):
    life = Life(7, kind, "rbf", False)
    X, y = life.samples(9)
    with pytest.raises(ValueError, match="all samples have zero or negative weights"):
        life.call(life.model.fit, X[:, :2], y, sample_weight=np.zeros(9))
    life.add(1)
    life.assert_solved()


def test_an_infeasible_nu_is_refused():
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.repeat([0, 1], 20)
    model = IncrementalNuSVC(nu=0.9, gamma=0.5).fit(X, y)
    before = model.decision_function(X)
    for act in (lambda: model.forget(np.arange(8)), lambda: model.partial_fit(X[:10] + 0.1, y[:10])):
        with pytest.raises(ValueError, match="specified nu is infeasible"):
            act()
        np.testing.assert_allclose(model.decision_function(X), before, atol=1e-9)
        assert len(model.ids_) == 40


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("act", ["partial_fit", "forget", "set_C"])
def test_whatever_goes_wrong_on_the_way_the_model_is_as_it_was(act, error, number):
    life = Life(8, "svc", "rbf", False, n=60, classes=3, window=60)
    X, y = life.samples(9)
    arguments = {"partial_fit": (X, y), "forget": (np.arange(20),), "set_C": (9.0,)}[act]
    with at(RBF.__call__, raising(error), number=number), pytest.raises(error):
        getattr(life.model, act)(*arguments)
    life.assert_solved()


def interrupted(function):
    """Ctrl-C comes when the function begins."""
    return at(function, lambda _: signal.raise_signal(signal.SIGINT))


def failing(function):
    """Something fails when the function is done."""
    return at(function, raising(MemoryError), end=True)


ENDS = [track.Track.drop, Store.keep, track.Track.fitted, warn_unless_converged]  # the last one ends every change


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [interrupted, failing])
@pytest.mark.parametrize("where", ENDS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("act", ["partial_fit", "forget", "set_C"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_whatever_goes_wrong_at_the_end_the_model_is_as_it_was(form, act, where, wrong):
    if (act == "set_C" and where in ENDS[:2]) or (where is Store.keep and wrong is failing):
        return  # they do not come there; and what ``keep`` has done is all or nothing
    life = Life(8, "svc", "rbf", False, n=60, classes=3, window=60)
    model, (X, y) = life.model, life.samples(9)
    model.fit(form(model.store.X), model.store.y.astype(int))
    before, proof, ids = model.decision_function(form(X)), model.kkt_violation_, model.ids_
    arguments = {"partial_fit": (form(X), y), "forget": (np.arange(20),), "set_C": (9.0,)}[act]
    with wrong(where), pytest.raises((KeyboardInterrupt, MemoryError)):
        getattr(model, act)(*arguments)
    assert model.C == 1.0
    assert model.kkt_violation_ is proof
    np.testing.assert_array_equal(model.ids_, ids)
    np.testing.assert_array_equal(model.decision_function(form(X)), before)
    getattr(model, act)(*arguments)  # and goes on as if nothing had happened
    fresh = clone(model).fit(model.store.X.copy(), model.store.y.astype(int))
    np.testing.assert_allclose(model.decision_function(form(X)), fresh.decision_function(form(X)), atol=1e-7)


def test_a_store_that_found_no_memory_goes_on(monkeypatch):
    life = Life(8, "svc", "rbf", False)
    X, y = life.samples(100)
    zeros = np.zeros

    def scarce(shape, dtype=float):
        if np.size(shape) == 2 and shape[1] == X.shape[1]:  # a table of samples
            raise MemoryError
        return zeros(shape, dtype)

    with monkeypatch.context() as patch:
        patch.setattr(np, "zeros", scarce)
        with pytest.raises(MemoryError):
            life.model.partial_fit(X, y)
    life.assert_solved()
    life.add(100)
    life.assert_solved()


def test_a_step_that_failed_leaves_no_row_in_the_spare_room():
    life = Life(8, "svc", "rbf", False)
    life.add(1)
    X, y = np.full((2, 3), 1.234567), np.array([0, 1])
    with failing(warn_unless_converged), pytest.raises(MemoryError):
        life.model.partial_fit(X, y)
    assert np.float64(1.234567).tobytes() not in pickle.dumps(life.model)
    life.assert_solved()


@pytest.mark.parametrize("kind", list(MODELS))
def test_a_copy_goes_its_own_way(kind):
    life = Life(6, kind, "rbf", False)
    X, _ = life.samples(20)
    other, ids, before = copy.copy(life.model), life.model.ids_, values(life.model, X)
    other.forget(ids[:5])
    np.testing.assert_array_equal(life.model.ids_, ids)
    np.testing.assert_array_equal(values(life.model, X), before)
    life.assert_solved()
    life.model = other
    for one in ids[:5]:
        del life.kept[int(one)]
    life.step()
    life.assert_solved()


@pytest.mark.parametrize("kind", list(MODELS))
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_compact_model_predicts_and_no_more(kind, kernel):
    life = Life(6, kind, kernel, False)
    X, y = life.samples(20)
    model = life.model.compact()
    before = values(model, X)
    np.testing.assert_allclose(before, values(life.model, X), atol=1e-9)
    life.add(3)
    life.forget(5)
    np.testing.assert_array_equal(values(model.compact(), X), before)
    for act in (
        lambda: life.call(model.partial_fit, X, y),
        lambda: model.forget([1]),
        model.loo_error,
        model.deletion_report,
        lambda: model.ids_,
    ):
        with pytest.raises(ValueError, match="A compact model has no samples"):
            act()
    assert not hasattr(model, "ids_")
    assert "ids_" not in dir(model)
    life.call(model.fit, X, y)
    np.testing.assert_array_equal(values(model, X), values(life.call(clone(model).fit, X, y), X))
    life.call(model.partial_fit, X, y)


def test_ctrl_c_waits_for_a_commit():
    done = []

    def commit():
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            done.append(1)

    with pytest.raises(KeyboardInterrupt):
        commit()
    assert done
    with ThreadPoolExecutor(1) as pool:  # another thread cannot hold it back, and need not
        pool.submit(lambda: uninterrupted().__enter__()).result()


def test_a_handler_that_is_not_pythons_stays(monkeypatch):
    monkeypatch.setattr(signal, "getsignal", lambda number: None)
    monkeypatch.setattr(signal, "signal", lambda number, handler: pytest.fail("replaced"))
    with uninterrupted():
        pass


def test_samples_that_no_plane_separates_are_refused_by_a_hard_margin():
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]), [0, 1, 1]
    model = IncrementalSVC(C=np.inf, kernel="linear").fit(X, y)
    with pytest.raises(ValueError, match="No plane separates"):
        model.partial_fit([[1.5, 1.5]], [0])
    assert model.ids_.tolist() == [0, 1, 2]
    assert model.forget([2]).kkt_violation_ <= 1e-9
    with pytest.raises(ValueError, match="No plane separates"):
        model.fit([*X, [1.5, 1.5]], [*y, 0])
    assert model.ids_.tolist() == [0, 1]


def test_a_margin_that_is_rounding_divides_nothing():
    """Classes that no linear function divides, and a nu below what that takes: w is 0, and so is the margin."""
    found = 0
    for seed in range(12):
        model = Life(seed, "nusvc", "linear", False).model
        if np.abs(model.dual_objective_) < 1e-12:
            assert np.abs(model.dual_coef_).max() <= model.store.weight.max()
            found += 1
    assert found


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
