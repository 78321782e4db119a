"""The solvers of the program: one algorithm a file, and the table that picks one."""

from .blocks.block import Block
from .classic.decomposition import Decomposition
from .classic.isda import ISDA
from .classic.kernel_adatron import KernelAdatron
from .classic.smo import SMO
from .classic.svmseq import SVMseq

__all__ = ["ISDA", "SMO", "Block", "Decomposition", "KernelAdatron", "SVMseq"]
