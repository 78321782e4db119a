"""Compiled code: where it is kept, who compiles it, and what is compiled ahead."""

import ast
import os
import sys
import tomllib
from pathlib import Path

import pytest

from adatron.compiled.cache import folder
from adatron.compiled.cache.kept import private_folder
from processes import python

ROOT = Path(__file__).parents[3]


WHERE = (
    "from adatron.compiled.cache.folder import cache_folder as f, package_hash as h, say_if_not_kept as say; "
    "print(f(), h(), f().stat().st_mode); say(); say()"
)


def where(given, temporary):
    """Return the folder that a process uses where ``given`` is asked for, its mode, and what it says."""
    done = python("-c", WHERE, ADATRON_CACHE_DIR=given, TMPDIR=temporary)
    found, digest, mode = done.stdout.split()
    assert found.endswith(digest)
    return Path(found), int(mode), done.stderr


def test_compiled_code_is_kept_by_the_hash_of_the_package(tmp_path):
    found, mode, said = where(tmp_path / "a" / "b", tmp_path)
    assert found.parent == tmp_path / "a" / "b"
    assert mode & 0o777 == (tmp_path / "a").stat().st_mode & 0o777 == 0o700
    assert found.exists()
    assert not said


def test_a_folder_that_cannot_be_made_gives_way_to_one_of_the_process(tmp_path):
    """It is private, and gone when the process ends."""
    found, mode, said = where("/dev/null/x", tmp_path)
    assert found.parents[1] == tmp_path
    assert mode & 0o777 == 0o700
    assert not list(tmp_path.iterdir())
    assert said.count("keeps no compiled code") == 1
    assert "/dev/null" in said


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the platform has no modes")
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777], ids=oct)
@pytest.mark.parametrize("writable", [".", "..", "../.."])
def test_no_code_is_loaded_from_where_others_can_write(writable, mode, tmp_path):
    """Neither the folder itself, nor one above it, from where it could be replaced."""
    given = tmp_path / "home" / "cache" / "adatron"
    given.mkdir(parents=True)
    (given / writable).resolve().chmod(mode)
    with pytest.raises(PermissionError, match="can be changed by other users") as refused:
        private_folder(given)
    assert str((given / writable).resolve()) in str(refused.value)
    found, _, said = where(given, tmp_path)
    assert given not in found.parents
    assert f"(mode {mode:o})" in said
    assert not list(given.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="the platform has no modes")
def test_a_sticky_folder_may_be_above_but_is_not_used_itself(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    assert private_folder(shared / "own") == shared / "own"
    with pytest.raises(PermissionError, match="can be changed by other users"):
        private_folder(shared)


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_a_link_leads_to_what_is_checked(tmp_path):
    (tmp_path / "good").mkdir(mode=0o700)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad").chmod(0o777)
    for name in ("good", "bad"):
        (tmp_path / f"to {name}").symlink_to(tmp_path / name)
    assert private_folder(tmp_path / "to good" / "x") == tmp_path / "good" / "x"
    with pytest.raises(PermissionError):
        private_folder(tmp_path / "to bad" / "x")
    (tmp_path / "bad" / "to good").symlink_to(tmp_path / "good")  # the link is not used once it is resolved
    assert private_folder(tmp_path / "bad" / "to good" / "x") == tmp_path / "good" / "x"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("whose", [".", "..", "../.."])
def test_no_code_is_loaded_from_another_users_folder(whose, tmp_path):
    given = tmp_path / "home" / "cache" / "adatron"
    given.mkdir(parents=True)
    os.chown((given / whose).resolve(), 65534, 65534)
    with pytest.raises(PermissionError, match=r"belongs to another user \(number 65534\)"):
        private_folder(given)
    _, _, said = where(given, tmp_path)
    assert "belongs to another user" in said


def test_all_that_compiled_code_can_import_names_the_cache():
    root, seen = Path(folder.__file__).parents[2], set()
    waiting = [path for path in root.rglob("*.py") if "import jit" in path.read_text(encoding="utf-8")]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += imports(path)
    assert {path.relative_to(root).as_posix() for path in seen} <= {*folder.sources()}


def test_an_edit_above_the_solvers_compiles_nothing_anew():
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    layers = tools["importlinter"]["contracts"][0]["layers"]
    names = [name.removeprefix("adatron.") for layer in layers for name in layer.split(" | ")]
    above = names[: names.index(folder.HIGHEST)]
    assert not {path.split("/")[0].removesuffix(".py") for path in folder.sources()} & {"warm", "outcome", *above}


def imports(path):
    """Files of the package that a file imports."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            names = [base, *(base / one.name for one in node.names)]
            found += [file for name in names for file in (name.with_suffix(".py"), name / "__init__.py")]
    return [file for file in found if file.is_file()]
