"""Choice of kernels: paths of solutions, each started at the last one."""

from .kernel_path import KernelPath, kernel_path

__all__ = ["KernelPath", "kernel_path"]
