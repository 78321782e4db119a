"""The types of arrays have one home."""

import re
from pathlib import Path

import pytest

import adatron
from adatron import arrays


@pytest.mark.parametrize("package", ["gram", "problems", "certificates", "solvers", "margins", "fitting"])
def test_no_module_of_a_package_names_them_again(package):
    names = "|".join(name for name in vars(arrays) if re.fullmatch("[A-Z][a-z]+", name))
    files = sorted((Path(adatron.__file__).parent / package).rglob("*.py"))
    assert [str(file) for file in files if re.search(rf"^({names}) = ", file.read_text(), re.MULTILINE)] == []
