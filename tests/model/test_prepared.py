"""What predictions keep ready of a model is never older than the model."""

import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor
from copy import copy, deepcopy

import numpy as np
import pytest
from numba import types
from scipy import sparse
from sklearn.base import clone

from adatron import SVC, SVR, OneClassSVM, input_margin
from adatron.compiled import panels
from adatron.compiled.hash import hash_dense
from adatron.estimators.incremental import IncrementalSVC
from adatron.files import load, save
from adatron.gram.backends import tile_loop as tiles
from adatron.kernels import RBF
from adatron.model import decision, expansion
from machines import two_moons
from moments import calls

STORAGES = {"dense": np.asarray, "csr": sparse.csr_matrix}


@pytest.fixture
def made():
    """The expansions that are made."""
    with calls(expansion.Expansion.__init__, keep=lambda given, _: weakref.ref(given["self"])) as seen:
        yield seen


@pytest.fixture(params=STORAGES)
def data(request):
    X, y = two_moons()
    return STORAGES[request.param](X), y


def expected(model, X):
    """The decision values, from the kernel as a function."""
    rows, vectors = (part.toarray() if sparse.issparse(part) else part for part in (X, model.support_vectors_))
    dual = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
    return model.kernel_(rows, vectors) @ dual[0] + model.intercept_[0]


def through_a_pickle(model):
    return pickle.loads(pickle.dumps(model))  # noqa: S301 (its own)


def assert_as_made_anew(model, X):
    np.testing.assert_allclose(model.decision_function(X), expected(model, X), atol=1e-9)


def test_it_is_made_once(data, made):
    X, y = data
    model = SVC().fit(X, y)
    for rows in (X, X[:1], X[3:9]):
        assert_as_made_anew(model, rows)
        np.testing.assert_array_equal(model.predict(rows), np.where(expected(model, rows) >= 0, 1, y.min()))
    assert len(made) == 1


def test_arrays_in_place_of_its_own_are_noticed(data, made):
    X, y = data
    model = SVC().fit(X, y)
    assert_as_made_anew(model, X)
    model.dual_coef_ = 2.0 * model.dual_coef_
    assert_as_made_anew(model, X)
    model.support_vectors_ = 0.5 * model.support_vectors_
    assert_as_made_anew(model, X)
    assert len(made) == 3


def test_an_intercept_may_be_changed_in_place(data):
    X, y = data
    model = SVC().fit(X, y)
    before = model.decision_function(X)
    model.intercept_ -= 1.0
    np.testing.assert_allclose(model.decision_function(X), before - 1.0, atol=1e-12)
    assert_as_made_anew(model, X)


def test_support_vectors_cannot_be_changed_in_place(data):
    """From the fit on: a prediction changes nothing of the model."""
    X, y = data
    model = SVC().fit(X, y)
    values = model.support_vectors_
    values = values.data if sparse.issparse(values) else values
    with pytest.raises(ValueError, match="read-only"):
        values *= 2.0
    for array in filter(lambda array: array is not None, (values.base, values)):
        array.flags.writeable = True
    values *= 2.0
    assert_as_made_anew(model, X)


def test_dual_coefficients_can_also_through_a_view(data):
    X, y = data
    model = SVC().fit(X, y)
    values = model.dual_coef_.data if sparse.issparse(model.dual_coef_) else model.dual_coef_[0]
    assert_as_made_anew(model, X)
    before = model.decision_function(X)
    values *= 2.0
    assert_as_made_anew(model, X)
    assert (model.decision_function(X) != before).any()


def test_arrays_in_the_place_of_those_of_csr_are_noticed():
    X, y = two_moons()
    model = SVC().fit(sparse.csr_matrix(X), y)
    assert_as_made_anew(model, X := sparse.csr_matrix(X))
    before, other = model.decision_function(X), 0.5 * model.support_vectors_.data
    other.flags.writeable = False
    model.support_vectors_.data = other
    assert_as_made_anew(model, X)
    assert (model.decision_function(X) != before).any()


def test_another_kernel_and_another_layout_are_noticed():
    X, y = two_moons()
    model = SVC().fit(X, y)
    assert_as_made_anew(model, X)
    model.kernel_ = RBF(5.0)
    assert_as_made_anew(model, X)
    several = SVC(decision_function_shape="ovo").fit(X, np.arange(len(X)) % 3)
    several.predict(X)
    several._n_support = several._n_support[::-1].copy()
    other = copy(several)
    np.testing.assert_array_equal(several.decision_function(X), other.decision_function(X))


