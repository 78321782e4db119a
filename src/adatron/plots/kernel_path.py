"""A picture of a kernel path."""

from __future__ import annotations

from typing import Any

import numpy as np

from .axes import COLORS, axes


def draw(path: Any, ax: Any = None) -> Any:
    """Draw R^2 / margin^2 of a ``KernelPath`` over gamma, and the validation error; the best step is marked."""
    ax = axes(ax)
    ax.loglog(path.gamma, path.radius_margin, "o-", color=COLORS[0], label="R² / margin², smallest ball")
    ax.loglog(path.gamma, path.radius_margin_origin, "--", color=COLORS[4], label="R² / margin², ball around 0")
    ax.axvline(path.gamma[path.best], color="0.7", zorder=0)
    ax.set(xlabel="gamma", ylabel="R² / margin²")
    lines = ax.get_lines()[:2]
    if not np.isnan(path.validation_error).all():
        right = ax.twinx()
        lines += right.semilogx(path.gamma, path.validation_error, "s-", color=COLORS[2], label="validation error")
        right.set(ylabel="validation error", ylim=(0, None))
    ax.legend(lines, [line.get_label() for line in lines])
    return ax
