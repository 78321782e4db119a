"""Conversion of cells to rows, and of rows to Markdown, JSON and a plot."""

from __future__ import annotations

import json
import statistics
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from adatron.files import atomic_write

from .cells import machine, versions

Row = dict[str, Any]


def combined(cells: list[dict[str, Any]]) -> Row:
    """Return one row from repeated cells: medians of the times, the rest from the first."""
    row = dict(cells[0])
    if "seconds" in row:
        row["seconds"] = statistics.median(cell["seconds"] for cell in cells if "seconds" in cell)
        row["runs"] = len(cells)
    if "first" in row:
        row["first"] = statistics.median(cell["first"] for cell in cells if "first" in cell)
    return row


def with_ratios(rows: list[Row]) -> list[Row]:
    """Add the time divided by adatron's on the same data."""
    ours = {row["data"]: row.get("seconds") for row in rows if row["library"] == "adatron"}
    for row in rows:
        if row.get("seconds") and ours.get(row["data"]):
            row["ratio"] = row["seconds"] / ours[row["data"]]
    return rows


def floor(row: Row, rates: Row) -> float:
    """Return the seconds that no method can go below: the kernel values of the support vectors once."""
    return 2.0 * row["products"] * row["features"] / rates["gemm32"] + row["products"] / rates["map"]


def text(value: Any, kind: str, cut: bool = False) -> str:
    """Return a number in the form of a table's entry."""
    if value is None:
        return "–"
    shown = {
        "time": lambda v: f"{v:.3f}" if v < 0.1 else f"{v:.2f}" if v < 100 else f"{v:.0f}",
        "ms": lambda v: f"{v:.3f}" if v < 10 else f"{v:.0f}",
        "fraction": lambda v: f"{v:.2f}",
        "ratio": lambda v: f"{v:.1f}" if v < 100 else f"{v:.0f}",
        "count": lambda v: f"{v:,}" if isinstance(v, int) else str(v),
        "small": lambda v: f"{v:.1e}",
        "objective": lambda v: f"{v:.7g}",
        "percent": lambda v: f"{100 * v:.2f}",
        "MB": lambda v: f"{v / 1e6:,.0f}",
        "name": str,
    }[kind](value)
    return f"≥ {shown}" if cut else shown


def markdown(rows: list[Row], columns: list[tuple[str, str, str]]) -> str:
    """Return a table. ``columns`` has headings, keys and kinds; times of a fit that was cut off are lower bounds."""
    lines = ["| " + " | ".join(heading for heading, _, _ in columns) + " |", "|" + "---|" * len(columns)]
    for row in rows:
        cells = [
            text(row.get(key), kind, row.get("cut", False) and kind in ("time", "ratio")) for _, key, kind in columns
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def circumstances() -> str:
    """Return date, machine and versions in one sentence."""
    listed = ", ".join(f"{name} {version}" for name, version in versions().items())
    return f"{datetime.now(UTC):%Y-%m-%d}, {machine()}, {listed}."


def write(
    folder: Path, name: str, notes: str, rows: list[Row], columns: list[tuple[str, str, str]], told: str = ""
) -> str:
    """Write NAME.md and NAME.json; return the Markdown. ``told``: the circumstances, if they are not today's."""
    folder.mkdir(parents=True, exist_ok=True)
    told = told or circumstances()
    page = f"# {name}\n\n{told}\n\n{notes}\n\n{markdown(rows, columns)}"
    kept = {"circumstances": told, "notes": notes, "rows": rows}
    for path, content in ((f"{name}.md", page), (f"{name}.json", json.dumps(kept, indent=1) + "\n")):
        with atomic_write(folder / path) as stream:
            stream.write(content.encode())
    return page


TICKS = (0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)  # Of the axis of times.


def plot(folder: Path, name: str, rows: list[Row], shown: tuple[str, ...] = ()) -> None:
    """Draw a point for each library and data set: its time as a multiple of adatron's, the largest sets at the top.

    Parameters
    ----------
    shown : data sets that are drawn, if they were measured; by default all
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FixedLocator, NullLocator

    kept = [row for row in rows if row.get("ratio") and (row["data"] in shown or not shown)]
    sizes = {row["data"]: row.get("rows", 0) for row in kept}
    data = sorted(sizes, key=lambda one: sizes[one])
    libraries = [one for one in dict.fromkeys(row["library"] for row in kept) if one != "adatron"]
    figure, axes = plt.subplots(figsize=(8, 0.22 * len(data) + 1.6), layout="constrained")
    for library, mark in zip(libraries, "os^Dvx", strict=False):
        own = {row["data"]: row["ratio"] for row in kept if row["library"] == library}
        places = [place for place, one in enumerate(data) if one in own]
        axes.plot([own[data[place]] for place in places], places, mark, label=library, markersize=6)
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set(xscale="log", yticks=range(len(data)), yticklabels=[_named(one, sizes[one]) for one in data])
    axes.set(title="How many times as long as adatron", xlabel="farther right: slower than adatron")
    axes.xaxis.set_major_locator(FixedLocator(TICKS))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}x")
    axes.margins(y=0.05)
    axes.grid(alpha=0.3)
    if libraries:
        figure.legend(fontsize="small", loc="outside lower center", ncols=3, frameon=False)
    with atomic_write(folder / f"{name}.png") as stream:
        figure.savefig(stream, format="png", dpi=120)
    plt.close(figure)


def _named(data: str, rows: int) -> str:
    """Return the name of a data set with its size, unless it has it already."""
    return data if not rows or f"{rows:,}" in data else f"{data}, {rows:,} rows"
