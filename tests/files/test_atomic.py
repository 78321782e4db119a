"""Atomic writing: a file is the old one or the new one."""

import errno
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, SVDD, SVR, IncrementalSVC, InputMarginSVC, NuSVC, NuSVR, OneClassSVM, skops_types
from adatron.files import atomic_write, load, save
from adatron.kernels import RBF, Laplacian, Linear, Polynomial, Sigmoid
from adatron.solvers import ISDA, SMO


def full_disk(*arguments, **keywords):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("where", ["numpy.lib.format.write_array", "os.fsync", "pathlib.Path.replace"])
@pytest.mark.parametrize("old", [None, b"old model"])
def test_a_full_disk_leaves_the_old_file(model, tmp_path, monkeypatch, where, old):
    path = tmp_path / "m.adatron"
    if old is not None:
        path.write_bytes(old)
    monkeypatch.setattr(where, full_disk)
    with pytest.raises(OSError, match="No space left") as caught:
        save(model, path)
    assert caught.value.filename == str(path)
    assert [p.read_bytes() for p in tmp_path.iterdir()] == ([] if old is None else [old])


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_while_writing_leaves_the_old_file(tmp_path, error):
    path = tmp_path / "a"
    path.write_text("old")

    def write_and_fail():
        with atomic_write(path) as stream:
            stream.write(b"new")
            raise error

    with pytest.raises(error):
        write_and_fail()
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]


@pytest.mark.skipif(sys.platform == "win32", reason="locks otherwise")
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_keeps_models(model, tmp_path, monkeypatch, number):
    def no_lock(*arguments):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", no_lock)
    path = tmp_path / "m.adatron"
    for _ in range(2):  # the second time it replaces a file
        save(model, path)
    np.testing.assert_array_equal(load(path).dual_coef_, model.dual_coef_)
    assert list(tmp_path.iterdir()) == [path]


def test_links_and_permissions_stay(tmp_path):
    target, link = tmp_path / "a", tmp_path / "b"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    with atomic_write(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_device_is_written_not_replaced():
    with atomic_write(os.devnull) as stream:
        stream.write(b"gone")
    assert Path(os.devnull).is_char_device()


def test_a_missing_folder_is_named(tmp_path):
    path = tmp_path / "none" / "a"
    with pytest.raises(FileNotFoundError) as caught, atomic_write(path):
        pass
    assert caught.value.filename == str(path)


io = pytest.importorskip("skops.io", reason="skops is not installed: pip install skops")

TREE = RBF(0.1) + 2 * Linear() * Laplacian(0.1) + Sigmoid(0.01) + Polynomial(0.1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [
        SVC(),
        SVC(probability=True, solver=ISDA()),
        SVC(solver=SMO(), kernel=TREE, multi_class="ovr"),
        make_pipeline(StandardScaler(), NuSVC(nu=0.2)),
        SVR(),
        NuSVR(),
        OneClassSVM(),
        SVDD(kernel="linear"),
        InputMarginSVC(gamma=0.3),
        IncrementalSVC(),
    ],
    ids=str,
)
def test_models(model):
    X = np.random.default_rng(0).normal(size=(60, 2))
    X = sparse.csr_matrix(np.where(X > 0, X, 0.0)) if isinstance(model, NuSVR) else X
    model.fit(X, np.arange(60) % 3 if sparse.issparse(X) else (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5))
    model = model.compact() if isinstance(model, IncrementalSVC) else model
    loaded = io.loads(io.dumps(model), trusted=skops_types)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_no_other_class_is_trusted():
    assert all(name.startswith(("adatron.", "scipy.sparse.")) for name in skops_types)
    assert sorted(set(skops_types)) == skops_types


def test_a_state_that_no_fit_makes_is_refused():
    """As every such state is, see ``model/test_checks``; here of columns that are far outside."""
    X = sparse.random(60, 30, 0.2, format="csr", random_state=0)
    model = SVC().fit(X, np.arange(60) % 2)
    vectors = model.support_vectors_.copy()
    vectors.indices[:] = 2**31 - 1
    state = {**model.__getstate__(), "support_vectors_": vectors}
    vars(model)["__getstate__"] = lambda: state
    with pytest.raises(ValueError, match="not a valid state of a fitted SVC"):
        io.loads(io.dumps(model), trusted=skops_types)
