"""Every kind of file is attacked for two seconds; CI attacks them for longer."""

from pathlib import Path

import pytest

from processes import python

SCRIPT = Path(__file__).parents[2] / "scripts" / "attack_files"
KINDS = [kind for kind in ("models", "states", "data", "databases") if (SCRIPT / f"{kind}.py").exists()]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_attack_succeeds(kind):
    python(SCRIPT, "--minutes", 2 / 60, "--what", kind)
