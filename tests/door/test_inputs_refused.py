"""The five estimators refuse what scikit-learn refuses, in its words; huge values are errors or models; labels stay."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import adatron
from adatron import SVC, IncrementalSVC
from adatron.files import ModelFileError, load, save
from covering import parametrized
from machines import NAMES, X, dense, ours, outcome, target, values


@pytest.mark.parametrize("name", NAMES)
def test_bad_weights(name):
    y = target(name, X)
    for bad in (np.full(len(X), np.nan), np.r_[np.ones(len(X) - 1), np.inf], np.ones((len(X), 2)), ["a"] * len(X)):
        assert outcome(ours(name), lambda model, bad=bad: model.fit(X, y, bad))[0] is ValueError
    with pytest.raises(ValueError, match="sample_weight and X have incompatible shapes"):
        ours(name).fit(X, y, np.ones(len(X) + 1))
    for nothing in (np.zeros(len(X)), -np.ones(len(X))):
        model = ours(name)
        with pytest.raises(ValueError, match="zero or negative"):
            model.fit(X, y, nothing)
        assert not hasattr(model, "support_")


BROKEN = {
    "a negative column": ("indices", 0, -1),
    "a column beyond": ("indices", -1, X.shape[1]),
    "rows that do not begin at 0": ("indptr", 0, 1),
    "rows that end before they begin": ("indptr", 3, 10**6),
    "rows that end outside": ("indptr", -1, 10**6),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("case", BROKEN)
def test_broken_sparse_rows_are_refused(case, kind, name):
    part, place, value = BROKEN[case]
    rows, broken, y = kind(X), kind(X), target(name, X)
    getattr(broken, part)[place] = value
    model = ours(name).fit(rows, y)
    for act in (IncrementalSVC().fit, model.fit, lambda some, _: model.predict(some)):
        with pytest.raises(ValueError, match=r"X has (rows that end outside of its values|columns beyond its 5)"):
            act(broken, np.arange(90) % 2 if y is None else y)


@parametrized(
    name=NAMES,
    scale=[1e-300, 1e-160, 1e-30, 1e30, 1e150, 1e160, 1e300],
    parameters=[{}, {"gamma": 1.0}, {"kernel": "linear"}],
)
def test_huge_and_small_values(name, scale, parameters):
    """An error that speaks of large or small values, or a model whose numbers are numbers."""
    y = target(name, X)
    kind, text, _ = outcome(ours(name, max_iter=1000, **parameters), lambda model: model.fit(X * scale, y))
    if kind is not None:
        assert kind is ValueError
        assert "large values" in text or "small values" in text or "too large" in text or "infeasible" in text
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = ours(name, max_iter=1000, **parameters).fit(X * scale, y)
    assert np.isfinite(dense(model.dual_coef_)).all()
    assert np.isfinite(values(model, X * scale)).all()


def test_float32_rows_too_large_for_float32_products():
    y = target("SVC", X)
    large = (X * 2.0**70).astype(np.float32)
    for kernel in ("rbf", "linear"):
        model = SVC(kernel=kernel).fit(X * 2.0**70, y)
        wide = model.decision_function(large.astype(np.float64))
        np.testing.assert_array_equal(model.decision_function(large), wide)
        narrow = SVC(kernel=kernel).fit(large, y)
        np.testing.assert_allclose(narrow.decision_function(large), wide, rtol=1e-3, atol=1e-2)
    moderate = SVC(kernel="linear").fit(X.astype(np.float32), y)
    both = np.concatenate([X, X * 2.0**70]).astype(np.float32)
    assert np.isfinite(moderate.decision_function(both)).all()
    np.testing.assert_array_equal(moderate.decision_function(both)[:90], moderate.decision_function(both[:90]))


@pytest.mark.parametrize("scale", [1e-30, 1e20])
@pytest.mark.parametrize("name", ["SVC", "SVR"])
def test_single_precision_where_it_says_nothing(name, scale):
    """More rows than are solved in float64 anyway; their products leave the range of float32."""
    rows = np.random.default_rng(0).normal(size=(1500, 3))
    y = np.sign(rows[:, 0]) if name == "SVC" else rows[:, 0]
    model = ours(name, precision="single").fit(rows * scale, y)
    assert np.isfinite(model.decision_function(rows * scale) if name == "SVC" else model.predict(rows * scale)).all()
    assert model.score(rows * scale, y) > 0.9


def masked(values):
    """Return numbers of which the fourth ones are masked; without its mask -999 would be one of the numbers."""
    out = np.ma.array(values, copy=True)
    out[3] = -999 if out.dtype.kind in "iuf" else out[3]
    out.mask = np.arange(out.size).reshape(out.shape) == 3
    return out


@pytest.mark.parametrize("name", [*NAMES, "SVDD", "IncrementalSVC", "IncrementalSVR", "IncrementalSVDD"])
def test_masked_values_are_missing(name):
    """NumPy's mask is never dropped, and an array in which nothing is masked is its numbers."""
    model = getattr(adatron, name)()
    y = target(name.removeprefix("Incremental"), X) if "SVDD" not in name else np.ones(len(X))
    some = () if y is None else (y,)
    for call in (lambda: model.fit(masked(X), *some), lambda: model.fit(X, *some).predict(masked(X))):
        with pytest.raises(ValueError, match=rf"Input X contains masked values \(1 of {X.size}\).*Fill .* or drop"):
            call()
    with pytest.raises(ValueError, match="Input sample_weight contains masked values"):
        model.fit(X, *some, sample_weight=masked(np.ones(len(X))))
    if y is not None:
        with pytest.raises(ValueError, match="Input y contains masked values"):
            model.fit(X, masked(y))
    plain = values(model.fit(X, *some), X)
    again = model.fit(np.ma.array(X), *(np.ma.array(one) for one in some))
    np.testing.assert_array_equal(values(again, np.ma.array(X)), plain)


