"""scikit-learn's test_svm.py."""

from compat.drop_in import functions_of

globals().update(functions_of("test_svm"))
