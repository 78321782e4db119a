"""The solvers of the program: one algorithm a file, the table that picks one, and how a fit runs."""

from .base import Progress
from .blocks.block import Block
from .classic.decomposition import Decomposition
from .classic.isda import ISDA
from .classic.kernel_adatron import KernelAdatron
from .classic.smo import SMO
from .classic.svmseq import SVMseq
from .route import Route, choose_route

__all__ = ["ISDA", "SMO", "Block", "Decomposition", "KernelAdatron", "Progress", "Route", "SVMseq", "choose_route"]
