"""Every example runs: the programs, and what the README, the manual and the docstrings show."""

import doctest
import re
import runpy
import shlex
import shutil
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from adatron.cli import main

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*/*.py"))
SOURCE = ROOT / "src"
DOCTESTED = [path for path in sorted(SOURCE.glob("adatron/**/*.py")) if ">>> " in path.read_text()]
NEEDED = {"dask": "distributed", "mlflow.py": "mlflow", "onnx": "onnx", "plots": "matplotlib", "reports": "matplotlib"}
EXAMPLES_NEED = {"attributions": "shapiq"}
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(python|sh|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?")
HEART = "heart_scale"  # the file that pages about the command line train on


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, capsys, monkeypatch):
    """The gallery shows what an example prints, and its pictures."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    if path.stem in EXAMPLES_NEED:
        pytest.importorskip(EXAMPLES_NEED[path.stem])
    plt.close("all")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runpy.run_path(str(path), run_name="__main__")
    assert "duality gap" in capsys.readouterr().out
    assert plt.get_fignums()
    plt.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("path", DOCTESTED, ids=lambda path: path.stem)
def test_docstring(path):
    for part, package in NEEDED.items():
        if part in path.relative_to(SOURCE).parts:
            pytest.importorskip(package)
    name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.fixture
def data_of_pages(tmp_path):
    """Write the files that the page about reports names, and the one that lies beside the README."""
    (tmp_path / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "patients.csv", tmp_path / "examples")
    X = np.random.default_rng(0).normal(size=(300, 4)).round(3)
    for name in ("data", "new"):
        dump_svmlight_file(X, (X[:, 0] > 0).astype(int), str(tmp_path / f"{name}.svm"), zero_based=False)


def same_words(shown, printed):
    """Compare an output that a page shows with what its block printed; only bounds such as 7.3e-07 may differ."""
    shown, printed = (" ".join(text.split()) for text in (shown, printed))
    assert NUMBER.split(shown) == NUMBER.split(printed)
    for one, other in zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True):
        a, b = (float(number.replace(",", "")) for number in (one, other))
        assert "e-" in one or a == pytest.approx(b, rel=0.02), (one, other)


def run_page(page, folder, monkeypatch, capsys):
    """Run the blocks of a page in order: Python in one namespace, and the lines that call the tool; how many ran."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MPLBACKEND", "agg")
    names, ran, text = {"__name__": "page"}, 0, page.read_text()
    for language, code in BLOCK.findall(text):
        if language == "text":
            same_words(code, capsys.readouterr().out)
            continue
        capsys.readouterr()
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
    drawn = re.findall(rf"\]\({page.stem}/(\w+\.png)\)", text)
    assert [
        name for name in drawn if not (folder / name).is_file()
    ] == []  # the page's own pictures, which its blocks write
    return ran


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [p for p in PAGES if HEART not in p.read_text() and "```python" in p.read_text()],
    ids=lambda page: page.stem,
)
def test_page(page, data_of_pages, tmp_path, monkeypatch, capsys):
    if page.stem == "dask":
        pytest.importorskip("distributed")
    assert run_page(page, tmp_path, monkeypatch, capsys) > 0


@pytest.mark.data
@pytest.mark.parametrize("page", [p for p in PAGES if HEART in p.read_text()], ids=lambda page: page.stem)
def test_page_with_real_data(page, data_dir, tmp_path, monkeypatch, capsys):
    shutil.copy(data_dir / HEART, tmp_path)
    assert run_page(page, tmp_path, monkeypatch, capsys) > 0
