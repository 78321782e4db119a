"""Model files: their allowed content, and how it is checked, written and read."""
