"""The list of exceptions is not longer than needed, and no class of scikit-learn's slips through."""

from pathlib import Path
from types import FunctionType

import pytest
from sklearn.svm._base import BaseLibSVM

from compat.drop_in import CLASSES, MODULES, load
from compat.exceptions import EXCEPTIONS
from processes import python

HERE = Path(__file__).parent


@pytest.mark.slow
def test_every_exception_names_a_test():
    files = [HERE / f"{name}.py" for name in (*MODULES, "test_search")]
    collected = python(
        "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *files, cwd=HERE.parents[1]
    ).stdout
    names = {line.removeprefix("tests/compat/") for line in collected.splitlines() if "::" in line}
    assert len(names) > 200
    assert set(EXCEPTIONS) <= names


def everything(value):
    """A value and what is inside it: containers, parametrized arguments."""
    yield value
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from everything(item)
    for mark in getattr(value, "pytestmark", []) if isinstance(value, FunctionType) else []:
        yield from everything(mark.args)


@pytest.mark.parametrize("name", ["test_svm", "test_sparse"])
def test_all_classes_are_ours(name):
    module = load(name)
    for value in everything(vars(module)):
        kind = value if isinstance(value, type) else type(value)
        assert not issubclass(kind, BaseLibSVM), value
    assert {one: getattr(module.svm, one) for one in CLASSES} == CLASSES
