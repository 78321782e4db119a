"""A pipeline with steps that change samples in fits alone, as imbalanced-learn has it."""

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline


class Balance(BaseEstimator):
    """Repeats samples until all classes are equally large."""

    def fit(self, X, y):
        return self

    def fit_resample(self, X, y):
        most = np.unique(y, return_counts=True)[1].max()
        rows = np.concatenate([np.resize(np.flatnonzero(y == one), most) for one in np.unique(y)])
        return X[rows], y[rows]


class Resampling(Pipeline):
    """The part of imbalanced-learn's pipeline that matters here."""

    def fit(self, X, y=None, **params):
        for number, (name, step) in enumerate(self.steps[:-1]):
            if hasattr(step, "fit_resample"):
                X, y = step.fit_resample(X, y)
            elif step != "passthrough":
                fitted = clone(step).fit(X, y)
                self.steps[number], X = (name, fitted), fitted.transform(X)
        self.steps[-1][1].fit(X, y)
        return self

    def _ahead(self, X):
        for _, step in self.steps[:-1]:
            X = step.transform(X) if hasattr(step, "transform") else X
        return X

    def predict(self, X):
        return self.steps[-1][1].predict(self._ahead(X))

    def decision_function(self, X):
        return self.steps[-1][1].decision_function(self._ahead(X))

    def score(self, X, y):
        return self.steps[-1][1].score(self._ahead(X), y)
