"""The oldest versions that are tested are those that pyproject.toml allows."""

import re
import tomllib
import warnings
from pathlib import Path

from sklearn.datasets import load_iris

from adatron import SVC

ROOT = Path(__file__).parents[2]
EXTRAS = ("plot", "bench", "cli", "onnx", "mlflow", "dask", "gpu")  # those for users


def test_the_oldest_versions_are_the_lower_bounds():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [one for extra in EXTRAS for one in project["optional-dependencies"][extra]]
    bounds = [re.fullmatch(r"([\w-]+)>=([\d.]+)(,.*)?", one) for one in [*project["dependencies"], *extras]]
    pinned = [line for line in (ROOT / "constraints/oldest.txt").read_text().splitlines() if line[0] != "#"]
    assert sorted({f"{bound[1]}=={bound[2]}" for bound in bounds if bound}) == sorted(pinned)
    assert [one for one, bound in zip([*project["dependencies"], *extras], bounds, strict=True) if not bound] == [
        "adatron[plot]"
    ]


def test_the_version_that_code_is_compiled_for_is_allowed():
    """The extra takes one version of numba, of those that the package takes."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (pin,) = project["optional-dependencies"]["precompiled"]
    (numba,) = [one for one in project["dependencies"] if one.startswith("numba")]
    pinned, lowest, above = (
        tuple(map(int, re.search(pattern, text)[1].split(".")))
        for pattern, text in ((r"^numba==([\d.]+)$", pin), (r">=([\d.]+)", numba), (r"<([\d.]+)", numba))
    )
    assert lowest <= pinned < above


def test_the_manual_names_the_lower_bounds():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    bounds = [f"python{project['requires-python']}", *project["dependencies"]]
    page = (ROOT / "docs/installing.md").read_text()
    rows = re.findall(r"^\| ([\w-]+) \| ([\d.]+) \| (?:\w+ \d{4} )?\|$", page, re.MULTILINE)
    assert {name.lower() for name, _ in rows} == {re.split("[>=]", one)[0] for one in bounds}
    for name, limit in re.findall(r"^(\w+)>=.*,<([\d.]+)$", "\n".join(bounds), re.MULTILINE):
        assert f"{name.capitalize()} must also be older than {limit}:" in page
    for name, version in rows:
        assert [one for one in bounds if re.fullmatch(rf"{name.lower()}>={re.escape(version)}(,.*)?", one)], name


def test_each_python_is_named_tested_and_has_a_wheel():
    """Those that no run has seen are not named. Free-threaded ones, whose tags end with t, are not among them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    named = re.findall(r"Python :: (3\.\d+)$", "\n".join(project["project"]["classifiers"]), re.MULTILINE)
    workflow = (ROOT / ".github/workflows/tests.yml").read_text()
    ((tested, unseen),) = re.findall(r"^        python: \[(.*)\](?: # (.*) unseen)?$", workflow, re.MULTILINE)
    everywhere = named + re.findall(r"[\d.]+", unseen)
    assert re.findall(r"[\d.]+", tested) == everywhere
    assert project["tool"]["cibuildwheel"]["build"] == [f"cp{one.replace('.', '')}-*" for one in everywhere]
    assert project["project"]["requires-python"] == f">={named[0]}"


def test_probabilities_do_not_rest_on_scikit_learns():
    """Nothing is deprecated here, and the estimator that goes to scikit-learn asks for no probabilities."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SVC(probability=True).fit(*load_iris(return_X_y=True))
        assert model.predict_proba([[5.0, 3.0, 1.0, 0.2]]).shape == (1, 3)
        assert not hasattr(model.to_sklearn(), "predict_proba")
