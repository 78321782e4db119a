"""Published and reproduced numbers side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adatron.plots.axes import off_screen

MARKS = {True: "✓", False: "✗"}


@dataclass(frozen=True)
class Comparison:
    """One comparison. ``holds`` is None for a number that is quoted or cannot be reproduced.

    ``why_not`` is the reason for which a claim does not hold here; a difference that is explained is no failure.
    """

    what: str
    published: Any
    reproduced: Any
    holds: bool | None = None
    remark: str = ""
    why_not: str = ""


@dataclass
class Section:
    """A table or a figure of a paper."""

    title: str
    lines: list[Comparison] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    pictures: list[Path] = field(default_factory=list)

    def add(
        self, what: str, published: Any, reproduced: Any, holds: bool | None = None, remark: str = "", why_not: str = ""
    ) -> None:
        self.lines.append(Comparison(what, published, reproduced, holds, remark, why_not if holds is False else ""))

    @property
    def failures(self) -> list[Comparison]:
        """Lines that do not hold, without a reason."""
        return [line for line in self.lines if line.holds is False and not line.why_not]

    def markdown(self) -> str:
        text = [f"### {self.title}", ""]
        if self.lines:
            text += ["| | published | here | |", "|---|---|---|---|"]
            for line in self.lines:
                reasons = "; ".join(filter(None, (line.remark, line.why_not)))
                said = f"{'' if line.holds is None else MARKS[line.holds]} {reasons}".strip()
                text.append(row(line.what, shown(line.published), shown(line.reproduced), said))
            text.append("")
        text += [f"{remark}\n" for remark in self.remarks]
        text += [f"![{self.title}]({picture.name})\n" for picture in self.pictures]
        return "\n".join(text)

    def as_json(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "lines": [
                vars(line) | {"published": shown(line.published), "reproduced": shown(line.reproduced)}
                for line in self.lines
            ],
            "remarks": self.remarks,
            "pictures": [str(picture) for picture in self.pictures],
        }


def row(*cells: str) -> str:
    """Return a row of a table in Markdown."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def shown(value: Any) -> str:
    """Return a number, several of them, or a text, in the form of a table's entry."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    return "; ".join(map(shown, value)) if isinstance(value, (list, tuple)) else str(value)


class Sheet:
    """Figures of one paper, written as PNG files to a folder; without a folder they are not drawn."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def draw(self, section: Section, name: str, curves: dict[str, tuple[Any, Any]], **labels: Any) -> None:
        """Draw curves {label: (x, y)}; ``labels`` go to ``Axes.set`` (xlabel, ylabel, xscale, ...)."""
        if self.folder is None:
            return
        ax = off_screen()
        for label, (x, y) in curves.items():
            ax.plot(x, y, ".-", label=label, linewidth=1, markersize=3)
        ax.set(**{"title": section.title} | labels)
        if len(curves) > 1:
            ax.legend()
        self.save(section, name, ax)

    def save(self, section: Section, name: str, ax: Any) -> None:
        """Write the figure of axes that were drawn before."""
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{name}.png"
        ax.figure.savefig(path, dpi=120)
        section.pictures.append(path)
