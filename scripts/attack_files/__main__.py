"""Damage files of every kind, read them, and count the outcomes.

Run ``python scripts/attack_files --minutes 2 --seed 0``. Each kind of file is a module beside this one with a function
``attempt(rng, folder)``. A child process calls it again and again. An attempt counts as broken if it ends in an
undocumented error, a crash or a loop without end, or takes too much memory. ``--only NUMBER`` repeats that attempt.
"""

from __future__ import annotations

import argparse
import json
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

CHILD = Path(__file__).with_name("child.py")
KINDS = ("models", "states", "data", "databases")
FIRST, EACH = 900.0, 60.0  # Seconds for the first attempt of a child, which compiles and fits, and for any other one.
SHOWN = 20  # Broken attempts of each kind that are printed.


@dataclass
class Tally:
    """The outcomes of attempts with one kind of file."""

    what: str
    counts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    broken: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def show(self) -> None:
        """Print it."""
        print(f"{self.what}: {sum(self.counts.values())} attempts, {len(self.broken)} broken")
        for (kind, end), count in sorted(self.counts.items()):
            print(f"  {kind:40} {end:10} {count:6}")
        for number, reason in self.broken[:SHOWN]:
            print(f"  BROKEN, attempt {number}: {reason}")


class Child:
    """A process that makes attempts and reports each of them in a line of JSON."""

    def __init__(self, what: str, seed: int, begin: int) -> None:
        command = [sys.executable, "-X", "faulthandler", str(CHILD), what, str(seed), str(begin)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines: queue.Queue[str] = queue.Queue()
        self.errors: list[str] = []
        self._threads = [
            threading.Thread(target=_read, args=(self.process.stdout, self.lines.put), daemon=True),
            threading.Thread(target=_read, args=(self.process.stderr, self.errors.append), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def report(self, seconds: float) -> dict[str, Any] | str:
        """Return the next report, or say in words why it is missing."""
        try:
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            return f"no end after {seconds:g} s"
        if line:
            return json.loads(line)
        self.process.wait()
        self._threads[1].join(10)
        return f"the process ended with {self.process.returncode}: {''.join(self.errors)[-2000:]}"

    def end(self) -> None:
        """Stop it."""
        self.process.kill()
        self.process.wait()


def _read(stream: IO[str], put: Any) -> None:
    for line in stream:
        put(line)
    put("")


def attack(what: str, seed: int, seconds: float) -> Tally:
    """Make attempts for some time, which begins when the first one has ended."""
    tally, number, deadline = Tally(what), 0, float("inf")
    while time.monotonic() < deadline:
        child, limit, begin = Child(what, seed, number), FIRST, number
        while time.monotonic() < deadline:
            found = child.report(limit)
            if isinstance(found, str):
                tally.broken.append((number, found))
                tally.counts["(no report)", "BROKEN"] += 1
            else:
                tally.counts[found["kind"], found["end"]] += 1
                if found["end"] == "BROKEN":
                    tally.broken.append((number, found["reason"]))
            if deadline == float("inf"):
                deadline = time.monotonic() + seconds
            number, limit = number + 1, EACH
            if isinstance(found, str):
                break
        child.end()
        if not number - begin > 1 and tally.counts["(no report)", "BROKEN"] > SHOWN:
            break  # the child does not even start
    return tally


def main() -> int:
    """Attack the kinds of files that are asked for, side by side."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2.0, help="for each kind of file, all at the same time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--what", choices=KINDS, action="append", help="a kind of file; may be repeated; default all")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="repeat one attempt, in this process")
    given = parser.parse_args()
    kinds: list[str] = given.what or [kind for kind in KINDS if CHILD.with_name(f"{kind}.py").exists()]
    if given.only is not None:
        if len(kinds) != 1:
            parser.error("--only needs one --what")
        from child import once

        print(*once(kinds[0], given.seed, given.only))
        return 0
    tallies: list[Tally] = []

    def run(what: str) -> None:
        tallies.append(attack(what, given.seed, 60 * given.minutes))

    threads = [threading.Thread(target=run, args=(kind,)) for kind in kinds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for tally in sorted(tallies, key=lambda tally: kinds.index(tally.what)):
        tally.show()
    # A kind without a single attempt has not passed.
    return int(len(tallies) < len(kinds) or any(tally.broken for tally in tallies))


if __name__ == "__main__":
    sys.exit(main())
