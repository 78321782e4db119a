"""A fitted model is what was fitted: parameters that are set afterwards change nothing. A weight is a repetition."""

import numpy as np
import pytest

from adatron import SVC, SVR, NuSVC, NuSVR, OneClassSVM, load, save
from adatron.kernels import RBF, Linear
from machines import two_moons, values

OTHER = {"kernel": "poly", "gamma": 7.0, "degree": 5, "coef0": 3.0}
MACHINES = {"SVC": SVC, "NuSVC": NuSVC, "SVR": SVR, "NuSVR": NuSVR, "OneClassSVM": OneClassSVM}


@pytest.mark.parametrize(
    "change", [OTHER, {"kernel": "precomputed"}, {"kernel": "linear"}, {"kernel": RBF(3.0)}], ids=str
)
@pytest.mark.parametrize("machine", MACHINES)
def test_parameters_set_after_the_fit_change_nothing(machine, change, tmp_path):
    X, y = two_moons()
    model = MACHINES[machine]().fit(X, y)
    before, ours = values(model, X), model.compact()
    model.set_params(**change)
    np.testing.assert_array_equal(values(model, X), before)
    np.testing.assert_array_equal(values(ours, X), values(model.compact(), X))
    np.testing.assert_allclose(values(model.to_sklearn(), X), before, atol=1e-9)
    assert not hasattr(model, "coef_")
    save(model, tmp_path / "m.adatron")
    np.testing.assert_array_equal(values(load(tmp_path / "m.adatron"), X), before)


def test_a_linear_model_keeps_its_weights_and_its_libsvm_text(tmp_path):
    from adatron.files import save_libsvm

    X, y = two_moons()
    model = SVC(kernel="linear").fit(X, y)
    weights = model.coef_.copy()
    save_libsvm(model, tmp_path / "before")
    model.set_params(kernel="precomputed", C=3.0)
    np.testing.assert_array_equal(model.coef_, weights)
    save_libsvm(model, tmp_path / "after")
    assert (tmp_path / "after").read_text() == (tmp_path / "before").read_text()
    np.testing.assert_array_equal(SVC(kernel=Linear()).fit(X, y).coef_, weights)


def test_given_values_stay_given():
    X, y = two_moons()
    K = RBF(1.0)(X)
    model = SVC(kernel="precomputed").fit(K, y)
    before = model.decision_function(K)
    np.testing.assert_array_equal(model.set_params(kernel="rbf").decision_function(K), before)


def test_a_class_whose_rows_have_no_weight_is_no_class_for_balanced_weights():
    X, y = two_moons()
    y = np.where(np.arange(len(X)) < 5, 7, y)
    weight = (y != 7).astype(float)
    with_it, without = (SVC(class_weight="balanced").fit(X[some], y[some], weight[some]) for some in (y == y, y != 7))
    np.testing.assert_array_equal(with_it.class_weight_[:2], without.class_weight_)
