"""The values of options: numbers within bounds, weights of classes, lists and ranges."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any

import click

MOST_FEATURES = 2**31 - 1  # Equal to arrays.MOST_COLUMNS, which would import NumPy.
AUTO_RANGE = "auto"  # In the place of values: a range that follows from the data, as selection.ranges has it.
MOST_VALUES = 1000  # Most values of a range.
FEWEST_VALUES = 3  # Fewest values of a range that does not say how many.
# Words for separators that a shell would take for its own.
SEPARATOR_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|", "space": " "}


def column(text: str) -> int | str:
    """Read the label's column: a whole number is an index, anything else a name in the header."""
    try:
        return int(text)
    except ValueError:
        return text


def separator(text: str) -> str:
    """Read a separator: a character, or its name."""
    if len(text) != 1 and text not in SEPARATOR_WORDS:
        raise click.BadParameter(f"{text!r} is neither a character nor one of {', '.join(SEPARATOR_WORDS)}")
    return SEPARATOR_WORDS.get(text, text)


@dataclass(frozen=True)
class Number(click.ParamType):  # pyright: ignore[reportMissingTypeArgument] (it has none before click 8.4)
    """A number within bounds, or one of some words; the help shows the bounds, and the error says them.

    least, most : the smallest and the largest number
    above, below : whether the number must be above the smallest one, or below the largest one
    finite : whether infinity is refused
    whole : whether the number must be a whole number
    but : a number that is refused
    words : the words that are allowed in place of a number
    """

    least: float = -math.inf
    most: float = math.inf
    _: KW_ONLY
    above: bool = False
    below: bool = False
    finite: bool = True
    whole: bool = False
    but: int | None = None
    words: tuple[str, ...] = ()
    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number or the word."""
        if value in self.words or not isinstance(value, str):
            return value
        try:
            number: float = int(value) if self.whole else float(value)
        except ValueError:
            number = math.nan
        if self.finite and math.isinf(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        enough = number > self.least if self.above else number >= self.least
        enough &= number < self.most if self.below else number <= self.most
        if not (enough and number != self.but):
            self.fail(f"{value!r} is not a {'whole ' * self.whole}number of {self.get_metavar()}", param, ctx)
        return number

    def get_metavar(self, param: click.Parameter | None = None, ctx: click.Context | None = None) -> str:
        """Return the allowed values, such as [0<x<=1]."""
        letter = "n" if self.whole else "x"
        found = letter if self.but is None else f"{letter}!={self.but}"
        if self.most < math.inf:
            most = self.most if self.whole else f"{self.most:g}"
            found = f"{self.least:g}{'<' if self.above else '<='}{letter}{'<' if self.below else '<='}{most}"
        elif self.least > -math.inf:
            found = f"{letter}{'>' if self.above else '>='}{self.least:g}"
        return "|".join([*self.words, found]).join("[]")


def class_weight(text: str) -> dict[str, float] | str:
    """Read weights of classes: balanced, or LABEL:WEIGHT with commas between."""
    if text == "balanced":
        return text
    pairs = [part.rpartition(":") for part in text.split(",")]
    if not all(label for label, _, _ in pairs):
        raise click.BadParameter(f"{text!r} is neither 'balanced' nor LABEL:WEIGHT,LABEL:WEIGHT,...")
    weight = Number(0, above=True)
    return {label.strip(): weight.convert(given, None, None) for label, _, given in pairs}


def quantiles(text: str) -> float | list[float]:
    """Read a quantile, or several with commas between."""
    between = Number(0, 1, above=True, below=True)
    found = [between.convert(one, None, None) for one in text.split(",")]
    return found if len(found) > 1 else found[0]


@dataclass(frozen=True)
class ListedValues(click.ParamType):  # pyright: ignore[reportMissingTypeArgument] (it has none before click 8.4)
    """Values of a parameter: '1,10,100', '0.1:1000' (a value a decade), '0.1:1000:7' (seven), both, or 'auto'.

    one : the type of one value
    found : whether the parameter has a range that auto finds
    """

    one: Number
    found: bool
    name = "values"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the values as a tuple, or 'auto'."""
        if not isinstance(value, str):
            return value
        if value == AUTO_RANGE and self.found:
            return AUTO_RANGE
        out: list[Any] = []
        for part in value.split(","):
            if part == AUTO_RANGE:
                self.fail(f"'auto' in {value!r} stands alone or not at all", param, ctx)
            out += self._range(part, param, ctx) if ":" in part else [self.one.convert(part, param, ctx)]
        return tuple(dict.fromkeys(out))

    def _range(self, text: str, param: click.Parameter | None, ctx: click.Context | None) -> list[Any]:
        """Return the values of a range, in equal steps of their logarithm."""
        ends = text.split(":")
        count = Number(2, MOST_VALUES, whole=True).convert(ends.pop(), param, ctx) if len(ends) == 3 else 0
        if len(ends) != 2:
            self.fail(f"{text!r} is not a range FROM:TO or FROM:TO:COUNT, such as 0.1:1000:5", param, ctx)
        if not all(ends):
            self.fail(f"{text!r}: a range needs two ends, such as 1:100", param, ctx)
        numbers = [Number(0, above=True).convert(end, param, ctx) for end in ends]
        low, high = (self.one.convert(end, param, ctx) for end in ends)
        if numbers[0] == numbers[1]:
            self.fail(f"the range {text!r} has one value; write {ends[0]}", param, ctx)
        if numbers[0] > numbers[1]:
            self.fail(f"the range {text!r} begins with its larger end", param, ctx)
        if self.one.whole and not count:
            if high - low >= MOST_VALUES:
                self.fail(f"the range {text!r} has more than {MOST_VALUES} values", param, ctx)
            return list(range(low, high + 1))
        steps = (count or max(FEWEST_VALUES, round(math.log10(high / low)) + 1)) - 1
        inner = [low * (high / low) ** (step / steps) for step in range(1, steps)]
        found = [low, *(float(f"{value:.6g}") for value in inner), high]
        return [round(value) for value in found] if self.one.whole else found

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return the forms as the help shows them."""
        return "auto|LIST|RANGE" if self.found else "LIST|RANGE"
