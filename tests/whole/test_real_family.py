"""The five estimators on real data beside scikit-learn at tol=1e-6, inputs and targets standardised."""

from functools import cache

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.utils import gen_batches

from adatron import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from adatron.files import read

pytestmark = pytest.mark.data


@cache
def abalone(folder):
    """Eleven features: the sex is one of three."""
    table = np.loadtxt(folder / "abalone.csv", delimiter=",", dtype=str)
    sex = table[:, :1] == np.array(["M", "F", "I"])
    return _standard(np.hstack([sex, table[:, 1:-1].astype(float)]), table[:, -1].astype(float))


def housing(folder):
    table = read(folder / "cal.housing.arff.gz")
    return _standard(table.X[:10_000], table.y[:10_000])


@cache
def cpu(folder):
    table = read(folder / "cpu.small.arff")
    return _standard(table.X, table.y)


def heart(folder):
    table = read(folder / "heart_scale")
    return table.X.toarray(), table.y


def adults(folder):
    """Sparse rows."""
    table = read(folder / "a9a.gz")
    return table.X, table.y


def usps(first, second):
    def load(folder):
        table = _digits(folder)
        some = (table.y == first) | (table.y == second)
        return table.X[some], table.y[some]

    return load


@cache
def _digits(folder):
    return read(folder / "zip.train.gz", label=0)


def ionosphere(folder):
    """The good returns."""
    table = np.loadtxt(folder / "ionosphere.data", delimiter=",", dtype=str)
    X = StandardScaler().fit_transform(table[:, :-1].astype(float))
    return X[table[:, -1] == "g"], None


def _standard(X, y):
    return StandardScaler().fit_transform(X), (y - y.mean()) / y.std()


SETS = {
    "abalone SVR": (abalone, SVR, {"C": 1.0, "epsilon": 0.1, "gamma": 0.1}),
    "abalone NuSVR": (abalone, NuSVR, {"C": 1.0, "nu": 0.5, "gamma": 0.1}),
    "cal.housing SVR": (housing, SVR, {"C": 1.0, "epsilon": 0.2, "gamma": 0.1}),
    "cpu.small SVR": (cpu, SVR, {"C": 1.0, "epsilon": 0.1, "gamma": 0.1}),
    "cpu.small NuSVR": (cpu, NuSVR, {"C": 1.0, "nu": 0.3, "gamma": 0.1}),
    "heart_scale SVC": (heart, SVC, {"C": 1.0, "gamma": 1 / 13}),
    "heart_scale NuSVC": (heart, NuSVC, {"nu": 0.4, "gamma": 1 / 13}),
    "a9a SVC": (adults, SVC, {"C": 1.0, "gamma": 0.03}),
    "USPS 3-8 SVC": (usps(3, 8), SVC, {"C": 10.0, "gamma": 1 / 128}),
    "USPS 3-8 NuSVC": (usps(3, 8), NuSVC, {"nu": 0.1, "gamma": 1 / 128}),
    "USPS 4-9 SVC": (usps(4, 9), SVC, {"C": 10.0, "gamma": 1 / 128}),
    "USPS 4-9 NuSVC": (usps(4, 9), NuSVC, {"nu": 0.05, "gamma": 1 / 128}),
    "ionosphere OneClassSVM": (ionosphere, OneClassSVM, {"nu": 0.1, "gamma": 1 / 34}),
}


def dual_objective(model, X, y, gamma):
    """From the coefficients, in float64; those of nu-SVC times rho, which their sum tells."""
    beta = np.ravel(model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_)
    linear, vectors = 0.0, X[model.support_]
    if isinstance(model, NuSVC | sklearn.svm.NuSVC):
        beta = beta * (model.nu * len(y) / np.abs(beta).sum())
    elif isinstance(model, SVC | sklearn.svm.SVC):
        linear = np.abs(beta).sum()
    elif y is not None:
        linear = y[model.support_] @ beta - getattr(model, "epsilon", 0.0) * np.abs(beta).sum()
    batches = gen_batches(len(beta), 2000)
    return linear - 0.5 * sum(beta[some] @ rbf_kernel(vectors[some], vectors, gamma) @ beta for some in batches)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_as_scikit_learn(name, data_dir, capsys):
    load, kind, parameters = SETS[name]
    X, y = load(data_dir)
    ours = kind(tol=1e-6, **parameters).fit(X, y)
    theirs = getattr(sklearn.svm, kind.__name__)(tol=1e-6, cache_size=2000, **parameters).fit(X, y)
    assert ours.fit_status_ == 0
    found, expected = (dual_objective(m, X, y, parameters["gamma"]) for m in (ours, theirs))
    assert ours.dual_objective_ == pytest.approx(found, rel=1e-6, abs=1e-12)  # what a certificate promises
    apart = abs(found - expected) / abs(expected)
    some = X[:: max(1, X.shape[0] // 2000)]
    values = "predict" if kind in (SVR, NuSVR) else "decision_function"
    differ = np.abs(getattr(ours, values)(some) - getattr(theirs, values)(some)).max()
    with capsys.disabled():
        print(f"\n{name}: {X.shape[0]} samples, {len(ours.support_)} support vectors ({len(theirs.support_)}), dual "
              f"{found:.8g}, apart {apart:.1e}, values apart {differ:.1e}, gap {ours.duality_gap_:.1e}")  # fmt: skip
    assert apart <= 1e-6
    assert differ <= 1e-4
