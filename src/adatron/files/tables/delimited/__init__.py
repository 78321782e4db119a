"""Delimited text: the form of a file, its lines, its columns and its table."""

from .read import read_delimited

__all__ = ["read_delimited"]
