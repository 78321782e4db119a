"""Make the pages docs/papers/NAME/index.md: the papers' tables and figures, published and reproduced.

It runs `python -m reproductions` (it needs the data sets; see there), once a paper, and draws docs/papers/numbers.png:
each published number against its reproduction. NAMEs choose papers (default: all); --quick NAME takes the short form of
one. --draw only draws.
"""

import argparse
import re
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import cycle
from pathlib import Path
from platform import python_version

from matplotlib.figure import Figure
from PIL import Image

from . import PAPERS

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "papers"
NUMBER = re.compile(r"\d+(?:\.\d+)?")
OTHER_UNITS = re.compile(r"seconds|operations|first \d|Table 1: degrees")  # other machines, fewer samples, other draws


def reproduce(name: str, quick: bool) -> None:
    """Write the page of a paper, with its pictures beside it."""
    command = [sys.executable, "-m", "reproductions", name, "--output", str(PAGES), *["--quick"][: int(quick)]]
    done = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True)  # noqa: S603 (our own)
    write(name, done.stdout)


def write(name: str, text: str) -> None:
    """Make a page of what the command prints."""
    (PAGES / name).mkdir(parents=True, exist_ok=True)
    title = f"# {PAPERS[name]}\n"
    body = text.partition("\n")[2].replace("\n### ", "\n## ")
    for picture in (PAGES / name).glob("*.png"):
        shrink(picture)
    (PAGES / name / "index.md").write_text(title + re.sub(r"\n{3,}", "\n\n", body.rstrip()) + f" {made()}\n")


def made() -> str:
    """Return the day and the versions that made the numbers."""
    packages = ", ".join(f"{one} {version(one)}" for one in ("adatron", "numpy", "scipy", "scikit-learn"))
    return f"Made on {datetime.now(UTC):%Y-%m-%d} with Python {python_version()}, {packages}."


def shrink(picture: Path) -> None:
    """Write a picture with few colours: a third of the bytes."""
    Image.open(picture).convert("RGB").quantize(32).save(picture, optimize=True)


def pairs(name: str) -> list[tuple[float, float]]:
    """Return the published numbers of a page that have a reproduction, each with it."""
    found = []
    for section in (PAGES / name / "index.md").read_text().split("\n## ")[1:]:
        if OTHER_UNITS.search(section.partition("\n")[0]):
            continue
        for line in section.splitlines():
            cells = re.split(r"(?<!\\)\|", line)
            if len(cells) == 6 and not OTHER_UNITS.search(cells[1]):  # what, published, here, remark
                there, here = (re.sub(r"\(.*?\)|;", "", cell).split() for cell in cells[2:4])
                if len(there) == len(here) and all(map(NUMBER.fullmatch, there + here)):
                    found += [(float(one), float(other)) for one, other in zip(there, here, strict=True)]
    return found


def draw() -> None:
    """Draw published against reproduced numbers."""
    figure = Figure(figsize=(6, 5.4), layout="constrained")
    ax = figure.add_subplot()
    ends = 0.02, 400
    ax.set(xscale="log", yscale="log", xlim=ends, ylim=ends, xlabel="published", ylabel="reproduced")
    ax.plot(ends, ends, color="0.6", linewidth=1)
    for (name, paper), mark in zip(PAPERS.items(), cycle("os^vD"), strict=False):
        if numbers := pairs(name):
            ax.plot(
                *zip(*numbers, strict=True),
                mark,
                fillstyle="none",
                label=paper.rpartition(",")[0].split(",")[0] + paper[-7:],
            )
    ax.legend()
    figure.savefig(PAGES / "numbers.png", dpi=120)
    shrink(PAGES / "numbers.png")


def main() -> None:
    """Reproduce all papers, then draw."""
    parser = argparse.ArgumentParser("python -m reproductions.pages", description=__doc__)
    parser.add_argument("--quick", action="append", default=[], choices=PAPERS)
    parser.add_argument("name", nargs="*", metavar="NAME", help=", ".join(PAPERS))
    parser.add_argument("--draw", action="store_true")
    chosen = parser.parse_args()
    names = chosen.name or list(PAPERS)
    if wrong := [one for one in names if one not in PAPERS]:
        parser.error(f"no paper {wrong[0]!r}; there are {', '.join(PAPERS)}")
    if wrong := [one for one in chosen.quick if one not in names]:
        parser.error(f"--quick {wrong[0]} is not among the papers to make: {', '.join(names)}")
    for name in () if chosen.draw else names:
        reproduce(name, name in chosen.quick)
    draw()


if __name__ == "__main__":
    main()
