"""Make the wheel for every platform, and one for this platform and Python that brings compiled code; try the second.

``python scripts/make_wheel.py [FOLDER]`` leaves both in FOLDER (``dist``). ``compiled_wheel.py`` makes the code as a
part of the second build, and ``try_wheel.py`` tries it in an environment of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(*command: str | Path, **more: str) -> None:
    """Run a command with more variables of the environment."""
    subprocess.run(command, cwd=ROOT, env=os.environ | more, check=True)


def environment(folder: Path, *packages: str) -> Path:
    """Make an environment with packages, and return its Python."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return python


def main(dist: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder, fresh = Path(temporary), Path(temporary) / "fresh"
        tools = environment(folder / "tools", "build")
        for compiled in ("0", "1"):
            run(tools, "-m", "build", "--wheel", "--outdir", fresh, ADATRON_COMPILE=compiled)
        for wheel in fresh.iterdir():
            if not wheel.stem.endswith("any"):
                clean = environment(folder / "clean", f"{wheel}[precompiled,cli,plot]", "pytest")
                run(clean, "-P", "scripts/try_wheel.py")
        dist.mkdir(parents=True, exist_ok=True)
        for wheel in fresh.iterdir():
            print(f"{dist / wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
            shutil.copyfile(wheel, dist / wheel.name)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist"))
