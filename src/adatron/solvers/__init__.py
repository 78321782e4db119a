"""How the program is solved: one algorithm a file, and the table that picks one."""

from .block import Block
from .decomposition import Decomposition
from .isda import ISDA
from .kernel_adatron import KernelAdatron
from .smo import SMO
from .svmseq import SVMseq

__all__ = ["ISDA", "SMO", "Block", "Decomposition", "KernelAdatron", "SVMseq"]
