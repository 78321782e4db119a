"""Model files: what they may hold, how it is checked, written and read."""
