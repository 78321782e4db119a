"""What the tests of the tool look at."""

import re

from adatron.cli.parts import take_names
from adatron.files import load

# What a message must not have: tracebacks, and numbers with their type.
PYTHON = re.compile(r"Traceback|np\.\w+\(|StandIn")


def nameless(path):
    """Load a model without the names of its features, which it would miss in plain arrays."""
    model = load(path)
    take_names(model)
    return model


def failed(capsys):
    """Return the one error line on stderr, after checking that it is one and that stdout is empty."""
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err
