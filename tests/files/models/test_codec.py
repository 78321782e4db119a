"""Values in a model file: what goes in comes out."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from adatron.files.models.archive import InvalidError
from adatron.files.models.codec import Codec
from adatron.kernels import RBF, Linear
from adatron.solvers import ISDA, KernelAdatron

# --- values in a model file ---------------------------------------------------------------------------------------


VALUES = {
    "plain": [None, True, 3, 2**70, "text", 0.1, -0.0],
    "infinite": [float("inf"), float("-inf"), float("nan")],
    "containers": {"a": (1, (2.5, None)), "b": [1, [2]], "$": "not a kind", "e": ({}, [], ())},
    "keys": {0: 1.0, "0": 2.0, 1.5: 3.0, np.int64(4): 4.0},
    "scalars": (np.float32(0.1), np.int64(-3), np.bool_(True), np.float64("nan")),
    "arrays": (np.arange(6.0).reshape(2, 3).T, np.array([], dtype=np.int32), np.array(["a", "ßé"]), np.array([True])),
    "kernel": (RBF(0.3), 2.0 * RBF(0.1) + Linear()),
    "solver": (ISDA(shrinking=False), KernelAdatron(rate=0.5, margin=0.99)),
}


def same(a, b):
    """Tell whether two values are equal, their types and bits, too."""
    if isinstance(a, dict):
        keys = list(zip(a, b, strict=True))
        return type(b) is dict and all(same(x, y) and same(a[x], b[y]) for x, y in keys)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, (np.ndarray, np.generic)):
        flags = a.flags.f_contiguous == b.flags.f_contiguous
        return flags and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return type(a) is type(b) and repr(a) == repr(b)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_values_survive(value):
    codec = Codec({})
    text = json.dumps(codec.encode(value), allow_nan=False)
    assert same(value, Codec(codec.arrays).decode(json.loads(text)))


@pytest.mark.parametrize("container", [csr_matrix, csr_array])
def test_sparse_matrices_survive(container):
    X = container([[0, 1.5, 0], [2, 0, 0]])
    codec = Codec({})
    entry = json.loads(json.dumps(codec.encode(X)))
    copy = Codec(codec.arrays).decode(entry)
    assert type(copy) is container
    np.testing.assert_array_equal(copy.toarray(), X.toarray())


def test_object_arrays_of_text_become_text():
    codec = Codec({})
    entry = codec.encode(np.array(["b", "long"], dtype=object))
    assert Codec(codec.arrays).decode(entry).dtype == np.dtype("<U4")


@pytest.mark.parametrize("value", [len, np.array([1, "a"], dtype=object), {(1, 2): 3}, {1, 2}, object(), [b"bytes"]])
def test_other_values_are_refused(value):
    with pytest.raises(InvalidError, match="no place in a model file"):
        Codec({}).encode(value)


@pytest.mark.parametrize(
    "entry",
    [
        {"$": "code"},
        {},
        {"$": ["array"]},
        {"$": "array", "name": "9.npy"},
        {"$": "float", "value": "x"},
        {"$": "dict", "items": [[1]]},
        {"$": "dict", "items": [[[1], 2]]},
        {"$": "kernel", "spec": {"$": "dict", "items": [["kernel", "os.system"]]}},
        {"$": "csr", "container": "list", "shape": [1, 1]},
    ],
)
def test_forged_entries_are_refused(entry):
    with pytest.raises(InvalidError):
        Codec({}).decode(entry)
