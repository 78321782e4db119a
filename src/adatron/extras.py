"""The packages that a plain installation does without."""

from __future__ import annotations

import re
from importlib import import_module, metadata
from typing import Any


def extras() -> dict[str, list[str]]:
    """Return the packages of each extra of the installation, as its metadata name them."""
    found: dict[str, list[str]] = {}
    for one in metadata.requires("adatron") or []:
        wanted = re.fullmatch(r"([\w.-]+).*extra == [\"']([\w-]+)[\"'].*", one)
        if wanted:
            found.setdefault(wanted[2], []).append(wanted[1])
    return found


def how_to_get(extra: str) -> str:
    """Return the command that installs the packages of an extra, and the one that installs them with this package."""
    return f"pip install {' '.join(extras()[extra])} (as part of adatron, in its folder: pip install '.[{extra}]')"


def needed(module: str, extra: str, what: str) -> Any:
    """Import a module of an extra.

    The message of an ImportError begins with ``what``, which takes the module, and says how to get it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{what} {module.partition('.')[0]}: {how_to_get(extra)}") from error


def torch() -> Any:
    """Return torch, which holds all arrays of devices, or say how to get it."""
    return needed("torch", "gpu", "A device needs")
