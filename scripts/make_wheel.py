"""Make the wheel for every platform, and one for this platform and Python that brings compiled code; try the second.

``python scripts/make_wheel.py [FOLDER]`` leaves both in FOLDER (``dist``). The second has the machine code that a
warm-up compiles, for each class of processors that this processor belongs to: code can only be made where it can run.
It is used with the version of numba that the extra ``precompiled`` pins. Elsewhere it is an ordinary wheel.
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
CLASSES = """
from adatron.compiled.cache.processor import CLASSES, features, needed
for name in CLASSES:
    if needed(name) <= features():
        print(name, CLASSES[name])
"""
FACTS = """
from importlib import metadata
from adatron.compiled.cache.precompiled import ROOT, precompiled_hash
print(ROOT.relative_to(ROOT.parents[2]) / precompiled_hash())
print(metadata.distribution("numba").read_text("WHEEL"))
"""
TIMES = """
import time
from adatron import SVC
from adatron.compiled.cache.precompiled import precompiled_folder
from sklearn.datasets import make_moons

X, y = make_moons(15_000, noise=0.2, random_state=0)
for which in ("first", "second"):
    wall, processor = time.perf_counter(), time.process_time()
    SVC(C=10).fit(X, y)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"the {which} fit took {wall:.2f} s, {processor:.2f} s of the processor's time")
assert precompiled_folder(), "no compiled code came for this processor"
print(f"the code was that for {precompiled_folder().name}")
"""


def run(*command: str | Path, **more: str) -> str:
    """Run a command with more variables of the environment; return its output."""
    done = subprocess.run(command, cwd=ROOT, env=variables(more), check=True, text=True, stdout=subprocess.PIPE)
    return done.stdout


def variables(more: dict[str, str]) -> dict[str, str]:
    """Return the environment with more variables, and without a path of sources that hide the installed package."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | more


def environment(folder: Path, *packages: str) -> Path:
    """Make an environment with packages, and return its Python."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return python


def compile_code(python: Path, folder: Path) -> bool:
    """Compile for each class of processors at the same time, in folders of their names; return whether a class fits."""
    processes: list[subprocess.Popen[bytes]] = []
    for line in run(python, "-c", CLASSES).splitlines():
        name, features = line.split()
        print(f"compiling for {name}", flush=True)
        target = {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": features, "ADATRON_CACHE_DIR": str(folder / name)}
        environment = variables(target | {"ADATRON_COMPILES_AHEAD": "1"})  # alone, without helpers
        command = [python, "-P", "-m", "adatron", "warmup"]
        processes.append(subprocess.Popen(command, cwd=folder, env=environment))
    ends = [process.wait() for process in processes]
    if any(ends):
        raise SystemExit("the warm-up failed")
    return bool(processes)


def join(python: Path, wheel: Path, code: Path, folder: Path) -> None:
    """Add the compiled code to a copy of the wheel, under the tags of numba's own wheel: it fits where numba's does."""
    target, *numbas = run(python, "-c", FACTS).splitlines()
    run(python, "-m", "wheel", "unpack", "--dest", folder, wheel)
    (unpacked,) = folder.iterdir()
    for kind in code.iterdir():
        place = unpacked / target / kind.name
        place.mkdir(parents=True)
        for file in kind.glob("*/*.nbi"):
            shutil.copyfile(file, place / file.name)
    (about,) = unpacked.glob("*.dist-info/WHEEL")
    lines = about.read_text().splitlines()
    kept = [line for line in lines if line and not line.startswith(("Tag:", "Root-Is-Purelib:"))]
    tags = [line for line in numbas if line.startswith("Tag:")]
    about.write_text("\n".join([*kept, "Root-Is-Purelib: false", *tags, ""]))
    run(python, "-m", "wheel", "pack", "--dest-dir", wheel.parent, unpacked)


def attempt(wheel: Path, folder: Path) -> None:
    """Run the README and the tutorial with the wheel, in an environment of its own; nothing may be compiled."""
    python = environment(folder / "clean", f"{wheel}[precompiled,plot]", "pytest")
    cache = folder / "cache"
    print(run(python, "-P", "-c", TIMES, ADATRON_CACHE_DIR=str(cache)), end="", flush=True)
    pages = ("-q", "-p", "no:cacheprovider", "-k", "README or tutorial", "tests/whole/test_examples.py")
    print(run(python, "-P", "-m", "pytest", *pages, ADATRON_CACHE_DIR=str(cache)), end="")
    compiled = sorted(path.name for path in cache.rglob("*.nbi"))
    if compiled:
        raise SystemExit("\n".join(["these functions were compiled, though the wheel should bring them:", *compiled]))
    print("nothing was compiled for the README and the tutorial")


def main(dist: Path) -> None:
    dist.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name in ("code", "unpacked", "fresh"):
            (folder / name).mkdir()
        tools = environment(folder / "tools", "build")
        run(tools, "-m", "build", "--wheel", "--outdir", folder / "fresh")
        (pure,) = (folder / "fresh").iterdir()
        python = environment(folder / "made", f"{pure}[precompiled]", "wheel")
        if compile_code(python, folder / "code"):
            join(python, pure, folder / "code", folder / "unpacked")
            (brings,) = set((folder / "fresh").iterdir()) - {pure}
            attempt(brings, folder)
        else:
            print("no wheel with compiled code: this processor belongs to no class that code is compiled for")
        for wheel in (folder / "fresh").iterdir():
            print(f"{dist / wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
            shutil.copyfile(wheel, dist / wheel.name)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist"))
