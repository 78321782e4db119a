"""The installed scikit-learn's test modules, with adatron's seven classes where they expect scikit-learn's.

Nothing is copied: a test module is executed anew while ``sklearn.svm`` is a copy of the real module in which the seven
classes are replaced, and while the two searches of ``sklearn.model_selection`` are ours. What else ``sklearn.svm``
holds (``_libsvm``, ...) stays scikit-learn's.
"""

import sys
from collections.abc import Callable
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

import pytest
import sklearn.model_selection
import sklearn.svm

from adatron import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM
from adatron.selection import GridSearchCV, RandomizedSearchCV

CLASSES = {one.__name__: one for one in (SVC, NuSVC, SVR, NuSVR, OneClassSVM)}
LINEAR = {"LinearSVC": LinearSVC, "LinearSVR": LinearSVR}
MODULES = ("test_svm", "test_sparse", "test_bounds")


def load(name: str, package: str = "svm") -> ModuleType:
    """The module ``sklearn.<package>.tests.<name>`` with adatron's classes."""
    stand_in = ModuleType("sklearn.svm")
    vars(stand_in).update({**vars(sklearn.svm), **CLASSES, **LINEAR})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sklearn, "svm", stand_in)
        patch.setitem(sys.modules, "sklearn.svm", stand_in)
        spec = find_spec(f"sklearn.{package}.tests.{name}")
        assert spec is not None, f"the installed scikit-learn has no sklearn/{package}/tests/{name}.py"
        assert spec.loader is not None
        module = module_from_spec(spec)
        patch.setattr(sklearn.model_selection, "GridSearchCV", GridSearchCV)
        patch.setattr(sklearn.model_selection, "RandomizedSearchCV", RandomizedSearchCV)
        spec.loader.exec_module(module)
    return module


def functions_of(name: str, package: str = "svm") -> dict[str, Callable[..., Any]]:
    """The test functions of a module, by name."""
    module = vars(load(name, package))
    found = {key: value for key, value in module.items() if key.startswith("test_") and callable(value)}
    assert found, f"sklearn/{package}/tests/{name}.py of the installed scikit-learn has no tests"
    return found
