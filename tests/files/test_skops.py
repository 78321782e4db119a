"""skops loads models, and trusts no other class for them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, SVDD, SVR, IncrementalSVC, InputMarginSVC, NuSVC, NuSVR, OneClassSVM, skops_types
from adatron.kernels import RBF, Laplacian, Linear, Polynomial, Sigmoid
from adatron.solvers import ISDA, SMO

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
