"""Docstrings of classes, completed by those of their bases: what many classes have is described once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound=type)
Method = TypeVar("Method", bound=Callable[..., Any])
TITLE = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"\n(?=\S)")
ORDER = ("Parameters", "Attributes", "Returns", "Raises", "Warns")  # Of sections; others follow as they stand.
PREDICTION = {
    "Parameters": "X : {array-like, sparse matrix} of shape (n_samples, n_features)\n"
    "    Samples, as many features as in ``fit``.\n",
    "Raises": "NotFittedError\n    The estimator is not fitted.\n"
    "ValueError\n    Bad data: NaN or infinity, or another number of features than in ``fit``.\n",
}
#: What every ``fit`` of a whole training set says.
TRAINING = {
    "Parameters": "X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)\n"
    "    Training samples, or their kernel matrix for ``kernel='precomputed'``.\n",
    "Returns": "self : the estimator\n",
    "Raises": "ValueError\n    Bad parameters or data: NaN or infinity, unequal lengths, no positive weight.\n"
    "KeyboardInterrupt\n    Ctrl-C ended the fit. The estimator is as it was before.\n",
    "Warns": "ConvergenceWarning\n"
    "    ``max_iter``, ``max_time`` or rounding ended the fit before it met ``tol`` (or a ``gap_tol`` other than the\n"
    "    default), the callback ended it, or the kernel is not positive semi-definite.\n",
}


def documented(kind: Kind) -> Kind:
    """Complete the docstring of a class; a decorator.

    Each parameter and attribute that the docstring leaves out is described as in the first base that does. Parameters
    come in the order of the constructor, inherited attributes after the class's own. An attribute that is an object
    with a docstring of its own, but none yet, gets its words from here, too.
    """
    bases = [one for one in kind.__mro__ if one.__module__.startswith(f"{__package__}.") and one.__doc__]
    if not kind.__doc__:  # python -OO has none
        return kind
    lead, *parts = TITLE.split(inspect.cleandoc(kind.__doc__))
    own = dict(zip(parts[::2], parts[1::2], strict=True))
    order = dict.fromkeys(
        [*inspect.signature(kind).parameters, *(names[0] for names, _ in _entries([kind], "Parameters"))]
    )
    parameters = {names[0]: ", ".join(names) + text for names, text in _entries(bases, "Parameters")}
    attributes = list(_entries(bases, "Attributes"))
    sections = {
        "Parameters": [parameters[name] for name in order if name in parameters],
        "Attributes": [", ".join(names) + text for names, text in attributes],
    }
    for names, text in attributes:
        for part in map(vars(kind).get, names):
            if part is not None and getattr(part, "__doc__", "") is None:
                part.__doc__ = " ".join(text.partition("\n")[2].split())
    texts = {title: "\n".join(entries) + "\n" for title, entries in sections.items() if entries} | {
        title: text.rstrip() + "\n" for title, text in own.items() if title not in sections
    }
    kind.__doc__ = _written(lead, texts)
    return kind


def predicting(method: Method) -> Method:
    """Complete the docstring of a method that predicts by its samples and its errors; a decorator."""
    return _completed(method, PREDICTION)


def training(method: Method) -> Method:
    """Complete the docstring of a ``fit`` by its samples, its result, its errors and warnings; a decorator."""
    return _completed(method, TRAINING)


def _completed(method: Method, shared: dict[str, str]) -> Method:
    """Put shared entries before those of a method; an entry with the same first line replaces the shared one."""
    if method.__doc__:
        lead, *parts = TITLE.split(inspect.cleandoc(method.__doc__))
        texts = dict(zip(parts[::2], parts[1::2], strict=True))
        for title, text in shared.items():
            entries = ENTRY.split(text.rstrip()) + ENTRY.split(texts.get(title, "").rstrip())
            texts[title] = "\n".join({one.partition("\n")[0]: one for one in entries if one}.values())
        method.__doc__ = _written(lead.rstrip() + "\n\n", texts)
    return method


def _written(lead: str, texts: dict[str, str]) -> str:
    """Return a docstring with these sections."""
    titles = sorted(texts, key=lambda title: ORDER.index(title) if title in ORDER else len(ORDER))
    return lead + "\n".join(f"{title}\n{'-' * len(title)}\n{texts[title].rstrip()}\n" for title in titles)


def _entries(kinds: list[type], title: str) -> Iterator[tuple[list[str], str]]:
    """Yield the names of each entry of a section, and its text behind them; of each name, the first entry."""
    seen = set[str]()
    for kind in kinds:
        _, *parts = TITLE.split(inspect.cleandoc(kind.__doc__ or ""))
        section = dict(zip(parts[::2], parts[1::2], strict=True)).get(title, "")
        for entry in ENTRY.split(section.rstrip()):
            header = entry.partition(" :")[0].partition("\n")[0]
            names = [name for name in header.split(", ") if name and name not in seen]
            seen.update(names)
            if names:
                yield names, entry[len(header) :]
