"""Other forms of a fitted model."""
