"""Delimited text: the form of a file, its lines, and their values."""

from .read import read_delimited

__all__ = ["read_delimited"]
