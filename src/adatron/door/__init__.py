"""Checks of input, as scikit-learn does them."""
