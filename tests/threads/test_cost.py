"""How many threads some work is worth."""

import joblib
import pytest

from adatron.threads import allowed_threads, threads_for, threads_worth
from adatron.threads.cost import CALL, FIT, FIT_BATCHES, FIT_MATRIX, NEW_POOL

pytestmark = pytest.mark.plain


@pytest.mark.parametrize("cost", [NEW_POOL, CALL, FIT_MATRIX, FIT, FIT_BATCHES])
def test_each_thread_beside_the_first_has_work_that_is_worth_it(cost):
    assert threads_worth(0.0, cost) == threads_worth(0.999 * cost, cost) == 1
    for threads in (2, 3, 100):
        assert threads_worth((threads - 1) * cost, cost) == threads
        assert threads_worth((threads - 1.001) * cost, cost) == threads - 1


def test_a_pool_for_little_work_has_one_thread(monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 8)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    assert [threads_for(NEW_POOL, n_jobs) for n_jobs in (None, -1, -2, 3)] == [8, 8, 7, 3]
    assert [threads_for(NEW_POOL - 1.0, n_jobs) for n_jobs in (None, -1, -2, 3)] == [1] * 4
    assert allowed_threads(1) == threads_for(NEW_POOL, 1) == 1
