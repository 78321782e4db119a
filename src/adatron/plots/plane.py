"""A picture of the boundary in any number of features: a plane through a sample and its nearest boundary point."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..insight import BoundaryPlane, boundary_plane
from ..insight.names import UNNAMED, names_of, unit_of
from ..insight.subject import codes_of, machine_of, task_of
from ..pipelines import way_to
from .axes import COLORS, Display, color, display, literal, marker, regions

SIDES = ("outside", "inside")  # Of a novelty detector.
NAMED = 6  # Most classes in the legend; of more classes, those of the regions.
SHADOWED_SHARE = 0.5  # Fraction of the samples, those nearest to the plane, whose shadows are drawn.
HIDDEN = 0.03  # Fraction of the picture's width; a mark hides a circle of a smaller radius.
SHADOWS = 300  # Most shadows that are drawn.


@display
class BoundaryPlaneDisplay(Display):
    """A plane through a sample, its nearest boundary point and a third sample, with the true boundary in it.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    plane : BoundaryPlane
        What :func:`adatron.insight.boundary_plane` returned.
    names : list of str
        Names of the classes; none in a regression.
    codes : ndarray of int of shape (n_samples,), default=None
        The class of each sample; by default shadows have no class.
    unit : str, default='in units of X'
        The unit of the distances.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.plots import BoundaryPlaneDisplay
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> display = BoundaryPlaneDisplay.from_estimator(SVC(C=10).fit(X, y), X, y)
    >>> display.plane.points.shape
    (3, 2)
    """

    plane: BoundaryPlane
    names: list[str]
    codes: NDArray[np.int64] | None = None
    unit: str = UNNAMED

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, sample: int | None = None, third: int | None = None,
        ax: Any = None,
    ) -> Self:  # fmt: skip
        """Compute and draw; see :func:`adatron.insight.boundary_plane` for the parameters."""
        return cls.of(boundary_plane(estimator, X, y, sample=sample, third=third), estimator, y).plot(ax=ax)

    @classmethod
    def of(cls, plane: BoundaryPlane, estimator: Any, y: Any = None) -> Self:
        """Return the display of a result."""
        way = way_to(estimator)
        machine = machine_of(way)
        unit = unit_of(way, names_of(way, way.machine.n_features_in_, "original"))
        task = task_of(machine)
        if task != "classification":
            return cls(plane, list(SIDES) if task == "novelty" else [], unit=unit)
        codes = None if y is None else codes_of(machine.classes_, y, np.size(y))
        return cls(plane, [str(name) for name in machine.classes_], codes, unit)

    def plot(self, *, ax: Any = None, shadows: bool = True) -> Self:
        """Draw the regions of the classes with the boundary, the three points, and the other samples as shadows."""
        ax, plane = self._on(ax), self.plane
        self._regions(ax)
        self._name_regions(ax, self._shadows(ax) if shadows and len(plane.off) else set())
        points = plane.points
        ax.plot(*points[:2].T, "-", color="0.5", linewidth=1)
        for (x, y), mark, name, size, order in zip(
            points, ("o", "*", "s"),
            (f"row {plane.numbers[0]}", "nearest boundary point" if self.names else "steepest ascent",
             f"row {plane.numbers[1]}"), (8, 13, 8), (4, 3, 3), strict=True,  # the sample may lie on the star
        ):  # fmt: skip
            style: Any = {"color": COLORS[2], "markeredgecolor": "white", "linestyle": "none"}
            ax.plot([x], [y], mark, markersize=size, zorder=order, label=name, **style)
        if plane.certified > HIDDEN * float(np.ptp(plane.grid[0])):
            turn = np.linspace(0.0, 2.0 * np.pi, 100)
            x, y = plane.certified * np.cos(turn), plane.certified * np.sin(turn)
            ax.plot(x, y, ":", color="0.5", label="proven: no change inside")
        ax.set(
            aspect="equal", xlim=plane.grid[0][[0, -1]], ylim=plane.grid[1][[0, -1]],
            xlabel=f"{'towards the boundary' if self.names else 'along the steepest ascent'} ({self.unit})",
            ylabel=f"across ({self.unit})",
        )  # fmt: skip
        ax.locator_params(nbins=6)
        ax.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, frameon=False)
        return self

    def _regions(self, ax: Any) -> None:
        plane = self.plane
        if not self.names:
            shades = ax.contourf(*plane.grid, plane.values, levels=12, cmap="cividis", alpha=0.7)
            ax.figure.colorbar(shades, ax=ax, label="prediction", shrink=0.7)
            return
        regions(ax, *plane.fine, self.names, (*plane.grid, plane.values) if len(self.names) == 2 else None)

    def _named(self) -> list[int]:
        """Return the classes in the legend: those of the regions, and the others if they are few."""
        shown = np.unique(self.plane.codes) if len(self.names) > NAMED else np.arange(len(self.names))
        return shown[:NAMED].tolist()

    def _name_regions(self, ax: Any, drawn: set[int]) -> None:
        """Name the classes of regions that no sample has named."""
        for code in np.unique(self.plane.codes).tolist() if self.names else ():
            if code in self._named() and code not in drawn:
                style: Any = {"color": color(code), "alpha": 0.4, "linestyle": "none"}
                ax.plot([], [], "s", label=literal(self.names[code]), **style)

    def _shadows(self, ax: Any) -> set[int]:
        """Draw the samples nearest to the plane, and return the classes that they name in the legend."""
        plane = self.plane
        near = np.sort(
            np.argsort(plane.off, kind="stable")[: min(SHADOWS, max(1, int(SHADOWED_SHARE * len(plane.off))))]
        )
        codes = np.zeros(len(near), np.int64) if self.codes is None else self.codes[plane.shown[near]]
        named = {code for code in np.unique(codes).tolist() if self.codes is not None and code in self._named()}
        for code in np.unique(codes).tolist():
            some = near[codes == code]
            known = code in named
            ax.plot(
                *plane.shadows[some].T, marker(code) if known else ".", color=color(code) if known else "0.5",
                markersize=4, alpha=0.7, markeredgecolor="0.3", markeredgewidth=0.4, linestyle="none",
                label=literal(self.names[code]) if known else None, zorder=1,
            )  # fmt: skip
        return named
