"""The way from the samples that a user has to those that a machine sees: pipelines and searches around it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any, cast

from sklearn.pipeline import Pipeline


@dataclass(frozen=True)
class PipelineParts:
    """Steps, and what predicts after them.

    resamplers : further steps, which work in fits alone
    prefix : what comes before the names of the machine's parameters in those of the model; None beyond a search
    """

    steps: list[tuple[str, Any]]
    machine: Any
    resamplers: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    prefix: str | None = ""

    @property
    def estimators(self) -> list[Any]:
        """All of them; steps that do nothing are none."""
        last = [] if self.machine is None or isinstance(self.machine, str) else [self.machine]
        return [*(step for _, step in self.steps), *last]

    def taken(self, X: Any) -> Any:
        """Return samples as the last estimator sees them."""
        for _, step in self.steps:
            X = step.transform(X)
        return X


def way_to(model: Any) -> PipelineParts:
    """Return the steps of a model, and its last estimator: of a search, those of its best estimator."""
    steps: list[tuple[str, Any]] = []
    resamplers: list[tuple[str, Any]] = []
    prefix: str | None = ""
    while (isinstance(model, Pipeline) and model.steps) or is_search(model):
        if isinstance(model, Pipeline):
            listed = cast("list[tuple[str, Any]]", model.steps)
            for name, step in listed[:-1]:
                if resamples(step):
                    resamplers.append((name, step))
                    continue
                inner = way_to(step)
                resamplers += inner.resamplers
                last = [] if inner.machine in (None, "passthrough") else [(name, inner.machine)]
                steps += inner.steps + last
            name, model = listed[-1]
            prefix = None if prefix is None else f"{prefix}{name}__"
        else:
            model, prefix = model.best_estimator_, None
    return PipelineParts(steps, model, resamplers, prefix)


def resamples(step: Any) -> bool:
    """Return whether a step of a pipeline only changes which samples a fit gets: predictions pass it by.

    imbalanced-learn's pipelines, which derive from scikit-learn's, have such steps.
    """
    return hasattr(step, "fit_resample") and not hasattr(step, "transform")


def is_search(model: Any) -> bool:
    """Return whether a model is a search of scikit-learn that has found its best estimator."""
    return of_class(model, "sklearn.model_selection._search", "BaseSearchCV") and "best_estimator_" in vars(model)


def of_class(model: Any, module: str, name: str) -> bool:
    """Return whether a model is of a class whose module may not be loaded; then the model is not of that class."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(model, getattr(loaded, name))
