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


def plot(folder: Path, name: str, rows: list[Row]) -> None:
    """Draw bars: the time of each library as a multiple of adatron's."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    data = list(dict.fromkeys(row["data"] for row in rows))
    libraries = [name for name in dict.fromkeys(row["library"] for row in rows) if name != "adatron"]
    figure, axes = plt.subplots(figsize=(8, 0.35 * len(data) * len(libraries) / 2 + 1.5), layout="constrained")
    height = 0.8 / max(1, len(libraries))
    for k, library in enumerate(libraries):
        own = {row["data"]: row.get("ratio") for row in rows if row["library"] == library}
        places = [i + (k - (len(libraries) - 1) / 2) * height for i, one in enumerate(data) if own.get(one)]
        axes.barh(places, [own[one] for one in data if own.get(one)], height, label=library)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set(xscale="log", yticks=range(len(data)), yticklabels=data, xlabel="time / adatron's time")
    axes.invert_yaxis()
    if libraries:
        axes.legend(fontsize="small")
    with atomic_write(folder / f"{name}.png") as stream:
        figure.savefig(stream, format="png", dpi=120)
    plt.close(figure)
