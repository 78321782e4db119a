#!/usr/bin/env python3
"""Check all of RELEASING.md that a program can: ``python scripts/release_check.py [TAG]``; a line says what each found.

The tools come from the index into an environment of their own. The last line says where the steps for a person stand.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
VERSION = PROJECT["version"]
RECIPE = """
import sys
from rattler_build import Stage0Recipe, VariantConfig
from rattler_build.render import RenderConfig
rendered = Stage0Recipe.from_file(sys.argv[1]).render(VariantConfig(), RenderConfig())
assert rendered, "the recipe renders to nothing"
"""


def said(pattern: str, file: str) -> str:
    """Return what a file says in the group of a pattern, or nothing."""
    found = re.search(pattern, (ROOT / file).read_text("utf-8"), re.MULTILINE)
    return found[1] if found else ""


def one_version() -> str:
    """The version stands in four files."""
    places = {
        "CITATION.cff": said(r"^version: (\S+)$", "CITATION.cff"),
        "conda/recipe.yaml": said(r'^  version: "(\S+)"$', "conda/recipe.yaml"),
        "CHANGELOG.md": said(r"^## \[([\d.]+)\] - ", "CHANGELOG.md"),
    }
    other = {file: version for file, version in places.items() if version != VERSION}
    return f"pyproject.toml has {VERSION}, but: {other}" if other else ""


def one_date() -> str:
    """The release has a date, the same in the changelog and the citation, and not of tomorrow."""
    changed = said(rf"^## \[{re.escape(VERSION)}\] - (\d{{4}}-\d\d-\d\d)$", "CHANGELOG.md")
    cited = said(r'^date-released: "(\S+)"$', "CITATION.cff")
    if not changed or changed != cited:
        return f"CHANGELOG.md says {changed or 'nothing'}, CITATION.cff says {cited or 'nothing'}"
    return f"{changed} has not come" if date.fromisoformat(changed) > date.today() else ""  # noqa: DTZ011


def nothing_waits() -> str:
    """The changelog has no unreleased lines."""
    waiting = said(r"^## \[Unreleased\]\n((?:(?!## ).*\n)*)", "CHANGELOG.md").strip()
    return f"CHANGELOG.md has unreleased lines: {waiting[:60]}…" if waiting else ""


def the_tag() -> str:
    """The tag is v and the version."""
    return "" if len(sys.argv) < 2 or sys.argv[1] == f"v{VERSION}" else f"{sys.argv[1]} is not v{VERSION}"


def recipe_follows_the_project() -> str:
    """The recipe needs what the project needs."""
    needed = {re.sub(r"(?=[<>=])", " ", one, count=1) for one in PROJECT["dependencies"]}
    run = said(r"^  run:\n((?:    - .*\n)*)", "conda/recipe.yaml")
    listed = {line.strip(" -") for line in run.splitlines()} - {"python >=${{ python_min }}"}
    return f"only in one of the two: {sorted(needed ^ listed)}" if needed ^ listed else ""


def actions_are_pinned() -> str:
    """Each action of the workflows is pinned by a digest, with its version beside it."""
    free = [
        f"{path.name}: {name}"
        for path in sorted((ROOT / ".github/workflows").glob("*.yml"))
        for name in re.findall(r"uses: (?!\./)(.*)", path.read_text("utf-8"))
        if not re.fullmatch(r"\S+@[0-9a-f]{40} # v[\d.]+", name)
    ]
    return f"without digest or version: {free}" if free else ""


def by_tools(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the findings of tools: the files of the release, the citation, the workflows, the recipe."""
    venv.create(folder / "tools", with_pip=True)
    python = folder / "tools" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    tools = ["build", "check-jsonschema", "codespell", "py-rattler-build", "sp-repo-review[cli]", "twine", "zizmor"]
    yield "the tools are there", ended([*pip, *tools])
    programs = python.parent
    dist = folder / "dist"
    yield "source archive and wheel are built", ended([python, "-m", "build", "--outdir", dist])
    yield "the source archive is the repository", not_in_archive(dist)
    yield "the index takes both", ended([python, "-m", "twine", "check", "--strict", *dist.iterdir()])
    yield "the workflows are safe", ended([programs / "zizmor", "--offline", "--quiet", ".github"])
    for schema in ("github-workflows", "dependabot"):
        files = sorted((ROOT / ".github").glob("workflows/*.yml" if schema == "github-workflows" else "dependabot.yml"))
        yield (
            f"{schema} follow their schema",
            ended([programs / "check-jsonschema", "--builtin-schema", f"vendor.{schema}", *files]),
        )
    forms = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[0-9]*.yml"))
    check = [programs / "check-jsonschema", "--builtin-schema", "vendor.github-issue-forms", *forms]
    yield "the forms follow their schema", ended(check)
    yield "the repository is as reviewers expect", ended([programs / "repo-review", "."])
    yield "words are spelt well", ended([programs / "codespell"])
    yield "the conda recipe renders", ended([python, "-c", RECIPE, "conda/recipe.yaml"])
    # It needs an older jsonschema than the others.
    yield "there is a tool for citations", ended([*pip, "cffconvert"])
    yield "the citation is valid", ended([programs / "cffconvert", "--validate"])


def not_in_archive(dist: Path) -> str:
    """Return the files that the repository has and the source archive lacks: tests read nearly all of them."""
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, text=True, stdout=subprocess.PIPE, check=True)  # noqa: S607
    return "\n".join(sorted(set(tracked.stdout.splitlines()) - held))


def ended(command: list[str | Path]) -> str:
    """Return the end of what a command said, if it failed."""
    done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.stdout.strip()[-2000:] or f"it ended with {done.returncode}" if done.returncode else ""


CHECKS: list[Callable[[], str]] = [
    one_version, one_date, nothing_waits, the_tag, recipe_follows_the_project, actions_are_pinned,
]  # fmt: skip


def main() -> None:
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        own = ((check.__doc__ or "", check()) for check in CHECKS)
        for findings in (own, by_tools(Path(folder))):
            for name, finding in findings:
                wrong += bool(finding)
                print(f"{'WRONG' if finding else 'ok   '}  {name}", flush=True)
                if finding:
                    print("       " + finding.replace("\n", "\n       "))
    print("By hand: the list “Before the tag” in RELEASING.md.")
    raise SystemExit(f"{wrong} checks failed" if wrong else 0)


if __name__ == "__main__":
    main()
