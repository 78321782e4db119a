"""Slow and obvious twins of the fast code: the oracles of its tests."""
