"""Tasks on the workers that hold the slabs, tried again when workers are lost."""

from __future__ import annotations

import itertools
from asyncio import run_coroutine_threadsafe
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from time import monotonic
from typing import Any, NamedTuple
from uuid import uuid4

from ..threads import OutOfTime

PATIENCE = 60.0  # Seconds without any worker after which a fit fails.
GLANCE = 1.0  # Seconds after which a wait looks around.
TRIES = 50  # Times that one task is tried while workers die.
FORGIVEN = ("KilledWorker", "CancelledError", "FutureCancelledError", "CommClosedError", "FutureError")


class Call(NamedTuple):
    """A task: a function of a slab, of further values, and of the results of other tasks."""

    slab: int
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    others: Sequence[Call] = ()


class Cluster:
    """The slabs of a fit on a cluster.

    make : makes the futures of slabs; a slab that Dask cannot make again is made by it
    """

    def __init__(self, client: Any, make: Callable[[list[int]], list[Any]], slabs: int) -> None:
        self.client, self._make = client, make
        self.fit = uuid4().hex[:12]
        self._numbers, self.programs = itertools.count(), itertools.count()
        self.slabs: list[Any] = make(list(range(slabs)))
        self.where: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self.slabs)

    def _submit(self, call: Call, begun: dict[int, list[Any]]) -> Any:
        """Start a task where its slab is, or rather its state; if that worker is gone, anywhere.

        begun : tasks on whose results others wait, by the identity of their list: many wait for the same ones
        """
        if call.others and id(call.others) not in begun:
            begun[id(call.others)] = [self._submit(other, begun) for other in call.others]
        others = begun.get(id(call.others), []) if call.others else []
        own = self.where.get(call.slab)
        place = {"workers": [own], "allow_other_workers": True} if own else {}
        key = f"adatron-{call.function.__name__}-{self.fit}-{next(self._numbers)}"
        return self.client.submit(
            call.function, self.slabs[call.slab], *call.arguments, *others, key=key, pure=False, **place
        )

    def ask(self, calls: Sequence[Call], limit: float = inf) -> list[Any]:
        """Return the results of tasks; tasks that end with their worker are tried again.

        limit : value of ``time.monotonic()`` after which OutOfTime is raised
        """
        found: dict[int, Any] = {}
        for attempt in range(TRIES):
            open_ones = [i for i in range(len(calls)) if i not in found]
            begun: dict[int, list[Any]] = {}
            futures = {i: self._submit(calls[i], begun) for i in open_ones}
            try:
                wait_for(self.client, list(futures.values()), limit)
                self._collect(futures, found, limit, last=attempt == TRIES - 1)
            finally:
                for i in open_ones:
                    if i not in found:
                        with suppress(Exception):
                            futures[i].cancel()
            if len(found) == len(calls):
                return [found[i] for i in range(len(calls))]
            self._renew()
        raise AssertionError("not reached")

    def tell(self, calls: Sequence[Call]) -> None:
        """Start tasks whose results nobody needs; a task that is lost with its worker has nothing left to do."""
        from distributed import fire_and_forget

        with suppress(Exception):  # the cluster may be gone
            for call in calls:
                fire_and_forget(self._submit(call, {}))

    def _collect(self, futures: dict[int, Any], found: dict[int, Any], limit: float, last: bool) -> None:
        """Keep the results that are there; raise what a task raised, unless it was lost with its worker."""
        for future in futures.values():
            if future.status == "error":
                error = future.exception()
                if last or type(error).__name__ not in FORGIVEN:
                    raise error
        done = {i: future for i, future in futures.items() if future.status == "finished"}
        try:
            found.update(zip(done, gathered(self.client, list(done.values()), limit), strict=True))
        except OutOfTime:
            raise
        except Exception as error:
            if last or not _forgiven(error):
                raise

    def _renew(self) -> None:
        """Make slabs again that are gone and that Dask does not make again by itself."""
        self.where.clear()
        gone = [j for j, slab in enumerate(self.slabs) if slab.status in ("error", "cancelled", "lost")]
        for j in gone:
            if self.slabs[j].status == "error" and not _forgiven(self.slabs[j].exception()):
                raise self.slabs[j].exception()
        if gone:
            for j, slab in zip(gone, self._make(gone), strict=True):
                self.slabs[j] = slab

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Give the slabs, and what they keep, back to the cluster."""
        self.slabs = []


def _forgiven(error: BaseException | None) -> bool:
    return type(error).__name__ in FORGIVEN or isinstance(error, (OSError, TimeoutError))


def wait_for(client: Any, futures: Sequence[Any], limit: float = inf) -> None:
    """Wait until all tasks have ended; see ``Cluster.ask``.

    Raises
    ------
    OutOfTime
        The limit has passed.
    RuntimeError
        The cluster has had no worker for a while.
    """
    from distributed import wait

    _patiently(client, limit, lambda seconds: wait(futures, timeout=seconds))


def gathered(client: Any, futures: Sequence[Any], limit: float = inf) -> list[Any]:
    """Return the results of tasks that have ended; a result that is lost meanwhile is made again. See ``wait_for``."""

    async def some() -> list[Any]:
        return await client.gather(futures, asynchronous=True)

    if not futures:
        return []
    coming = run_coroutine_threadsafe(some(), client.loop.asyncio_loop)
    try:
        return _patiently(client, limit, coming.result)
    finally:
        coming.cancel()


def _patiently(client: Any, limit: float, look: Callable[[float], Any]) -> Any:
    """Return what ``look`` returns in time: it gets some seconds, again and again."""
    alone = None
    while True:
        seconds = min(GLANCE, limit - monotonic())
        if seconds <= 0.0:
            raise OutOfTime
        with suppress(TimeoutError):
            return look(seconds)
        workers = client.scheduler_info(n_workers=-1)["workers"]
        alone = None if workers else alone or monotonic()
        if alone is not None and monotonic() - alone > PATIENCE:
            raise RuntimeError(f"The Dask cluster has had no workers for {PATIENCE:.0f} s; start some and fit again.")
