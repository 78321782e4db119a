"""The input-space margin: a classifier's program whose targets have different sizes."""

from __future__ import annotations

from dataclasses import replace

from .dual import Dual, Vector


def with_targets(dual: Dual, size: Vector, slack: str = "feature") -> Dual:
    """Return the program of y_i f(x_i) >= size_i instead of 1: t = y * size.

    Parameters
    ----------
    dual : the program of a C-SVC
    size : (n,) > 0; for the margin in the input space the sizes of the gradients, so that every sample asks for a
        distance and not for a decision value (S. Akaho, Maximizing the margin in the input space, 2002, eqs. 8, 9, 21)
    slack : what an error costs C for: 'feature' is a lack of 1 in y_i f(x_i), as in the source; 'input' is a lack of 1
        in y_i f(x_i) / size_i, that is of the distance that the sample asks for. So y_i beta_i <= C_i / size_i
    """
    box = size if slack == "input" else 1.0
    return replace(dual, t=dual.t * size, lower=dual.lower / box, upper=dual.upper / box)
