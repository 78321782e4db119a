"""Searches over parameters: the values that options ask for, and what is told of the outcome."""
