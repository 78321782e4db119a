"""A warm-up compiles all that a fit needs."""

import pytest

from processes import COMPILING, python

AHEAD = """
import numpy as np
from numba.core.dispatcher import Dispatcher
from adatron import SVC, SVR, IncrementalSVC, OneClassSVM
from adatron.warm import compiled_functions, warmup
import gc

def compiled():
    return {(f.py_func.__module__, f.py_func.__qualname__, s)
            for f in gc.get_objects() if isinstance(f, Dispatcher) for s in f.signatures}

warmup()
assert compiled_functions() > 100, compiled_functions()
before = compiled()
X = np.random.default_rng(0).normal(size=(2400, 3))
for dtype in (np.float64, np.float32):
    for n in (50, 2400):
        for classes in (2, 3):
            SVC().fit(X[:n].astype(dtype), np.arange(n) % classes).predict(X[:2].astype(dtype))
few, weight = X[:50], np.ones(50)
weight.flags.writeable = False
SVC(C=2).fit(few, np.arange(50) % 3, weight)
SVR(C=2).fit(few, few[:, 0], weight)
OneClassSVM().fit(few, sample_weight=weight)
for dtype in (np.float64, np.float32):
    SVC(kernel="precomputed").fit((few @ few.T).astype(dtype), np.arange(50) % 3).predict((X[:2] @ few.T).astype(dtype))
IncrementalSVC().fit(few, np.arange(50) % 3).predict(few)
assert before
for one in compiled() - before:
    print(*one)
"""


@pytest.mark.slow
def test_a_warm_up_compiles_what_fits_of_both_precisions_need():
    assert python("-c", AHEAD, **COMPILING).stdout == ""
