"""A search over parameters on a cluster: each kernel goes to a worker, which runs the search of one machine."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from ..selection import GridSearchCV
from ..selection.search.evaluate import Evaluation
from ..selection.search.theirs import FitScores, More, all_plain, searched
from ..selection.search.watch import SearchWatch
from .cluster import Call, Cluster, beside_the_pool, scattered
from .collections import WithClient, here
from .slab import threads_of_worker

OF_KERNEL = ("kernel", "gamma", "degree", "coef0")  # parameters that make another kernel matrix
Results = tuple[list[FitScores], More]


class DaskGridSearchCV(WithClient, GridSearchCV, local=GridSearchCV, without=("pre_dispatch", "max_time", "prove")):
    """Search over all combinations of parameters on a Dask cluster, with the results of one machine.

    It is :class:`adatron.selection.GridSearchCV` with the same parameters, attributes and results. The samples go to
    every worker once. Candidates with the same kernel matrix, for example with the same ``gamma``, are one task.
    Candidates that share no matrix are fitted on the workers, too, each in its own task.

    Parameters
    ----------
    estimator, param_grid, scoring, n_jobs, refit, cv, verbose, error_score, return_train_score :
        As in :class:`adatron.selection.GridSearchCV`. The estimator is that of one machine, or a pipeline.
        ``n_jobs=None`` means all threads of a worker.
    client : distributed.Client, default=None
        None is the current one.

    Notes
    -----
    The client's process divides the samples into folds, and makes the last fit to all samples. Dask collections are
    first brought there: a search is for samples that fit into each worker. There is no ``max_time`` and no ``prove``,
    as these look at all candidates together. Ctrl-C ends the search.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.dask import DaskGridSearchCV
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> grid = {"C": [1, 10], "gamma": [0.1, 1.0]}
    >>> with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client:
    ...     search = DaskGridSearchCV(SVC(), grid, client=client).fit(*load_iris(return_X_y=True))
    >>> sorted(search.best_params_)
    ['C', 'gamma']
    """

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        client = self.client_
        with beside_the_pool():
            X, y = here(client, X, "X"), here(client, y, "y")
            params = {name: here(client, values, name) for name, values in params.items()}
            return super().fit(X, y, **params)

    fit.__doc__ = GridSearchCV.fit.__doc__

    def _evaluated(self, X: Any, y: Any, params: dict[str, Any], watch: SearchWatch) -> Any:
        """Run the search of one machine; the workers evaluate its cells."""
        shares = self._shares(y, params)
        return searched(self, X, y, params, _Tasks(self, shares, watch), watch)


class _Tasks:
    """Evaluates the candidates of a search on the workers, kernel by kernel."""

    def __init__(self, search: DaskGridSearchCV, shares: bool, watch: SearchWatch) -> None:
        self.search, self.shares, self.watch = search, shares, watch

    def __call__(
        self, base: Any, X: Any, y: Any, candidates: list[Any], splits: list[Any], scorer: Any, routed: Any
    ) -> Results:
        """Return scikit-learn's scores of each cell, candidate after candidate, and further columns."""
        client = self.search.client_
        groups = self._groups(base, candidates)
        search: Any = clone(self.search)
        search.set_params(estimator=None, param_grid={}, client=None, verbose=0)

        def make(_: list[int]) -> list[Any]:
            return scattered(client, [(X, y, base, splits, scorer, routed)])  # one future

        with Cluster(client, make, 1, "The samples of the search") as cluster:
            calls = [
                Call(0, evaluated, (search, self.shares, [candidates[i] for i in some], len(groups))) for some in groups
            ]
            found = cluster.ask(calls)
        self.watch.advance(len(candidates) * len(splits))
        order = np.argsort(np.concatenate(groups), kind="stable").tolist()
        cells = [out[i : i + len(splits)] for out, _ in found for i in range(0, len(out), len(splits))]
        names = found[0][1]
        listed = {name: list(chain.from_iterable(one[1][name] for one in found)) for name in names}
        more = {name: [values[i] for i in order] for name, values in listed.items()}
        return list(chain.from_iterable(cells[i] for i in order)), more

    def _groups(self, base: Any, candidates: list[Any]) -> list[list[int]]:
        """Return the numbers of candidates that share kernel matrices; each alone if nothing is shared."""
        if not self.shares:
            return [[i] for i in range(len(candidates))]
        last = base.steps[-1][0] if hasattr(base, "steps") else None
        groups: dict[str, list[int]] = {}
        for i, one in enumerate(candidates):
            own = {name: value for name, value in one.items() if _makes_another(name, last)}
            groups.setdefault(repr(sorted(own.items(), key=lambda item: item[0])), []).append(i)
        return list(groups.values())


def _makes_another(name: str, last: str | None) -> bool:
    """Return whether a parameter changes the kernel matrix; ``last``: the step of a pipeline that is the machine."""
    step, _, own = name.rpartition("__")
    return own.partition("__")[0] in OF_KERNEL or (last is not None and step.partition("__")[0] != last)


def evaluated(data: tuple[Any, ...], search: Any, shares: bool, candidates: list[Any], tasks: int) -> Results:
    """Evaluate some candidates on a worker.

    data : samples, targets, the estimator, the folds, scorers, and parameters of fits
    tasks : how many tasks there are; a single one takes all threads
    """
    X, y, base, splits, scorer, routed = data
    if search.n_jobs is None:
        search.n_jobs = 1 if tasks > 1 else threads_of_worker()
    watch = SearchWatch(None, visible=False)
    run: Callable[..., Results] = Evaluation(search, watch) if shares else all_plain(search, watch)
    with watch:
        return run(base, X, y, candidates, splits, scorer, routed)
