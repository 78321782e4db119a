"""The failures of single fits and scores of a search, without the tracebacks that scikit-learn shows of them."""

from __future__ import annotations

import re

_FAILED = re.compile(
    r"(Scoring failed|\d+ fits failed out of a total of \d+|All the \d+ fits failed).*\b\w+Error: (.+)"
)


def shortened_failure(message: str) -> str:
    """Return a message about failed fits or scores as what failed, and the last error."""
    found = _FAILED.search(" ".join(message.split()))
    return f"{found[1]}: {found[2]}" if found else message


class Reasons:
    """The reason why a search has no scores, as far as its warnings say it.

    Attributes
    ----------
    last : str
        The last failure, or else the first warning.
    """

    def __init__(self) -> None:
        self.last = "the scores of its folds are not finite"
        self._failed = False

    def heard(self, message: str) -> str:
        """Take note of a warning, and return it without a traceback."""
        short = shortened_failure(message)
        if short != message:
            self.last, self._failed = short, True
        elif not self._failed and "are non-finite" not in message:
            self.last, self._failed = message, True
        return short
