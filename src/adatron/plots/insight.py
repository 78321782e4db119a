"""Pictures of the answers of ``insight``: influence, suspicious labels, leave-one-out errors over C, and features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..insight import Influence, Issues, Sensitivity, influence, label_issues, sensitivity
from ..insight.leave_one_out import AlongC, along_C
from ..insight.names import names_of
from ..insight.subject import Subject, unnamed
from ..insight.twin import twin_of
from ..pipelines import way_to
from .axes import COLORS, Display, bars, display, literal

BARS_DRAWN = 12  # Samples that are drawn as bars.
PICTURES = 6  # Samples that are drawn as pictures.
LOO_ERROR, LOO_RMSE = "leave-one-out error", "leave-one-out RMSE"
FEATURES_DRAWN = 15  # Features that are drawn.


@display
class InfluenceDisplay(Display):
    """The samples whose deletion changes the decision function most, by exact deletion.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    influence : Influence
        What :func:`adatron.insight.influence` returned.
    labels : list of str
        A name for each of ``influence.numbers``.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.plots import InfluenceDisplay
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> display = InfluenceDisplay.from_estimator(SVC(C=10).fit(X, y), X, y)
    >>> display.influence.complete
    True
    """

    influence: Influence
    labels: list[str]

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, X_test: Any = None, y_test: Any = None,
        sample_weight: Any = None, max_deletions: int | None = None, ax: Any = None,
    ) -> Self:  # fmt: skip
        """Compute and draw; see :func:`adatron.insight.influence` for the parameters."""
        found = influence(estimator, X, y, X_test, y_test, sample_weight=sample_weight, max_deletions=max_deletions)
        return cls.of(found, y).plot(ax=ax)

    @classmethod
    def of(cls, found: Influence, y: Any = None) -> Self:
        """Return the display of a result; y names the samples."""
        numbers = found.numbers.tolist()
        if y is None:
            return cls(found, [f"row {one}" for one in numbers])
        named = np.asarray(y).ravel()[found.numbers].tolist()
        return cls(found, [f"row {one}: {_short(label)}" for one, label in zip(numbers, named, strict=True)])

    def plot(self, *, ax: Any = None, shown: int = BARS_DRAWN) -> Self:
        """Draw a bar for each of the first samples; the words behind it say how many predictions change."""
        ax, found = self._on(ax), self.influence
        change, bound = found.change[:shown], found.bound[:shown]
        bars(ax, self.labels[:shown], change, bound)
        for line, (length, flips) in enumerate(zip(change, found.flips, strict=False)):
            if flips:
                words = "1 prediction changes" if flips == 1 else f"{flips} predictions change"
                beside: Any = {"xytext": (4, 0), "textcoords": "offset points", "va": "center", "fontsize": "small"}
                ax.annotate(words, (length, line), **beside)
        what = "prediction" if found.task == "regression" else "decision value"
        ax.set(xlabel=f"mean change of the {what}\non {found.n_probes:,} {found.probes} samples")
        ax.margins(x=0.4 if any(found.flips[:shown]) else 0.05)
        ax.set_xlim(left=0)
        return self


def _short(label: Any) -> str:
    return f"{label:.4g}" if isinstance(label, float) else str(label)


@display
class LabelIssueDisplay(Display):
    """The samples that the model of all others puts into another class, by exact leave-one-out.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    issues : Issues
        What :func:`adatron.insight.label_issues` returned.
    images : ndarray of shape (n_issues, 1 + n_opponents, height, width), default=None
        Pictures of the samples and of their opponents; nan where there is none.

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
        cls, estimator: Any, X: Any, y: Any = None, *, sample_weight: Any = None, max_samples: int | None = None,
        image_shape: tuple[int, int] | None = None, ax: Any = None,
    ) -> Self:  # fmt: skip
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

    def plot(self, *, ax: Any = None, shown: int = BARS_DRAWN) -> Self:
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
            words = [f"{word}: {given_and_proposed(found, k)}" for k, word in enumerate(words)]
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
        ax.set_yticks(middle, [literal(given_and_proposed(self.issues, k)) for k in range(n)])
        ax.set_xticks([0.5 * width, (0.5 * (columns + 1)) * (width + gap)], ["the sample", "nearest opponents"])
        ax.tick_params(length=0)
        ax.xaxis.tick_top()
        ax.spines[:].set_visible(False)


