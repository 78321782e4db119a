"""Pictures of margins in the input space, in the manner of scikit-learn's displays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

from ..arrays import Vector
from ..door.columns import as_numbers
from ..estimators import InputMarginSVC
from ..insight.affine import Affine, linear_map
from ..insight.distance import input_margin
from ..insight.names import UNNAMED, names_of, unit_of
from ..insight.plane import GRID, finely
from ..insight.subject import codes_of, unnamed
from ..pipelines import way_to
from ..quoted import quoted
from .axes import COLORS, Display, color, display, literal, marker, regions

if TYPE_CHECKING:
    from ..margins import InputMargins

PICTURE_MARGIN = 0.1  # Space around the samples, as a fraction of their extent.


@display
class InputMarginDisplay(Display):
    """The decision boundary of a classifier in the plane, with the projections of samples onto it.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    X : ndarray of shape (n_samples, 2)
        The samples that are drawn.
    codes : ndarray of shape (n_samples,)
        Numbers of the classes.
    margins : InputMargins
        What :func:`adatron.input_margin` returned for X.
    support : ndarray of shape (n_support, 2)
        Support vectors.
    grid : tuple of two ndarrays of shape (n,)
        Coordinates of the picture's points.
    regions : ndarray of shape (n, n)
        Number of the class at each grid point.
    classes : ndarray of shape (n_classes,), default=None
        Names of the classes; by default their numbers.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.plots import InputMarginDisplay
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> display = InputMarginDisplay.from_estimator(SVC(C=10).fit(X, y), X, y)
    >>> display.margins.distance.shape
    (60,)
    """

    X: Vector
    codes: NDArray[np.int64]
    margins: InputMargins
    support: Vector
    grid: tuple[Vector, Vector]
    regions: NDArray[np.int64]
    classes: NDArray[Any] | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, metric: Any = None, space: str = "original", ax: Any = None
    ) -> Self:
        """Compute and draw.

        Parameters
        ----------
        estimator : SVC, NuSVC or InputMarginSVC
            Fitted on two features; also scikit-learn's, and as the last step of a pipeline.
        X : array-like of shape (n_samples, 2)
            The samples to draw.
        y : array-like of shape (n_samples,)
            Classes of the samples.
        metric : None, array-like of shape (2, 2) or callable, default=None
            See :func:`adatron.input_margin`.
        space : {'original', 'transformed'}, default='original'
            What is drawn if the estimator is a pipeline: the samples X, or the rows that the last step sees.
        ax : matplotlib axes, default=None
            By default those of a new figure.

        Raises
        ------
        ValueError
            There are not two features to draw.
        """
        way = way_to(estimator)
        if space == "transformed":
            X, estimator = way.taken(X), way.machine
        X_given, X = X, check_array(as_numbers(X), dtype="float64")
        if X.shape[1] != 2:
            raise ValueError(f"The boundary can be drawn in two features only. Got {X.shape[1]}.")
        margins = input_margin(estimator, X_given, metric, space)
        room = PICTURE_MARGIN * np.ptp(X, axis=0).max()
        low, high = X.min(axis=0) - room, X.max(axis=0) + room
        grid = (np.linspace(low[0], high[0], GRID), np.linspace(low[1], high[1], GRID))
        points = np.stack(np.meshgrid(*grid), axis=-1).reshape(-1, 2)

        def ask(places: Vector) -> NDArray[np.int64]:
            with unnamed():
                return np.searchsorted(estimator.classes_, estimator.predict(places))

        grid, regions = finely(grid, ask(points).reshape(GRID, GRID), ask)
        codes = codes_of(estimator.classes_, y, len(X))
        affine = None if space == "transformed" else linear_map(way, 2)
        support = _support(way.machine, X, affine)
        return cls(X, codes, margins, support, grid, regions, estimator.classes_).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the regions, the samples, their projections as squares, and the smallest distance as a circle."""
        ax = self._on(ax)
        k = int(max(self.codes.max(), self.regions.max())) + 1
        names = np.arange(k) if self.classes is None else self.classes
        regions(ax, self.grid, self.regions, names)
        for c in range(k):
            some, name = self.X[self.codes == c], literal(names[c])
            ax.plot(*some.T, marker(c), color=color(c), markersize=5, linestyle="none", label=name)
        ax.plot(*self.support.T, "o", markersize=9, fillstyle="none", color="0.3", label="support vectors")
        there = np.isfinite(self.margins.distance)
        feet = self.margins.projection[there]
        ax.plot(*np.stack([self.X[there], feet], axis=1).T, "-", color="0.6", linewidth=0.6, zorder=0)
        ax.plot(*feet.T, "s", markersize=3, fillstyle="none", color="0.3", label="projections")
        margin = float(self.margins.distance.min())
        # A projection may lie beyond the regions that are drawn.
        across, up = ((line[0], line[-1]) for line in self.grid)
        ax.set(aspect="equal", title=f"smallest distance {margin:.3g}", xlim=across, ylim=up)
        ax.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2, frameon=False)
        return self


