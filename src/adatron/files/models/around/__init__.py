"""What may stand around a machine in a model file: scikit-learn's steps, wrappers and searches, by an allow-list."""
