"""Fits on Dask clusters of processes on this machine: bits, deaths of workers, traffic, memory, and costs."""
