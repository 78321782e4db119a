"""A model is a value: nothing of it changes, it fits together, and predictions keep ready what they need of it."""

import gc
import pickle
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from copy import copy, deepcopy
from threading import Event

import numpy as np
import pytest
from numba import types
from scipy import sparse
from sklearn.base import clone

from adatron import SVC, SVR, NuSVR, OneClassSVM, input_margin
from adatron.compiled import panels
from adatron.estimators.base.attributes import in_short
from adatron.estimators.incremental import IncrementalSVC
from adatron.files import load, save
from adatron.kernels import RBF
from adatron.model import expansion
from adatron.model.model import Model, OverallCertificate
from adatron.threads.cost import NEW_POOL
from machines import altered, two_moons
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
    pickled = pickle.dumps(model)
    for rows in (X, X[:1], X[3:9]):
        assert_as_made_anew(model, rows)
        np.testing.assert_array_equal(model.predict(rows), np.where(expected(model, rows) >= 0, 1, y.min()))
    assert len(made) == 1
    assert pickle.dumps(model) == pickled
    np.testing.assert_array_equal(copy(model).decision_function(X), model.decision_function(X))
    assert not hasattr(clone(model), "dual_coef_")


def test_other_parts_make_another_model(data, made):
    X, y = data
    model = SVC().fit(X, y)
    assert_as_made_anew(model, X)
    for parts in ({"dual": 2.0 * model.dual_coef_}, {"vectors": 0.5 * model.support_vectors_}, {"kernel": RBF(5.0)}):
        assert_as_made_anew(altered(model, **parts), X)
    before = model.decision_function(X)
    np.testing.assert_allclose(altered(model, intercepts=model.intercept_ - 1.0).decision_function(X), before - 1.0)
    assert len(made) == 5


def test_no_attribute_of_a_fit_can_be_set():
    X, y = two_moons()
    models = SVC().fit(X, y), SVR().fit(X, y), IncrementalSVC().fit(X, y), OneClassSVM().fit(X)
    for model in models:
        for name in ("dual_coef_", "intercept_", "support_vectors_", "duality_gap_", "kernel_", "n_support_"):
            with pytest.raises(AttributeError, match=f"{name} belongs to the fitted model"):
                setattr(model, name, getattr(model, name))
        for array in (model.intercept_, model.dual_coef_):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0.0
    assert not hasattr(SVC(), "dual_coef_")


def test_parts_that_do_not_fit_each_other_make_no_model():
    X, y = two_moons()
    model = SVC().fit(X, y)
    for parts, fault in (
        ({"dual": np.ones((1, 10_000))}, "dual_coef_ has the shape"),
        ({"vectors": model.support_vectors_[:1]}, "support_vectors_ has the shape"),
        ({"counts": np.array([10**6, 10**6], np.int32)}, "dual_coef_"),
        ({"intercepts": np.zeros(3)}, "intercept_ is not that of 1 problems"),
        ({"compact": 1}, "compact_ is neither true nor false"),
        ({"width": None}, "n_features_in_ is missing"),
        ({"kernel": "rbf"}, "kernel_ is no kernel"),
        ({"tilts": np.ones((3, 2)), "problem": np.zeros(3, int)}, "tilts_ and problem_"),
    ):
        with pytest.raises(ValueError, match=fault):
            altered(model, **parts)


def test_predictions_while_another_thread_fits_are_of_one_model():
    """Of the old model or of the new one, and of a model that learns or forgets: of one that it was."""
    X, y = two_moons()
    for model, again in (
        (SVC(C=3.0), lambda m, sign: m.fit(X, sign * y)),
        (SVR(C=3.0), lambda m, sign: m.fit(X, sign * y)),
        (IncrementalSVC(), lambda m, sign: m.fit(X, sign * y)),
    ):
        known = {again(model, sign).predict(X).tobytes() for sign in (1, -1)}
        ended, found = Event(), set()

        def watch(model=model, ended=ended, found=found):
            while not ended.is_set():
                found.add(model.predict(X).tobytes())

        with ThreadPoolExecutor(2) as threads:
            watching = [threads.submit(watch) for _ in range(2)]
            for sign in (1, -1) * 15:
                again(model, sign)
            ended.set()
            for one in watching:
                one.result()
        assert found <= known


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


def test_arrays_in_the_place_of_those_of_csr_do_no_harm():
    X, y = two_moons()
    X = sparse.csr_matrix(X)
    used, fresh = SVC().fit(X, y), SVC().fit(X, y)
    used.decision_function(X)
    for model in (used, fresh):
        model.support_vectors_.indices = np.full_like(model.support_vectors_.indices, 2**31 - 1)
        with pytest.raises(ValueError, match="were altered"):
            model.decision_function(X)


