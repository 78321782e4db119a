"""Wrong arguments of searches end with an error about the argument."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, SVR
from adatron.selection import GridSearchCV, RandomizedSearchCV

X, y = make_moons(60, noise=0.3, random_state=0)
GRID = {"C": [1.0, 10.0]}
FOLD = np.arange(0, 60, 2), np.arange(1, 60, 2)


@pytest.mark.parametrize("kind", [GridSearchCV, RandomizedSearchCV])
@pytest.mark.parametrize("n_jobs", [0, 1.5, "all"])
def test_threads(kind, n_jobs):
    with pytest.raises(ValueError, match=rf"'n_jobs' parameter of {kind.__name__} must be.*Got {n_jobs!r}"):
        kind(SVC(), GRID, n_jobs=n_jobs).fit(X, y)


def test_numbers_of_messages_look_like_numbers():
    with pytest.raises(ValueError, match=r"'max_time' parameter.*Got -0.1 instead"):
        GridSearchCV(SVC(), GRID, max_time=np.float64(-0.1)).fit(X, y)


@pytest.mark.parametrize("cv", [[(FOLD[0], [100, 101])], [FOLD, ([-61, 3], FOLD[1])]])
def test_folds_beyond_the_rows(cv):
    with pytest.raises(ValueError, match=r"'cv' parameter has a fold with row (101|-61).*from 0 to 59"):
        GridSearchCV(SVC(), GRID, cv=cv).fit(X, y)


@pytest.mark.parametrize(
    ("machine", "given", "labels", "said"),
    [
        (SVC(kernel="precomputed"), X, y, r"square.*\(60, 2\)"),
        (make_pipeline(StandardScaler(), SVC(kernel="precomputed")), X, y, r"square.*\(60, 2\)"),
        (SVC(), 1e-160 * X, y, r"range of gamma.*too small.*scale X"),
        (SVC(), 1e-155 * X, y, r"range of gamma.*too small.*scale X"),
        (SVC(), 1e-170 * X, y, r"range of gamma.*too small.*scale X"),
        (SVC(kernel="poly"), 1e-160 * X, y, r"'scale'.*too small"),
        (SVC(), 1e200 * X, y, r"range of gamma.*too large.*scale X"),
        (SVC(), X[:0], y[:0], r"X has no samples"),
        (SVC(), X[:5], y, "inconsistent numbers of samples"),
        (SVC, X, y, "Got the class SVC"),
        (StandardScaler(), X, y, "Got StandardScaler"),
        (SVR(), X, np.array(["a", "b"])[y], "could not convert string to float"),
    ],
)
def test_data_without_ranges(machine, given, labels, said):
    with pytest.raises(ValueError, match=said):
        GridSearchCV(machine, "auto", cv=2).fit(given, labels)


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_equal_samples_have_a_range(form):
    equal = form(np.ones((20, 2)))
    assert GridSearchCV(SVC(), "auto", cv=2).fit(equal, y[:20]).best_params_["gamma"] == 1.0
    with pytest.raises(ValueError, match="too small for the kernel"):
        GridSearchCV(SVC(), "auto", cv=2).fit(form(1e-170 * X), y)


def test_no_samples_at_all():
    with pytest.raises(TypeError, match="at least 1 dimension"):
        GridSearchCV(SVC(), "auto").fit(3, y)
