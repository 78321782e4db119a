"""The package as a building: no circle of imports, no file, function or folder that is too large.

Also tested here: ``arrays``.
"""

import ast
import re
from collections import Counter
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import adatron
from adatron import arrays

ROOT = Path(adatron.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
TESTS = sorted(Path(__file__).parents[1].rglob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION = 400, 60
MOST_FILES = 16  # of a folder, beside its folders; kernels are one a file


def test_no_circle_of_imports():
    """Neither at the top of a file nor in a function, nor for types alone; a folder's own file is above its others."""
    graph = pytest.importorskip("grimp").build_graph("adatron", cache_dir=None)
    direct = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    arrows = {name: {one for one in found if not name.startswith(f"{one}.")} for name, found in direct.items()}
    TopologicalSorter(arrows).prepare()  # an error names a circle


def test_no_file_or_function_is_too_long():
    long = {}
    for path in FILES:
        text = path.read_text()
        pieces = {
            node.name: code_lines(node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)
        }
        over = {name: n for name, n in pieces.items() if n > LONGEST_FUNCTION}
        if over or text.count("\n") > LONGEST_FILE:
            long[str(path.relative_to(ROOT))] = over or text.count("\n")
    assert long == {}


def code_lines(function):
    """Lines of a function without its signature and docstring."""
    first = function.body[1] if ast.get_docstring(function) and len(function.body) > 1 else function.body[0]
    return function.end_lineno - first.lineno + 1


def test_folders_hold_few_files_and_none_holds_one():
    counts = {}
    for path in FILES:
        if path.name != "__init__.py":
            counts[path.parent] = counts.get(path.parent, 0) + 1
    assert {str(f.relative_to(ROOT)): n for f, n in counts.items() if n > MOST_FILES or n == 1} == {}


def test_an_exported_class_is_defined_once():
    """A user who looks for it finds one thing."""
    modules = [one.name for one in walk_packages(adatron.__path__, "adatron.") if "__main__" not in one.name]
    exported = {name for module in modules for name in getattr(import_module(module), "__all__", ())}
    classes = Counter(name for path in FILES for name in re.findall(r"^class (\w+)", path.read_text(), re.MULTILINE))
    assert [name for name in exported if classes[name] > 1] == []


def test_the_types_of_arrays_have_one_home():
    names = "|".join(name for name in vars(arrays) if re.fullmatch("[A-Z][a-z]+", name))
    again = [path for path in FILES if re.search(rf"^({names}) = ", path.read_text(), re.MULTILINE)]
    assert again == [Path(arrays.__file__)]


def test_no_test_replaces_a_private_name():
    """A test replaces parts of the outside world; ``moments`` tells what the library does."""
    replaced = []
    for path in TESTS:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith((".setattr", ".setitem", ".patch")):
                target = ".".join(ast.unparse(one).strip("'\"") for one in node.args[:2])
                if any(part.startswith("_") and not part.startswith("__") for part in target.split(".")):
                    replaced.append(f"{path.name}:{node.lineno}: {target}")
    assert replaced == []


def test_what_docstrings_point_to_is_there():
    """Each "see ``name``" names modules, functions, classes, or what the package assigns to."""
    texts = {path: path.read_text() for path in FILES}
    trees = [node for text in texts.values() for node in ast.walk(ast.parse(text))]
    known = {part for path in [*FILES, *ROOT.rglob("*.cu")] for part in (*path.with_suffix("").parts, path.suffix[1:])}
    known |= {node.name for node in trees if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    known |= {node.id for node in trees if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    pointed = [(path.name, name) for path, text in texts.items() for name in re.findall(r"\b[Ss]ee ``([^`]+)``", text)]
    lost = [one for one in pointed if not set(re.split(r"[./ ]", one[1].rstrip("()"))) <= known]
    assert lost == []
    assert len(pointed) > 50
