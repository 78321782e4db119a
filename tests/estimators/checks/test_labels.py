"""Labels of every type, fitted, saved and loaded: they stay what they were, or an error says why not."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from adatron import SVC
from adatron.files import ModelFileError, load, save

X = np.repeat([[0.0], [1.0], [2.0]], 4, axis=0) + np.tile([0.0, 0.1, 0.2, 0.3], 3)[:, None]
LABELS = {
    "beyond 2^53": [2**60, 2**60 + 1, 2**60 + 2],
    "the ends of int64": [-(2**63), 0, 2**63 - 1],
    "uint64": np.array([0, 2**64 - 2, 2**64 - 1], np.uint64),
    "text of digits": ["1", "01", "1.0"],
    "objects of text": np.array(["1", "01", "1.0"], object),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_stay_what_they_were(labels, tmp_path):
    y = np.repeat(labels, 4) if isinstance(labels, np.ndarray) else [label for label in labels for _ in range(4)]
    model = SVC(C=100.0, gamma=10.0).fit(X, y)
    save(model, tmp_path / "m.adatron")
    for one in (model, load(tmp_path / "m.adatron")):
        assert one.predict(X).tolist() == list(y)


def test_truth_values_stay_what_they_were(tmp_path):
    y = X[:, 0] > 0.7
    model = SVC(C=100.0, gamma=10.0).fit(X, y)
    save(model, tmp_path / "m.adatron")
    for one in (model, load(tmp_path / "m.adatron")):
        assert one.predict(X).dtype == bool
        assert_array_equal(one.predict(X), y)


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
        SVC().fit(X, [label for label in labels for _ in range(4)])


def test_text_that_a_model_file_would_shorten_is_not_written(tmp_path):
    model = SVC().fit(X, np.repeat(np.array(["a", "a\0", "b"], object), 4))
    with pytest.raises(ModelFileError, match="classes_: text that ends in a character 0 has no place"):
        save(model, tmp_path / "m.adatron")
    assert not (tmp_path / "m.adatron").exists()
