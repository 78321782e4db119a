"""What the tests of the tool look at."""

import re

from adatron.cli import main
from adatron.cli.parts import take_names
from adatron.files import load

# What a message must not have: tracebacks, and numbers with their type.
PYTHON = re.compile(r"Traceback|np\.\w+\(|StandIn")


def nameless(path):
    """Load a model without the names of its features, which it would miss in plain arrays."""
    model = load(path)
    take_names(model)
    return model


def tool(*words):
    """Run the tool, and return its exit status."""
    return main(list(map(str, words)))


def told(capsys, *words, status=0):
    """Run the tool, and return its output after checking its exit status."""
    found = tool(*words)
    said = capsys.readouterr()
    assert found == status, said.err
    return said


def failed(capsys, *words, status=1):
    """Run the tool, if it is given words; return its one error line after checking that it says nothing else."""
    out, err = told(capsys, *words, status=status) if words else capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err


def stream(path, data, *more):
    """Run a stream; if there is no model yet, with the options of the first fit, which takes 30 lines."""
    begun = path.exists() and path.stat().st_size
    return tool("stream", path, data, "--quiet", *([] if begun else ["--first", 30, "--gamma", 0.5]), *more)
