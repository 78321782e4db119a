"""The packages that a plain installation does without."""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: The packages of each extra of the installation.
EXTRAS = {
    "cli": ("click", "pandas", "pyarrow"),
    "plot": ("matplotlib",),
    "onnx": ("onnx", "onnxruntime", "skl2onnx"),
    "dask": ("dask", "distributed"),
    "gpu": ("torch",),
    "mlflow": ("mlflow-skinny", "pandas"),
}


def how_to_get(extra: str) -> str:
    """Return the command that installs the packages of an extra, and the one that installs them with this package."""
    return f"pip install {' '.join(EXTRAS[extra])} (as part of adatron, in its folder: pip install '.[{extra}]')"


def needed(module: str, extra: str, what: str) -> Any:
    """Import a module of an extra.

    Raises
    ------
    ImportError
        It is not installed. The message begins with ``what``, which takes it, and says how to get it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{what} {module.partition('.')[0]}: {how_to_get(extra)}") from error
