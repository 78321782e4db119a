"""Tables of calls, and of the words that come of them.

A line at the margin is a call. Below it stands what comes of it: the type of an error and its words, or those of all
warnings and the result as text; "..." stands for any words.
"""

import re
import warnings


def said(call, known):
    """What comes of a call, on one line."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            result = eval(call, known)  # noqa: S307 (our own tables)
        except Exception as error:
            return " ".join(f"{type(error).__name__}: {error}".split())
    words = [f"{one.category.__name__}: {one.message}" for one in told]
    words += [] if hasattr(result, "fit") else [str(result)]
    return " ".join(" ".join(words).split())


def untrue(path, known):
    """The calls of a table of which other words come: the call, what is wanted, and what is said."""
    wrong = []
    for call, words in re.findall(r"^([^#\s].*)\n((?:    .+\n)+)", path.read_text(), re.MULTILINE):
        wanted, found = " ".join(words.split()), said(call, known)
        if not re.fullmatch(".*".join(map(re.escape, wanted.split("..."))), found):
            wrong.append((call, wanted, found))
    return wrong
