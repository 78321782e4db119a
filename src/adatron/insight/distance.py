"""The distance of samples from the decision boundary, in the space that the samples live in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from ..arrays import Ids, Vector, dense_rows
from ..conversions.adopt import adopt
from ..door.arrays import checked
from ..door.columns import as_numbers
from ..estimators.base.methods import quiet
from ..estimators.base.novelty import Novelty
from ..estimators.svc import SVC
from ..model.layout import pairs
from ..model.readout import Classes, unbeaten
from ..pipelines import of_class, way_to
from ..quoted import quoted
from .affine import EPS, SPACES, Affine, linear_map

if TYPE_CHECKING:
    from ..margins import Field, InputMargins, Metric
    from ..threads import Pool

NO_SLOPES = "The slopes of an SVDD are known for kernels of x - z only, such as 'rbf'. Got {}."
BEYOND = 1e-6  # Distance behind the boundary at which the class is checked, as a fraction of the sample's distance.
NEIGHBOURS, LABEL_HALVINGS = 8, 50  # Sizes of the search that needs labels only.


@quiet
def input_margin(estimator: Any, X: Any, metric: Any = None, space: str = "original") -> InputMargins:
    """Return distances of samples from a fitted classifier's decision boundary, with certified lower bounds.

    Parameters
    ----------
    estimator : SVC, NuSVC, InputMarginSVC, OneClassSVM or SVDD
        A fitted classifier or novelty detector with a differentiable kernel, for two or more classes: of this library,
        or SVC and NuSVC of scikit-learn. It may be the last step of a pipeline, and the best estimator of a search.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples as ``estimator.predict`` takes them.
    metric : None, array-like of shape (n_features, n_features) or callable, default=None
        The matrix G of the length √(d'Gd), or a function of one sample (n_features,) that returns it. None is the
        Euclidean length.
    space : {'original', 'transformed'}, default='original'
        Where distances are measured, and the metric holds, if the estimator is a pipeline: among the samples X, in
        their units, or among the rows that the last step sees. The steps before the last one must be linear for
        'original': StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, PCA, TruncatedSVD and selections of
        features.

    Returns
    -------
    margins : InputMargins
        What :func:`adatron.input_margin` returned for X.

    Raises
    ------
    NotFittedError
        The estimator is not fitted.
    TypeError
        Its kernel has no derivative (laplacian, precomputed, functions), or it is another kind of estimator.
    ValueError
        Bad samples, a bad metric, or a step that is not linear.

    Notes
    -----
    With more than two classes the margin is the distance to a change of the predicted class. One against one, if the
    winner wins all of its pairs, at least one of these pairs must change sign; otherwise any pair counts. One against
    the rest, the surfaces are those where the values of two classes are equal.

    References
    ----------
    Akaho, Maximizing the margin in the input space (2002), eq. 12 and section 3.4.

    Examples
    --------
    >>> from adatron import SVC, input_margin
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> margins = input_margin(SVC(C=10, gamma=1.0).fit(X, y), X)
    >>> bool((margins.certified <= margins.distance).all())
    True
    """
    from ..margins import Metric

    if space not in SPACES:
        raise ValueError(f"The 'space' parameter must be 'original' or 'transformed'. Got {quoted(space)} instead.")
    way = way_to(estimator)
    machine = classifier_of(way.machine)
    before = space == "original" and way.steps
    linear = linear_map(way, way.steps[0][1].n_features_in_) if before else None  # names a step that is not linear
    given = check_array(as_numbers(X), accept_sparse=True, dtype="float64") if before else None
    seen = checked(machine, way.taken(X), (np.float64,), reset=False)
    seen = dense_rows(seen)
    if given is None or linear is None:
        return _measured(machine, seen, Metric.of(metric, seen))
    given = np.ascontiguousarray(given.toarray() if sparse.issparse(given) else given)
    metrics = Metric.of(metric, given)
    through = metrics.through(linear.A)
    return _mapped_back(_measured(machine, seen, through), given, seen, linear, metrics, through)


def classifier_of(machine: Any) -> Any:
    """Return a fitted machine with a boundary, made of scikit-learn's if need be, whose kernel has a derivative."""
    from ..estimators.base.classifier import Classifier
    from ..kernels.derivatives import jet

    if any(of_class(machine, "sklearn.svm", name) for name in ("SVC", "NuSVC")):
        machine = taken_over(machine)
    if not isinstance(machine, (Classifier, Novelty)):
        raise TypeError(
            "input_margin needs an SVC, a NuSVC, an InputMarginSVC, a OneClassSVM or an SVDD, alone or as the last "
            f"step. Got {quoted(machine)} instead."
        )
    check_is_fitted(machine)
    machine.readout.refuse_several()
    if machine.readout.diagonal and not machine.kernel_.stationary:
        raise TypeError(NO_SLOPES.format(quoted(machine.kernel_)))
    jet(machine.kernel_)  # raises if the kernel has no derivative
    return machine


def taken_over(model: Any) -> SVC:
    """Return an SVC with the decision function of a fitted SVC or NuSVC of scikit-learn.

    Raises
    ------
    NotFittedError
        The model is not fitted.
    TypeError
        Its kernel is a function, or its kernel values are given.
    """
    check_is_fitted(model)
    if callable(model.kernel) or model.kernel == "precomputed":
        raise TypeError(f"A kernel with a derivative is needed: linear, poly, rbf or sigmoid. Got {model.kernel!r}.")
    names = ("kernel", "degree", "coef0", "decision_function_shape", "break_ties")
    own = SVC(gamma=float(model._gamma), **{name: getattr(model, name) for name in names})
    dual = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
    vectors = model.support_vectors_ if sparse.issparse(model.support_vectors_) else model.support_vectors_.copy()
    counts, support = model.n_support_.astype(np.int64), model.support_.astype(np.int64)
    found = adopt(own, model.classes_, counts, vectors, np.array(dual), model.intercept_.copy(), support)
    if "feature_names_in_" in vars(model):
        found.feature_names_in_ = model.feature_names_in_
    return found


def _measured(machine: Any, X: Vector, metric: Metric) -> InputMargins:
    """Return the margins in the space that a classifier sees."""
    from ..margins import nearest
    from ..threads import Pool, allowed_threads
    from ..threads.gate import one_blas_thread

    with one_blas_thread(), Pool(allowed_threads(machine.n_jobs)) as pool:  # bits of BLAS depend on its threads
        own = fields(machine)
        if len(own) == 1:
            return nearest(own[0], metric, X, pool)
        judges = _Judges(own, machine.readout, pool)
        return judges.margins(X, metric)


def _mapped_back(
    found: InputMargins, X: Vector, seen: Vector, affine: Affine, metric: Metric, through: Metric
) -> InputMargins:
    """Return margins before some steps from those after them.

    A vector is at least as long as its image. Rounding errors are taken off the certified bounds: those of the steps,
    and those of the metric of images, which grow with the condition of its matrix.
    """
    from ..margins import InputMargins

    inverse: Any = through.inverse
    mixed = bool(np.count_nonzero(inverse - np.einsum("...ii->...i", inverse)[..., None] * np.eye(len(affine.b))))
    condition = np.linalg.cond(inverse) if mixed else 1.0
    least = np.broadcast_to(metric.shrinkage(), len(X))
    endless = np.isinf(found.certified)  # nothing else is predicted anywhere
    reach = np.divide(found.certified, least, out=np.zeros(len(X)), where=(least > 0.0) & ~endless)
    lost = through.lengths(affine.rounding(X, reach)) if len(X) else np.zeros(0)
    slack = np.maximum(1.0 - 16.0 * X.shape[1] * EPS * condition, 0.0)
    steps = metric.back(affine.A, through, found.projection - seen)
    shorter = slack * np.where(endless, 0.0, found.certified) - 2.0 * lost
    certified = np.where(endless, np.inf, np.where(least > 0.0, np.maximum(shorter, 0.0), 0.0))
    return InputMargins(found.distance, X + steps, np.minimum(certified, found.distance), found.converged)


def fields(estimator: Any) -> list[Field]:
    """Return the decision function of each problem of a fitted classifier."""
    return estimator.model_.function().fields()


@dataclass(frozen=True)
class _Judges:
    """The decision functions of more than two classes, and the choice between them."""

    fields: list[Field]
    readout: Classes
    pool: Pool

    def values(self, X: Vector) -> Vector:
        return np.stack([field.values(X, self.pool) for field in self.fields], axis=1)

    def codes(self, X: Vector) -> Ids:
        """Return the predicted class of each row."""
        return self.readout.codes(self.values(X))

    def margins(self, X: Vector, metric: Metric) -> InputMargins:
        """Return the nearest of all surfaces behind which another class is predicted."""
        from ..margins import InputMargins, nearest

        values, n = self.values(X), len(X)
        codes = self.readout.codes(values)
        best = InputMargins(np.full(n, np.inf), np.full(X.shape, np.nan), np.full(n, np.inf), np.zeros(n, bool))
        for field, rows in self._surfaces(values, codes):
            if len(rows):
                found = nearest(field, metric.take(rows), X[rows], self.pool)
                best.certified[rows] = np.minimum(best.certified[rows], found.certified)
                self._take_nearer(best, rows, found, X[rows], codes[rows])
        if self.readout.in_pairs and self.readout.break_ties:  # values break ties, and may change where no pair does
            best.certified[self._lost(values)] = 0.0
        for row in np.flatnonzero(np.isinf(best.distance)):
            self._search(best, int(row), X[row], codes[row], metric.take([row]))
        return best

    def _surfaces(self, values: Vector, codes: Ids) -> Iterator[tuple[Field, Ids]]:
        """Yield the surfaces at which the predicted class may change, and the samples that each of them concerns."""
        both = pairs(len(self.readout.labels)).T.tolist()
        if self.readout.each:
            for i, j in both:
                yield self.fields[i] + self.fields[j].scaled(-1.0), np.flatnonzero((codes == i) | (codes == j))
            return
        lost = self._lost(values)
        for field, (i, j) in zip(self.fields, both, strict=True):
            yield field, np.flatnonzero(lost | (codes == i) | (codes == j))

    def _lost(self, values: Vector) -> NDArray[np.bool_]:
        """Return whether the winner lost one of its pairs."""
        return ~unbeaten(values, np.ones(values.shape, bool), len(self.readout.labels))

    def _take_nearer(self, best: InputMargins, rows: Ids, found: InputMargins, X: Vector, codes: Ids) -> None:
        """Take the projections that are nearer, if another class is predicted behind them."""
        nearer = np.flatnonzero(found.distance < best.distance[rows])
        behind = X[nearer] + (1.0 + BEYOND) * (found.projection[nearer] - X[nearer])
        nearer = nearer[self.codes(behind) != codes[nearer]]
        which = rows[nearer]
        best.distance[which], best.projection[which] = found.distance[nearer], found.projection[nearer]
        best.converged[which] = found.converged[nearer]

    def _search(self, best: InputMargins, row: int, x: Vector, code: int, metric: Metric) -> None:
        """Halve the ways to the nearest points of other classes, when no single surface changes the class."""
        points = self.fields[0].points
        others = points[self.codes(points) != code]
        others = others[np.argsort(np.square(others - x).sum(axis=1))[:NEIGHBOURS]]
        if not len(others):
            return
        low, high = np.zeros(len(others)), np.ones(len(others))
        for _ in range(LABEL_HALVINGS):
            middle = 0.5 * (low + high)
            same = self.codes(x + middle[:, None] * (others - x)) == code
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        steps = high[:, None] * (others - x)
        lengths = metric.lengths(steps[None])[0]
        first = int(np.argmin(lengths))
        best.distance[row], best.projection[row] = lengths[first], x + steps[first]
