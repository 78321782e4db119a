"""All that depends on the version of scikit-learn (1.6 to 1.9): its private functions, and the frame of a search.

``searched`` does all that ``BaseSearchCV.fit`` does, except the fits of single cells.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from inspect import signature
from math import nan
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone as _clone
from sklearn.base import is_classifier
from sklearn.metrics import _scorer as scorers  # pyright: ignore[reportPrivateUsage]
from sklearn.model_selection import _validation as validation  # pyright: ignore[reportPrivateUsage]
from sklearn.model_selection import check_cv as _check_cv
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import _routing_enabled  # pyright: ignore[reportPrivateUsage]
from sklearn.utils.metaestimators import _safe_split  # pyright: ignore[reportPrivateUsage]
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, indexable  # pyright: ignore[reportPrivateUsage]

from ...door.columns import refuse_masked
from ...estimators.base.machine import KernelMachine
from ...pipelines import way_to
from ...quoted import quoted
from ...threads import OutOfTime
from .watch import SearchWatch

FitScores = dict[str, Any]  # what scikit-learn keeps of one fit: scores, times, the error
UNREACHED_KEY = "unreached"  # key of a cell that was not finished
More = dict[str, list[Any]]  # further columns of cv_results_, an entry for each candidate
TRACE = "Traceback (most recent call last):"  # begins the text of an error with the lines of code it went through
NO_SCORE = (
    "No candidate of the search has a {}, so refit={!r} has nothing to choose from. A fit of {} ends with {}. {}, or "
    "refit=False for cv_results_ without a best candidate."
)
SCORE_NOT_FINITE = "a score that is {}"
PROBABILITIES = "Give the classifier probability=True, if it has this parameter; pass another scoring"
NO_SUCH_ROW = "The 'cv' parameter has a fold with row {}, and the rows of X are numbered from 0 to {}."

clone: Callable[..., Any] = _clone
check_cv: Callable[..., Any] = _check_cv
routing_enabled: Callable[[], Any] = _routing_enabled
split_of: Callable[..., Any] = _safe_split
part_of: Callable[..., dict[str, Any]] = _check_method_params
score_of: Callable[..., Any] = validation._score  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
warn_of_failures: Callable[..., None] = validation._warn_or_raise_about_fit_failures  # pyright: ignore[reportPrivateUsage]
fit_and_score: Callable[..., FitScores] = validation._fit_and_score  # pyright: ignore[reportPrivateUsage]
insert_error_scores: Callable[..., None] = validation._insert_error_scores  # pyright: ignore[reportPrivateUsage]
BaseScorer: Any = scorers._BaseScorer  # pyright: ignore[reportPrivateUsage]
MultimetricScorer: Any = scorers._MultimetricScorer  # pyright: ignore[reportPrivateUsage]
PassthroughScorer: Any = scorers._PassthroughScorer  # pyright: ignore[reportPrivateUsage]


def scorers_of(scorer: Any) -> list[Any]:
    """Return the scorers of a search, which may have several."""
    return list(scorer._scorers.values()) if isinstance(scorer, MultimetricScorer) else [scorer]


def decisive(scorer: Any, refit: Any) -> Any:
    """Return the scorer whose mean score chooses the best candidate; None if no scorer does."""
    if callable(refit):
        return None
    if isinstance(scorer, MultimetricScorer):
        return scorer._scorers.get(refit) if isinstance(refit, str) else None
    return scorer


def method_of(scorer: Any) -> Any:
    """Return the name, or names, of the method whose values a scorer takes."""
    return scorer._response_method


class _NoCallbacks:
    """The context of callbacks that scikit-learn 1.9 asks for, in a search without callbacks."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: self


def plain_function(scorer: Any) -> Any:
    """Return the function behind a scorer that takes predictions and nothing else, or None."""
    plain = scorer._response_method == "predict" and scorer._sign == 1 and not scorer._kwargs
    return scorer._score_func if plain else None


