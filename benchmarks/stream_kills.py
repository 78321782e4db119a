"""Kill ``adatron stream`` with SIGKILL at random moments and resume it: ``python -m benchmarks.stream_kills``.

Each child is a fork of this process, which has everything compiled and loaded, so that the kills hit the work and not
the start. After each kill no forgotten row may be in the bytes of the database, nor of a file beside it.
"""

from __future__ import annotations

import json
import os
import signal
import tempfile
import time
from pathlib import Path

import click
import numpy as np

import adatron
from adatron import IncrementalSVC, load
from adatron.cli import main as tool
from adatron.files.database import Database, is_database

FEATURES = 4  # of a sample: few, so that a line is learned fast


def lines(rng: np.random.Generator, first: int, n: int) -> list[str]:
    """Return samples; every tenth line forgets one that is there."""
    there, new, out = list(range(first)), first, []
    for _ in range(n):
        if rng.random() < 0.1:
            out.append(f"-{there.pop(int(rng.integers(len(there))))}")
            continue
        x = rng.normal(size=FEATURES)
        out.append(",".join(map(repr, [*x.tolist(), int(x[0] + 0.5 * rng.normal() > 0)])))
        there.append(new)
        new += 1
    return out


def resumed(path: Path, data: Path, rng: np.random.Generator, longest: float) -> tuple[int, bool]:
    """Run one child, killed after a random time; return whether it was still at work."""
    child = os.fork()
    if child == 0:
        os._exit(tool(["stream", str(path), str(data), "--every", "16", "--quiet"]))
    time.sleep(rng.uniform(0.0, longest))
    os.kill(child, signal.SIGKILL)
    return child, not os.WIFEXITED(os.waitpid(child, 0)[1])


def assert_forgotten(path: Path, first: np.ndarray, data: Path) -> None:
    """Fail if a file has a row that left the model, as text or as numbers."""
    if not is_database(path):  # the process was killed before it began
        return
    with Database(path):
        pass  # what the killed process had begun is taken back
    learned = [line for line in data.read_text().splitlines() if "," in line]
    rows = [*first.tolist(), *([float(word) for word in line.split(",")[:-1]] for line in learned)]
    there = load(path)
    held = b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))
    for gone in set(range(there.store.next_id)) - {*there.ids_.tolist()}:
        for value in rows[gone]:
            assert np.float64(value).tobytes() not in held, f"sample {gone} is in the file as a number"
            assert repr(value).encode() not in held, f"sample {gone} is in the file as text"


def same(path: Path, reference: Path, X: np.ndarray) -> float:
    """Return the largest difference of decision values; infinite if the samples differ."""
    one, other = adatron.load(path), adatron.load(reference)
    if sorted(one.ids_) != sorted(other.ids_) or one.store.arrived != other.store.arrived:
        return np.inf
    return float(np.abs(one.decision_function(X) - other.decision_function(X)).max())


@click.command()
@click.option("--kills", default=1000, show_default=True, help="Of processes that were at work.")
@click.option("--samples", default=60, show_default=True, help="Of the model at the beginning.")
@click.option("--length", default=150, show_default=True, help="Lines of a stream.")
@click.option("--longest", default=0.3, show_default=True, help="Seconds that a process lives at most.")
@click.option("--seed", default=0, show_default=True)
def main(kills: int, samples: int, length: int, longest: float, seed: int) -> None:
    """Run streams, one after the other, until enough processes were killed."""
    rng = np.random.default_rng(seed)
    killed = streams = 0
    worst = 0.0
    begin = time.perf_counter()
    while killed < kills:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            X = rng.normal(size=(samples, FEATURES))
            y = (X[:, 0] + 0.5 * rng.normal(size=samples) > 0).astype(int)
            data, path, reference = (folder / part for part in ("data.csv", "m.adatron", "reference.adatron"))
            data.write_text("\n".join(lines(rng, samples, length)) + "\n")
            for place in (path, reference):
                adatron.save(IncrementalSVC(gamma=0.25).fit(X, y), place)
            assert tool(["stream", str(reference), str(data), "--quiet"]) == 0
            at_work = True
            while at_work and killed < kills:
                _, at_work = resumed(path, data, rng, longest)
                killed += at_work
                assert_forgotten(path, X, data)
            assert tool(["stream", str(path), str(data), "--quiet"]) == 0
            assert sorted(folder.iterdir()) == sorted([data, path, reference]), "a killed process left a file"
            assert_forgotten(path, X, data)
            worst = max(worst, same(path, reference, X))
            streams += 1
    told = {"kills": killed, "streams": streams, "largest_difference": worst, "seconds": time.perf_counter() - begin}
    click.echo(json.dumps(told))
    if not worst <= 1e-8:
        raise click.ClickException("a resumed stream ended in another state")


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.stream_kills")
