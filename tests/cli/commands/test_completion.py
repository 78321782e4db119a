"""Completion by the Tab key."""

import os
import shutil
import subprocess
import sys

import pytest

from adatron.cli import main
from lines import failed


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert f"_ADATRON_COMPLETE={shell}_complete" in script
    program = shutil.which(shell)
    if program:
        subprocess.run([program, "-n"], input=script, text=True, check=True)


def test_another_shell_is_refused(capsys):
    assert main(["completion", "tcsh"]) == 2
    assert "'bash', 'zsh', 'fish'" in failed(capsys)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("adatron tr", "train"),
        ("adatron sea", "search"),
        ("adatron search --sco", "--scoring"),
        ("adatron train --ker", "--kernel"),
        ("adatron train --kernel li", "linear"),
        ("adatron train --task reg", "regression"),
    ],
)
def test_words_are_completed(words, wanted):
    code = "import sys; sys.argv[0] = 'adatron'; from adatron.cli import main; sys.exit(main())"
    known = {"_ADATRON_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | known, capture_output=True, text=True, check=False
    )
    assert wanted in [line.partition(",")[2] for line in done.stdout.splitlines()]
