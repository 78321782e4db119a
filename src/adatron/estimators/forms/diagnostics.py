"""SVMseq's diagnostics: the angle between the planes of two classifiers, and whether a plane is balanced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ...quoted import quoted
from ..svc import SVC


@dataclass(frozen=True)
class Balance:
    """The result of SVMseq's condition for a balanced classifier.

    Parameters
    ----------
    value : float
        λ² ‖w*‖², w* being the normal of the balanced plane parallel to the model's.
    holds : bool
        ``value`` > 1/4. The condition is sufficient, not necessary.

    Examples
    --------
    >>> from adatron.estimators import Balance
    >>> Balance(value=0.3, holds=True).holds
    True
    """

    value: float
    holds: bool


def angle(first: SVC, second: SVC) -> float:
    """Return the angle between the normals of two binary classifiers in the feature space (SVMseq, eq. 27).

    Parameters
    ----------
    first, second : SVC
        Fitted on two classes, with the same kernel and the same features.

    Returns
    -------
    degrees : float
        From 0 to 180; the sign of a normal counts. nan if one of them is zero.

    Raises
    ------
    ValueError
        More than two classes, given kernel values, or different kernels.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.estimators import angle
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> free, penalised = (SVC(bias=bias, gamma=1.0).fit(X, y) for bias in ("explicit", "augmented"))
    >>> bool(0 < angle(free, penalised) < 10)
    True
    """
    for model in (first, second):
        _check(model)
    if first.kernel_ != second.kernel_:
        raise ValueError(f"The models have different kernels, {quoted(first.kernel_)} and {quoted(second.kernel_)}.")
    lengths = _product(first, first) * _product(second, second)
    if not lengths > 0:
        return float("nan")
    return float(np.degrees(np.arccos(np.clip(_product(first, second) / np.sqrt(lengths), -1.0, 1.0))))


def balance(model: SVC) -> Balance:
    """Check SVMseq's condition for a balanced classifier, one in the middle between the two classes (section 4.1.2).

    Let p be the smallest decision value of the positive support vectors and -q the largest of the negative ones. Then
    w* = 2 w / (p + q). The paper has the condition for λ = 1; in general it is λ² ‖w*‖² > 1/4.

    Parameters
    ----------
    model : SVC
        Fitted with ``bias='augmented'`` on two classes that its plane's direction separates.

    Returns
    -------
    Balance

    Raises
    ------
    ValueError
        Another bias, more than two classes, given kernel values, a compact model, or support vectors that no parallel
        plane separates.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.estimators import balance
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(60, centers=2, cluster_std=0.5, random_state=0)
    >>> balance(SVC(C=10, bias="augmented").fit(X, y)).holds
    True
    """
    _check(model)
    if model.compact_:
        raise ValueError("The support vectors of a compact model have no class. Take the model from which it was made.")
    if model.bias != "augmented":
        raise ValueError(f"The condition is for bias='augmented', not for {quoted(model.bias)}.")
    beta, values = _beta(model), model.decision_function(model.support_vectors_)
    between = float(values[beta > 0].min() - values[beta < 0].max()) if len(np.unique(np.sign(beta))) == 2 else 0.0
    if not between > 0:
        raise ValueError("No plane parallel to the model's separates its support vectors; there is no balanced one.")
    # For augment='auto' the factor is not kept, but b = λ² Σβ gives it.
    total = float(beta.sum())
    known = not isinstance(model.augment, str)
    lambda2 = float(model.augment) ** 2 if known else (model.intercept_[0] / total if total else 0.0)
    value = float(lambda2 * _product(model, model) * (2.0 / between) ** 2)
    return Balance(value, value > 0.25)


def _check(model: SVC) -> None:
    check_is_fitted(model)
    if len(model.classes_) != 2:
        raise ValueError(f"The classifier must have two classes, not {len(model.classes_)}.")
    if model.kernel_.name == "precomputed":
        raise ValueError("kernel='precomputed' has no kernel that could be evaluated.")


def _beta(model: SVC) -> NDArray[np.float64]:
    dual: Any = model.dual_coef_
    return dual.toarray()[0] if sparse.issparse(dual) else dual[0]


def _product(first: SVC, second: SVC) -> float:
    """Return the inner product of two normals."""
    return float(_beta(first) @ first.kernel_(first.support_vectors_, second.support_vectors_) @ _beta(second))
