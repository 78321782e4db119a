"""scikit-learn's test_search.py."""

from compat.drop_in import functions_of

globals().update(functions_of("test_search", "model_selection"))
