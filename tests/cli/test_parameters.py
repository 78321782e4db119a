"""The options of the parameters are those of the estimators, with the same names and bounds."""

import re

import click
import pytest
from sklearn.utils._param_validation import make_constraint

import adatron
from adatron.cli.commands.train import train
from adatron.cli.options import RARE, TASKS
from adatron.kernels.table import LEAVES
from adatron.solvers.table import SOLVERS
from lines import told

KINDS = [getattr(adatron, name) for kinds in TASKS.values() for name in kinds.values()]
OPTIONS = {option.name: option for option in train.params}
NOT_OPTIONS = {"callback", "verbose"}  # a function, and the progress
OF_COMPUTER = {"device"}  # its names depend on the computer, see test_parts_device.py
TAKEN = sorted({name for kind in KINDS for name in kind().get_params()} - NOT_OPTIONS - OF_COMPUTER - set(RARE))
WORDS = ["auto", "scale", "ovr", "ovo", "none", "explicit", "augmented", "single", "double", "balanced", "magic"]
NUMBERS = ["-2", "-1", "-0.5", "0", "0.5", "1", "2", "2.5", "1e101", "4294967296", "inf", "nan"]
PROBES = [*NUMBERS, *WORDS, *LEAVES, *SOLVERS]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_parameter_has_an_option(kind):
    assert set(kind().get_params()) - set(OPTIONS) - set(RARE) == NOT_OPTIONS


@pytest.mark.parametrize("name", TAKEN)
def test_an_option_takes_what_an_estimator_takes(name):
    option = OPTIONS[name]
    if option.is_flag or option.secondary_opts:
        return
    constraints = [
        make_constraint(one) for kind in KINDS for one in kind._parameter_constraints.get(name, ()) if one is not None
    ]
    for probe in PROBES:
        try:
            value = option.type.convert(probe, None, click.Context(train))
        except click.BadParameter:
            value = None
        given = probe
        for read in (float, int):
            try:
                given = read(probe)
            except ValueError:
                continue
        allowed = any(one.is_satisfied_by(given) for one in constraints)
        assert (value is not None) == allowed, probe


def test_the_help_shows_names_and_bounds():
    found = train.get_help(click.Context(train))
    for shown in ("laplacian, linear, poly", "[scale|auto|x>=0]", "[0<x<=1]", "[n!=0]", "[n>=0]"):
        assert shown in found.replace("\n", "")


@pytest.mark.parametrize("name", ["tol", "gap_tol"])
def test_the_help_names_the_default(name):
    (shown,) = (text for text in OPTIONS[name].help.split("[default: ")[1:])
    assert {float(shown.rstrip("]"))} == {kind().get_params()[name] for kind in KINDS}


def test_the_help_fits_on_a_page(capsys):
    shown = told(capsys, "train", "--help").out
    assert shown.count("\n") < 60
    assert re.findall(r"^(\w+):$", shown, re.MULTILINE) == ["Data", "Model", "Limits", "Output"]
