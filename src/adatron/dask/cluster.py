"""Tasks on the workers that hold the slabs, tried again when workers are lost."""

from __future__ import annotations

import itertools
from asyncio import run_coroutine_threadsafe
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from math import inf
from threading import current_thread, main_thread
from time import monotonic, sleep
from typing import Any, NamedTuple
from uuid import uuid4

from ..extras import how_to_get
from ..quoted import quoted
from ..threads import OutOfTime

WORKERLESS = 60.0  # Seconds without any worker after which a fit fails.
PAUSED = 300.0  # Seconds of paused workers after which a fit fails; Dask waits as long for a silent one.
GLANCE = 1.0  # Seconds after which a wait looks around.
MOST_TRIES = 12  # Most tries in a row in which workers are lost and no task ends.
REST = 0.1, 5.0  # Seconds between two tries: at first, and at most.
DEADLY = 12  # Times that Dask gives up a task before it is to blame: after its fourth dead worker, then after each one.
GONE = "The Dask client was closed, or has lost its scheduler; make a new one and fit again."
#: Names of errors that say that a task, its worker or its data were lost.
LOST_ERRORS = ("KilledWorker", "CancelledError", "FutureCancelledError", "CommClosedError", "FutureError")
#: Errors of Dask itself when a worker leaves while it is being asked: its address or the data are no longer known.
LEFT_MEANWHILE = OSError, KeyError, CancelledError, AssertionError


def client_of(client: Any) -> Any:
    """Return the given client, or the current one, once it is connected."""
    try:
        from distributed import Client, get_client
    except ImportError as error:
        raise ImportError(f"adatron.dask needs Dask: {how_to_get('dask')}") from error
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise ValueError(
                "No Dask client found. Start one (client = distributed.Client(...)), or pass it: client=client."
            ) from None
    if not isinstance(client, Client):
        raise TypeError(
            f"client must be a distributed.Client, or None for the current one. Got {quoted(client)}; "
            "distributed.Client(...) makes a client of an address or a cluster."
        )
    limit = monotonic() + WORKERLESS
    while client.status == "connecting" and monotonic() < limit:
        sleep(0.1)
    if client.status != "running":
        raise ValueError(
            f"client must be connected to a scheduler. The given or current one is {client.status}; make a new "
            "distributed.Client(...)."
        )
    if client.asynchronous:
        raise ValueError(
            "client must not be asynchronous, as a fit waits for tasks; nor may a fit run in the event loop of the "
            "client or of a worker (client.run). Use a plain distributed.Client(...), or client.submit."
        )
    return client


@contextmanager
def beside_the_pool() -> Iterator[None]:
    """Free a thread for the tasks of a fit: the task that fits, or waits for this thread to fit, could hold the last.

    A task leaves the worker's pool of threads. A thread that a task may have started gives the workers of this process
    a further thread.
    """
    from distributed import Worker, rejoin, secede

    with ExitStack() as after:
        with suppress(KeyError):  # beside the pool already
            try:
                secede()
                after.callback(rejoin)
            except (ValueError, AttributeError):  # no thread of a pool
                workers = Worker._instances  # pyright: ignore[reportPrivateUsage]
                for worker in list(workers) if current_thread() is not main_thread() else []:
                    if worker.status.name == "running":
                        after.enter_context(_room_on(worker))
        yield


@contextmanager
def _room_on(worker: Any) -> Iterator[None]:
    """Give a worker a further thread if tasks hold all that it has; one of them counts as long running from then on."""
    from distributed.worker_state_machine import SecedeEvent

    pool, state, added = worker.executors["default"], worker.state, []

    def more() -> None:
        if len(state.executing) >= state.nthreads:
            added.append(next(iter(state.executing)).key)
            pool._max_workers += 1
            unknown: Any = None  # how long the task has run
            worker.handle_stimulus(SecedeEvent(f"adatron-{uuid4().hex}", key=added[0], compute_duration=unknown))

    worker.loop.add_callback(more)
    try:
        yield
    finally:
        worker.loop.add_callback(lambda: setattr(pool, "_max_workers", pool._max_workers - len(added)))


class Call(NamedTuple):
    """A task: a function of a slab, of further values, and of the results of other tasks."""

    slab: int
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    others: Sequence[Call] = ()


