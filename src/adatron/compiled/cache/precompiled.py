"""Compiled code that came with the package: a wheel of a platform brings some for each class of its processors.

It is read before the user's cache, and never written. Whoever can change it can change the package's Python files, too,
so it has their trust, and nobody's ownership is checked.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from .folder import precompiled_hash
from .kept import Kept
from .processor import PROCESSOR_CLASSES, features, processor_class

MACHINE_CODE = Path(__file__).parents[1] / "machine_code"  # scripts/make_wheel fills it


@functools.cache
def precompiled_folder() -> Path | None:
    """Return the folder with code for this processor, compiled from these sources by this numba; None if none came."""
    kind = processor_class(features())
    folder = MACHINE_CODE / precompiled_hash() / str(kind)
    return folder if folder.is_dir() else None


class Precompiled:
    """The code of a function and a signature that came with the package."""

    def __init__(self, folder: Path, name: str) -> None:
        self._kept = Kept(folder / name, None, Path.read_bytes)
        self._kind = folder.name

    def load(self, key: Any) -> Any:
        """Return the code, or None; the key names this processor, that of the file the class of processors."""
        signature, (triple, _, _), function = key
        return self._kept.load((signature, (triple, self._kind, PROCESSOR_CLASSES[self._kind]), function))
