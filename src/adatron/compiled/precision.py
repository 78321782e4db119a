"""The precision of numbers."""

UNIT, SINGLE = 2.0**-53, 2.0**-24  # Relative roundings of a float64, and of a float32.
