"""Block ascent, for programs of any size."""
