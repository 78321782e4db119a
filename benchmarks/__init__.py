"""Benchmarks: ``python -m benchmarks {fit,predict,memory,scaling,certify}``. The manual is docs/performance.md."""
