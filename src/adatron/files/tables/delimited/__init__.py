"""Delimited text: the form of a file, its lines, and their values."""
