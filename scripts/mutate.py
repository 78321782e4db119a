"""Change the proofs in one place at a time, and see whether a test fails.

Run ``python scripts/mutate.py``. Each change is a mutant: an operator, a sign, a comparison, a constant, or min in
place of max. The tests of its file judge a mutant, in a process of its own, with the compiler off. The list in
``scripts/mutants.txt`` has the mutants that no test can tell from the source, with the reason. The status is 1 if
another mutant survives.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any, NamedTuple

os.environ.update(NUMBA_DISABLE_JIT="1", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")

ROOT = Path(__file__).resolve().parents[1]
PACKAGE, LISTED = ROOT / "src" / "adatron", Path(__file__).with_name("mutants.txt")
# The tests of each file, below ``tests``, the sharpest first.
PROGRAMS = ("ball", "csvc", "nusvc", "nusvr", "oneclass", "quantile", "svr")
ALL = ["problems/test_dual.py"]
TESTS = {
    "kernels/rounding.py": ["kernels/test_rounding.py"],
    **{f"problems/{name}.py": ["problems/test_kinds.py", "problems/test_programs.py", *ALL] for name in PROGRAMS},
    "problems/unit.py": ["problems/test_unit.py", *ALL],
    "problems/problem.py": ["problems/test_kinds.py", "problems/test_problem.py", *ALL],
    "problems/dual.py": ["problems/test_dual.py", "certificates/test_gap.py"],
    "certificates/bias.py": ["certificates/test_bias.py"],
    "certificates/gap.py": [
        "certificates/test_gap.py",
        *(
            f"certificates/test_gap.py::{name}"
            for name in (
                "test_no_optimum_within_the_bounds_makes_the_part_larger",
                "test_nothing_known_is_an_infinite_part",
            )
        ),
    ],
    "certificates/certify.py": ["certificates/test_certify_weigh.py", "certificates/test_certify_rows.py"],
}
LIMIT = 6.0  # Times the seconds of the tests without a mutant; a mutant that takes longer counts as found.
# Folders that know neither problems nor certificates: their mutants need not import these folders anew.
BELOW = ("adatron.compiled", "adatron.kernels", "adatron.devices", "adatron.threads", "adatron.gram")
MEMORY = 16 << 30  # Bytes of addresses; a mutant may ask for any number.

OPERATORS: dict[type[ast.AST], tuple[str, ...]] = {  # as written, then what takes its place
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.FloorDiv: ("//", "/"),
    ast.Pow: ("**", "*"), ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"), ast.Mod: ("%", "*"), ast.RShift: (">>", "<<"),
    ast.And: ("and", "or"), ast.Or: ("or", "and"), ast.Lt: ("<", "<=", ">="), ast.LtE: ("<=", "<", ">"),
    ast.Gt: (">", ">=", "<="), ast.GtE: (">=", ">", "<"), ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"), ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"),
    ast.USub: ("-", ""), ast.Not: ("not ", ""), ast.Invert: ("~", ""),
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "argmin": "argmax",
         "argmax": "argmin", "any": "all", "all": "any", "zeros": "ones", "ones": "zeros", "abs": ""}  # fmt: skip


class Mutant(NamedTuple):
    """A file of the package with one change, and the name by which the list knows the change."""

    file: str
    name: str
    source: str


class Changes(ast.NodeVisitor):
    """All changes of a file as (begin, end, text, function) in bytes, in the order of the file."""

    def __init__(self, source: bytes) -> None:
        self.source, self.function = source, list[str]()
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.found: list[tuple[int, int, str, str]] = []
        self.visit(ast.parse(source))

    def _span(self, node: Any) -> tuple[int, int]:
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset

    def _add(self, begin: int, end: int, text: str) -> None:
        self.found.append((begin, end, text, ".".join(self.function) or "module"))

    def _between(self, left: Any, right: Any, op: ast.AST, end: str = "") -> None:
        """Change the operator between two nodes."""
        old, *others = OPERATORS.get(type(op), ("",))
        begin, stop = self._span(left)[1], self._span(right)[0]
        at = begin + self.source[begin:stop].index(old.encode())
        for new in others:
            self._add(at, at + len(old + end), new + end)

    def _named(self, node: Any) -> None:
        """Look at the defaults and the body of a function or class, not at types and decorators."""
        self.function.append(node.name)
        defaults = [*node.args.defaults, *node.args.kw_defaults] if isinstance(node, ast.FunctionDef) else []
        for one in filter(None, [*defaults, *node.body]):
            self.visit(one)
        self.function.pop()

    visit_FunctionDef = visit_ClassDef = _named

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, int):
            self._add(*self._span(node), str(not value if isinstance(value, bool) else value + 1))
        elif isinstance(value, float):
            for text in ["1.0"] if value == 0.0 else [repr(0.5 * value), repr(2.0 * value)]:
                self._add(*self._span(node), text)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        begin = self._span(node)[0]
        self._add(begin, begin + len(OPERATORS[type(node.op)][0]), "")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._between(node.left, node.right, node.op)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._between(node.target, node.value, node.op, "=")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._between(left, right, node.op)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, op, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            self._between(left, right, op)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in NAMES:
            begin, end = self._span(node.func)
            self._add(begin if name == "abs" else end - len(name), end, NAMES[name])
        self.generic_visit(node)


def mutants(file: str) -> Iterator[Mutant]:
    """Yield the mutants of a file. A name is the changed line, without the number of the line."""
    source, seen = (PACKAGE / file).read_bytes(), Counter[str]()
    for begin, end, text, function in Changes(source).found:
        changed = (source[:begin] + text.encode() + source[end:]).decode()
        line = changed.splitlines()[source[:begin].count(b"\n")].split("  # ")[0].strip()
        name = f"{file}:{function}: {line}"
        seen[name] += 1
        with contextlib.suppress(SyntaxError):
            compile(changed, file, "exec")
            yield Mutant(file, name if seen[name] == 1 else f"{name} #{seen[name]}", changed)


def run(tests: list[str]) -> int:
    """Run tests in this process until one fails; return pytest's status. A warning of NumPy is no failure."""
    import pytest
    from hypothesis import Phase, settings

    # The same examples in every run, none from an earlier one, and no search for a smaller one.
    settings.register_profile("mutants", derandomize=True, database=None, phases=[Phase.explicit, Phase.generate])
    settings.load_profile("mutants")
    there = [str(ROOT / "tests" / one) for one in tests]
    plain = ["-q", "-x", "-p", "no:cacheprovider", "-W", "ignore::RuntimeWarning"]
    return int(pytest.main([*plain, "--rootdir", str(ROOT), *there]))


