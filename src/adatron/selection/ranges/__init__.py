"""Ranges of parameters that follow from the data, and that widen if the best candidate is at their edge."""
