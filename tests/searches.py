"""Searches beside those of scikit-learn, and scores at which something happens."""

import signal
import warnings

import numpy as np
from sklearn import model_selection as theirs
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, make_scorer

from adatron.selection import GridSearchCV


def both(estimator, grid, X, y, fit=None, **settings):
    """Our search and scikit-learn's, fitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [
            kind(clone(estimator), grid, **settings).fit(X, y, **(fit or {}))
            for kind in (GridSearchCV, theirs.GridSearchCV)
        ]


def same_scores(ours, plain, tolerance):
    """Compare all scores of the results of two searches, not their ranks."""
    for name in (name for name in plain if "score" in name and "time" not in name and "rank" not in name):
        np.testing.assert_allclose(ours[name], plain[name], atol=tolerance, rtol=tolerance, err_msg=name)


def interrupt():
    """Ctrl-C."""
    signal.raise_signal(signal.SIGINT)


def score_with(act, number):
    """A score that does something when it is asked for this time."""
    calls = []

    def score(y_true, y_pred):
        calls.append(1)
        if len(calls) == number:
            act()
        return accuracy_score(y_true, y_pred)

    return make_scorer(score)
