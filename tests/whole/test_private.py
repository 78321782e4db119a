"""What is built on the estimators reads their models, and calls no private method of theirs."""

import ast
from pathlib import Path

import adatron

ROOT = Path(adatron.__file__).parent
ABOVE = (
    "cli",
    "files",
    "insight",
    "intervals",
    "plots",
    "reports",
    "selection",
    "dask",
    "mlflow.py",
    "onnx.py",
)
OWN = ("self", "cls")


def private_names():
    """The private names that classes of estimators define, but for those that scikit-learn has, too."""
    found = set()
    for path in (ROOT / "estimators").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                for one in node.body:
                    targets = one.targets if isinstance(one, ast.Assign) else [getattr(one, "target", None)]
                    names = [getattr(one, "name", ""), *(getattr(target, "id", "") for target in targets)]
                    found |= {name for name in names if name.startswith("_") and not name.startswith("__")}
    return found - {"_parameter_constraints", "_validate_params", "_get_param_names", "_gamma"}


def test_layers_above_the_estimators_call_nothing_private_of_them():
    names, offenders = private_names(), []
    assert {"_model", "_decision", "_solved"} <= names
    for layer in ABOVE:
        for path in [ROOT / layer] if layer.endswith(".py") else sorted((ROOT / layer).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Attribute) and node.attr in names:
                    of = node.value
                    its_own = (isinstance(of, ast.Name) and of.id in OWN) or isinstance(of, ast.Call)
                    if not its_own:  # super(), or a class of its own with such a name
                        offenders.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    assert not offenders, "\n".join(offenders)
