"""Readers of data files: one file for each format, and a table that picks one."""
