"""Margins in the input space: of any classifier, and the classifier that maximises them."""
