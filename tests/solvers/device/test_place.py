"""Where a fit is computed, and what says so.

Also tested here: ``fitting/engine``.
"""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification

import adatron
from adatron import SVC, IncrementalSVC
from adatron.kernels import RBF, Laplacian

torch = pytest.importorskip("torch", reason="needs the extra gpu")
from twins.devices import plain  # noqa: E402

X, y = make_classification(300, 6, random_state=0)


def test_the_route_says_where():
    model = SVC(device=plain()).fit(X, y)
    assert model.route_.device == "twin"
    assert str(model.route_).splitlines()[-1] == "on twin: asked for"
    assert "on the device" in str(model.route_)
    assert len(str(SVC().fit(X, y).route_).splitlines()) == 3


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"device": plain(fit=1e12)}, "so few kernel values are faster there"),
        ({"device": plain(bytes=1e5)}, "one problem takes more than the 0.0 GB of the device"),
        ({"device": plain(), "C": np.inf}, "infinite bounds are for its solver only"),
        ({"device": plain(), "solver": "smo"}, "the solver works there only"),
    ],
)
def test_the_processor_does_what_a_device_should_not(how, reason):
    given = X + 3.0 * y[:, None]  # separable
    model, other = SVC(**how).fit(given, y), SVC(**{**how, "device": None}).fit(given, y)
    assert model.route_.device == ""
    assert str(model.route_).splitlines()[-1] == f"on the processor: {reason}"
    assert np.array_equal(model.dual_coef_, other.dual_coef_)


def test_what_no_device_evaluates_is_refused():
    device = plain()
    with pytest.raises(ValueError, match=r"device='twin' takes no sparse X\. Leave device out, or pass X\.toarray"):
        SVC(device=device).fit(sparse.csr_matrix(np.tile(X, (1, 100))), y)
    with pytest.raises(ValueError, match="does not evaluate the 'laplacian' kernel: its distances are sums"):
        SVC(device=device, kernel="laplacian").fit(X, y)
    with pytest.raises(ValueError, match="does not evaluate the 'sum' kernel"):
        SVC(device=device, kernel=RBF(1.0) + Laplacian(1.0)).fit(X, y)
    with pytest.raises(ValueError, match="its values come from a function in Python"):
        SVC(device=device, kernel=lambda A, B: A @ B.T).fit(X, y)
    with pytest.raises(ValueError, match="its values are given"):
        SVC(device=device, kernel="precomputed").fit(X @ X.T, y)


def test_machines_that_learn_refuse_arrays_of_a_device():
    with pytest.raises(TypeError, match="IncrementalSVC learns on the processor, and X is on a device"):
        IncrementalSVC().fit(torch.zeros((4, 2), device="meta"), [0, 1, 0, 1])
    with pytest.raises(TypeError, match="device"):
        IncrementalSVC(device="cuda")


def test_copies_keep_the_device_and_files_do_not(tmp_path):
    model = clone(SVC(device=plain())).fit(X, y)
    assert model.device.label == "twin"
    adatron.save(model, tmp_path / "model.adatron")
    loaded = adatron.load(tmp_path / "model.adatron")
    assert loaded.device is None
    assert loaded.route_ == model.route_
    assert np.array_equal(loaded.dual_coef_, model.dual_coef_)
