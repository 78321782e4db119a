"""The package as a building: no circle of imports, no file, function or folder that is too large."""

import ast
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import adatron

ROOT = Path(adatron.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
TESTS = sorted(Path(__file__).parents[1].rglob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION = 400, 60
MOST_FILES = 16  # of a folder, beside its folders; kernels are one a file


def module(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module(path): path for path in FILES}


def imported(path):
    """The modules of the package that a file imports, wherever in the file; a folder's own file is imported on the way
    to every file in it and does not count."""
    package = list(module(path).split("."))
    package = package if path.name == "__init__.py" else package[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom) or not (node.level or (node.module or "").startswith("adatron")):
            continue
        base = package[: len(package) + 1 - node.level] if node.level else []
        target = ".".join([*base, *(node.module or "").split(".")]).strip(".")
        for name in node.names:
            found |= {one for one in (f"{target}.{name.name}", target) if one in MODULES and not inside(path, one)}
    return found - {module(path)}


def inside(path, name):
    """Whether a module is the folder that the file is in, or holds it."""
    return MODULES[name].name == "__init__.py" and MODULES[name].parent in path.parents


def test_no_circle_of_imports():
    """Neither at the top of a file nor in a function, nor for types alone."""
    TopologicalSorter({name: imported(path) for name, path in MODULES.items()}).prepare()  # an error names a circle


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


def defined(path):
    """Yield the names of the classes, constants and types of a file, without those in classes and functions."""
    nodes = [ast.parse(path.read_text())]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield from [node.id] if node.id.lstrip("_")[:1].isupper() else []
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.comprehension):
            nodes += ast.iter_child_nodes(node)


def test_an_exported_name_is_defined_once():
    """A user who looks for a class or a constant finds one thing."""
    exported = {name for module in MODULES for name in getattr(import_module(module), "__all__", ())}
    places = {}
    for path in FILES:
        for name in exported & set(defined(path)):
            places.setdefault(name, []).append(str(path.relative_to(ROOT)))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


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
