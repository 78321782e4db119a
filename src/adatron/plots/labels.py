"""A picture of suspicious labels: how strongly the other samples disagree, or the samples beside their opponents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..insight import Issues, label_issues
from .axes import Display, bars, literal

LABELS_DRAWN = 12  # Samples that are drawn as bars.
PICTURES = 6  # Samples that are drawn as pictures.


@dataclass(repr=False)
class LabelIssueDisplay(Display):
    """The samples that the model of all others puts into another class, by exact leave-one-out.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    issues : Issues
        What :func:`adatron.insight.label_issues` returned.
    images : ndarray of shape (n_issues, 1 + n_opponents, height, width), default=None
        Pictures of the samples and of their opponents; nan where there is none.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Where the display was drawn.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.plots import LabelIssueDisplay
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(80, centers=2, random_state=0, cluster_std=0.5)
    >>> y[7] = 1 - y[7]
    >>> display = LabelIssueDisplay.from_estimator(SVC().fit(X, y), X, y)
    >>> int(display.issues.numbers[0])
    7
    """

    issues: Issues
    images: NDArray[np.float64] | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        max_samples: int | None = None,
        image_shape: tuple[int, int] | None = None,
        ax: Any = None,
    ) -> Self:
        """Compute and draw.

        Parameters
        ----------
        estimator, X, y, sample_weight, max_samples :
            As in :func:`adatron.insight.label_issues`.
        image_shape : tuple of two ints, default=None
            Height and width, if the rows of X are pictures.
        ax : matplotlib axes, default=None
            By default those of a new figure.
        """
        found = label_issues(estimator, X, y, sample_weight=sample_weight, max_samples=max_samples)
        images = None if image_shape is None else pictures(found, X, image_shape)
        return cls(found, images).plot(ax=ax)

    def plot(self, *, ax: Any = None, shown: int = LABELS_DRAWN) -> Self:
        """Draw a bar for each of the first samples, or pictures if there are some."""
        ax = self._on(ax)
        if not len(self.issues.numbers):
            ax.text(0.5, 0.5, "no sample is suspicious", ha="center", va="center", transform=ax.transAxes)
            ax.set_axis_off()
        elif self.images is not None:
            self._mosaic(ax, self.images[:PICTURES])
        else:
            self._bars(ax, shown)
        return self

    def _bars(self, ax: Any, shown: int) -> None:
        found = self.issues
        words = [f"row {one}" for one in found.numbers[:shown].tolist()]
        if found.task != "novelty":
            words = [f"{word}: {told(found, k)}" for k, word in enumerate(words)]
        bars(ax, words, np.abs(found.score[:shown]), found.bound[:shown])
        measure = {"regression": "error of the other samples' model", "novelty": "how far outside without it"}
        ax.set(xlabel=measure.get(found.task, "how far on the wrong side without it"))

    def _mosaic(self, ax: Any, images: NDArray[np.float64]) -> None:
        n, columns, height, width = images.shape
        gap = 1 + height // 8
        sheet = np.full((n * (height + gap) - gap, columns * (width + gap) - gap), np.nan)
        for i in range(n):
            for j in range(columns):
                sheet[i * (height + gap) :, j * (width + gap) :][:height, :width] = images[i, j]
        ax.imshow(sheet, cmap="gray", interpolation="nearest")
        middle = np.arange(n) * (height + gap) + 0.5 * height
        ax.set_yticks(middle, [literal(told(self.issues, k)) for k in range(n)])
        ax.set_xticks([0.5 * width, (0.5 * (columns + 1)) * (width + gap)], ["the sample", "nearest opponents"])
        ax.tick_params(length=0)
        ax.xaxis.tick_top()
        ax.spines[:].set_visible(False)


def told(found: Issues, k: int) -> str:
    """Return what is given, and what the other samples propose."""
    given, proposed = found.given[k], found.proposed[k]
    if found.task == "regression":
        return f"{given:.4g} → {proposed:.4g}"
    return f"{given} → {proposed}"


def pictures(found: Issues, X: Any, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Return the pictures of suspicious samples and of their opponents.

    Raises
    ------
    ValueError
        The rows of X are no pictures of this shape.
    """
    X = X.to_numpy() if hasattr(X, "to_numpy") else X if sparse.issparse(X) else np.asarray(X)
    if X.shape[1] != shape[0] * shape[1]:
        raise ValueError(f"image_shape must have {X.shape[1]} pixels. Got {shape[0]} x {shape[1]}.")
    rows = np.concatenate([found.numbers[:, None], found.opponents], axis=1)[:PICTURES]
    out = np.full((*rows.shape, *shape), np.nan)
    for place, row in np.ndenumerate(rows):
        if row >= 0:
            one = X[[row]]
            out[place] = np.asarray(one.toarray() if sparse.issparse(one) else one, np.float64).reshape(shape)
    return out
