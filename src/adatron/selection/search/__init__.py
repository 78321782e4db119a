"""Searches over parameters whose fits share their kernel matrices."""
