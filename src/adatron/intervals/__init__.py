"""Intervals and sets of labels that hold the truth with a guaranteed probability, from exact left-out predictions."""

from .full import FullConformal
from .plus import CVPlus, JackknifePlus

__all__ = ["CVPlus", "FullConformal", "JackknifePlus"]