class Cluster:
    """The slabs of a fit on a cluster.

    make : makes the futures of slabs, given their numbers; it is called again for slabs that Dask has lost for good
    what : the word for a slab in errors
    limit : value of ``time.monotonic()`` after which questions without a limit of their own raise OutOfTime
    """

    def __init__(
        self, client: Any, make: Callable[[list[int]], list[Any]], slabs: int, what: str, limit: float = inf
    ) -> None:
        self.client, self._make, self._what, self.limit = client, make, what, limit
        self.fit = uuid4().hex[:12]
        self._numbers, self.programs = itertools.count(), itertools.count()
        self.slabs: list[Any] = make(list(range(slabs)))
        self.where: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self.slabs)

    def _submit(self, call: Call, begun: dict[int, list[Any]]) -> Any:
        """Start a task on the worker that has the slab's state; if that worker is gone, anywhere.

        begun : tasks that other tasks wait for, by the identity of their list: many wait for the same list
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

    def ask(self, calls: Sequence[Call], limit: float | None = None) -> list[Any]:
        """Return the results of tasks; a task that is lost with its worker is tried again.

        limit : value of ``time.monotonic()`` after which OutOfTime is raised; None is that of the cluster

        Raises
        ------
        RuntimeError
            The cluster cannot do it: it has no workers, or a task ends every worker that it comes to.
        """
        limit = self.limit if limit is None else limit
        found: dict[int, Any] = {}
        tries, killed, lost = 0, Counter[int](), None
        while True:
            if self.client.status in ("closing", "closed"):
                raise RuntimeError(GONE)
            before, open_ones = len(found), [i for i in range(len(calls)) if i not in found]
            begun: dict[int, list[Any]] = {}
            futures = {i: self._submit(calls[i], begun) for i in open_ones}
            try:
                wait_for(self.client, list(futures.values()), limit)
                self._collect(futures, calls, killed)
                lost = self._gather(futures, found, limit) or lost
            finally:
                for i in open_ones:
                    if i not in found:
                        with suppress(Exception):
                            futures[i].cancel()
            if len(found) == len(calls):
                return [found[i] for i in range(len(calls))]
            tries = 0 if len(found) > before else tries + 1
            if tries > MOST_TRIES:
                raise RuntimeError(self._given_up(calls, found)) from lost
            sleep(max(0.0, min(REST[0] * 2.0**tries, REST[1], limit - monotonic())))
            self._renew()

    def tell(self, calls: Sequence[Call]) -> None:
        """Start tasks whose results nobody needs; a task that is lost with its worker has nothing left to do."""
        from distributed import fire_and_forget

        with suppress(Exception):  # the cluster may be gone
            for call in calls:
                fire_and_forget(self._submit(call, {}))

    def _collect(self, futures: dict[int, Any], calls: Sequence[Call], killed: Counter[int]) -> None:
        """Raise what a task raised, unless the task was lost with its worker.

        killed : how often Dask gave up each call after the deaths of its workers
        """
        for i, future in futures.items():
            error = error_of(future)
            if error is None:
                continue
            if type(error).__name__ not in LOST_ERRORS:
                raise error
            killed[i] += type(error).__name__ == "KilledWorker"
            if killed[i] >= DEADLY:
                raise RuntimeError(self._blame(error, calls[i], killed[i])) from error

    def _blame(self, error: Any, call: Call, times: int) -> str:
        deaths, last = error.allowed_failures + times, error.last_worker.address
        why = f"the log of the last one, {last}, says why it ended."
        if any(event["worker"] == last for _, event in self.client.get_events("worker-restart-memory")):
            why = (
                f"Dask ended the last one, {last}, because it exceeded its memory_limit: use smaller chunks, more "
                "workers, or workers with more memory."
            )
        return f"{self._name(call.slab)}: at least {deaths} workers ended while they had the task {error.task!r}; {why}"

    def _name(self, slab: int) -> str:
        return f"{self._what} {slab}" if len(self) > 1 else self._what

    def _given_up(self, calls: Sequence[Call], found: dict[int, Any]) -> str:
        names = ", ".join(sorted({self._name(call.slab) for i, call in enumerate(calls) if i not in found}))
        return (
            f"{names}: {MOST_TRIES} tries in a row have failed, as workers were lost, or results could not be read; "
            "the workers' logs say why they ended."
        )

    def _gather(self, futures: dict[int, Any], found: dict[int, Any], limit: float) -> Exception | None:
        """Keep the results that are there; return why they could not be had, if they were lost."""
        done = {i: future for i, future in futures.items() if future.status == "finished"}
        try:
            found.update(zip(done, gathered(self.client, list(done.values()), limit), strict=True))
        except OutOfTime:
            raise
        except Exception as error:
            if not (type(error).__name__ in LOST_ERRORS or isinstance(error, LEFT_MEANWHILE)):
                raise
            return error

    def _renew(self) -> None:
        """Make slabs again that are gone, unless Dask does so by itself."""
        self.where.clear()
        gone = [j for j, slab in enumerate(self.slabs) if is_gone(slab) and not self._retried(slab)]
        if gone:
            for j, slab in zip(gone, self._make(gone), strict=True):
                self.slabs[j] = slab

    @staticmethod
    def _retried(slab: Any) -> bool:
        """Return whether Dask makes a slab once more. If it does not, new tasks fail with the slab's old error."""
        if slab.status != "error":
            return False
        error = error_of(slab)
        if error is None:
            return True
        if type(error).__name__ not in LOST_ERRORS:
            raise error
        with suppress(Exception):  # the scheduler may have forgotten it
            slab.retry()
            return True
        return False

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Give the slabs, and what they keep, back to the cluster."""
        self.slabs = []


def error_of(future: Any) -> BaseException | None:
    """Return the error that a task ended with; None if it did not fail, or if Dask has begun the task again."""
    if future.status != "error":
        return None
    try:
        return future.exception(timeout=GLANCE)
    except TimeoutError:
        return None


def is_gone(future: Any) -> bool:
    """Return whether a value was lost and Dask does not make it again by itself."""
    return future.status in ("error", "cancelled", "lost")


def wait_for(client: Any, futures: Sequence[Any], limit: float = inf) -> None:
    """Wait until all tasks have ended.

    Raises
    ------
    OutOfTime
        The limit has passed.
    RuntimeError
        The cluster has had no worker for a while, or its workers take no tasks.
    """
    from distributed import wait

    keys = {future.key for future in futures}
    with suppress(CancelledError):  # the futures say so themselves
        _patiently(client, limit, lambda seconds: wait(futures, timeout=seconds), keys)


def gathered(client: Any, futures: Sequence[Any], limit: float = inf) -> list[Any]:
    """Return the results of tasks that have ended; Dask makes lost results again. See ``wait_for``."""

    async def some() -> list[Any]:
        return await client.gather(futures, asynchronous=True)

    if not futures:
        return []
    coming = run_coroutine_threadsafe(some(), client.loop.asyncio_loop)
    try:
        return _patiently(client, limit, coming.result, {future.key for future in futures})
    finally:
        coming.cancel()


def workers_of(client: Any) -> dict[str, Any]:
    """Return the scheduler's facts about its workers, by their addresses."""
    try:
        return client.scheduler_info(n_workers=-1)["workers"]
    except (OSError, KeyError, RuntimeError):  # the connection is closed meanwhile
        raise RuntimeError(GONE) from None


