"""Margins in the input space: their measurement for any classifier, and a classifier that maximises them."""
