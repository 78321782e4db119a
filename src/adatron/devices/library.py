"""Torch, which holds all arrays of devices, imported when it is needed."""

from __future__ import annotations

from typing import Any

from ..extras import needed


def torch() -> Any:
    """Return torch, or say how to get it."""
    return needed("torch", "gpu", "A device needs")
