"""What the tests of the tool look at."""

import re

from adatron.cli.parts import take_names
from adatron.files import load

# Words of Python that a message must not have: tracebacks, types of NumPy, arguments, functions.
PYTHON = re.compile(r"Traceback|np\.\w+\(|\b[a-z]\w*_\w+=|\b\w+='|n_splits|X_test|y_test|\w\(\)|sample_weight|StandIn")


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
