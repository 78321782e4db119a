"""Modules of packages that a plain installation does without."""

from __future__ import annotations

import importlib
from typing import Any

from ...extras import how_to_get
from ..table import DataError, Path


def needs(module: str, extra: str, path: Path) -> Any:
    """Import a module of an extra, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise DataError(path, f"reading it takes {package}: {how_to_get(extra)}") from error
