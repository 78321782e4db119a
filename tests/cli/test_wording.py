"""Messages of the library in the words of the tool."""

import re

import pytest

from adatron.cli import adatron
from adatron.cli.wording import in_options


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("encoding='x' is not known", "--encoding x is not known"),
        ("LIBSVM knows one class against one only, not multi_class='ovr'", "LIBSVM ... not --multi-class ovr"),
        ("The limit (max_time=0.5) was reached; raise max_time.", "The limit (--max-time 0.5) ...; raise --max-time."),
        ("probability=True needs a class", "--probability needs a class"),
        ("not available when fitted with probability=False", "not available when fitted with --no-probability"),
        ("The 'C' parameter of SVC must be a float above 0. Got -1.", "--C must be a float above 0. Got -1."),
        ("(max_iter) was reached; lower C, or raise max_iter", "(--max-iter) ...; lower --C, or raise --max-iter"),
        ("X and y must be the samples that the model was fitted to", "FILE must hold the samples that ... fitted to"),
        ("has seen 3. Pass other samples as X_test and y_test.", "has seen 3. --test takes other samples."),
        ("LIBSVM does not know the kernel Laplacian(gamma=0.5), only linear", "LIBSVM ... the kernel laplacian, ..."),
        ("no class: save the one before compact()", "no class: save the model from which it was made"),
        ("3 bytes; 2 are allowed, which max_bytes can change", "3 bytes; 2 are allowed"),
    ],
)
def test_parameters_are_options(message, said):
    found = in_options(message)
    assert re.fullmatch(re.escape(said).replace(r"\.\.\.", ".*"), found)
    assert in_options(found) == found


@pytest.mark.parametrize("path", ["runs/C=10/m", "C=10.csv", "a/max_time/b", "max_time.csv", "x-C=1/y", "gamma=0.1/m"])
def test_paths_stay_what_they_are(path):
    assert in_options(f"{path}: not an adatron model file") == f"{path}: not an adatron model file"


def test_what_is_said_is_an_option():
    options = {name for command in adatron.commands.values() for one in command.params for name in one.opts}
    names = ("C", "gap_tol", "max_bytes", "n_features", "zero_based", "cv")
    said = [in_options(f"{name}=1 is wrong").split()[0] for name in names]
    assert set(said) <= options
