"""Options that take several values: lists, ranges, and the word auto."""

from __future__ import annotations

import math
from typing import Any

import click

from ..parameters import parameter_options
from ..values import Number

SEARCHED = ("C", "nu", "epsilon", "gamma", "degree", "coef0")  # Parameters that may have several values.
AUTO = "auto"
FOUND = ("C", "nu", "epsilon", "gamma")  # Parameters for which auto finds a range.
MOST = 1000  # Most values of a range.
LEAST = 3  # Fewest values of a range that does not say how many.


class Values(click.ParamType[Any]):
    """Values of a parameter: '1,10,100', '0.1:1000' (a value a decade), '0.1:1000:7' (seven), both, or 'auto'.

    one : the type of one value
    found : whether the parameter has a range that auto finds
    """

    name = "values"

    def __init__(self, one: Number, found: bool) -> None:
        self.one, self.found = one, found

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the values as a tuple, or 'auto'."""
        if not isinstance(value, str):
            return value
        if value == AUTO and self.found:
            return AUTO
        out: list[Any] = []
        for part in value.split(","):
            if part == AUTO:
                self.fail(f"'auto' in {value!r} stands alone or not at all", param, ctx)
            out += self._range(part, param, ctx) if ":" in part else [self.one.convert(part, param, ctx)]
        return tuple(dict.fromkeys(out))

    def _range(self, text: str, param: click.Parameter | None, ctx: click.Context | None) -> list[Any]:
        """Return the values of a range, in equal steps of their logarithm."""
        ends = text.split(":")
        count = Number(2, MOST, whole=True).convert(ends.pop(), param, ctx) if len(ends) == 3 else 0
        if len(ends) != 2:
            self.fail(f"{text!r} is not a range FROM:TO or FROM:TO:COUNT, such as 0.1:1000:5", param, ctx)
        numbers = [Number(0, above=True).convert(end, param, ctx) for end in ends]
        low, high = (self.one.convert(end, param, ctx) for end in ends)
        if numbers[0] == numbers[1]:
            self.fail(f"the range {text!r} has one value; write {ends[0]}", param, ctx)
        if numbers[0] > numbers[1]:
            self.fail(f"the range {text!r} begins with its larger end", param, ctx)
        if self.one.whole and not count:
            if high - low >= MOST:
                self.fail(f"the range {text!r} has more than {MOST} values", param, ctx)
            return list(range(low, high + 1))
        steps = (count or max(LEAST, round(math.log10(high / low)) + 1)) - 1
        inner = [low * (high / low) ** (step / steps) for step in range(1, steps)]
        found = [low, *(float(f"{value:.6g}") for value in inner), high]
        return [round(value) for value in found] if self.one.whole else found

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return the forms as the help shows them."""
        return "auto|LIST|RANGE" if self.found else "LIST|RANGE"


def searched_options(command: Any) -> Any:
    """Add the options of all machines; those of SEARCHED take several values."""
    command = parameter_options(command)
    for option in command.__click_params__:
        if option.name in SEARCHED:
            option.type = Values(option.type, option.name in FOUND)
            option.metavar = None
        elif option.name == "max_time":
            option.help = "Seconds after which no fit begins; the best candidate so far counts."
    return command


def grid_of(given: dict[str, Any], machine: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters to search and those that are fixed; without any to search, those that auto knows.

    given : the values of the options of SEARCHED that are not left out
    """
    fixed = {name: values[0] for name, values in given.items() if values != AUTO and len(values) == 1}
    searched = {name: list(values) if values != AUTO else AUTO for name, values in given.items() if name not in fixed}
    if not searched:
        from ...selection.ranges.auto import DISTANT, SCALED

        known = set(machine.get_params()) - ({"gamma"} if machine.kernel not in DISTANT + SCALED else set())
        searched = {name: AUTO for name in FOUND if name in known and name not in fixed}
    return searched, fixed