def scattered(client: Any, values: Any, limit: float = inf) -> Any:
    """Send values to the workers, each to one of them; without workers, wait for one. See ``wait_for``.

    Tasks bring them to further workers. Dask's broadcast fails, or never ends, if a worker leaves.
    """
    ready, trouble = bool(workers_of(client)), None
    for _ in range(MOST_TRIES):
        if not ready:  # an adaptive cluster starts workers for tasks, not for values
            wait_for(client, [client.submit(int, key=f"adatron-worker-{uuid4().hex[:12]}", pure=False)], limit)
        try:
            return client.scatter(values, hash=False)
        except LEFT_MEANWHILE as error:
            ready, trouble = False, error
        sleep(GLANCE)
    raise RuntimeError(
        f"Values could not be sent in {MOST_TRIES} tries, because workers were lost each time; their logs say why."
    ) from trouble


def _patiently(client: Any, limit: float, look: Callable[[float], Any], keys: set[Any]) -> Any:
    """Give ``look`` some seconds, again and again, until it returns in time; ``keys``: of the tasks it waits for."""
    since, trouble = monotonic(), None
    while True:
        seconds = min(GLANCE, limit - monotonic())
        if seconds <= 0.0:
            raise OutOfTime
        with suppress(TimeoutError):
            return look(seconds)
        last, trouble = trouble, _trouble(client, keys)
        if trouble is None or trouble != last:
            since = monotonic()
        elif monotonic() - since > trouble.patience:
            raise RuntimeError(f"{trouble.text} for {trouble.patience:.0f} s; {trouble.advice}")


class Trouble(NamedTuple):
    """Why tasks do not end, how many seconds this may last, and what the user can do."""

    text: str
    patience: float
    advice: str


NOBODY = Trouble("The Dask cluster has had no workers", WORKERLESS, "start some and fit again.")
CLOSED = Trouble("The client has had no connection to the scheduler", WORKERLESS, "connect and fit again.")
FULL_WORKERS = Trouble(
    "Workers that were given tasks of the fit have been paused", PAUSED,
    "their memory is nearly full. Use smaller chunks, more workers, or workers with more memory.",
)  # fmt: skip


def _trouble(client: Any, keys: set[Any]) -> Trouble | None:
    """Return the reason why tasks do not end; None if they may only take long."""
    if client.status != "running":
        return CLOSED
    workers = workers_of(client)
    if not workers:
        return NOBODY
    paused = {address for address, one in workers.items() if one["status"] == "paused"}
    if not paused:
        return None
    try:
        tasks = client.processing(workers=list(paused))
    except LEFT_MEANWHILE:  # the scheduler, or one of the workers, is gone
        return None
    return FULL_WORKERS if len(paused) == len(workers) or any(keys & set(some) for some in tasks.values()) else None
