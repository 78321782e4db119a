"""Put compiled code into the wheel that Hatchling builds, if the environment variable ADATRON_COMPILE is 1.

A warm-up compiles the code, for each class of processors that this processor belongs to: code can only be made where
it can run. The wheel gets the tags of numba's own wheel, so that it fits where numba's does. The code is used with the
version of numba that the extra ``precompiled`` pins. Elsewhere the wheel is an ordinary one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CLASSES = """
from adatron.compiled.cache.precompiled import PROCESSOR_CLASSES, features, needed
for name in PROCESSOR_CLASSES:
    if needed(name) <= features():
        print(name, PROCESSOR_CLASSES[name])
"""
FACTS = """
from importlib import metadata
from adatron.compiled.cache.precompiled import MACHINE_CODE, precompiled_hash
print((MACHINE_CODE.relative_to(MACHINE_CODE.parents[2]) / precompiled_hash()).as_posix())
about = metadata.distribution("numba").read_text("WHEEL")
print(*(line.removeprefix("Tag: ") for line in about.splitlines() if line.startswith("Tag: ")))
"""


class CompiledCode(BuildHookInterface[Any]):
    """Hatchling's hook of the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and add each file under the place where the package looks for it."""
        if os.environ.get("ADATRON_COMPILE") != "1" or version == "editable":
            return
        self.folder = Path(tempfile.mkdtemp())
        python = environment(self.folder / "made", f"{self.root}[precompiled]")
        kinds = dict(line.split() for line in run(python, "-c", CLASSES).splitlines())
        if not kinds:
            print("no compiled code: this processor belongs to no class that code is compiled for")
            return
        compile_code(python, self.folder, kinds)
        target, tags = run(python, "-c", FACTS).splitlines()
        build_data["pure_python"] = False
        build_data["tag"] = compressed(tags.split())
        build_data["force_include"] |= {
            str(file): f"{target}/{kind}/{file.name}" for kind in kinds for file in (self.folder / kind).glob("*/*.nbi")
        }

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the environment and the code, which are in the wheel now."""
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)


def compressed(tags: list[str]) -> str:
    """Return several tags that differ in their platform as one."""
    python, abi, _ = tags[0].split("-")
    return f"{python}-{abi}-{'.'.join(sorted(one.split('-')[2] for one in tags))}"


def environment(folder: Path, *packages: str) -> Path:
    """Make an environment with packages and no compiled code, and return its Python."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return python


def run(*command: str | Path) -> str:
    """Run a command; return its output."""
    done = subprocess.run(command, env=variables(), check=True, text=True, stdout=subprocess.PIPE)
    return done.stdout


def variables(**more: str) -> dict[str, str]:
    """Return the environment with more variables, and without those that name other sources or ask for a wheel."""
    apart = ("ADATRON_COMPILE", "PYTHONPATH")
    return {name: value for name, value in os.environ.items() if name not in apart} | more


def compile_code(python: Path, folder: Path, kinds: dict[str, str]) -> None:
    """Compile for each class of processors, given with its features, at the same time, in folders of their names."""
    processes: list[subprocess.Popen[bytes]] = []
    for name, features in kinds.items():
        print(f"compiling for {name}", flush=True)
        target = {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": features, "ADATRON_CACHE_DIR": str(folder / name)}
        command = [python, "-P", "-c", "import adatron; adatron.warmup()"]
        # Compiles alone, without helpers.
        processes.append(subprocess.Popen(command, cwd=folder, env=variables(**target, ADATRON_COMPILES_AHEAD="1")))
    ends = [process.wait() for process in processes]
    if any(ends):
        raise SystemExit("the warm-up failed")
