"""Readers of data files: one file for each format, and the table that picks one."""
