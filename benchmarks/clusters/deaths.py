"""Fits and searches while workers are killed, leave for good, or are paused."""

from __future__ import annotations

import faulthandler
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .examples import alone, cluster, digest, noisy, searched, together

HARMS = ("kill", "kill and leave", "kill and pause")
PAUSED = 10.0  # Seconds for which a worker is stopped.
OLD = 4.0  # Seconds after which a worker may be killed: a nanny whose start fails gives up.
HUNG = 300.0  # Seconds after which a fit counts as one that hangs.
WORKERS = 2  # One can end while the other one goes on.
SHAPE = 8_000, 10, 100.0  # Samples, features and C.
SEARCHED = 1_000, 8, 1.0
GRID = {"C": [1.0, 10.0, 100.0], "gamma": [0.01, 0.03, 0.1, 0.3, 1.0, 3.0]}
EARLY = 10.0  # Seconds, from the beginning of a search, of which one is the moment of a single death.
SPARE = 4  # Workers of a search.


@contextmanager
def harmed(here: Any, harm: str, every: float, seed: int) -> Iterator[Counter[str]]:
    """Kill a random worker now and then, and once let another one leave or stop, after a moment of the fit."""
    over, done = threading.Event(), Counter[str]()
    thread = threading.Thread(target=_run, args=(here, harm, every, np.random.default_rng(seed), over, done))
    thread.start()
    try:
        yield done
    finally:
        over.set()
        thread.join()


def _run(here: Any, harm: str, every: float, choice: Any, over: threading.Event, done: Counter[str]) -> None:
    seen: dict[int, float] = {}
    while not over.wait(choice.uniform(0.5 * every, 1.5 * every)):
        now, up = time.monotonic(), here.scheduler_info["workers"]
        ready = {name: one for name, one in here.workers.items() if one.worker_address in up and one.pid}
        for one in ready.values():
            seen.setdefault(one.pid, now)
        old = [name for name, one in ready.items() if now - seen[one.pid] >= min(OLD, every)]
        if len(ready) < WORKERS or not old:
            continue
        name = old[int(choice.integers(len(old)))]
        once = harm.partition(" and ")[2]
        if once and not done[once]:
            done[once] += 1
            _once(here, once, name, over)
        else:
            done["kill"] += 1
            os.kill(ready[name].pid, signal.SIGKILL)


def _once(here: Any, what: str, name: Any, over: threading.Event) -> None:
    """Let a worker leave for good, without a word to the scheduler; or stop it for a while."""
    pid = here.workers[name].pid
    if what == "leave":
        os.kill(pid, signal.SIGSTOP)  # it gives nothing away on its way out
        here.sync(here.workers[name].close, timeout=0.1)
        return
    os.kill(pid, signal.SIGSTOP)
    over.wait(PAUSED)
    os.kill(pid, signal.SIGCONT)


def run(number: int, every: float) -> dict[str, Any]:
    """Fit once on a cluster of its own while its workers are harmed."""
    one, harm = noisy(*SHAPE), HARMS[number % len(HARMS)]
    row: dict[str, Any] = {"run": number, "harm": harm}
    faulthandler.dump_traceback_later(HUNG, exit=True)
    with cluster(WORKERS) as here, harmed(here, harm, every, number) as done:
        try:
            row["digest"] = digest(together(one, 1999))
        except Exception as error:
            row["digest"] = f"{type(error).__name__}: {error}"[:200]
    faulthandler.cancel_dump_traceback_later()
    return {**row, "kills": done["kill"], "leaves": done["leave"], "pauses": done["pause"]}


def search(number: int, every: float) -> dict[str, Any]:
    """Search once on a cluster while workers are killed: one at a random moment of the beginning, or again and again.

    Two searches of three see a single death.
    """
    once = number % 3 < 2
    row: dict[str, Any] = {"run": number, "harm": "kill once" if once else "kill"}
    faulthandler.dump_traceback_later(HUNG, exit=True)
    with cluster(SPARE) as here, (killed_once if once else harmed)(here, "kill", every, number) as done:
        try:
            row["digest"] = searched(noisy(*SEARCHED), GRID, True)
        except Exception as error:
            row["digest"] = f"{type(error).__name__}: {error}"[:200]
    faulthandler.cancel_dump_traceback_later()
    return {**row, "kills": done["kill"]}


@contextmanager
def killed_once(here: Any, harm: str, _: float, seed: int) -> Iterator[Counter[str]]:
    """Kill a random worker at a random moment of the beginning."""
    choice, done = np.random.default_rng([seed, SPARE]), Counter[str]()

    def end_one() -> None:
        done[harm] += 1
        os.kill(list(here.workers.values())[int(choice.integers(SPARE))].pid, signal.SIGKILL)

    timer = threading.Timer(choice.uniform(0.0, EARLY), end_one)
    timer.start()
    try:
        yield done
    finally:
        timer.cancel()
        timer.join()


def wanted(searches: bool) -> str:
    """Return the digest of one machine."""
    return searched(noisy(*SEARCHED), GRID, False) if searches else alone(noisy(*SHAPE))
