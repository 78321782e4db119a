"""Pictures of searches over parameters, in the manner of scikit-learn's displays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from textwrap import fill
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from ..outcome import best_of, edges, is_number, measure_of, metric_of, positions, short, values_of, varied
from .axes import Display, display, literal

Flags = NDArray[np.bool_]

# Parameters that go to the horizontal axis, by preference.
HORIZONTAL = ("gamma", "nu", "C", "epsilon", "degree", "coef0")
WRITTEN_CELLS = 120  # Most cells whose scores are written into them.
WRITTEN_COLUMNS = 12  # Most columns, likewise.
LABELLED = 14  # Most values that an axis names.
FILLED_SHARE = 0.5  # Part of the cells below which filled ones are points: the candidates were drawn at random.
LEGEND_COLUMNS = 3  # Most entries of a legend beside each other.
WRAPPED = 60  # Letters of a line in a title.
LONG_TITLE = 40  # Letters above which a title has several lines, and the labels of the horizontal axis are slanted.
LOGARITHMIC = 10.0  # Ratio of the largest to the smallest value from which an axis is logarithmic.
DARK = 0.5  # Lightness of a colour below which white is read on it.
FINAL_SCORE = "score final at any tolerance"
MAP = "cividis"  # Made for all kinds of colour vision.
STRONG = "#d55e00"  # Vermilion of Okabe and Ito's palette, for all kinds of colour vision.


@display
class SearchDisplay(Display):
    """The mean scores of a search over one or two of its parameters.

    Two parameters of a grid make a map, one makes a line with error bars, and parameters that were drawn at random
    make points. If the search has more parameters, the best score over the others is shown. Use :meth:`from_search`.

    Parameters
    ----------
    names : tuple of str
        The parameters: of the horizontal axis, and of the vertical one if there are two.
    values : tuple of list
        The values of each parameter.
    scores, deviations : ndarray of shape (n_y, n_x)
        Mean and standard deviation of the scores over the folds; one row for one parameter. NaN is no score.
    tried : ndarray of shape (n_y, n_x)
        Whether there is a candidate.
    proven : ndarray of shape (n_y, n_x)
        Whether no further solving can change a score.
    doubtful : ndarray of shape (n_y, n_x)
        Whether a fit did not converge.
    best : tuple of int
        Row and column of the best candidate.
    at_edge : dict of str
        'smallest' or 'largest' for each parameter of which the best candidate has an outermost value.
    metric : str
        The name of what the score measures, such as 'accuracy'; 'score' if that is not known.
    others : tuple of str
        The parameters over which the best score is shown.
    outside : dict
        The parameters of the best candidate if the axes do not hold it, as in a list of grids with other parameters;
        else empty.
    best_score : float
        The score of the best candidate; NaN if no score is finite.

    Attributes
    ----------
    mesh_, line_, points_ : what was drawn of the scores; the other two are None
    text_ : ndarray of matplotlib texts of shape (n_y, n_x), or None
        The scores that are written into a map.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.plots.search import SearchDisplay
    >>> from adatron.selection import GridSearchCV
    >>> from sklearn.datasets import load_iris
    >>> grid = {"C": [0.1, 1, 10], "gamma": [0.01, 0.1, 1]}
    >>> search = GridSearchCV(SVC(), grid).fit(*load_iris(return_X_y=True))
    >>> SearchDisplay.from_search(search).names
    ('gamma', 'C')
    """

    names: tuple[str, ...]
    values: tuple[list[Any], ...]
    scores: Vector
    deviations: Vector
    tried: Flags
    proven: Flags
    doubtful: Flags
    best: tuple[int, int] | None
    at_edge: dict[str, str]
    metric: str = "score"
    others: tuple[str, ...] = ()
    outside: dict[str, Any] = field(default_factory=dict[str, Any])
    best_score: float = np.nan
    mesh_: Any = field(default=None, init=False)
    line_: Any = field(default=None, init=False)
    points_: Any = field(default=None, init=False)
    text_: Any = field(default=None, init=False)

    @classmethod
    def from_search(
        cls, search: Any, x: str | None = None, y: str | None = None, *, metric: str | None = None, ax: Any = None,
        mesh_kw: dict[str, Any] | None = None,
    ) -> Self:  # fmt: skip
        """Collect the scores of a fitted search and draw them.

        Parameters
        ----------
        search : GridSearchCV or RandomizedSearchCV
            Fitted; also scikit-learn's, and others with ``cv_results_``.
        x, y : str, default=None
            Names of the parameters on the axes, such as 'svc__gamma'. By default the two best known ones that have
            several values: C upwards and gamma to the right. With ``x`` alone its line is drawn.
        metric : str, default=None
            One of several metrics; by default the one that chose the best candidate.
        ax : matplotlib axes, default=None
            By default those of a new figure.
        mesh_kw : dict, default=None
            Settings of ``pcolormesh``, such as ``vmin`` and ``cmap``.

        Returns
        -------
        display : SearchDisplay

        Raises
        ------
        ValueError
            The search is not fitted, has no such parameter or metric, or no parameter with several values.
        """
        results = getattr(search, "cv_results_", None)
        if results is None:
            raise ValueError(f"This {type(search).__name__} is not fitted yet: call fit first.")
        metric = metric_of(search, metric)
        names = _names(results, x, y)
        values = tuple(values_of(results, name) for name in names)
        best = np.array([search.best_index_]) if callable(getattr(search, "refit", None)) else best_of(results, metric)
        collected = _collected(results, names, values, metric, best)
        outside = results["params"][best[0]] if len(best) and collected[-1] is None else {}
        made = cls(
            names, values, *collected, edges(results, best), measure_of(search, metric),
            tuple(name for name in varied(results) if name not in names), outside,
            float(results[f"mean_test_{metric}"][best[0]]) if len(best) else np.nan,
        )  # fmt: skip
        return made.plot(ax=ax, mesh_kw=mesh_kw)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, metric: str | None = None, ax: Any = None,
        mesh_kw: dict[str, Any] | None = None,
    ) -> Self:  # fmt: skip
        """Draw a fitted search over its two main parameters; see :meth:`from_search`, which takes others.

        Every display takes samples X and their targets y; a fitted search needs none.
        """
        return cls.from_search(estimator, metric=metric, ax=ax, mesh_kw=mesh_kw)

    def plot(self, *, ax: Any = None, mesh_kw: dict[str, Any] | None = None) -> Self:
        """Draw the scores; the best one has a frame, and proven ones a dot.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            By default those of a new figure.
        mesh_kw : dict, default=None
            Settings of ``pcolormesh``.

        Returns
        -------
        display : SearchDisplay
        """
        ax = self._on(ax)
        self.mesh_ = self.line_ = self.points_ = self.text_ = None
        numbers = all(is_number(value) for values in self.values for value in values)
        if len(self.names) == 1:
            self._draw_line(ax)
        elif numbers and self.tried.mean() < FILLED_SHARE:
            self._draw_points(ax)
        else:
            self._draw_map(ax, {"cmap": MAP, **(mesh_kw or {})})
        ax.set_title(self._title(), fontsize="medium")
        handles = ax.get_legend_handles_labels()[0]
        if handles:
            slanted = any(label.get_rotation() for label in ax.get_xticklabels())
            place: Any = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.26 if slanted else -0.16)}
            columns = min(len(handles), LEGEND_COLUMNS)
            ax.legend(handles=handles, ncols=columns, fontsize="small", frameon=False, **place)
        return self

    def _title(self) -> str:
        printed: list[str] = []
        if self.best is not None:
            printed.append(f"best {self.metric} {self.scores[self.best]:.4g}")
        elif self.outside:
            there = ", ".join(f"{short(name)} {_text(value)}" for name, value in self.outside.items())
            line = f"best {self.metric} {self.best_score:.4g} is not on these axes: {there}"
            printed.append(fill(line, WRAPPED))
        if self.others:
            printed.append(f"best over {', '.join(map(short, self.others))}")
        there = [f"the {word} {short(name)}" for name, word in self.at_edge.items()]
        if there:
            printed.append(f"at the edge: {' and '.join(there)}")
        line = "; ".join(printed)
        return line if len(line) <= LONG_TITLE else "\n".join(printed)

    def _draw_map(self, ax: Any, settings: dict[str, Any]) -> None:
        rows, columns = self.scores.shape
        grid = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
        ax.set_facecolor("0.85")
        self.mesh_ = ax.pcolormesh(*grid, np.ma.masked_invalid(self.scores), **settings)
        self.figure_.colorbar(self.mesh_, ax=ax, label=f"mean {literal(self.metric)}")
        for axis, name, values in zip((ax.xaxis, ax.yaxis), self.names, self.values, strict=True):
            _label(axis, literal(short(name)), values)
        self._mark_missing(ax)
        if self.scores.size <= WRITTEN_CELLS and columns <= WRITTEN_COLUMNS:
            self._write(ax)
        marks = ((self.proven, "o", 0.36, FINAL_SCORE), (self.doubtful, "X", -0.36, "not converged"))
        for flags, mark, aside, label in marks:
            at = np.argwhere(flags & np.isfinite(self.scores))
            if len(at):
                ax.plot(
                    at[:, 1] + aside, at[:, 0] + 0.34, mark, markersize=6, linestyle="none", color="white",
                    markeredgecolor="black", markeredgewidth=0.8, label=label,
                )  # fmt: skip
        self._mark_best(ax)

    def _mark_missing(self, ax: Any) -> None:
        """Hatch the cells that have no score."""
        for number, place in enumerate(np.argwhere(~np.isfinite(self.scores)).tolist()):
            label = "no score" if number == 0 else None
            _frame(ax, place, hatch="////", edgecolor="0.55", linewidth=0, label=label)

    def _write(self, ax: Any) -> None:
        """Write the scores into the cells."""
        self.text_ = np.full(self.scores.shape, None, object)
        for row, column in np.argwhere(np.isfinite(self.scores)).tolist():
            red, green, blue, _ = self.mesh_.cmap(self.mesh_.norm(self.scores[row, column]))
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < DARK
            style: Any = {"ha": "center", "va": "center", "fontsize": "x-small", "color": "white" if dark else "black"}
            self.text_[row, column] = ax.text(column, row, f"{self.scores[row, column]:.3f}", **style)

    def _mark_best(self, ax: Any) -> None:
        """Frame the best cell, and draw the sides of the map that it touches and that may hide a better one."""
        if self.best is None:
            return
        for colour, width, label in (("white", 4.5, None), (STRONG, 2.5, "best")):
            _frame(ax, self.best, edgecolor=colour, linewidth=width, zorder=4, label=label)
        rows, columns = self.scores.shape
        spans = ((columns, ax.axvline), (rows, ax.axhline))
        new = True
        for name, (size, line) in zip(self.names, spans, strict=True):
            if name in self.at_edge:
                at = -0.5 if self.at_edge[name] == "smallest" else size - 0.5
                label = "edge of the grid" if new else None
                line(at, color=STRONG, linewidth=5, linestyle=(0, (2, 1)), clip_on=False, zorder=3, label=label)
                new = False

    def _draw_line(self, ax: Any) -> None:
        name, values, scores = self.names[0], self.values[0], self.scores[0]
        numbers = all(map(is_number, values))
        x = np.array(values, np.float64) if numbers else np.arange(len(values), dtype=np.float64)
        if numbers:
            _scale(ax, "x", x)
        else:
            _label(ax.xaxis, "", values)
        ax.set(xlabel=literal(short(name)), ylabel=f"mean {literal(self.metric)}")
        label = "mean and standard deviation over folds"
        drawn = ax.errorbar(x, scores, self.deviations[0], fmt="o-", capsize=3, color="C0", zorder=2, label=label)
        self.line_ = drawn
        rings: dict[str, Any] = {"markersize": 10, "fillstyle": "none", "linestyle": "none", "zorder": 3}
        ringed = ((self.proven[0], "o", "0.3", FINAL_SCORE), (self.doubtful[0], "X", "black", "not converged"))
        for flags, mark, colour, text in ringed:
            some = flags & np.isfinite(scores)
            if some.any():
                ax.plot(x[some], scores[some], mark, color=colour, label=text, **rings)
        for number, at in enumerate(x[~np.isfinite(scores)].tolist()):
            ax.axvline(at, color="0.55", linestyle=":", label="no score" if number == 0 else None)
        if self.best is not None:
            at = x[self.best[1]]
            ax.plot(at, scores[self.best[1]], "D", color=STRONG, markersize=9, zorder=4, label="best")
            if name in self.at_edge:
                ax.axvline(at, color=STRONG, linestyle="--", linewidth=2, zorder=1, label="edge of the range")

    def _draw_points(self, ax: Any) -> None:
        there = np.argwhere(np.isfinite(self.scores))
        x, y = (np.array(values, np.float64)[there[:, k]] for values, k in zip(self.values, (1, 0), strict=True))
        for letter, name, values in zip("xy", self.names, (x, y), strict=True):
            _scale(ax, letter, values)
            ax.set(**{f"{letter}label": literal(short(name))})
        shown = self.scores[tuple(there.T)]
        self.points_ = ax.scatter(x, y, c=shown, cmap=MAP, edgecolor="0.3", linewidth=0.5)
        self.figure_.colorbar(self.points_, ax=ax, label=f"mean {literal(self.metric)}")
        for flags, mark, label in ((self.proven, ".", FINAL_SCORE), (self.doubtful, "x", "not converged")):
            some = flags[tuple(there.T)]
            if some.any():
                ax.plot(x[some], y[some], mark, color="white", markeredgecolor="black", label=label)
        if self.best is not None:
            at = self.values[0][self.best[1]], self.values[1][self.best[0]]
            ax.plot(*at, "o", markersize=14, fillstyle="none", color=STRONG, markeredgewidth=2.5, label="best")


def _names(results: dict[str, Any], x: str | None, y: str | None) -> tuple[str, ...]:
    """Return the parameters to draw."""
    known = [key.removeprefix("param_") for key in results if key.startswith("param_")]
    for which, name in (("x", x), ("y", y)):
        if name is not None and name not in known:
            raise ValueError(f"The parameter {which} is {name!r}, and the search has {known}.")
    if x is not None and x == y:
        raise ValueError(f"The parameters x and y are both {x!r}.")
    if x is not None:
        return (x,) if y is None else (x, y)
    several = varied(results)
    if not several:
        raise ValueError("The search has no parameter with several values: there is nothing to draw.")
    order = {name: place for place, name in enumerate(HORIZONTAL)}
    several = sorted((name for name in several if name != y), key=lambda name: order.get(short(name), len(HORIZONTAL)))
    if y is not None:
        return (several[0], y) if several else (y,)
    return tuple(several[:2])


def _collected(
    results: dict[str, Any], names: tuple[str, ...], values: tuple[list[Any], ...], metric: str, best: NDArray[np.int64]
) -> tuple[Vector, Vector, Flags, Flags, Flags, tuple[int, int] | None]:
    """Return mean, deviation, presence, proof and doubt of the best candidate in each cell, and the best cell."""
    n = len(results["params"])
    columns = positions(results, names[0], values[0])
    rows = positions(results, names[1], values[1]) if len(names) == 2 else np.zeros(n, np.int64)
    shape = (len(values[1]) if len(names) == 2 else 1, len(values[0]))
    means, deviations = results[f"mean_test_{metric}"], results[f"std_test_{metric}"]
    proven = np.asarray(results.get("proven", np.zeros(n, bool)), bool)
    doubtful = ~np.asarray(results.get("converged", np.ones(n, bool)), bool)
    # The best candidate of a cell is written last.
    order = np.argsort(np.where(np.isnan(means), -np.inf, means), kind="stable")
    if len(best):
        order = np.append(order, best[0])
    order = order[(columns[order] >= 0) & (rows[order] >= 0)]
    mean, deviation = np.full(shape, np.nan), np.full(shape, np.nan)
    there, sure, doubted = np.zeros(shape, bool), np.zeros(shape, bool), np.zeros(shape, bool)
    pairs = (mean, means), (deviation, deviations), (there, np.ones(n, bool)), (sure, proven), (doubted, doubtful)
    for out, given in pairs:
        out[rows[order], columns[order]] = given[order]
    place = (int(rows[best[0]]), int(columns[best[0]])) if len(best) else None
    return mean, deviation, there, sure, doubted, place if place is not None and min(place) >= 0 else None


def _frame(ax: Any, place: Sequence[int], **style: Any) -> None:
    """Draw the edge of the cell in a row and a column."""
    from matplotlib.patches import Rectangle

    row, column = place
    ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, **style))


def _text(value: Any) -> str:
    return f"{float(f'{value:.3g}'):g}" if is_number(value) else literal(value)


def _label(axis: Any, name: str, values: list[Any]) -> None:
    """Put the values to the positions 0, 1, ... of an axis; leave some out if there are many."""
    step = -(-len(values) // LABELLED)
    texts = list(map(_text, values))
    axis.set_ticks(range(0, len(values), step), texts[::step])
    axis.set_label_text(name)
    if axis.axis_name == "x" and sum(map(len, texts[::step])) > LONG_TITLE:
        axis.set_tick_params(rotation=30)


def _scale(ax: Any, letter: str, values: Vector) -> None:
    """Make an axis logarithmic if the values call for it."""
    finite = values[np.isfinite(values)]
    if len(finite) and finite.min() > 0.0 and finite.max() >= LOGARITHMIC * finite.min():
        ax.set(**{f"{letter}scale": "log"})