def judge(mutant: Mutant, limit: float) -> None:
    """Run the tests of a mutant in this process, which ends with their status."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(limit))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    path, usual = str(PACKAGE / mutant.file), SourceFileLoader.get_code
    SourceFileLoader.get_code = lambda self, fullname: (
        compile(mutant.source, path, "exec") if self.path == path else usual(self, fullname)
    )
    os._exit(run(TESTS[mutant.file]))


def warm(files: list[str]) -> dict[tuple[str, ...], float]:
    """Run the tests of all files without a mutant; return their seconds. Forget the repository, keep other modules."""
    taken, kept = {}, () if any(file.startswith("kernels") for file in files) else BELOW
    for tests in {tuple(TESTS[file]): None for file in files}:
        begin = time.monotonic()
        if run(list(tests)):
            sys.exit(f"without a mutant fails one of {', '.join(tests)}")
        taken[tests] = time.monotonic() - begin
        for name, module in list(sys.modules.items()):
            own = (getattr(module, "__file__", None) or "").startswith((str(ROOT / "tests"), str(PACKAGE)))
            if (own or name.split(".")[0] == "adatron") and not name.startswith(kept):
                del sys.modules[name]
    return taken


def survivors(todo: list[Mutant], seconds: dict[tuple[str, ...], float], jobs: int) -> Iterator[Mutant]:
    """Yield the mutants that pass all tests."""
    running: dict[int, Mutant] = {}
    for mutant in [*todo, None]:
        while running and (mutant is None or len(running) >= jobs):
            pid, status = os.wait()
            done = running.pop(pid)
            if status == 0:
                yield done
        if mutant is not None:
            sys.stdout.flush()
            pid = os.fork()
            if pid == 0:
                judge(mutant, 10.0 + LIMIT * seconds[tuple(TESTS[mutant.file])])
            running[pid] = mutant


def listed() -> dict[str, str]:
    """Return the reason of each mutant in the list: indented lines are mutants, and the line above them says why."""
    found, reason = {}, ""
    for line in filter(None, LISTED.read_text().splitlines()):
        reason = reason if line.startswith("  ") else line
        found[line.strip()] = reason
    return {name: why for name, why in found.items() if name != why}


def main() -> int:
    """Judge the mutants that the options choose, and print those that survive."""
    parser = argparse.ArgumentParser(description="Change the proofs in one place at a time; some test must fail.")
    parser.add_argument("files", nargs="*", help="such as problems/dual.py; all if none is named")
    parser.add_argument("--every", type=int, default=1, help="judge one mutant in so many, by chance (default: 1, all)")
    parser.add_argument("--seed", type=int, default=0, help="which of them (default: 0)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    options = parser.parse_args()
    begin, files, explained = time.monotonic(), options.files or list(TESTS), listed()
    every = [one for file in files for one in mutants(file)]
    chosen = random.Random(options.seed).sample(every, -(-len(every) // options.every))  # noqa: S311
    left = set[str]()
    for one in survivors(chosen, warm(files), options.jobs):
        left.add(one.name)
        if one.name not in explained:
            print(f"survives: {one.name}", flush=True)
    for name in [one.name for one in chosen if one.name in explained and one.name not in left]:
        print(f"a test finds, so strike it from the list: {name}")
    for name in [one for one in explained if one.split(":")[0] in files and one not in {each.name for each in every}]:
        print(f"listed, but no mutant: {name}")
    print(f"{len(chosen)} mutants in {time.monotonic() - begin:.0f} s: tests find {len(chosen) - len(left)}, "
          f"{len(left & set(explained))} are explained, {len(left - set(explained))} survive")  # fmt: skip
    return int(not left <= set(explained))


if __name__ == "__main__":
    sys.exit(main())
