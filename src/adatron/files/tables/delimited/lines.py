"""The lines of a delimited text that hold data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from ..cells import SPREADSHEET_ERRORS

ROWS, CHARACTERS = 500, 2**18  # Size of the sample from which the form of a text is inferred.


class Lines:
    """The lines of a text without comments and blank ones; it knows the record that was read last."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.number = self.start = 0
        self.record: list[str] = []
        self.quoted = False  # within a field that goes on in the next line

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        for line in self._stream:
            self.number += 1
            if self.quoted:
                self.record.append(line)
            elif line[0] in "# \r\n" and (not line.strip(" \r\n") or _is_comment(line)):
                continue
            else:
                self.start, self.record = self.number, [line]
            if '"' in line and line.count('"') % 2:
                self.quoted = not self.quoted
            return line
        raise StopIteration

    def sample(self) -> list[str]:
        """Return the first lines, and end with a whole record."""
        taken: list[str] = []
        size = 0
        for line in self:
            taken.append(line)
            size += len(line)
            enough = size > CHARACTERS or len(taken) >= ROWS
            if len(taken) > 2 and enough and (not self.quoted or size > 4 * CHARACTERS):
                break
        return taken

    def skip(self, records: int) -> None:
        """Leave out the next records."""
        for _ in range(records):
            next(self)
            while self.quoted and next(self, None) is not None:
                pass


def _is_comment(line: str) -> bool:
    begin = line.lstrip(" ")
    return begin.startswith("#") and not begin.startswith(SPREADSHEET_ERRORS)
