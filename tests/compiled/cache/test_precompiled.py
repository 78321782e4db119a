"""Compiled code that came with the package is used, where it fits, before the user's own."""

import shutil
from pathlib import Path

import pytest

import adatron
from adatron.compiled.cache.precompiled import PROCESSOR_CLASSES, features, processor_class
from processes import COMPILING, python

KIND = processor_class(features())
USE = """
from adatron.compiled.cache.precompiled import MACHINE_CODE, precompiled_hash
from adatron.compiled.optimality import gains
from adatron.warm import compiled_functions

assert gains(1.0, -2.0, 0.0, 3.0, 0.0, False) == (2.0, -2.0)
print(MACHINE_CODE / precompiled_hash(), compiled_functions())
"""

pytestmark = pytest.mark.skipif(KIND is None, reason="no code is made for this processor")


class Installation:
    """A copy of the package, with a function that came compiled, and one that it calls."""

    def __init__(self, folder):
        self.package, self.own = folder / "adatron", folder / "own"
        shutil.copytree(Path(adatron.__file__).parent, self.package, ignore=shutil.ignore_patterns("__pycache__"))
        self.env = {"PYTHONPATH": folder, **COMPILING}
        made = folder / "made"
        self.run(ADATRON_CACHE_DIR=str(made), NUMBA_CPU_NAME=KIND, NUMBA_CPU_FEATURES=PROCESSOR_CLASSES[KIND])
        self.came = self.place / KIND
        self.came.mkdir(parents=True)
        for file in made.glob("*/*.nbi"):
            file.rename(self.came / file.name)

    def run(self, first="", **settings):
        """Use the function after a first line; return what the process says."""
        done = python("-c", first + USE, **{**self.env, "ADATRON_CACHE_DIR": self.own, **settings})
        place, self.known = done.stdout.split()
        self.place = Path(place)
        return done.stderr

    def compiled(self):
        """Return how many functions were compiled since the package came."""
        return len(list(self.own.glob("*/*.nbi")))


@pytest.fixture
def installed(tmp_path):
    return Installation(tmp_path)


@pytest.mark.slow
def test_code_that_came_is_not_compiled(installed):
    before = sorted(installed.came.iterdir())
    assert before
    assert installed.run() == ""
    assert installed.compiled() == 0
    assert int(installed.known) == len(before)
    for file in before:
        file.chmod(0o666)  # as the package's own files may be
    assert installed.run() == ""
    assert installed.compiled() == 0
    assert sorted(installed.came.iterdir()) == before


def changed(installed):
    with (installed.package / "compiled/optimality.py").open("a") as stream:
        stream.write("\n# changed\n")
    installed.run()


NUMBA = """
from importlib import metadata
known = metadata.version
metadata.version = lambda name: '0.0.1' if name == 'numba' else known(name)
"""
OTHERS = {
    "processor": lambda installed: installed.run(NUMBA_CPU_NAME="generic"),
    "version of numba": lambda installed: installed.run(NUMBA),
    "sources": changed,
}


@pytest.mark.slow
@pytest.mark.parametrize("other", OTHERS)
def test_where_code_that_came_does_not_fit_all_is_compiled(other, installed):
    OTHERS[other](installed)
    assert installed.compiled() == len(list(installed.came.iterdir()))


@pytest.mark.slow
def test_code_is_compiled_where_nothing_can_be_kept(installed):
    """Neither in the user's folder nor in a temporary one: a container may have no folder that can be written to."""
    nowhere = "import tempfile; tempfile.tempdir = '/dev/null/x'\n"
    said = installed.run(nowhere, ADATRON_CACHE_DIR="/dev/null/x", NUMBA_CPU_NAME="generic")
    assert said.count("keeps no compiled code") == 1
    assert installed.run(nowhere, ADATRON_CACHE_DIR="/dev/null/x") == ""


@pytest.mark.slow
def test_damaged_code_is_compiled_again(installed):
    files = list(installed.came.iterdir())
    for file in files:
        file.write_bytes(bytes(file.stat().st_size))
    installed.run()
    assert installed.compiled() == len(list(installed.came.iterdir()))
    assert all(not any(file.read_bytes()) for file in files)  # the package's files are never written
