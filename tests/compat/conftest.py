"""What scikit-learn's own conftest gives its tests, and the exceptions."""

from pathlib import Path

import pytest

from compat.exceptions import EXCEPTIONS


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe: scikit-learn's; the test must not run beside another thread")


@pytest.fixture
def global_random_seed():
    """scikit-learn's own default."""
    return 42


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == Path(__file__).parent:
            reason = EXCEPTIONS.get(f"{item.path.name}::{item.name}")
            if reason is not None:
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