def followed(search: Any) -> bool:
    """Return whether callbacks of scikit-learn 1.9 follow the search, or the estimator in it."""
    return any(getattr(one, "_skl_callbacks", None) for one in (search, search.estimator))


def searched(
    search: Any, X: Any, y: Any, params: dict[str, Any], evaluated: Callable[..., tuple[list[FitScores], More]],
    watch: SearchWatch,
) -> Any:  # fmt: skip
    """Fit a search as scikit-learn does; ``evaluated`` returns its cells, candidate after candidate."""
    if not get_config()["skip_parameter_validation"]:
        search._validate_params()
    scorer, refit_metric = search._get_scorers()
    refuse_masked(y, "y")
    X, y = indexable(X, y)
    # Kernel values in a frame become an array, as scikit-learn cannot take rows and columns of a frame.
    pairwise = get_tags(search.estimator).input_tags.pairwise
    cuttable = np.asarray(X) if pairwise and hasattr(X, "columns") else X
    params = _check_method_params(X, params=params)
    routed = search._get_routed_params_for_fit(params)
    cv = check_cv(search.cv, y, classifier=is_classifier(search.estimator))
    search._checked_cv_orig = cv
    search.n_splits_ = cv.get_n_splits(X, y, **routed.splitter.split)
    base = clone(search.estimator)
    kept: tuple[list[Any], list[FitScores], dict[str, list[Any]]] = [], [], defaultdict(list)
    folds: list[tuple[Any, Any]] = []  # of each cell that is kept
    results: dict[str, Any] = {}

    def evaluate(candidates: Any, cv: Any = cv, more_results: Any = None, callback_ctx: Any = None) -> dict[str, Any]:
        nonlocal results
        candidates = list(candidates)
        splits = _splits(search, cv or search._checked_cv_orig, X, y, routed, len(candidates))
        if not candidates or not splits:
            raise ValueError("No fits were performed. Was the CV iterator empty? Were there no candidates?")
        watch.begin(len(candidates) * len(splits))
        out, more = evaluated(base, cuttable, y, candidates, splits, scorer, routed)
        warn_of_failures([{"fit_error": _end_of(cell["fit_error"])} for cell in out], search.error_score)
        if callable(search.scoring):
            insert_error_scores([cell for cell in out if UNREACHED_KEY not in cell], search.error_score)
        kept[0].extend(candidates)
        kept[1].extend(out)
        folds.extend(splits * len(candidates))
        for key, values in {**(more_results or {}), **more}.items():
            kept[2][key].extend(values)
        results = _formatted(search, *kept)
        return results

    with watch:
        _run(search, evaluate)
        unreached = Counter(number // search.n_splits_ for number, cell in enumerate(kept[1]) if UNREACHED_KEY in cell)
        watch.tell(len(kept[1]), unreached, kept[0])
    first = next(cell["test_scores"] for cell in kept[1] if UNREACHED_KEY not in cell)
    search.end_ = "complete" if not unreached else "interrupted" if watch.interrupted else "max_time"
    search.multimetric_ = isinstance(first, dict)
    if callable(search.scoring) and search.multimetric_:
        search._check_refit_for_multimetric(first)
        refit_metric = search.refit
    if _chooses_nothing(search, base, refit_metric, results):
        raise _without_score(search, base, cuttable, y, refit_metric, *kept[:2], folds, scorer, routed, watch)
    _choose(search, base, X, y, refit_metric, results, routed)
    search.scorer_ = scorer._scorers if isinstance(scorer, MultimetricScorer) else scorer
    search.cv_results_ = results
    return search


def _run(search: Any, evaluate: Callable[..., dict[str, Any]]) -> None:
    if "callback_ctx" in signature(search._run_search).parameters:
        search._run_search(evaluate, callback_ctx=_NoCallbacks())
    else:
        search._run_search(evaluate)


def _formatted(search: Any, candidates: list[Any], out: list[FitScores], more: dict[str, list[Any]]) -> dict[str, Any]:
    """Return the results; cells that were not reached get the score NaN, and a warning elsewhere names them."""
    known = next((cell for cell in out if UNREACHED_KEY not in cell and cell["fit_error"] is None), None)
    gaps = [cell for cell in out if UNREACHED_KEY in cell]
    for cell in gaps:
        for name in ("test_scores", "train_scores")[: 1 + search.return_train_score]:
            scores = None if known is None else known.get(name)
            cell[name] = dict.fromkeys(scores, nan) if isinstance(scores, dict) else nan
    if gaps:
        out = [{key: value for key, value in cell.items() if key != UNREACHED_KEY} for cell in out]
    with warnings.catch_warnings():
        if gaps:
            warnings.filterwarnings("ignore", "One or more of the .* scores are non-finite")
        return search._format_results(candidates, search.n_splits_, out, more)


def unreached() -> FitScores:
    """Return the entry of a fit that was not finished."""
    return {UNREACHED_KEY: True, "fit_error": None, "fit_time": nan, "score_time": nan, "n_test_samples": 0}


def _splits(search: Any, cv: Any, X: Any, y: Any, routed: Any, n_candidates: int) -> list[tuple[Any, Any]]:
    """Return the folds, and print how many fits there are."""
    splits = list(cv.split(X, y, **routed.splitter.split))
    if len(splits) != search.n_splits_:
        raise ValueError(
            "cv.split and cv.get_n_splits return inconsistent results. "
            f"Expected {search.n_splits_} splits, got {len(splits)}"
        )
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    for part in (np.asarray(part) for split in splits for part in split):
        if part.dtype.kind in "iu" and part.size and not -n <= part.min() <= part.max() < n:
            raise ValueError(NO_SUCH_ROW.format(int(part.max() if part.max() >= n else part.min()), n - 1))
    if search.verbose > 0:
        n = search.n_splits_
        print(f"Fitting {n} folds for each of {n_candidates} candidates, totalling {n_candidates * n} fits")
    return splits


def _choose(search: Any, base: Any, X: Any, y: Any, metric: str, results: dict[str, Any], routed: Any) -> None:
    """Keep the best candidate, and fit it to all samples."""
    if search.refit or not search.multimetric_:
        search.best_index_ = search._select_best_index(search.refit, metric, results)
        if not callable(search.refit):
            search.best_score_ = results[f"mean_test_{metric}"][search.best_index_]
        search.best_params_ = results["params"][search.best_index_]
    if search.refit:
        search.best_estimator_ = clone(base).set_params(**clone(search.best_params_, safe=False))
        begun = time.time()
        search.best_estimator_.fit(*((X,) if y is None else (X, y)), **routed.estimator.fit)
        search.refit_time_ = time.time() - begun
        with suppress(AttributeError):
            search.feature_names_in_ = search.best_estimator_.feature_names_in_


def _chooses_nothing(search: Any, base: Any, metric: str, results: dict[str, Any]) -> bool:
    """Return whether ``refit`` has nothing to choose from.

    A search over other estimators takes the first candidate, as in scikit-learn.
    """
    if not search.refit or callable(search.refit) or not isinstance(way_to(base).machine, KernelMachine):
        return False
    return bool(np.isnan(results[f"mean_test_{metric}"]).all())


def _without_score(
    search: Any, base: Any, X: Any, y: Any, metric: str, candidates: list[Any], cells: list[FitScores],
    folds: list[tuple[Any, Any]], scorer: Any, routed: Any, watch: SearchWatch,
) -> ValueError:  # fmt: skip
    """Return the error of a search without any score: it says why the first candidate has none."""
    values = [cell["test_scores"][metric] if search.multimetric_ else cell["test_scores"] for cell in cells]
    bad = (
        number for number, value in enumerate(values) if UNREACHED_KEY not in cells[number] and not np.isfinite(value)
    )
    number = next(bad, 0)
    reason, parameters = _end_of(cells[number]["fit_error"]), candidates[number // search.n_splits_]
    one = decisive(scorer, search.refit) or scorer
    if reason is None and not watch.interrupted:
        with suppress(OutOfTime):
            again, left = clone(base), watch.clock.left()
            if left is not None:
                machine = way_to(again).machine
                machine.set_params(max_time=min(left, machine.max_time or left))
            reason = error_of(again, X, y, one, folds[number], parameters, routed.estimator.fit, routed.scorer.score)
    infinite = SCORE_NOT_FINITE.format(str(values[number]).replace("nan", "NaN"))
    reason = infinite if reason is None else reason.rstrip(".")
    what = "score" if metric == "score" else f"score {metric!r}"
    lacks = isinstance(one, BaseScorer) and method_of(one) == "predict_proba" and not hasattr(base, "predict_proba")
    hint = PROBABILITIES if lacks else "Pass another scoring"
    return ValueError(NO_SCORE.format(what, search.refit, quoted(parameters), reason, hint))


def error_of(
    base: Any, X: Any, y: Any, scorer: Any, split: Any, parameters: Any, fit: Any = None, score: Any = None
) -> str | None:
    """Return the error of a fit or of its score in words; None if neither fails."""
    options: dict[str, Any] = {"fit_params": fit, "score_params": score, "error_score": "raise", "verbose": 0}
    train, test = split
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fit_and_score(clone(base), X, y, scorer=scorer, train=train, test=test, parameters=parameters, **options)
        except Exception as error:  # of any kind: the text goes into another error
            return f"{type(error).__name__}: {error}"
    return None


def _end_of(trace: str | None) -> str | None:
    """Return the error at the end of a traceback, without the lines of code that it went through."""
    if trace is None or TRACE not in trace:
        return trace
    lines = trace.rpartition(TRACE)[2].strip("\n").split("\n")
    first = next((number for number, line in enumerate(lines) if not line.startswith(" ")), 0)
    return "\n".join(lines[first:])


def plain_cells(
    search: Any, base: Any, X: Any, y: Any, candidates: list[Any], splits: list[Any], scorer: Any, routed: Any,
    which: list[tuple[int, int]], watch: SearchWatch, keep: bool,
) -> Iterator[tuple[tuple[int, int], FitScores]]:  # fmt: skip
    """Yield cells (candidate, fold) as scikit-learn fits them, until the search is to end.

    keep : whether a cell keeps its fitted estimator
    """

    def tasks() -> Iterator[Any]:
        for number, fold in which:
            if watch.over:
                return
            train, test = splits[fold]
            yield delayed(fit_and_score)(
                clone(base), X, y, scorer=scorer, train=train, test=test, parameters=candidates[number],
                fit_params=routed.estimator.fit, score_params=routed.scorer.score, verbose=search.verbose,
                return_train_score=search.return_train_score, return_n_test_samples=True, return_times=True,
                return_estimator=keep, split_progress=(fold, len(splits)),
                candidate_progress=(number, len(candidates)), error_score=search.error_score,
            )  # fmt: skip

    workers: dict[str, Any] = {"n_jobs": search.n_jobs, "pre_dispatch": search.pre_dispatch}
    try:
        parallel: Any = Parallel(**workers, return_as="generator")  # which hands over each cell when it is done
    except ValueError:  # this backend cannot
        parallel = Parallel(**workers)
    for key, cell in zip(which, parallel(tasks()), strict=False):
        watch.advance(1)
        yield key, cell


def all_plain(search: Any, watch: SearchWatch) -> Callable[..., tuple[list[FitScores], More]]:
    """Return a function that evaluates all candidates on all folds as scikit-learn does."""

    def evaluated(
        base: Any, X: Any, y: Any, candidates: list[Any], splits: list[Any], scorer: Any, routed: Any
    ) -> tuple[list[FitScores], More]:
        which = [(number, fold) for number in range(len(candidates)) for fold in range(len(splits))]
        done: dict[tuple[int, int], FitScores] = {}
        with watch.keeping():
            cells = plain_cells(search, base, X, y, candidates, splits, scorer, routed, which, watch, keep=False)
            done.update(cells)
        return [done[key] if key in done else unreached() for key in which], {}

    return evaluated
