"""The constants of the cost model, which need a quiet machine, and the time of a fit against one process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .examples import Example, cluster, digest, example, together

TASKS, TURNS = 2_000, 5  # Tasks of a turn, and turns, the shortest of which counts.


def _nothing(*_: Any) -> None:
    return None


def shortest(what: Callable[[], Any], turns: int = TURNS) -> float:
    """Return the seconds of the shortest of some turns."""
    found = []
    for _ in range(turns):
        start = time.perf_counter()
        what()
        found.append(time.perf_counter() - start)
    return min(found)


def constants() -> list[dict[str, Any]]:
    """Measure seconds of a message, of a task, of a byte, and of a multiply-add."""
    from distributed import get_client, wait

    with cluster(2):
        client = get_client()
        here, there = sorted(client.scheduler_info(n_workers=-1)["workers"])
        client.submit(_nothing).result()

        def there_and_back() -> None:
            client.submit(_nothing, pure=False, workers=[there]).result()

        def many() -> None:
            wait([client.submit(_nothing, pure=False) for _ in range(TASKS)])

        size = 32 * 2**20

        def moved() -> None:
            made = client.submit(np.zeros, size // 8, pure=False, workers=[here])
            wait([made])
            client.submit(_nothing, made, pure=False, workers=[there]).result()

        message, task = shortest(there_and_back, 200), shortest(many) / TASKS
        byte = max(0.0, shortest(moved) - 2.0 * message) / size
    n, q, d = 400_000, 2_048, 20
    return [
        {"constant": "seconds of a task there and back", "value": message},
        {"constant": "seconds of a task among many", "value": task},
        {"constant": "seconds of a byte from worker to worker", "value": byte},
        {"constant": "seconds of a kernel value of 20 features, one thread", "value": _update(n, q, d) / (n * q)},
        {"constant": "seconds of a multiply-add, one thread",
         "value": (_update(n, q, 220) - _update(n, q, d)) / (n * q * 200)},
    ]  # fmt: skip


def _update(n: int, q: int, d: int) -> float:
    """Return the seconds in which one thread carries the change of a block over to n values of the gradient."""
    from adatron.gram import Gram, Source, View
    from adatron.kernels import RBF
    from adatron.threads import Pool

    rng = np.random.default_rng(0)
    X, out, V = rng.normal(size=(n, d)), np.zeros((n, 1)), rng.normal(size=(q, 1))
    with Pool(1) as pool:
        gram = Gram(Source.of(X, np.arange(n), RBF(1.0 / d)), np.float32, [n], pool)
        view = View.of(gram)
        points = view.points(np.arange(q))
        view.accumulate(out, points, V)
        return shortest(lambda: view.accumulate(out, points, V), 2)


def fits(rows: int, turns: int) -> list[dict[str, Any]]:
    """Time fits of one process with two threads, and on two workers with one thread, in turn."""
    import adatron

    one: Example = example("1,000,000 x 20", rows)
    one = one._replace(parameters={**one.parameters, "n_jobs": 2})  # on the cluster: threads of the coordinator
    near = getattr(adatron, one.machine)(**one.parameters)
    seconds: dict[str, list[float]] = {
        "one process, two threads": [],
        "two workers, one thread each; coordinator, two": [],
    }
    digests = set()
    ways = (lambda: near.fit(one.X, one.y), lambda: together(one, 100_000))
    with cluster(2):
        together(one._replace(X=one.X[:5000], y=one.y[:5000]), 1000)
        near.fit(one.X[:5000], one.y[:5000])
        for _ in range(turns):
            for name, fit in zip(seconds, ways, strict=True):
                start = time.perf_counter()
                digests.add(digest(fit()))
                seconds[name].append(time.perf_counter() - start)
    best = {name: min(values) for name, values in seconds.items()}
    alone = best["one process, two threads"]
    return [
        {"fit": name, "samples": len(one.X), "seconds": value, "ratio": value / alone, "same": len(digests) == 1}
        for name, value in best.items()
    ]
