"""The page of results: each part of the command replaces its own table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from adatron.files import atomic_write

from ..tables import circumstances, markdown

Columns = list[tuple[str, str, str]]
BITS: Columns = [("data", "data", "name"), ("samples", "samples", "count"), ("machine", "machine", "name"),
                 ("workers", "workers", "name"), ("chunks", "chunks", "name"), ("digest", "digest", "name"),
                 ("as one machine", "same", "name")]  # fmt: skip
DEATHS: Columns = [("run", "run", "count"), ("harm", "harm", "name"), ("killed", "kills", "count"),
                   ("left", "leaves", "count"), ("paused", "pauses", "count"), ("digest", "digest", "name"),
                   ("as one machine", "same", "name")]  # fmt: skip
TRAFFIC: Columns = [("data", "data", "name"), ("iterations", "iterations", "count"), ("bytes", "total", "count"),
                    ("/ changed points", "ratio", "fraction"), ("/ blocks", "of blocks", "fraction"),
                    *((name, name, "fraction") for name in (
                        "points to workers", "changes to workers", "violators to the coordinator", "more violators",
                        "terms of the objective", "gradients of blocks", "rows to the coordinator", "whole gradients",
                        "beginnings"))]  # fmt: skip
MEMORY: Columns = [("samples", "samples", "count"), ("features", "features", "count"), ("MB of X", "bytes", "MB"),
                   ("workers", "workers", "count"), ("memory_limit, MB", "limit", "MB"), ("ended", "ended", "count"),
                   ("idle worker, MB", "worker idle", "MB"), ("worker's peak, MB", "worker", "MB"),
                   ("coordinator's growth, MB", "coordinator", "MB"), ("SVs", "support", "count"),
                   ("gap", "gap", "small"), ("violation", "violation", "small")]  # fmt: skip
CONSTANTS: Columns = [("constant", "constant", "name"), ("value", "value", "small")]
FITS: Columns = [("fit", "fit", "name"), ("samples", "samples", "count"), ("seconds", "seconds", "time"),
                 ("ratio", "ratio", "fraction"), ("equal bits", "same", "name")]  # fmt: skip


class PageTable(NamedTuple):
    """A table of the page."""

    title: str
    notes: str
    columns: Columns


PARTS = {
    "bits": PageTable(
        "Workers, chunks and orders",
        "Digests are of coefficients, intercept and certificate. Rows in shuffled partitions are compared with one "
        "machine that gets them in the same order.",
        BITS,
    ),
    "deaths": PageTable(
        "Workers that end",
        "Fits of 8,000 x 10 samples, SVC, C = 100, on two workers. During each fit random workers get SIGKILL again "
        "and again, and once one of them leaves for good, with its nanny, or is stopped for 10 s.",
        DEATHS,
    ),
    "searches": PageTable(
        "Searches whose workers end",
        "Searches over 18 candidates and five folds of 1,000 x 8 samples, on four workers. In two of three runs one "
        "worker gets SIGKILL at a random moment of the first ten seconds, in the others one every two seconds. Digests "
        "are of all scores.",
        [column for column in DEATHS if column[1] not in ("leaves", "pauses")],
    ),
    "traffic": PageTable(
        "Traffic",
        "Bytes of all messages of the iterations on three workers, as they are packed. The kinds are fractions of what "
        "the changed points, and a number for each, weigh on their way to every worker. A block has 2,048 points.",
        TRAFFIC,
    ),
    "memory": PageTable(
        "Memory",
        "Partitions are made on the workers. Peaks are those of the resident memory; the coordinator's process has the "
        "scheduler and the nannies, too.",
        MEMORY,
    ),
    "constants": PageTable("Constants of the cost model", "Measured on a quiet machine.", CONSTANTS),
    "fits": PageTable("Time", "The shortest of some turns; both fits have turns.", FITS),
}


def write(folder: Path, part: str, rows: list[dict[str, Any]]) -> str:
    """Write a part into dask.json, and all parts into dask.md; return the part's table."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "dask.json"
    told = json.loads(path.read_text()) if path.exists() else {}
    told[part] = {"circumstances": circumstances(), "rows": rows}
    page = ["# dask", "`python -m benchmarks dask PART`, dask's LocalCluster with processes of one thread each."]
    for name, (title, notes, columns) in PARTS.items():
        if name in told:
            page += [f"## {title}", told[name]["circumstances"], notes, markdown(told[name]["rows"], columns).rstrip()]
    for target, content in ((path, json.dumps(told, indent=1)), (folder / "dask.md", "\n\n".join(page))):
        with atomic_write(target) as stream:
            stream.write((content + "\n").encode())
    return markdown(rows, PARTS[part].columns)
