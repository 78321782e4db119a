"""The five estimators on real data beside scikit-learn at tol=1e-6, inputs and targets standardised."""

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


def samples(folder, name, of):
    """Ten thousand rows at most: standardised, as their targets are, or those of two digits, or of the good returns."""
    if name == "abalone.csv":  # without the sex
        *X, y = np.loadtxt(folder / name, delimiter=",", usecols=range(1, 9)).T
        X = np.transpose(X)
    else:
        table = read(folder / name, **({"label": 0} if "zip" in name else {}))
        X, y = table.X[:10_000], table.y[:10_000]
    if isinstance(of, tuple):
        return X[np.isin(y, of)], y[np.isin(y, of)]
    if of == "g":
        return StandardScaler().fit_transform(X[y == of]), None
    return (StandardScaler().fit_transform(X), (y - y.mean()) / y.std()) if of == "standard" else (X, y)


ABALONE, HOUSING, CPU = ((name, "standard") for name in ("abalone.csv", "cal.housing.arff.gz", "cpu.small.arff"))
HEART, ADULTS, RADAR = ("heart_scale", None), ("a9a.gz", None), ("ionosphere.data", "g")
FIRST, SECOND = ("zip.train.gz", (3, 8)), ("zip.train.gz", (4, 9))  # two digits
SETS = {
    "abalone SVR": (ABALONE, SVR, {"C": 1.0, "epsilon": 0.1, "gamma": 0.1}),
    "abalone NuSVR": (ABALONE, NuSVR, {"C": 1.0, "nu": 0.5, "gamma": 0.1}),
    "cal.housing SVR": (HOUSING, SVR, {"C": 1.0, "epsilon": 0.2, "gamma": 0.1}),
    "cpu.small SVR": (CPU, SVR, {"C": 1.0, "epsilon": 0.1, "gamma": 0.1}),
    "cpu.small NuSVR": (CPU, NuSVR, {"C": 1.0, "nu": 0.3, "gamma": 0.1}),
    "heart_scale SVC": (HEART, SVC, {"C": 1.0, "gamma": 1 / 13}),
    "heart_scale NuSVC": (HEART, NuSVC, {"nu": 0.4, "gamma": 1 / 13}),
    "a9a SVC": (ADULTS, SVC, {"C": 1.0, "gamma": 0.03}),
    "USPS 3-8 SVC": (FIRST, SVC, {"C": 10.0, "gamma": 1 / 128}),
    "USPS 3-8 NuSVC": (FIRST, NuSVC, {"nu": 0.1, "gamma": 1 / 128}),
    "USPS 4-9 SVC": (SECOND, SVC, {"C": 10.0, "gamma": 1 / 128}),
    "USPS 4-9 NuSVC": (SECOND, NuSVC, {"nu": 0.05, "gamma": 1 / 128}),
    "ionosphere OneClassSVM": (RADAR, OneClassSVM, {"nu": 0.1, "gamma": 1 / 34}),
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
    data, kind, parameters = SETS[name]
    X, y = samples(data_dir, *data)
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
