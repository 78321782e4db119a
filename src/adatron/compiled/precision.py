"""How finely numbers are rounded."""

UNIT = 2.0**-53  # relative rounding of a float64
