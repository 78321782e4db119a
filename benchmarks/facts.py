"""The facts that the pages quote, from the measured tables: ``python -m benchmarks facts``.

A test compares every page with them. Words of a fact stand in a page with the numbers of that fact, and the row of a
data set has the entries of the table here.
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from adatron.files import atomic_write

from . import tables

RESULTS = Path(__file__).parent / "results"
NUMBER = r"(\d[\d,]*(?:\.\d+)?)"
FEW, MANY_CLASSES = 5_000, "10,000 x 16, 26 classes"  # The mean counts no smaller set, and not this one.
GAP_TOL = 1e-3  # The default of a fit today.
LARGE_ON_GPU = 20_000  # Rows from which on a fit on a GPU counts.
PEERS = {"scikit-learn": "scikit-learn", "scikit-learn-intelex f32": "intelex f32"}


class Fact(NamedTuple):
    """Words that pages use, the numbers that stand for ``{}`` in them, and the table that has the numbers."""

    words: str
    numbers: tuple[str, ...]
    source: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """The words with any numbers, and broken into lines anywhere."""
        parts = (r"\s+".join(re.escape(word) for word in part.split(" ")) for part in self.words.split("{}"))
        return re.compile(NUMBER.join(parts))


def _read(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text())


def _mean(ratios: Iterable[float]) -> str:
    return f"{statistics.geometric_mean(ratios):.1f}"


def _entries(own: tables.Row, peers: dict[str, tables.Row]) -> dict[str, str]:
    seconds = own["seconds"]
    return {
        "samples": tables.text(own["rows"], "count"),
        "support vectors": tables.text(own["support_vectors"], "count"),
        "relative gap": f"{own['relative_gap']:.0e}",
        "s": f"{seconds:.4f}" if seconds < 0.01 else tables.text(seconds, "time"),
        "first call, s": tables.text(own["first"], "time"),
        **{heading: tables.text(peers[name]["ratio"], "ratio") for name, heading in PEERS.items()},
        "memory, MB": tables.text(own["extra"], "MB"),
    }


def fits() -> dict[str, dict[str, str]]:
    """Return the entries of each data set's row, by their headings."""
    sets: dict[str, dict[str, tables.Row]] = {}
    for row in _read("fit")["rows"]:
        sets.setdefault(row["data"], {})[row["library"]] = row
    return {data: _entries(rows["adatron"], rows) for data, rows in sets.items()}


def _facts_of_fits() -> list[Fact]:
    rows = _read("fit")["rows"]
    own = {row["data"]: row for row in rows if row["library"] == "adatron"}
    counted = [data for data, row in own.items() if row["rows"] >= FEW and data != MANY_CLASSES]
    ratios = [row["ratio"] for row in rows if row["library"] == "scikit-learn" and row["data"] in counted]
    later = [row["first"] - row["seconds"] for row in own.values()]
    cheap, dear = (own[f"20,000 x 20, C {C}"]["seconds"] for C in (1, 100))
    return [
        Fact(
            "{} times as long as adatron on two cores: the geometric mean of {} fits on {} data sets",
            (_mean(ratios), str(len(ratios)), str(len({data.split(", ")[0] for data in counted}))),
            "fit",
        ),
        Fact("all {} sets", (str(len(own)),), "fit"),
        Fact("{} to {} s more than a later one", (f"{min(later):.1f}", f"{max(later):.1f}"), "fit"),
        Fact("{} s with C = 1 and {} s with C = 100", (f"{cheap:.2f}", f"{dear:.2f}"), "fit"),
        Fact("about {} times as long as C = 1", (f"{dear / cheap:.0f}",), "fit"),
    ]


def facts() -> list[Fact]:
    """Return all facts that are sentences."""
    grown = [row for row in _read("scaling")["rows"] if row["library"] == "adatron" and row["threads"] == 2]
    large = [row for row in grown if row["rows"] >= 8_000]
    power = np.polyfit(np.log([row["rows"] for row in large]), np.log([row["seconds"] for row in large]), 1)[0]
    tight = [row["ratio"] for row in _read("certify")["rows"]]
    bench = [row for row in _read("yardstick")["rows"] if row["limit"] == "no limit"]
    times = {name: [row["ratio"] for row in bench if row["library"] == name] for name in PEERS}
    steps = {row["what"]: 1000.0 * row["seconds"] for row in _read("incremental/step")["rows"]}
    small = next(row for row in _read("search")["rows"] if row["way"] == "adatron search")
    cases = [case for name, case in _read("gpu")["cases"].items() if _rows(name) >= LARGE_ON_GPU]
    on_gpu = [case["cpu"] / case["gpu"] for case in cases if case["cpu"]]  # the processor has not fitted them all
    return [
        *_facts_of_fits(),
        Fact("the number of samples to the power {}", (f"{power:.2f}",), "scaling"),
        Fact("{} to {} times as long as `tol` alone ({} sets)",
             (f"{min(tight):.1f}", f"{max(tight):.1f}", str(len(tight))), "certify"),
        Fact("{} rows of scikit-learn_bench, scikit-learn takes {} times as long and intelex {} times",
             (str(len(times["scikit-learn"])), *(_mean(ratios) for ratios in times.values())), "yardstick"),
        Fact("{} ms on average, and {} ms in the median",
             (f"{steps['partial_fit, mean']:.0f}", f"{steps['partial_fit, median of 200']:.0f}"), "incremental/step"),
        Fact("500 fits on 500 samples take {} s", (f"{small['seconds']:.2f}",), "search"),
        Fact("{} times as fast as 16 cores: the geometric mean of {} fits", (_mean(on_gpu), str(len(on_gpu))), "gpu"),
    ]  # fmt: skip


def _rows(case: str) -> int:
    """Return the number of samples in the name of a case on the GPU; MNIST has 60,000."""
    found = re.search(r"\d{1,3}(,\d{3})+", case)
    return int(found[0].replace(",", "")) if found else 60_000 if "MNIST" in case else 0


def page() -> str:
    """Return the page of all facts."""
    own = fits()
    wide = [data for data, entries in own.items() if float(entries["relative gap"]) > GAP_TOL]
    headings = list(next(iter(own.values())))
    lines = ["| words | from |", "|---|---|"]
    lines += [f"| {fact.words.format(*fact.numbers)} | [{fact.source}]({fact.source}.md) |" for fact in facts()]
    rows = [{"data": data, **entries} for data, entries in own.items()]
    columns = [(heading, heading, "name") for heading in ("data", *headings)]
    return (
        "# Facts\n\nThe fits were measured with `gap_tol=None`; today's default, a proven gap of 1e-3, asks for more "
        "where the gap in the table is larger: " + "; ".join(wide) + ".\n\n"
        "Pages quote these. `python -m benchmarks facts` makes them from the tables beside this one.\n\n"
        + "\n".join(lines)
        + "\n\n## Fits\n\nThe columns of the other libraries give their time divided by adatron's.\n\n"
        + tables.markdown(rows, columns)
    )


@click.command(name="facts")
def write() -> None:
    """Write the facts that the pages quote; nothing is measured."""
    with atomic_write(RESULTS / "facts.md") as stream:
        stream.write(page().encode())
