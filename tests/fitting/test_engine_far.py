"""Linear machines with an explicit bias, wherever the origin is: claims, predictions and weights of the given rows."""

import numpy as np
import pytest
from scipy import sparse

from adatron import SVC, SVR, NuSVC, NuSVR
from adatron.kernels import Linear
from twins.checker import truth
from twins.fitted import Task, programs
from twins.values import values

MACHINES = [SVC(), NuSVC(nu=0.4), SVR(), NuSVR()]


def data(machine, move, n=80):
    """Rows moved away, one column of them sparse, and targets that do not know of it."""
    rng = np.random.default_rng(0)
    near = rng.integers(-999, 1000, size=(n, 3)) / 512.0  # exact, moved or not
    near[rng.random(n) < 0.7, 2] = 0.0
    t = near @ [1.0, -1.0, 0.5] + 0.3 * rng.normal(size=n)
    y = t if isinstance(machine, (SVR, NuSVR)) else (t > 0).astype(int) + (t > 1)
    return near, near + move * np.array([1.0, -3.0, 0.0]), y


def decisions(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("move", [2.0**7, 2.0**17, 2.0**24, 2.0**30])
@pytest.mark.parametrize("machine", MACHINES, ids=lambda one: type(one).__name__)
def test_claims_hold_wherever_the_origin_is(machine, move, storage):
    near, far, y = data(machine, move)
    model = machine.set_params(kernel="linear").fit(storage(far), y)
    assert model.fit_status_ == 0
    task = Task(type(machine).__name__, model.get_params(), near, y)
    K, error = values(("linear",), near)  # the rows moved back are exact, and the program is theirs
    pairs = zip(
        programs(task, model), np.atleast_1d(model.kkt_violation_), np.atleast_1d(model.duality_gap_), strict=True
    )
    for program, violation, gap in pairs:
        true = truth(program, K, error)
        assert violation >= true.violation.least * (1 - 1e-9)
        assert gap >= true.gap.least * (1 - 1e-9)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kernel", [Linear(), 0.5 * Linear(), Linear() + 2.0 * Linear()], ids=str)
@pytest.mark.parametrize("machine", [SVC(), SVR()], ids=lambda one: type(one).__name__)
def test_values_are_those_of_the_rows_moved_back(machine, kernel, storage):
    near, far, y = data(machine, 2.0**24)
    y = y if isinstance(machine, SVR) else (y > 0).astype(int)
    machine.set_params(kernel=kernel, tol=1e-9)
    expected = decisions(machine.fit(near, y), near)
    model = machine.fit(storage(far), y)
    np.testing.assert_allclose(decisions(model, storage(far)), expected, atol=1e-5)
    if kernel == Linear():
        weights = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
        np.testing.assert_allclose((far @ weights.T).ravel() + model.intercept_, expected, atol=1e-5)


def test_float32_and_mapped_rows_are_centred_too(tmp_path):
    near, far, y = data(SVR(), 2.0**13)
    np.save(tmp_path / "rows.npy", far.astype(np.float32))
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    expected = SVR(kernel="linear", tol=1e-9).fit(near, y).predict(near)
    np.testing.assert_allclose(SVR(kernel="linear", tol=1e-9).fit(mapped, y).predict(mapped), expected, atol=1e-5)