def test_a_model_by_itself_is_checked_too():
    X, y = two_moons()
    model = SVC().fit(X, y).model_
    for again in (deepcopy(model), through_a_pickle(model)):
        np.testing.assert_array_equal(again.coefficients(), model.coefficients())
        assert not again.support.flags.writeable
    state = {**model.__getstate__(), "counts": np.array([10**6, 10**6], np.int32)}
    with pytest.raises(ValueError, match="dual_coef_"):
        object.__new__(Model).__setstate__(state)


def test_a_fit_that_fails_leaves_the_machine_as_it_was():
    X, y = two_moons()
    model = SVC().fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="classes"):
        model.fit(X[:, :1], np.zeros(len(X)))
    np.testing.assert_array_equal(model.decision_function(X), before)
    np.testing.assert_array_equal(through_a_pickle(model).decision_function(X), before)


def test_what_belongs_to_others_stays_writable(made):
    X, y = two_moons()
    model = SVC().fit(X, y)
    theirs, whole = model.to_sklearn(), np.concatenate([model.support_vectors_, model.support_vectors_])
    assert_as_made_anew(model, X)
    theirs.support_vectors_ *= 1.0
    theirs.dual_coef_ *= 1.0
    model = altered(model, vectors=whole[: len(whole) // 2])
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
    compiled = panels.pack, panels.squared_norms
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
    assert len(SVC().fit(X, y).support_) * X.size > NEW_POOL
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


@pytest.mark.slow
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


def test_each_step_of_a_learning_model_makes_another_one(made):
    X, y = two_moons()
    model = IncrementalSVC().fit(X[:60], y[:60])
    assert_as_made_anew(model, X)
    model.partial_fit(X[60:], y[60:])
    made.clear()
    for _ in range(2):
        assert_as_made_anew(model, X)
    assert len(made) == 1


@pytest.mark.parametrize("suffix", [".adatron", ".model"])
def test_a_loaded_model_keeps_it_too(data, suffix, tmp_path, made):
    X, y = data
    save(SVC().fit(X, y), tmp_path / f"moons{suffix}")
    model = load(tmp_path / f"moons{suffix}")
    rows = sparse.csr_matrix(X)[:3] if sparse.issparse(model.support_vectors_) else X[:3]
    for _ in range(3):
        assert_as_made_anew(model, rows)
    assert len(made) == 1


def test_several_threads_may_be_the_first():
    X, y = heavy()
    model, other = SVC().fit(X, y), SVC().fit(X, y)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: model.predict(X), range(32)))
    for values in found:
        np.testing.assert_array_equal(values, other.predict(X))


def test_an_incremental_model_calls_nothing_proven_that_is_tracked():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=80) > 0).astype(int)
    model = IncrementalSVC(C=1).fit(X[:60], y[:60]).partial_fit(X[60:], y[60:]).forget([3, 5])
    worst = model.certificate_
    assert not worst.proven
    assert repr(worst).startswith("<not proven: relative duality gap about ")
    assert "deletion_report() has the bounds" in str(worst)
    assert "≤" not in str(in_short("certificate_", worst))
    assert "<b>Not proven:" in worst._repr_html_()
    assert model.deletion_report()["kkt_violation"] >= worst.violation
    assert SVC().fit(X, y).certificate_.proven


def test_a_model_of_which_nothing_is_known_says_so():
    assert repr(OverallCertificate(float("nan"), float("nan"), True, 1)) == "<not proven: nothing is known>"


def products(A, B):
    return A @ B.T


def test_a_regression_looks_at_each_sample_once():
    """NuSVR has two variables of a sample: both would take the place of samples that nobody looks at."""
    X = np.random.default_rng(0).normal(size=(500, 3))
    K = np.exp(-0.1 * np.square(X[:, None] - X).sum(axis=-1))
    for bad in (22, 251, 444):
        damaged = K.copy()
        damaged[bad, bad] = -1.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = NuSVR(kernel="precomputed", C=1.0, nu=0.1).fit(damaged, np.sin(X[:, 0]))
        assert not model.certificate_.proven


@pytest.mark.parametrize("n", [512, 513])
@pytest.mark.parametrize("kernel", ["precomputed", products, "linear"], ids=["precomputed", "function", "linear"])
def test_a_kernel_of_which_not_all_rows_were_looked_at_has_a_condition(kernel, n, tmp_path):
    X = np.random.default_rng(0).normal(size=(n, 2))
    y = (X[:, 0] > 0).astype(int)
    model = SVC(kernel=kernel, gamma=1e-4).fit(X @ X.T if kernel == "precomputed" else X, y)
    conditional = n > 512 and kernel != "linear"
    assert model.certificate_.converged
    assert model.certificate_.proven is not conditional
    condition = " if the kernel is positive semi-definite" * conditional
    assert repr(model.certificate_).startswith(f"<proven{condition}: relative duality gap <= ")
    assert str(model.certificate_).startswith("proven if" if conditional else "relative duality gap")
    if isinstance(kernel, str):
        save(model, tmp_path / "m.adatron")
        assert repr(load(tmp_path / "m.adatron").certificate_) == repr(model.certificate_)
        assert repr(model.compact().certificate_) == repr(model.certificate_)
