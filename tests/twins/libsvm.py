"""LIBSVM's prediction from the numbers in its model file, as its documentation describes it."""

from itertools import combinations

import numpy as np


def predict(K, labels, counts, columns, rho):
    """Classes of the rows of K, their kernel values with the support vectors.

    ``columns`` holds n - 1 coefficients for each support vector; those of class i have their pair with class j in
    column j - 1 if j > i, in column j if j < i.
    """
    ends = np.concatenate([[0], np.cumsum(counts)])
    votes = np.zeros((len(K), len(labels)), int)
    for number, (i, j) in enumerate(combinations(range(len(labels)), 2)):
        first, second = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
        value = K[:, first] @ columns[first, j - 1] + K[:, second] @ columns[second, i] - rho[number]
        votes[np.arange(len(K)), np.where(value > 0, i, j)] += 1
    return np.asarray(labels)[np.argmax(votes, axis=1)]
