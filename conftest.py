"""Fixtures that several test files share."""

import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

DATA = Path(os.environ.get("ADATRON_DATA") or Path(__file__).parents[1] / "shared" / "data")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the real data sets; tests that use it carry the mark `data`."""
    if not (DATA / "heart_scale").exists():
        pytest.skip(
            f"no data sets in {DATA}: set ADATRON_DATA to a folder with heart_scale and a9a (LIBSVM data page) and "
            "zip.train.gz (Elements of Statistical Learning)"
        )
    return DATA


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, anew for each test."""
    return np.random.default_rng(0)


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c_is_heard():
    """Also in a shell's background job, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before or signal.SIG_DFL)


@pytest.fixture(autouse=True)
def _figures_are_closed():
    """Matplotlib warns of more than twenty open ones, whichever test comes then."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
