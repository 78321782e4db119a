"""The table of solvers. A new solver is one file and one line here; the command line reads the names from this source.

'auto' is the first solver that accepts the program: block ascent, which accepts all and is the fastest. The others are
there to be read, compared and taught; each ends with the same certificate.
"""

from __future__ import annotations

from ..problems import Dual
from .base import Solver
from .blocks.block import Block
from .classic.decomposition import Decomposition
from .classic.isda import ISDA
from .classic.kernel_adatron import KernelAdatron
from .classic.smo import SMO
from .classic.svmseq import SVMseq
from .primal import Primal

SOLVERS: dict[str, type[Solver]] = {
    "block": Block,
    "kernel_adatron": KernelAdatron,
    "svmseq": SVMseq,
    "isda": ISDA,
    "smo": SMO,
    "decomposition": Decomposition,
    "primal": Primal,
}


def suits(solver: Solver, dual: Dual) -> bool:
    """Return whether a solver takes a program."""
    return solver.ridged is (dual.ridge is not None) and solver.accepts(dual)


def choose(solver: str | Solver, dual: Dual) -> Solver:
    """Return the solver with this name, or the one given, if it accepts the program.

    Raises
    ------
    ValueError
        The solver does not accept it: the message names those that do.
    """
    if solver == "auto":
        return next(one for one in (kind() for kind in SOLVERS.values()) if suits(one, dual))
    chosen = SOLVERS[solver]() if isinstance(solver, str) else solver
    if not suits(chosen, dual):
        able = ", ".join(repr(name) for name, kind in SOLVERS.items() if suits(kind(), dual))
        what = "an augmented bias or none"
        if chosen.ridged is (dual.ridge is None):
            what = "errors that cost their square" if chosen.ridged is False else "errors that do not cost their square"
        elif dual.totals:
            what = "an explicit bias" if dual.one_sum else "problems with nu"
        name = next((name for name, kind in SOLVERS.items() if isinstance(chosen, kind)), type(chosen).__name__)
        raise ValueError(f"The solver {name!r} is not made for {what}; these are: {able}.")
    return chosen
