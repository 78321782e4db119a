"""From a solution to the model and its proofs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ..arrays import Ids
from .model import Model, Proofs

if TYPE_CHECKING:
    from ..fitting.fits import Fits
    from ..kernels import Kernel

NOT_FINITE = (
    "The dual coefficients or intercepts are not finite. The input data may contain large values and need to be "
    "preprocessed."
)


def model_of(
    X: Any,
    kernel: Kernel,
    gamma: float,
    support: Ids,
    dual: Any,
    n_jobs: int | None,
    as_sparse: bool = True,
    values: bool = False,
    **parts: Any,
) -> Model:
    """Return the model of a solution.

    X : the checked samples
    kernel, gamma : the kernel of the fit, and the number behind gamma
    support : numbers of the samples behind the columns of ``dual``
    as_sparse : whether coefficients are sparse if X is, as scikit-learn's
    values : whether X holds kernel values
    parts : others, see ``Model``
    """
    from ..gram import take_rows

    if not (np.isfinite(dual).all() and np.isfinite(parts["intercepts"]).all()):
        raise ValueError(NOT_FINITE)
    return Model(
        kernel=kernel,
        gamma=gamma,
        vectors=X[:0, :0] if values else take_rows(X, support, n_jobs),
        dual=sparse.csr_matrix(dual) if as_sparse and sparse.issparse(X) else dual,
        support=support.astype(np.int32),
        shape=X.shape,
        **{"width": X.shape[1], **parts},
    )


def proofs_of(fitted: Fits, alone: bool, unit: float = 1.0) -> Proofs:
    """Return the proofs of solutions.

    alone : there is one problem only, whose numbers are plain floats
    unit : what weights that are all that bounds the coefficients were divided by
    """
    found, scale = fitted.found, unit * unit
    n_iter, status = found.n_iter.astype(np.int32), int(not found.good.all())
    if alone:
        proof = found.certificate(0)
        gap = proof.relative_gap if found.solved[0] else 0.0
        numbers = gap, proof.kkt_violation, scale * proof.lower, scale * proof.primal
        trace = {name: one * scale if name == "dual_objective" else one for name, one in found.trace(0).items()}
        return Proofs(*numbers, n_iter, status, trace, fitted.route)
    gaps = np.where(found.solved, found.relative_gaps, 0.0)
    numbers = gaps, found.violation.copy(), scale * found.lower, scale * found.primal
    return Proofs(*numbers, n_iter, status, found.traces.scaled(scale), fitted.route)


def of_ball(square: float, near: float, b: float) -> dict[str, float | None]:
    """Return the parts of a ball's model from |a|^2 and the intercept of centred rows, and that of the given ones."""
    norm = float(np.sqrt(max(0.0, square + (near - b))))
    return {"center_norm": norm, "own_radius": None if near == b else float(np.sqrt(max(0.0, near + square)))}
