"""Store what stands around a machine in a model file: scikit-learn's steps, wrappers and searches of a list."""
