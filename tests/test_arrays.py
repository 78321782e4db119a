"""The types of arrays have one home."""

import re
from pathlib import Path

import adatron
from adatron import arrays


def test_no_module_names_them_again():
    names = "|".join(name for name in vars(arrays) if re.fullmatch("[A-Z][a-z]+", name))
    files = sorted(Path(adatron.__file__).parent.rglob("*.py"))
    again = [file for file in files if re.search(rf"^({names}) = ", file.read_text(), re.MULTILINE)]
    assert again == [Path(arrays.__file__)]
