"""The precision of numbers."""

UNIT = 2.0**-53  # Relative rounding of a float64.