def _support(machine: Any, X: Vector, affine: Affine | None) -> Vector:
    """Return the support vectors among the samples that are drawn; none if the steps before cannot be inverted."""
    # With algorithm='full' the support vectors are projections; the samples they come from are marked.
    if getattr(machine, "tilts_", None) is not None and len(machine.projections_) == len(X):
        return X[machine.support_]
    vectors = machine.support_vectors_
    vectors = np.asarray(vectors.toarray() if sparse.issparse(vectors) else vectors, np.float64)
    if affine is None:
        return vectors
    if affine.A.shape != (2, 2):
        return np.empty((0, 2))
    return np.asarray(np.linalg.solve(affine.A, (vectors - affine.b).T).T, np.float64)


@display
class MarginDisplay(Display):
    """The distribution of distances from the boundary, and of their certified lower bounds.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    margins : dict of str to InputMargins
        The distances to draw, by name.
    unit : str, default='in units of X'
        The unit of the distances.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.plots import MarginDisplay
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> display = MarginDisplay.from_estimator(SVC(C=10).fit(X, y), X, y)
    >>> sorted(display.margins)
    ['0', '1']
    """

    margins: dict[str, InputMargins]
    unit: str = UNNAMED

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, metric: Any = None, space: str = "transformed",
        name: str | None = None, ax: Any = None,
    ) -> Self:  # fmt: skip
        """Compute and draw the distances of samples X from the boundary; see :func:`adatron.input_margin`.

        By default they are measured among the rows that the machine sees, as in the other displays and in a report.
        With classes y there are curves for each of them.
        """
        found, way = input_margin(estimator, X, metric, space), way_to(estimator)
        seen = replace(way, steps=[]) if space == "original" else way
        unit = (
            unit_of(seen, names_of(way, found.projection.shape[1], "original")) if metric is None else "by the metric"
        )
        if y is None:
            return cls({name or type(way.machine).__name__: found}, unit).plot(ax=ax)
        return cls(of_classes(found, y), unit).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the fraction of the samples that are farther from the boundary than a distance."""
        ax = self._on(ax)
        drawn: list[Any] = []
        for number, (name, margins) in enumerate(self.margins.items()):
            for values, line, what in ((margins.distance, "-", "distance"), (margins.certified, ":", "certified")):
                left = 1.0 - np.arange(len(values)) / len(values)
                label = f"{literal(name)}: {what}"
                style: Any = {"color": COLORS[number % len(COLORS)], "label": label, "where": "pre"}
                drawn += ax.step(np.sort(values), left, line, **style)
        ax.set(xlabel=f"distance ({self.unit})", ylabel="part that is farther")
        ax.set(xlim=(0, None), ylim=(0, 1))
        named = [*drawn[::2], *drawn[1:2]]  # one dotted line stands for all in the legend
        ax.legend(named, [*map(literal, self.margins), "certified"][: len(named)], fontsize="small")
        return self


def of_classes(found: InputMargins, y: Any) -> dict[str, InputMargins]:
    """Return the margins of each class."""
    y = np.asarray(y).ravel()
    if len(y) != len(found.distance):
        raise ValueError(f"y must hold a target for each of the {len(found.distance)} samples. Got {len(y)}.")
    names = ("distance", "projection", "certified", "converged")
    return {str(one): type(found)(*(getattr(found, name)[y == one] for name in names)) for one in np.unique(y)}


@display
class MarginPathDisplay(Display):
    """The margin of an InputMarginSVC after each step.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    paths : list of ndarray
        One for each binary problem.
    unit : str, default='in units of X'
        The unit of the margin.

    Examples
    --------
    >>> from adatron import InputMarginSVC
    >>> from adatron.plots import MarginPathDisplay
    >>> from sklearn.datasets import make_moons
    >>> model = InputMarginSVC(n_steps=2).fit(*make_moons(40, noise=0.1, random_state=0))
    >>> len(MarginPathDisplay.from_estimator(model).paths)
    1
    """

    paths: list[Vector]
    unit: str = UNNAMED

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, y: Any = None, *, ax: Any = None) -> Self:
        """Draw the steps of a fitted InputMarginSVC, alone or as a last step; TypeError for another estimator.

        Every display takes samples X and their targets y; steps need none.
        """
        way = way_to(estimator)
        machine = way.machine
        if not isinstance(machine, InputMarginSVC):
            raise TypeError(f"MarginPathDisplay needs an InputMarginSVC. Got {quoted(machine)} instead.")
        paths: Any = machine.margin_path_
        unit = unit_of(way, names_of(way, machine.n_features_in_, "original"))
        return cls([paths] if isinstance(paths, np.ndarray) else paths, unit).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw margin over step; 0 is the original machine."""
        ax = self._on(ax)
        for number, path in enumerate(self.paths):
            ax.plot(np.arange(len(path)), path, "o-", color=color(number), label=f"problem {number}")
        ax.set(xlabel="step", ylabel=f"margin ({self.unit})")
        if len(self.paths) > 1:
            ax.legend(fontsize="small")
        return self