def test_what_belongs_to_others_stays_writable(made):
    X, y = two_moons()
    model = SVC().fit(X, y)
    theirs, whole = model.to_sklearn(), np.concatenate([model.support_vectors_, model.support_vectors_])
    assert_as_made_anew(model, X)
    theirs.support_vectors_ *= 1.0
    theirs.dual_coef_ *= 1.0
    model.support_vectors_ = whole[: len(whole) // 2]
    assert_as_made_anew(model, X)
    before = model.decision_function(X)
    whole *= 0.5
    assert_as_made_anew(model, X)
    assert (model.decision_function(X) != before).any()


def test_models_that_are_not_hashable_and_kernels_that_know_their_model():
    class Own(SVC):
        __hash__ = None

        def __eq__(self, other):
            raise AssertionError("nobody needs to compare models")

        def values(self, A, B):
            return A @ B.T

    X, y = two_moons()
    model = Own().fit(X, y)
    assert_as_made_anew(model, X)
    model.set_params(kernel=model.values).fit(X, y).predict(X)
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_compiled_code_sees_writable_arrays_only():
    """For read-only ones it would be compiled once more."""
    X, y = two_moons()
    model = SVC().fit(X, y)
    model.predict(model.support_vectors_)  # may only be read from now on
    input_margin(model, model.support_vectors_)
    model.compact()
    compiled = panels.pack, panels.squared_norms, tiles._count_weights, hash_dense
    IncrementalSVC().fit(model.support_vectors_, y[model.support_])
    for one in (copy(model), deepcopy(model), model.set_params(precision="single")):
        one.predict(X)
        one.predict(X.astype(np.float32))
    for function in compiled:
        arrays = [kind for kinds in function.signatures for kind in kinds if isinstance(kind, types.Array)]
        assert all(kind.mutable for kind in arrays)


def heavy():
    """Samples of three classes, so many that predictions of all have threads."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 6)), rng.integers(0, 3, 1500)
    assert len(SVC().fit(X, y).support_) * X.size > decision.LIGHT
    return X, y


def test_what_is_kept_serves_every_kind_of_call():
    """One row and many, classes and values, both precisions: in any order the bits of a model that keeps nothing."""
    rng, (X, y) = np.random.default_rng(0), heavy()
    model = SVC(decision_function_shape="ovo").fit(X, y)
    for _ in range(40):
        rows = X[: rng.choice([1, 30, 1500])].astype(rng.choice([np.float32, np.float64]))
        method = rng.choice(["predict", "decision_function"])
        model.set_params(precision=str(rng.choice(["auto", "single", "double"])), n_jobs=int(rng.choice([1, 2])))
        np.testing.assert_array_equal(getattr(model, method)(rows), getattr(copy(model), method)(rows))


def test_a_model_that_is_fitted_again(data):
    X, y = data
    model = SVR().fit(X, y)
    old = model.predict(X)
    np.testing.assert_array_equal(model.fit(X, -y).predict(X), SVR().fit(X, -y).predict(X))
    assert abs(model.predict(X) - old).max() > 0.1


def test_it_goes_with_its_model_and_with_its_fit(data, made):
    X, _ = data
    model = OneClassSVM().fit(X)
    model.predict(X)
    model.fit(X)
    gc.collect()
    assert made[0]() is None
    model.predict(X)
    assert made[1]() is not None
    del model
    gc.collect()
    assert made[1]() is None


@pytest.mark.parametrize("again", [copy, deepcopy, through_a_pickle])
def test_copies_have_their_own(data, again):
    X, y = data
    model = SVC().fit(X, y)
    size, values = len(pickle.dumps(model)), model.decision_function(X)
    assert len(pickle.dumps(model)) == size
    other = again(model)
    other.dual_coef_ = -other.dual_coef_
    np.testing.assert_allclose(other.decision_function(X) - other.intercept_, model.intercept_ - values, atol=1e-12)
    np.testing.assert_array_equal(model.decision_function(X), values)
    assert not hasattr(clone(model), "dual_coef_")


def test_of_models_whose_arrays_are_made_anew_nothing_is_kept(made):
    X, y = two_moons()
    model = IncrementalSVC().fit(X[:60], y[:60])
    assert_as_made_anew(model, X)
    model.partial_fit(X[60:], y[60:])
    made.clear()
    for _ in range(2):
        assert_as_made_anew(model, X)
    assert len(made) == 2


@pytest.mark.parametrize("suffix", [".adatron", ".model"])
def test_a_loaded_model_keeps_it_too(data, suffix, tmp_path, made):
    X, y = data
    save(SVC().fit(X, y), tmp_path / f"moons{suffix}")
    model = load(tmp_path / f"moons{suffix}")
    rows = sparse.csr_matrix(X)[:3] if sparse.issparse(model.support_vectors_) else X[:3]
    for _ in range(3):
        assert_as_made_anew(model, rows)
    assert len(made) == 1


def test_what_scikit_learn_is_given_works_there(data):
    X, y = data
    model = SVC().fit(X, y)
    assert_as_made_anew(model, X)
    np.testing.assert_allclose(model.to_sklearn().decision_function(X), model.decision_function(X), atol=1e-9)


def test_several_threads_may_be_the_first():
    X, y = heavy()
    model, other = SVC().fit(X, y), SVC().fit(X, y)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: model.predict(X), range(32)))
    for values in found:
        np.testing.assert_array_equal(values, other.predict(X))
