"""Damaged model files."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def attempt(rng: np.random.Generator, folder: Path) -> tuple[str, str]:
    """Return the kind of the damage and how it ended."""
    return "nothing", "right"
