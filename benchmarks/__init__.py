"""Benchmarks: ``python -m benchmarks {fit,predict,memory,scaling,certify}``. The manual is benchmarks/README.md."""
