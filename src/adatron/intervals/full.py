"""Full conformal prediction: a new sample is learned with each class, exactly."""

from __future__ import annotations

import sys
import warnings
from numbers import Real
from threading import RLock
from time import monotonic
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from ..arrays import Ids, Matrix, Vector
from ..certificates import intercept
from ..docstrings import documented, predicting
from ..door import inputs
from ..estimators.base.methods import quiet
from ..estimators.incremental import IncrementalSVC
from ..insight.subject import stored_as
from ..learning.learner import Learner
from ..learning.track import Track
from ..problems import Dual
from ..selection.search.watch import SearchWatch
from ..solvers.path import Stalled
from .conformity import p_value, rounding, scores_of, tie
from .left_out import independent_of_samples
from .plus import Wrapper

MOST_HELD = 8192  # Samples whose kernel matrix is held.
WORTH_TELLING = 5.0  # Seconds from which the cost of a prediction is printed before most of it.


class Candidates:
    """Samples that join the others for a question, one at a time.

    A copy of the path takes a sample in with a label, and the learner stays as it is.

    learner : of a classifier; it is not changed
    weights : (n_classes,) weight of a candidate of each class
    error : a bound of the rounding of the last values, and of the distance of free samples from the margin
    """

    def __init__(self, learner: Learner, weights: Vector) -> None:
        self.learner, self.weights = learner, weights
        store = learner.store
        n = self.n = store.n
        self.K: Matrix = np.empty((n + 1, n + 1))
        self.K[:n, :n] = learner.kernel(near := store.near(), near)

    def meet(self, row: Any) -> None:
        """Take a sample, (1, d), stored as the others are."""
        self.row, n, store = row, self.n, self.learner.store
        near = store.moved(row)
        self.K[n, :n] = self.K[:n, n] = self.learner.kernel(near, store.near())[0]
        self.K[n, n] = self.learner.kernel(near, near)[0, 0]

    def values(self, code: int) -> Matrix:
        """Return the values of all samples and of the candidate, (n + 1, n_problems), by the solution with it.

        code : the candidate's class
        """
        self.error = 0.0
        try:
            return np.stack([self._of_program(track, code) for track in self.learner.tracks], axis=1)
        except Stalled:  # rounding leaves no way: a copy of the learner solves the problem anew
            other = self.learner.copy(RLock())
            other.limits = other.limits._replace(max_time=None)  # that of a step; this is a part of a prediction
            other.learn(self.row, np.array([float(code)]), self.weights[[code]], None)
            return np.stack([self._values(t, t.dual(other.problem), t, t.numbers) for t in other.tracks], axis=1)

    def _of_program(self, track: Track, code: int) -> Vector:
        learner = self.learner
        if track.slots is not None and track.sides is not None and code not in track.sides:
            return self._values(track, track.dual(learner.problem), track, track.numbers)
        numbers = np.append(track.numbers, self.n)
        label = 1.0 if track.sides is not None and code == track.sides[0] else -1.0
        labels, weights = np.append(track.labels(), label), np.append(track.weights(), self.weights[code])
        goal = learner.problem.dual(labels, weights, lambda: self.K[numbers, numbers])
        whole = len(numbers) == self.n + 1
        rows = self.K.__getitem__ if whole else lambda ids: self.K[np.ix_(numbers[ids], numbers)]
        return self._values(track, goal, track.path(learner.problem).including(goal, rows), numbers)

    def _values(self, track: Track, dual: Dual, solution: Any, numbers: Ids) -> Vector:
        every, b, free = np.zeros(self.n + 1), intercept(dual, solution.beta, solution.g), dual.free(solution.beta)
        every[numbers] = solution.beta
        values = self.K @ every + b
        off = float(np.abs(values[numbers] - dual.t)[free].max(initial=0.0))
        bound = rounding(int(np.count_nonzero(every)), float(self.K.diagonal().max()), every, b)
        self.error = max(self.error, off + bound)
        return values