POINTS = np.repeat([[0.0], [1.0], [2.0]], 4, axis=0) + np.tile([0.0, 0.1, 0.2, 0.3], 3)[:, None]
LABELS = {
    "beyond 2^53": [2**60, 2**60 + 1, 2**60 + 2],
    "the ends of int64": [-(2**63), 0, 2**63 - 1],
    "uint64": np.array([0, 2**64 - 2, 2**64 - 1], np.uint64),
    "text of digits": ["1", "01", "1.0"],
    "objects of text": np.array(["1", "01", "1.0"], object),
    "truth values": [False, True, True],
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_stay_what_they_were(labels, tmp_path):
    y = np.repeat(labels, 4) if isinstance(labels, np.ndarray) else [label for label in labels for _ in range(4)]
    model = SVC(C=100.0, gamma=10.0).fit(POINTS, y)
    save(model, tmp_path / "m.adatron")
    for one in (model, load(tmp_path / "m.adatron")):
        found = one.predict(POINTS).tolist()
        assert found == list(y)
        assert type(found[0]) is type(np.asarray(y).tolist()[0])  # 1 is equal to the truth value, too


MERGED = {
    "int64 beside uint64": [-1, 2**63, 2**63 + 1],
    "text beside numbers": [1, "1", 2],
    "numbers made float64": [1.0, 2**60, 2**60 + 1],
    "beyond 64 bits": [0, 2**64, 2**64 + 1],
    "uint64 in a list": [0, 2**64 - 2, 2**64 - 1],
    "bytes": [b"a", b"b", b"c"],
    "days": list(np.array(["2020-01-01", "2021-01-01", "2022-01-01"], "M8[D]")),
    "durations": list(np.array([1, 2, 3], "m8[s]")),
}


@pytest.mark.parametrize("labels", MERGED.values(), ids=MERGED)
def test_labels_that_would_be_merged_are_refused(labels):
    with pytest.raises((ValueError, TypeError), match=r"[Ll]abel"):
        SVC().fit(POINTS, [label for label in labels for _ in range(4)])


def test_text_that_a_model_file_would_shorten_is_not_written(tmp_path):
    model = SVC().fit(POINTS, np.repeat(np.array(["a", "a\0", "b"], object), 4))
    with pytest.raises(ModelFileError, match="classes_: text that ends in a character 0 has no place"):
        save(model, tmp_path / "m.adatron")
    assert not (tmp_path / "m.adatron").exists()
