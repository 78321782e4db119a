"""Threads of a worker may import this package from any of its ends at the same time."""

import pytest

import adatron.dask
from processes import python

TRAVELLING = ("slab", "partition", "part", "state", "sent", "search", "collections")
RACE = """
import sys, threading
from importlib import import_module

together, errors = threading.Barrier(len(sys.argv) - 1), []

def enter(name):
    together.wait()
    try:
        import_module(f"adatron.dask.{name}")
    except BaseException as error:
        errors.append(f"{name}: {error!r}")

threads = [threading.Thread(target=enter, args=(name,)) for name in sys.argv[1:]]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit("; ".join(errors) or 0)
"""
NEW = """
import sys
from importlib import import_module
import adatron.dask

before = set(sys.modules)
for name in sys.argv[1:]:
    import_module(f"adatron.dask.{name}")
own = {f"adatron.dask.{name}" for name in (*sys.argv[1:], "cluster")}
print(*sorted(name for name in set(sys.modules) - before - own if not name.startswith(("dask", "distributed"))))
"""


@pytest.mark.slow
@pytest.mark.parametrize("names", [TRAVELLING[:2], TRAVELLING])
def test_threads_that_enter_at_different_ends_find_whole_modules(names):
    python("-c", RACE, *names)


@pytest.mark.slow
def test_what_modules_that_travel_need_is_imported_with_the_package():
    assert python("-c", NEW, *TRAVELLING).stdout.strip() == ""


def test_the_estimators_are_attributes_of_the_package():
    assert set(adatron.dask.__all__) <= set(dir(adatron.dask))
    assert all(getattr(adatron.dask, name).__name__ == name for name in adatron.dask.__all__)
    with pytest.raises(AttributeError, match="no attribute 'DaskIncrementalSVC'"):
        _ = adatron.dask.DaskIncrementalSVC
