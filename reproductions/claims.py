"""The table that ends a paper's page: each claim of the paper, and whether it holds here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .report import MARKS, Section, row

LEGEND = (
    f"{MARKS[True]} holds here, {MARKS[False]} does not. A dash beside a claim ([Claims](#claims), at the end) is one "
    "that cannot be run, for the reason given, or that a run cannot decide: its number is within one standard error of "
    "nothing, the draws are too few, or it is a time, which is of one machine. Elsewhere a dash is a number that the "
    "paper does not print."
)


@dataclass(frozen=True)
class Claim:
    """One claim of a paper.

    claim : what the paper says
    section : where it says it
    held : True and False are a tick and a cross; None is neither, and ``by`` gives the reason
    by : by how much it holds or fails here
    """

    claim: str
    section: str
    held: bool | None
    by: str

    def __post_init__(self) -> None:
        if not self.by:
            raise ValueError(f"the claim {self.claim!r} needs a number or a reason")


def beyond(value: float, error: float) -> bool | None:
    """Return whether a value is above 0 by more than its standard error; None if it is within one of 0."""
    return None if abs(value) <= error else value > 0.0


def change(value: float, error: float, above: str, below: str) -> str:
    """Return a change with its standard error; ``above`` and ``below`` are words for its two directions."""
    return f"{above if value >= 0.0 else below} by {abs(value):.4f} ± {error:.4f}"


def table(claims: Iterable[Claim]) -> str:
    """Return the claims as a table in Markdown."""
    rows = [(one.claim, one.section, "–" if one.held is None else MARKS[one.held], one.by) for one in claims]
    return "\n".join(row(*cells) for cells in [("claim", "section", "held here", "by how much"), ("---",) * 4, *rows])


def closing(paper: str, claims: Iterable[Claim], quick: bool) -> Section:
    """Return the last section of a paper, with the command that made its numbers."""
    command = f"python -m reproductions {paper}" + (" --quick" if quick else "")
    return Section("Claims", remarks=[table(claims), f"By `{command}`."])
