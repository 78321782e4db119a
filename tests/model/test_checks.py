"""A state that no fit makes is refused whichever way it comes: from a copy, a pickle, skops, MLflow or a file."""

import numpy as np
import pytest
from scipy import sparse

from adatron import SVC, SVDD, SVR, IncrementalSVC, OneClassSVM
from adatron.solvers.results import Traces

X = np.random.default_rng(0).normal(size=(40, 3))
THREE = np.digitize(X[:, 0], [-0.5, 0.5])


@pytest.fixture(scope="module")
def machines():
    values = SVC(kernel="precomputed").fit(X @ X.T, THREE > 0)
    return {
        "SVC": SVC(probability=True).fit(X, THREE),
        "CSR": SVC().fit(sparse.csr_matrix(np.where(np.abs(X) > 0.5, X, 0.0)), THREE > 0),
        "SVC ovr": SVC(multi_class="ovr").fit(X, THREE),
        "SVR": SVR().fit(X, X[:, 1]),
        "one class": OneClassSVM().fit(X),
        "ball": SVDD().fit(X),
        "values": values,
        "compact values": values.compact(),
        "learning": IncrementalSVC().fit(X, THREE),
    }


def unsorted(matrix):
    found = matrix.toarray()
    ends, columns = np.arange(len(found) + 1) * 3, np.tile([2, 0, 1], len(found))
    return sparse.csr_matrix((found[:, [2, 0, 1]].ravel(), columns, ends), matrix.shape)


def with_first(value):
    def change(array):
        array = array.copy()
        array.flat[0] = value
        return array

    return change


FAULTS = [
    ("SVC", "support_vectors_", with_first(np.nan), "support_vectors_ holds NaN"),
    ("SVC", "support_vectors_", with_first(1e200), "squares have no sum"),
    ("CSR", "support_vectors_", unsorted, "columns that are not in order"),
    ("SVR", "dual_coef_", with_first(np.inf), "dual_coef_ holds NaN or infinity"),
    ("one class", "intercept_", with_first(np.nan), "intercept_ holds NaN"),
    ("SVR", "_gamma", lambda _: -1.0, "_gamma is no number from 0 on"),
    ("learning", "_gamma", lambda _: -1.0, "_gamma is no number from 0 on"),
    ("SVC", "_slope", lambda _: float("nan"), "_slope is no number from 0 on"),
    *(("ball", "center_norm_", lambda _, wrong=wrong: wrong, "center_norm_") for wrong in (None, -1.0, np.nan, "1")),
    ("SVC", "classes_", lambda _: np.array([0.0, np.inf, 1.0]), "classes_ holds NaN or infinity"),
    ("SVC", "shape_fit_", lambda shape: (*shape, 1), "shape_fit_ is not the shape"),
    ("SVC", "shape_fit_", lambda _: (-1, 2**70), "shape_fit_ is not the shape"),
    ("SVR", "n_support_", lambda counts: np.array([2**62, 2**62, 2**62, 2**62 + int(counts[0])]), "does not count"),
    ("SVC ovr", "n_support_", lambda counts: np.array([2**63 - 1, 2**63 - 1, 2 + counts.sum()]), "does not count"),
    ("SVR", "support_", with_first(-1), "support_ holds -1"),
    ("compact values", "n_features_in_", lambda width: width - 1, "n_features_in_ is"),
    ("compact values", "support_", lambda numbers: numbers[1:], "support_ has"),
    ("SVC", "duality_gap_", lambda gaps: gaps[1:], "duality_gap_ is not that of 3 problems"),
    ("SVR", "primal_objective_", lambda _: "much", "primal_objective_ is not that of 1 problems"),
    ("SVR", "fit_status_", lambda _: 2, "fit_status_ must be 0 or 1"),
    ("SVC", "n_iter_", lambda counts: -counts - 1, "n_iter_ does not count"),
    ("SVC", "n_iter_", lambda counts: int(counts[0]), "n_iter_ does not count the steps of 3 problems"),
    ("SVC", "trace_", lambda _: Traces.nothing(2), "trace_ is not that of 3 problems"),
    ("SVR", "trace_", lambda _: {"a": np.zeros(2), "b": np.zeros(3)}, "trace_ is not that of 1 problems"),
    ("learning", "kkt_violation_", lambda found: found[:1], "kkt_violation_ is not that of 3 problems"),
    ("learning", "classes_", lambda classes: classes[::-1].copy(), "classes_ must be in order"),
    ("learning", "_fixed", lambda fixed: {**fixed, "more": 1}, "_fixed holds other parameters"),
    ("learning", "_tracks", lambda tracks: tracks[:2], "there are not 3 programs"),
]


@pytest.mark.parametrize(("name", "part", "change", "message"), FAULTS)
def test_a_state_that_no_fit_makes_is_refused(name, part, change, message, machines):
    state = machines[name].__getstate__()
    other = object.__new__(type(machines[name]))
    other.__setstate__(dict(state))
    with pytest.raises(ValueError, match=f"not a valid state of a fitted .*{message}"):
        other.__setstate__({**state, part: change(state[part])})
