"""SVMseq's diagnostics (section 4.1): the angle between two planes, the modified margin, and balanced planes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ..estimators.svc import SVC
from ..quoted import quoted


@dataclass(frozen=True)
class Balance:
    """SVMseq's condition for a balanced plane, and the planes parallel to a model's.

    With p, the smallest decision value of the positive samples, and -q, the largest of the negative ones, the
    balanced plane is (2 f - (p - q)) / (p + q): it is 1 and -1 there. The paper has q = 1 and p = c.

    Parameters
    ----------
    value : float
        λ² ‖w*‖², w* being the normal of the balanced plane parallel to the model's.
    holds : bool
        ``value`` > 1/4. The condition is sufficient, not necessary.
    positive, negative : float
        p and q. The model's own plane is balanced if they are equal.

    Examples
    --------
    >>> from adatron.estimators import Balance
    >>> found = Balance(value=0.3, holds=True, positive=3.0, negative=1.0)
    >>> found.c, found.parallel(3.0), found.parallel(-1.0)
    (3.0, 1.0, -1.0)
    """

    value: float
    holds: bool
    positive: float
    negative: float

    @property
    def c(self) -> float:
        """The model's place in the family of parallel planes: p / q, 1 if the plane is balanced."""
        return self.positive / self.negative

    def parallel(self, values: Any, c: float = 1.0) -> Any:
        """Return decision values of the parallel plane that is c at the positive side, -1 at the other (eqs. 29, 30).

        Parameters
        ----------
        values : float or ndarray
            Decision values of the model.
        c : float, default=1.0
            1 is the balanced plane w*, b*.
        """
        size = self.positive + self.negative
        balanced = (2.0 * values - (self.positive - self.negative)) / size
        return 0.5 * (1.0 + c) * balanced - 0.5 * (1.0 - c)


@dataclass(frozen=True)
class ModifiedMargin:
    """The margin that a bias in the augmented vector maximises, beside the margin itself (SVMseq, eqs. 23 to 26).

    Parameters
    ----------
    margin : float
        d = 1 / ‖w‖.
    cos2 : float
        cos² φ = 1 / (1 + m²) with m = b / (λ ‖w‖): what the bias costs.
    modified : float
        The modified margin, 1 / √(‖w‖² + b² / λ²) = d cos φ.

    Examples
    --------
    >>> from adatron.estimators import ModifiedMargin
    >>> ModifiedMargin(margin=0.5, cos2=1.0, modified=0.5).cos2
    1.0
    """

    margin: float
    cos2: float
    modified: float


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


def balance(model: SVC, X: Any = None, y: Any = None) -> Balance:
    """Check SVMseq's condition for a balanced classifier, one in the middle between the two classes (section 4.1.2).

    Let p be the smallest decision value of the positive samples and -q the largest of the negative ones. Then
    w* = 2 w / (p + q). The paper has the condition for λ = 1; in general it is λ² ‖w*‖² > 1/4.

    Parameters
    ----------
    model : SVC
        Fitted with ``bias='augmented'`` on two classes that its plane's direction separates.
    X, y : array-like of shape (n_samples, n_features) and (n_samples,), default=None
        Samples and their labels, as in ``fit``. None takes the support vectors: a plane that is far from balanced may
        have those of one class alone.

    Returns
    -------
    Balance

    Raises
    ------
    ValueError
        Another bias, more than two classes, given kernel values, a compact model, or samples that no parallel plane
        separates.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.estimators import balance
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(60, centers=2, cluster_std=0.5, random_state=0)
    >>> balance(SVC(C=10, bias="augmented").fit(X, y)).holds
    True
    """
    lambda2 = _lambda2(model)
    if X is None:
        if model.compact_:
            raise ValueError(
                "The support vectors of a compact model have no class. Take the model from which it was made, or "
                "pass X and y."
            )
        above, values = _beta(model) > 0, model.decision_function(model.support_vectors_)
    else:
        above, values = np.asarray(y) == model.classes_[1], model.decision_function(X)
    positive = float(values[above].min(initial=np.inf))
    negative = -float(values[~above].max(initial=-np.inf))
    if not 0.0 < positive + negative < np.inf:
        raise ValueError("These samples are of one class, or no plane parallel to the model's separates them.")
    value = float(lambda2 * _product(model, model) * (2.0 / (positive + negative)) ** 2)
    return Balance(value, value > 0.25, positive, negative)


def modified_margin(model: SVC) -> ModifiedMargin:
    """Return the margin that ``bias='augmented'`` maximises, and the margin itself (section 4.1.1).

    The paper has λ = 1. With a larger augmenting factor the two margins are closer.

    Parameters
    ----------
    model : SVC
        Fitted with ``bias='augmented'`` on two classes.

    Returns
    -------
    ModifiedMargin

    Raises
    ------
    ValueError
        Another bias, more than two classes, given kernel values, or a normal of length 0.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.estimators import modified_margin
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(60, centers=2, cluster_std=0.5, random_state=0)
    >>> found = modified_margin(SVC(C=10, bias="augmented").fit(X, y))
    >>> bool(found.modified <= found.margin)
    True
    """
    lambda2, norm2, b = _lambda2(model), _product(model, model), float(model.intercept_[0])
    if not norm2 > 0.0:
        raise ValueError("The normal of the model's plane has length 0: there is no margin.")
    m2 = b * b / (lambda2 * norm2) if b else 0.0
    return ModifiedMargin(norm2**-0.5, 1.0 / (1.0 + m2), (norm2 * (1.0 + m2)) ** -0.5)


def _lambda2(model: SVC) -> float:
    """Return the square of the augmenting factor of a checked model; for augment='auto' b = λ² Σβ gives it."""
    _check(model)
    if (bias := model.problem(1.0).bias) != "augmented":
        raise ValueError(f"This is for bias='augmented', not for {quoted(bias)}.")
    if not isinstance(model.augment, str):
        return float(model.augment) ** 2
    total = float(_beta(model).sum())
    return float(model.intercept_[0]) / total if total else 0.0


def _check(model: SVC) -> None:
    check_is_fitted(model)
    model.readout.refuse_several()
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
