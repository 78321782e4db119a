"""Real files, each with the one command that the manual shows."""

import re
import shlex
from pathlib import Path

import pytest

from adatron.cli import main
from lines import told

MANUAL = (Path(__file__).parents[3] / "docs" / "command-line.md").read_text().replace("\\\n", " ")
SECTION = MANUAL.partition("## Five files as they are")[2].partition("\n## ")[0]
LINES = {line.split()[2]: line for line in SECTION.splitlines() if line.startswith("adatron train")}
# The label, as `info` names it, and the least quality.
EXPECTED = {
    "pima-indians-diabetes.csv": ("column 8", "accuracy", 72),
    "abalone.csv": ("column 8", "R2", 0.5),
    "breast-cancer-wisconsin.data": ("column 10", "accuracy", 94),
    "cal.housing.arff.gz": ("column 8 (medianHouseValue)", "R2", 0.7),
    "cpu.small.arff": ("column 12 (usr)", "R2", 0.93),
}


def test_the_manual_has_all_five():
    assert set(LINES) == set(EXPECTED)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", EXPECTED)
def test_a_real_file_needs_one_command(name, data_dir, tmp_path, capsys, monkeypatch):
    label, quality, least = EXPECTED[name]
    monkeypatch.chdir(tmp_path)
    Path(name).symlink_to(data_dir / name)
    command = shlex.split(LINES[name])[1:]
    at = command.index("--model")
    model = command[at + 1]
    assert main([*command, "--quiet"]) == 0
    assert re.search(rf"^label +{re.escape(label)}$", told(capsys, ["info", model]).out, re.MULTILINE)
    found = re.search(rf"{quality} +([\d.]+)", told(capsys, [*command[:at], "--cv", "5", "--quiet"]).out)
    assert float(found[1]) > least