def given_and_proposed(found: Issues, k: int) -> str:
    """Return the given label or target, and the one that the other samples propose."""
    given, proposed = found.given[k], found.proposed[k]
    if found.task == "regression":
        return f"{given:.4g} → {proposed:.4g}"
    return f"{given} → {proposed}"


def pictures(found: Issues, X: Any, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Return the pictures of suspicious samples and of their opponents; rows of another size are a ValueError."""
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


@display
class LeaveOneOutDisplay(Display):
    """The exact leave-one-out error over C.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    along : AlongC
        The errors, with the values of C.
    what : str
        The name of the error.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.plots import LeaveOneOutDisplay
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> display = LeaveOneOutDisplay.from_estimator(SVC(C=10).fit(X, y), X, y, factors=[0.1, 1, 10])
    >>> display.along.error.shape
    (3,)
    """

    along: AlongC
    what: str = LOO_ERROR

    @classmethod
    @unnamed()
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, factors: Any = None, sample_weight: Any = None, ax: Any = None
    ) -> Self:
        """Compute and draw.

        Parameters
        ----------
        estimator : SVC or SVR, or their incremental forms
            Fitted; also as the last step of a pipeline.
        X, y : array-like
            The samples that the model was fitted to.
        factors : array-like, default=None
            What the model's C is multiplied by; by default nine numbers from 0.01 to 100.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the fit.
        ax : matplotlib axes, default=None
            By default those of a new figure.
        """
        subject = Subject.of(estimator, X, y, sample_weight)
        found = along_C(subject, twin_of(subject), factors)
        return cls(found, LOO_RMSE if subject.task == "regression" else LOO_ERROR).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the errors, and the model's own C."""
        ax, found = self._on(ax), self.along
        ax.semilogx(found.C, found.error, "o-", color=COLORS[0], label=f"exact, {found.n_asked:,} samples")
        if found.uncertainty.any():
            low, high = found.error - found.uncertainty, found.error + found.uncertainty
            ax.fill_between(found.C, np.maximum(low, 0.0), high, color=COLORS[0], alpha=0.2, linewidth=0)
        ax.axvline(found.C[found.own], color=COLORS[1], label="the model's C")
        ax.set(xlabel="C", ylabel=self.what, ylim=(0, None))
        ax.legend(fontsize="small")
        return self


@display
class SensitivityDisplay(Display):
    """The mean size of the slope at the boundary, times the spread of the feature, for the strongest features.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    sensitivity : Sensitivity
        What :func:`adatron.insight.sensitivity` returned.
    names : list of str
        Names of the features.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.plots import SensitivityDisplay
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = SensitivityDisplay.from_estimator(SVC(C=10).fit(X, y), X)
    >>> display.names[0]
    'sepal length (cm)'
    """

    sensitivity: Sensitivity
    names: list[str]

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, feature_names: Any = None, ax: Any = None
    ) -> Self:
        """Compute and draw; see :func:`adatron.insight.sensitivity`, which needs no y.

        ``feature_names`` are names of the columns of X, or of the features that the machine sees after the steps of a
        pipeline; by default those that the model knows.
        """
        found = sensitivity(estimator, X)
        given = None if feature_names is None else list(feature_names)
        return cls(found, names_of(way_to(estimator), np.shape(X)[1], found.space, given)).plot(ax=ax)

    def plot(self, *, ax: Any = None, shown: int = FEATURES_DRAWN) -> Self:
        """Draw a bar for each of the strongest features."""
        ax, effect = self._on(ax), self.sensitivity.effect
        order = np.argsort(-effect, kind="stable")[:shown]
        bars(ax, [self.names[j] for j in order], effect[order])
        where = "at the boundary" if self.sensitivity.n_tried else "at the samples"
        ax.set(xlabel=f"mean slope {where}\n× deviation of the feature")
        return self
