"""scikit-learn's test_sparse.py."""

from compat.drop_in import functions_of

globals().update(functions_of("test_sparse"))
