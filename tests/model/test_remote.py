"""Decision values on a device are those of the processor, and a row's value does not depend on the rows beside it."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_classification

from adatron import SVC, SVR, InputMarginSVC, OneClassSVM

torch = pytest.importorskip("torch", reason="needs the extra gpu")
from twins.devices import host, needs_compiler, plain  # noqa: E402

X, y = make_classification(300, 6, n_informative=4, random_state=0)
MANY = make_blobs(300, 6, centers=4, cluster_std=4.0, random_state=0)
MODELS = {
    "two classes": SVC(C=2.0).fit(X, y),
    "votes": SVC(C=2.0).fit(*MANY),
    "against the rest": SVC(C=2.0, multi_class="ovr").fit(*MANY),
    "regression": SVR().fit(X, X[:, 0]),
    "novelty": OneClassSVM(nu=0.2).fit(X),
    "compact": SVC(C=2.0, kernel="poly").fit(X, y).compact(),
    "input margin": InputMarginSVC(C=2.0, algorithm="simplified", n_steps=1).fit(X[:60], y[:60]),
}
NEW = np.random.default_rng(1).standard_normal((90, 6))


def asked(model, rows):
    return [getattr(model, name)(rows) for name in ("predict", "decision_function") if hasattr(model, name)]


@pytest.mark.parametrize("place", [plain(), pytest.param(host(), marks=needs_compiler)], ids=["torch", "cuda source"])
@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_those_of_the_processor(name, place):
    model = MODELS[name]
    truth = asked(model, NEW)
    try:
        found = asked(model.set_params(device=place), NEW)
        alone = asked(model, NEW[40:43])
    finally:
        model.set_params(device=None)
    for one, other in zip(found, truth, strict=True):
        assert np.allclose(one, other, rtol=0.0, atol=1e-11)
    if type(place.tiles(model.kernel_)).__name__ == "CudaTiles":
        for one, part in zip(found, alone, strict=True):
            assert np.array_equal(one[40:43], part)


@needs_compiler
def test_single_precision_is_for_rows_of_which_it_says_anything():
    model = SVC(C=2.0, precision="single", device=host()).fit(X, y)
    far = NEW.copy()
    far[5] *= 1e4
    found, truth = (
        model.decision_function(far),
        model.set_params(device=None, precision="double").decision_function(far),
    )
    assert np.abs(found - truth).max() < 1e-4
    assert found[5] == pytest.approx(truth[5], abs=1e-11)


def test_tensors_come_back_as_tensors_if_scikit_learn_is_told_so(monkeypatch):
    import sklearn

    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    rows = torch.from_numpy(NEW)
    model = SVC(C=2.0, device=plain()).fit(torch.from_numpy(X), torch.from_numpy(y))
    assert isinstance(model.predict(rows), np.ndarray)
    with sklearn.config_context(array_api_dispatch=True):
        found, values = model.predict(rows), model.decision_function(rows)
    assert isinstance(found, torch.Tensor)
    assert isinstance(values, torch.Tensor)
    assert np.array_equal(found.numpy(), model.predict(NEW))


def test_bad_rows_are_refused_as_on_the_processor():
    model = SVC(C=2.0, device=plain()).fit(X, y)
    with pytest.raises(ValueError, match="X has 5 features, but SVC is expecting 6"):
        model.predict(torch.from_numpy(NEW[:, :5].copy()))
    wrong = torch.from_numpy(NEW.copy())
    wrong[3, 2] = float("nan")
    with pytest.raises(ValueError, match="contains NaN"):
        model.predict(wrong)
    with pytest.raises(ValueError, match="Expected 2D array"):
        model.predict(torch.zeros(6, dtype=torch.float64))


def test_small_predictions_are_for_the_processor():
    model = SVC(C=2.0).fit(X, y)
    truth = model.decision_function(NEW)
    assert np.array_equal(model.set_params(device=plain(prediction=1e12)).decision_function(NEW), truth)


def test_predictions_with_too_little_room_are_for_the_processor():
    model = SVC(C=2.0).fit(X, y)
    truth = model.decision_function(NEW)
    assert np.array_equal(model.set_params(device=plain(bytes=1e3)).decision_function(NEW), truth)