@documented
class FullConformal(Wrapper):
    """Full conformal prediction: sets of classes that hold the true one with a probability of at least 1 - alpha.

    A new sample is learned with each class, along the exact path. The solution then gives scores to the sample and to
    all training samples, and these are compared. So all samples are used for the fit and for the scores, and the
    guarantee lacks the factor 2 of :class:`JackknifePlus`. The samples must be exchangeable, as independent ones are.

    Parameters
    ----------
    estimator : IncrementalSVC
        Nothing but the solution may depend on the samples that are there: ``gamma`` is a number or 'auto', C is finite,
        and there is no window. Its ``max_time`` is for the fit.
    alpha : float, default=0.1
        In (0, 1): the largest probability of a miss. It is read at each prediction.
    verbose : int, default=1
        Whether progress is shown. If a prediction will take more than 5 seconds, a line on stderr says so after the
        first sample.
    max_time : float, default=None
        Seconds of a prediction. Samples that come after them keep all classes, and a warning counts them.

    Attributes
    ----------
    estimator_ : IncrementalSVC
        The solution of all samples, which predicts. It has ``decision_function_shape='ovr'``.

    References
    ----------
    Vovk, Gammerman and Shafer, Algorithmic Learning in a Random World (2005), section 2.2.

    Cherubin, Chatzikokolakis and Jaggi, Exact optimization of conformal predictors via incremental and decremental
    learning, ICML (2021).

    Examples
    --------
    >>> from adatron import IncrementalSVC
    >>> from adatron.intervals import FullConformal
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(100, noise=0.3, random_state=0)
    >>> model = FullConformal(IncrementalSVC(C=10, gamma=1.0), alpha=0.1, verbose=0).fit(X[:90], y[:90])
    >>> sets = model.predict_set(X[90:])
    >>> bool((sets == (model.p_values(X[90:]) > 0.1)).all())
    True
    """

    max_time: float | None
    estimator_: IncrementalSVC

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Wrapper._parameter_constraints,
        "estimator": [IncrementalSVC],
        "max_time": [Interval(Real, 0.0, None, closed="neither"), None],
    }

    def __init__(
        self, estimator: Any, *, alpha: float = 0.1, conformity_score: str = "margin", verbose: int = 1,
        max_time: float | None = None,
    ) -> None:  # fmt: skip
        self.estimator, self.alpha = estimator, alpha
        self.conformity_score, self.verbose, self.max_time = conformity_score, verbose, max_time

    def _learn(self, model: Any, X: Any, y: NDArray[Any]) -> None:
        if model.window is not None or not independent_of_samples(model):
            raise ValueError(
                "The 'estimator' parameter of FullConformal must not depend on which samples are there: pass gamma as "
                f"a number, a finite C and window=None. Got {model!r}."
            )
        if len(y) > MOST_HELD:
            raise ValueError(f"FullConformal is for at most {MOST_HELD:,} samples. Got {len(y):,}; use CVPlus.")
        self.estimator_ = model.fit(X, y)

    @quiet
    @predicting
    def p_values(self, X: Any) -> Vector:
        """Return the p-value of each class for each sample, (n_samples, n_classes).

        The solution with the new sample and this class says which samples fit their class no better. The p-value is
        their fraction, the new sample among them. NaN stands for samples that there was no time for.
        """
        check_is_fitted(self)
        self.check()
        rows, learner = self._rows(X), self.estimator_.learner
        n, k = rows.shape[0], len(self.classes_)
        out, begun = np.full((n, k), np.nan), monotonic()
        with learner.lock, SearchWatch(self.max_time, self.verbose > 0, "FullConformal", "sample") as watch:
            candidates = Candidates(learner, self.estimator_.class_weight_)
            for one in range(n):
                if watch.over:
                    break
                out[one] = self._p_values(candidates, rows[one : one + 1])
                if one == 0:
                    self._tell(n, (n - 1) * (monotonic() - begun))
                    watch.begin(n)
                watch.advance(1)
        if left := int(np.isnan(out[:, 0]).sum()):
            text = f"max_time={self.max_time:g} was reached: {left} of {n} samples have no p-values; all classes stay."
            warnings.warn(text, UserWarning, stacklevel=3)
        return out

    def _sets(self, X: Any) -> NDArray[np.bool_]:
        return ~(self.p_values(X) <= float(self.alpha))

    def _tell(self, n: int, seconds: float) -> None:
        """Print how long the samples after the first one will take, unless that is short."""
        if self.verbose and seconds >= WORTH_TELLING:
            k = len(self.classes_)
            print(f"FullConformal: {n} samples with {k} classes each, about {seconds:.0f} s", file=sys.stderr)

    def _rows(self, X: Any) -> Any:
        """Return checked rows, stored as the training samples are."""
        model = self.estimator_
        rows = inputs.new_data(model, X, model.model_, model.model_.function(model.n_jobs, model.precision))
        return stored_as(model.store.X, rows)

    def _p_values(self, candidates: Candidates, row: Any) -> Vector:
        k, readout = len(self.classes_), self.estimator_.readout
        candidates.meet(row)
        out = np.empty(k)
        codes = np.append(self.estimator_.store.y.astype(np.int64), 0)
        for code in range(k):
            codes[-1] = code
            scores = scores_of(self.conformity_score, readout.shaped(candidates.values(code)), k)
            own = scores[np.arange(len(codes)), codes]
            out[code] = p_value(own[:-1], own[-1], tie(candidates.error, k))
        return out
