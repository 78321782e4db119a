"""Every kind of file is attacked for two seconds; CI attacks them for longer."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "attack_files"
KINDS = [kind for kind in ("models", "states", "data", "databases") if (SCRIPT / f"{kind}.py").exists()]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_attack_succeeds(kind):
    command = [sys.executable, SCRIPT, "--minutes", str(2 / 60), "--what", kind]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
