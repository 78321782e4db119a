"""Every example runs: the programs, and what the README and the manual show."""

import re
import runpy
import shlex
import shutil
from pathlib import Path

import pytest

from adatron.cli import main

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
HEART = "heart_scale"  # the file that pages about the command line train on


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert "duality gap" in capsys.readouterr().out


def run_page(page, folder, monkeypatch):
    """Run the blocks of a page in order: Python in one namespace, and the lines that call the tool; how many ran."""
    monkeypatch.chdir(folder)
    names, ran = {"__name__": "page"}, 0
    for language, code in BLOCK.findall(page.read_text()):
        if language == "python":
            exec(compile(code, page.name, "exec"), names)  # noqa: S102 (our own manual)
            ran += 1
            continue
        for line in code.splitlines():
            if line.startswith("python -c "):
                exec(shlex.split(line, comments=True)[2], {})  # noqa: S102
            if line.startswith("adatron "):
                assert main(shlex.split(line, comments=True)[1:]) == 0, line
                ran += 1
    return ran


@pytest.mark.parametrize(
    "page",
    [p for p in PAGES if HEART not in p.read_text() and "```python" in p.read_text()],
    ids=lambda page: page.stem,
)
def test_page(page, tmp_path, monkeypatch, capsys):
    assert run_page(page, tmp_path, monkeypatch) > 0


@pytest.mark.data
@pytest.mark.parametrize("page", [p for p in PAGES if HEART in p.read_text()], ids=lambda page: page.stem)
def test_page_with_real_data(page, data_dir, tmp_path, monkeypatch, capsys):
    shutil.copy(data_dir / HEART, tmp_path)
    assert run_page(page, tmp_path, monkeypatch) > 0
