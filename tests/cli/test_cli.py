"""The command line tool: exit status, one-line errors, results on stdout and text for people on stderr."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from adatron import files
from adatron.cli.options import FORMAT_NAMES
from lines import tool
from moments import at


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="runs in bash")
@pytest.mark.parametrize("name", ["m.adatron", "m.model"])
def test_models_and_data_may_come_from_pipes(name, tmp_path):
    """As written in a shell: everything arrives, however often it is looked at."""
    (tmp_path / "a.csv").write_text("".join(f"{i / 2},{-i},{i % 2}\n" for i in range(400)))
    program = f"{sys.executable} -m adatron"
    script = f"""
    cat a.csv | {program} train - --model m.adatron --quiet
    {program} convert <(cat m.adatron) m.model
    {program} predict <(cat {name}) <(cat a.csv) --label 2 | wc -l
    {program} predict {name} a.csv --quiet | cmp - <({program} predict <(cat {name}) /dev/stdin --quiet < a.csv)
    """
    command = ["/bin/bash", "-e", "-o", "pipefail", "-c", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "400"), done.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="runs in bash")
def test_the_manual_s_table_with_names(tmp_path):
    """What the manual shows is what a shell shows."""
    manual = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
    shown = manual.partition("```console\n")[2].partition("```")[0]
    _, table, *steps = [part.partition("\n") for part in shown.split("$ ")]
    (tmp_path / "flowers.csv").write_text(table[2])
    for command, _, expected in steps:
        script = re.sub(r"\badatron (?=\w+ )", f"{sys.executable} -m adatron ", command)
        done = subprocess.run(["/bin/bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout + done.stderr == expected


@pytest.mark.slow
def test_the_manual_s_examples(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    manual = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text().replace("\\\n", " ")
    begin = manual.partition("```sh\n")[2].partition("```")[0].splitlines()[:1]
    lines = manual.partition("## Examples")[2].partition("```sh\n")[2].partition("```")[0].splitlines()
    for line in [*begin, *lines]:
        program, *arguments = shlex.split(line.partition("|")[0], comments=True) or [""]
        if program == "python":
            subprocess.run([sys.executable, *arguments], check=True)
        elif program == "adatron":
            assert tool(*arguments) == 0, f"{line}: {capsys.readouterr().err}"


@pytest.mark.parametrize("kind", [MemoryError, ValueError])
def test_an_error_without_text_is_no_lack_of_memory_unless_it_is_one(kind, tmp_path, capsys):
    def fail(_):
        raise kind

    (tmp_path / "a.csv").write_text("1,2,0\n2,1,1\n")
    with at(files.read, fail):
        assert tool("train", tmp_path / "a.csv", "--model", tmp_path / "m") == 1
    assert ("not enough memory" in capsys.readouterr().err) == (kind is MemoryError)


def test_help_needs_nothing_heavy():
    code = "import sys, adatron.cli as c; c.main(['train', '--help']); print(*sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--gap-tol" in done.stdout
    assert not {"numba", "numpy", "scipy", "sklearn"} & set(done.stderr.split())


def test_the_module_runs_as_a_program(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "adatron", "info", str(tmp_path / "none")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 4
    assert done.stderr == f"error: {tmp_path / 'none'}: No such file or directory\n"


def test_the_formats_are_those_of_the_readers():
    assert tuple(files.FORMATS) == FORMAT_NAMES
