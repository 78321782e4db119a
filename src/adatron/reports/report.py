"""The report of a fitted model."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from numbers import Integral, Real
from time import monotonic
from typing import Any, cast

import numpy as np
from scipy import sparse
from sklearn.model_selection import check_cv

from ..estimators.base.methods import quiet
from ..insight.names import TRANSFORMED, names_of
from ..insight.subject import Subject, counted, unnamed
from ..quoted import quoted
from ..threads import Clock
from .facts import Facts
from .page import Folded, PagePart, Panel, Report, SortableTable, Text
from .panels import PANELS

MAX_TIME = 300.0  # Seconds.
PANEL_SHARE = 1 / 16  # Part of the time that each panel has in any case.
SAMPLE_CHOICES = ("rows", "none")  # Whether a report shows samples.
PIXELS = (8, 256)  # Fewest and most pixels of a side of a picture.
ALIKE = 0.75  # Fraction of the usual difference of two pixels below which neighbours are alike.


@quiet
@unnamed()
def report(
    model: Any, X: Any, y: Any = None, X_test: Any = None, y_test: Any = None, search: Any = None, *,
    samples: str = "rows", sample_weight: Any = None, feature_names: Any = None,
    image_shape: tuple[int, int] | None = None, cv: Any = None, title: str | None = None,
    max_time: float | None = MAX_TIME, progress: Callable[[int, int, str], object] | None = None,
) -> Report:  # fmt: skip
    """Return a report that answers eight questions about a fitted model, with exact or certified numbers.

    1. Is it optimal? 2. Is it good? 3. Is it well chosen? 4. Which samples decide? 5. Which labels are suspicious?
    6. Where is the boundary? 7. Which features matter? 8. How robust is it? Regression and novelty detection have their
    own versions.

    Parameters
    ----------
    model : any machine of this library
        Fitted; also as the last step of a pipeline, or the best estimator of a search.
    X, y : array-like
        The samples that the model was fitted to, in their order; y is ignored for novelty detection.
    X_test, y_test : array-like, default=None
        Other samples, and their targets.
    search : GridSearchCV or another search of scikit-learn's kind, default=None
        The fitted search that chose the parameters; a model that is a search itself is taken.
    samples : {'rows', 'none'}, default='rows'
        'none' leaves every row of data out: no values, labels or pictures of single samples. 'rows' shows at most 20 of
        them in a table.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights of the fit.
    feature_names : sequence of str, default=None
        Names of the columns of X, or of the features that the machine sees after the steps of a pipeline; by default
        those that the model knows. Steps that are not linear, such as a ColumnTransformer, name their features by
        ``get_feature_names_out``.
    image_shape : tuple of two ints, default=None
        Height and width, if the rows of X are pictures; by default this is found out from square rows.
    cv : int or splitter, default=None
        Folds of out-of-fold scores; None is five. A splitter must test every sample exactly once, as ``KFold`` does.
        Otherwise there are no such scores, and the report says so.
    title : str, default=None
        The title of the page; by default it names the machine.
    max_time : float, default=300.0
        Limit on the time of the answers in seconds; None is no limit. Each panel has a share of the time that is left.
        When the share is over, the panel has what is known: some of the folds, of the values of C, or of the samples.
        It names them.
    progress : callable, default=None
        Called before each panel is made: with the number of panels that are done, the number of all, and the subject of
        the panel, such as 'scores'.

    Returns
    -------
    Report
        ``save('fit.html')`` writes one file that needs nothing else; a notebook shows the report.

    Raises
    ------
    TypeError
        The model does not end with a machine of this library.
    ValueError
        X and y are not the samples of the fit, or a parameter is wrong.
    ImportError
        matplotlib is not installed.

    Notes
    -----
    Five folds cost five fits, each to four fifths of the samples. Exact leave-one-out and deletion take as many samples
    as can be had in some ten seconds; the report says how many. The error over C takes nine fits. There are no exact
    answers beyond 20,000 samples. ``max_time`` bounds all of this. A step that nothing interrupts, such as the first
    sample of a question, and the pictures take some seconds more. Ctrl-C ends the report, and no file is written before
    it is whole.

    Examples
    --------
    >>> import adatron
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> made = adatron.report(adatron.SVC().fit(X, y), X, y)
    >>> len(made.panels)
    8
    """
    if samples not in SAMPLE_CHOICES:
        raise ValueError(f"The 'samples' parameter must be 'rows' or 'none'. Got {quoted(samples)} instead.")
    if not isinstance(cast("Any", title), (str, type(None))):
        raise TypeError(f"The 'title' parameter must be a str or None. Got {quoted(title)} instead.")
    subject = Subject.of(model, X, y, sample_weight)
    X_test, y_test = subject.tests(X_test, y_test)
    search = model if search is None and hasattr(model, "cv_results_") else search
    if search is not None and not hasattr(search, "cv_results_"):
        raise ValueError(
            f"The 'search' parameter must be a fitted search with cv_results_. Got {quoted(search)} instead."
        )
    names = None if feature_names is None else list(feature_names)
    names_of(subject.way, subject.columns, "original", names)
    shape = _shape_of(subject) if image_shape is None else _checked_shape(subject, image_shape)
    if cv is not None:
        cv = counted("cv", cv, 2, 1 + len(subject.y)) if isinstance(cv, Integral) else check_cv(cv)
    clock = Clock.starting(_seconds(max_time))
    facts = Facts(subject, X_test, y_test, search, samples == "rows", names, shape, sample_weight, cv, clock)
    panels: list[Panel] = []
    for subject_of, (share, panel) in PANELS.items():
        if progress is not None:
            progress(len(panels), len(PANELS), subject_of)
        facts.clock = _part(clock, share, max_time)
        panels.append(panel(facts))
    machine = facts.machine
    return Report(title or f"Report of {_a(type(machine).__name__)}", _about(facts), panels)


def _part(clock: Clock, share: float, max_time: float | None) -> Clock:
    """Return the clock of a panel: a share of the time that is left, and at least a small part of all."""
    if max_time is None or clock.deadline == np.inf:
        return Clock()
    return Clock.starting(max(share * (clock.deadline - monotonic()), PANEL_SHARE * max_time))


def _seconds(value: Any) -> float | None:
    """Return a limit on the time; None is none."""
    good = isinstance(value, Real) and not isinstance(value, (bool, np.bool_)) and float(value) > 0.0
    if value is not None and not good:
        raise ValueError(f"The 'max_time' parameter must be a float above 0 or None. Got {quoted(value)} instead.")
    return None if value is None or float(value) == np.inf else float(value)


def _checked_shape(subject: Subject, shape: Any) -> tuple[int, int]:
    """Return the shape of pictures that the rows of X are."""
    pixels = subject.columns
    sides = [int(one) for one in shape if isinstance(one, Integral)] if isinstance(shape, (tuple, list)) else []
    if len(sides) != 2 or min(sides) < 1 or sides[0] * sides[1] != pixels:
        raise ValueError(f"image_shape must be two sizes with {pixels} pixels in all. Got {quoted(shape)}.")
    return sides[0], sides[1]


def _a(name: str) -> str:
    return f"{'an' if name[0] in 'AEIS' else 'a'} {name}"  # an S-V-C


def _about(facts: Facts) -> list[PagePart]:
    machine, X = facts.machine, facts.subject.X
    width = facts.subject.columns if len(X.shape) == 2 else "–"
    steps = "".join(f"{type(step).__name__}, " for _, step in facts.subject.way.steps)
    tested = "" if facts.X_test is None else f" Tested on {len(facts.test_values):,} other samples."
    units = "" if facts.unit != TRANSFORMED else " Transformed units are those after the steps of the pipeline."
    text = (
        f"{facts.task.capitalize()} with {steps}{type(machine).__name__}: {facts.n:,} samples, {width} features."
        f"{tested}{units} Made by adatron {metadata.version('adatron')}."
    )
    changed = [
        [name, value if isinstance(value, (int, float, str)) else quoted(value)]
        for name, value in sorted(machine.get_params(deep=False).items())
        if name in ("C", "nu", "epsilon", "gamma", "kernel", "degree", "coef0", "bias", "class_weight", "multi_class")
    ]
    changed.append(["kernel that was fitted", str(machine.kernel_)])
    return [Text(text, "soft"), Folded("Parameters", SortableTable(("parameter", "value"), changed))]


def _shape_of(subject: Subject) -> tuple[int, int] | None:
    """Return the shape of square pictures, if neighbouring features are as alike as neighbouring pixels are."""
    X = subject.X
    if hasattr(X, "columns") or sparse.issparse(X) or not hasattr(X, "shape") or len(X.shape) != 2:
        return None
    side = int(np.sqrt(X.shape[1]))
    if side * side != X.shape[1] or not PIXELS[0] <= side <= PIXELS[1] or subject.machine.model_.samples is not None:
        return None
    if subject.machine.kernel == "precomputed":
        return None
    some = np.asarray(X[:200], np.float64).reshape(-1, side, side)
    mixed = some.reshape(len(some), -1)[:, np.random.default_rng(0).permutation(side * side)]
    usual = float(np.abs(np.diff(mixed, axis=1)).mean())
    near = max(float(np.abs(np.diff(some, axis=axis)).mean()) for axis in (1, 2))
    return (side, side) if near < ALIKE * usual else None
