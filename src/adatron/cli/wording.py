"""The messages of the library in the words of the tool: options instead of Python's parameters and functions."""

from __future__ import annotations

import re
from collections.abc import Callable

from .parameters import PARAMETER_NAMES

# Parameters of Python that are options of the same name; further ones have another name.
_OPTIONS = {
    **{name: f"--{name.replace('_', '-')}" for name in PARAMETER_NAMES},
    **{name: f"--{name}" for name in ("decimal", "encoding", "format", "label", "samples", "scoring", "separator")},
    "cv": "--cv",
    "max_bytes": "--max-bytes",
    "n_features": "--features",
    "zero_based": "--zero-based",
}
_LONG = "|".join(name for name in _OPTIONS if "_" in name and name != "n_features")  # no words of English
_EACH = "|".join(_OPTIONS)

Replacement = str | Callable[[re.Match[str]], str]
PHRASES: tuple[tuple[str, Replacement], ...] = (
    (r"y must hold labels among the classes (\[.*?\])\. Got (.*?); pass all classes .*",
     r"the label \2 is none of the classes \1 of the lines that the first fit took: --first takes more lines"),
    (r"\bX and y must be the samples that", "FILE must hold the samples that"),
    (r" Pass other samples as X_test and y_test\.", " --test takes other samples."),
    (r"The 'X' parameter is needed: .* would make rows of the support vectors\.",
     ("the steps before the machine cannot be undone, so no rows are known to compare the network with: "
      "adatron.to_onnx(adatron.load(MODEL), X, OUTPUT) in Python takes rows X (a DataFrame, if columns hold text)")),
    (r" For other estimators, import adatron\.onnx and call skl2onnx\.to_onnx\.", ""),
    (r"Solver terminated early \((max_iter=\d+)\)\. ", r"The limit of updates (\1) was reached. "),
    (r"scale them \(MaxAbsScaler\)", "--scale minmax scales them"),
    (r"scale them \(StandardScaler\)", "--scale standard scales them"),
    (r"gamma='scale' is 1 / \(n_features \* X\.var\(\)\) = (\S+), as X\.var\(\) is (\S+): .* gamma as a number\.",
     r"--gamma scale is \1, as the variance of the data is \2: --scale standard scales them, or --gamma is a number"),
    (r"specified nu is infeasible: with nu = ", "--nu is infeasible: with --nu "),
    (r"or pass X\.toarray\(\) if it fits into memory", "or give dense data"),
    (r"\bLeave device out", "Leave --device out"),
    (r"\b(lower|larger|smaller|raise|give) (C|tol|nu|epsilon|gamma)\b", r"\1 --\2"),
)  # fmt: skip

_VALUE = r"'[^']*'|\"[^\"]*\"|True|False|None|[-+]?[\d.]+(?:e[-+]?\d+)?"
_BEFORE = r"(?<![\w/.'\"-])"  # A name or a value within a path or in quotes is no parameter.
_RULES: tuple[tuple[re.Pattern[str], Replacement], ...] = (
    *((re.compile(found), said) for found, said in PHRASES),
    (re.compile(rf"\b[Tt]he '({_EACH})' parameter(?: of \w+)?\b"), lambda found: _OPTIONS[found[1]]),
    (re.compile(rf"{_BEFORE}({_EACH})=({_VALUE})(?=[\s,;:)]|\.?(?:\s|$))"), lambda found: _given(found[1], found[2])),
    (re.compile(rf"{_BEFORE}({_LONG})(?![\w/=-]|\.\w)"), lambda found: _OPTIONS[found[1]]),
)


def limit_in_options(message: str) -> str:
    """Return a message that has words of the user: of its names only the limit of bytes is replaced."""
    return re.sub(r"(may take|are allowed) \(max_bytes\)", r"\1 (--max-bytes)", message)


def in_options(message: str) -> str:
    """Return a message of the library as the tool says it.

    Examples
    --------
    >>> in_options("the time limit (max_time) was reached; raise it, lower C, or use a larger tol")
    'the time limit (--max-time) was reached; raise it, lower --C, or use a larger --tol'
    """
    message = " ".join(message.split())
    for found, said in _RULES:
        message = found.sub(said, message)
    return message


def _given(name: str, value: str) -> str:
    """Return an option with its value; True and False are a flag with and without 'no'."""
    option = _OPTIONS[name]
    if value in ("True", "False"):
        return option if value == "True" else option.replace("--", "--no-", 1)
    return f"no {option}" if value == "None" else f"{option} {value.strip(chr(39) + chr(34))}"
