"""NumPy's own warnings stay inside, whatever the size of the numbers; ours name the caller's line.

Also tested here: ``estimators/base/methods``.
"""

import warnings

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import adatron
from adatron import SVC, SVR, IncrementalSVC, input_margin

SIZES = st.sampled_from([1e-300, 1e-150, 1e-30, 1.0, 1e30, 1e100, 1e150, 1e300])
KERNELS = st.sampled_from(["linear", "rbf", "poly", "sigmoid", "laplacian", "precomputed", lambda X, Z: X @ Z.T])
NAMES = ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "SVDD", "InputMarginSVC", "IncrementalSVC",
         "IncrementalNuSVC", "IncrementalSVR", "IncrementalOneClassSVM", "IncrementalSVDD"]  # fmt: skip
SPOKEN = (ValueError, ArithmeticError, TypeError, TimeoutError)  # an error is a sentence


def tried(act):
    """The result, or None if an error says why there is none."""
    try:
        return act()
    except SPOKEN:
        return None


def parameters(data, name):
    """For a model of this name, as large or small as they may be."""
    own = {"kernel": data.draw(KERNELS), "gamma": data.draw(SIZES), "max_time": 0.3}
    known = getattr(adatron, name)().get_params()
    for key in ("C", "epsilon"):
        if key in known:
            own[key] = data.draw(SIZES)
    if "nu" in known:
        own["nu"] = data.draw(st.sampled_from([1e-6, 0.3]))
    if "augment" in known and data.draw(st.booleans()):
        own |= {"bias": "augmented", "augment": data.draw(st.sampled_from([1e-100, 1.0, 1e100]))}
    if "max_iter" in known:
        own["max_iter"] = 2000
    if "probability" in known and data.draw(st.booleans()):
        own["probability"] = True
    return own


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=12, deadline=None, derandomize=True, phases=[Phase.generate])
@given(data=st.data())
def test_no_warning_of_numpys_leaks(name, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    X, rows = (np.clip(rng.normal(size=(n, 3)) * data.draw(SIZES), -1e300, 1e300) for n in (30, 5))
    y = target = rng.integers(0, 2, 30)
    y[:2] = 0, 1
    if "SVR" in name:
        target = np.clip(rng.normal(size=30) * data.draw(SIZES), -1e300, 1e300)
    model = getattr(adatron, name)(**parameters(data, name))
    if model.kernel == "precomputed":
        A = rng.normal(size=(30, 3))
        X = rows = A @ A.T * data.draw(SIZES)
    elif data.draw(st.booleans()):
        X, rows = sparse.csr_matrix(X), sparse.csr_matrix(rows)
    weight = data.draw(st.sampled_from([None, 1e-300, 1.0, 1e300]))
    heavy = {} if weight is None or name == "InputMarginSVC" else {"sample_weight": np.full(30, weight)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        if tried(lambda: model.fit(X, target, **heavy)) is None:
            return
        for method in ("predict", "decision_function", "score_samples", "predict_proba", "predict_log_proba"):
            if hasattr(model, method):
                tried(lambda: getattr(model, method)(rows))  # noqa: B023
        tried(model.compact)
        if hasattr(model, "partial_fit"):
            for act in (lambda: model.partial_fit(X[:2], target[:2]), lambda: model.forget([0]), model.loo_error):
                tried(act)
        if "SVC" in name:
            tried(lambda: input_margin(model, rows))


@pytest.mark.parametrize("estimator", [SVC(C=1e6, max_iter=1), SVR(C=1e6, max_iter=1)])
def test_a_warning_of_ours_names_the_line_of_the_caller(estimator):
    X = np.random.default_rng(0).normal(size=(90, 3))
    with pytest.warns(ConvergenceWarning) as caught:
        estimator.fit(X, (X[:, 0] ** 2 > 0.5) * 1)
    assert [one.filename for one in caught] == [__file__]


@pytest.mark.parametrize(
    "act",
    [
        lambda model, X, y: model.fit(X, y),
        lambda model, X, y: model.partial_fit(X, y),
        lambda model, X, y: model.forget([0]),
    ],
    ids=["fit", "partial_fit", "forget"],
)
def test_a_warning_of_a_model_that_learns_names_the_line_of_the_caller(act):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0) * 1
    model = IncrementalSVC(kernel=lambda A, B: np.tanh(2.0 * A @ B.T - 1.0))  # not positive semi-definite
    with pytest.warns(ConvergenceWarning, match="Not certified"):
        model.fit(X[:50], y[:50])
    with pytest.warns(ConvergenceWarning, match="Not certified") as caught:
        act(model, X[50:], y[50:])
    assert [one.filename for one in caught] == [__file__]
    assert model.fit_status_ == 1
    assert np.isnan(model.duality_gap_)
    linear = IncrementalSVC(kernel=lambda A, B: A @ B.T).fit(X, y)
    assert linear.fit_status_ == 0
    assert 0.0 <= linear.duality_gap_ < 1e-9


def test_a_users_settings_are_left_alone():
    with np.errstate(over="raise"):
        SVC().fit([[0.0], [1.0], [2.0]], [0, 1, 1])
        assert np.geterr()["over"] == "raise"
