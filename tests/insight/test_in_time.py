"""As many samples as there is time for, drawn by chance; without a limit all of them, in their order."""

import numpy as np
import pytest

from adatron import SVC
from adatron.insight import in_time as module
from adatron.insight.in_time import in_time, margins_in_time
from adatron.threads import Clock, clock


@pytest.fixture
def now(monkeypatch):
    at = [100.0]
    for one in (module, clock):
        monkeypatch.setattr(one, "monotonic", lambda: at[0])
    return at


@pytest.mark.parametrize("seconds", [0.01, 0.5, 3.0, 9.0, 1000.0])
@pytest.mark.parametrize("first", [0.0, 0.4])
def test_parts_end_with_the_time(seconds, first, now):
    """Each part costs something, and so does each sample."""
    parts = []

    def ask(part):
        now[0] += first + 0.1 * len(part)
        parts.append(part)
        return len(part)

    limit = Clock.starting(seconds)
    done, found = in_time(np.arange(100), limit, ask)
    assert sum(found) == len(done) == len(np.unique(done))
    assert now[0] - 100.0 <= seconds + first + 0.1 + 1e-9
    assert (len(done) == 100) == (seconds > 100.0)
    if len(done) < 100:
        assert limit.deadline - now[0] < 1.001 * (now[0] - 100.0) / len(done)  # no time for one more
    now[0] += seconds
    assert len(in_time(np.arange(100), limit, ask)[0]) == 1


def test_without_a_limit_there_is_one_part():
    done, found = in_time(np.arange(5), Clock(), lambda part: part.tolist())
    assert done.tolist() == [0, 1, 2, 3, 4]
    assert found == [[0, 1, 2, 3, 4]]


def test_parts_have_the_distances_of_the_whole():
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = SVC().fit(X, X[:, 0] > 0)
    whole, parts = (margins_in_time(model, X, np.arange(20), one) for one in (Clock(), Clock.starting(1000.0)))
    np.testing.assert_array_equal(*(one[0] for one in (whole, parts)))
    for name in ("distance", "certified", "projection"):
        np.testing.assert_allclose(*(getattr(one[1], name) for one in (whole, parts)), rtol=1e-6)
