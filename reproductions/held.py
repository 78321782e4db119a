"""Claims that a paper's own sections have shown: each takes its mark and its number from the lines of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .claims import Claim, closing
from .report import Section, shown


class Said(NamedTuple):
    """A claim of a paper and the lines that show it.

    claim, section : what the paper says, and where
    lines : beginning of the names of these lines; empty for a claim that cannot be run
    by : by how much, where {} stands for the numbers of the lines; or the reason why it cannot be run
    """

    claim: str
    section: str
    lines: str
    by: str


def held(sections: Iterable[Section], said: Iterable[Said]) -> Iterator[Claim]:
    """Yield the claims; one with several lines holds if all of them do.

    Raises
    ------
    KeyError
        A claim has no line.
    """
    lines = [line for section in sections for line in section.lines]
    for one in said:
        if not one.lines:
            yield Claim(one.claim, one.section, None, one.by)
            continue
        found = [line for line in lines if line.what.startswith(one.lines)]
        if not found:
            raise KeyError(one.lines)
        marks = {line.holds for line in found}
        mark = False if False in marks else None if None in marks else True
        numbers = ", ".join(shown(line.reproduced) for line in found)
        reasons = "; ".join(dict.fromkeys(line.why_not for line in found if line.why_not))
        yield Claim(one.claim, one.section, mark, ": ".join(filter(None, (one.by.format(numbers), reasons))))


def closed(paper: str, sections: Iterable[Section], said: Iterable[Said], quick: bool) -> Iterator[Section]:
    """Yield the sections of a paper, and the table of its claims after them."""
    shown_here: list[Section] = []
    for section in sections:
        shown_here.append(section)
        yield section
    yield closing(paper, held(shown_here, said), quick)
