"""The oldest versions that are tested are those that pyproject.toml allows."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXTRAS = ("plot", "bench", "parquet", "hdf5", "onnx", "mlflow", "dask", "gpu")  # those for users


def test_the_oldest_versions_are_the_lower_bounds():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [one for extra in EXTRAS for one in project["optional-dependencies"][extra]]
    bounds = [re.fullmatch(r"([\w-]+)>=([\d.]+)(,.*)?", one) for one in [*project["dependencies"], *extras]]
    pinned = [line for line in (ROOT / "constraints/oldest.txt").read_text().splitlines() if line[0] != "#"]
    assert sorted(f"{bound[1]}=={bound[2]}" for bound in bounds if bound) == sorted(pinned)
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
