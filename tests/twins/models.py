"""The programs that fitted estimators have solved and the points they found, from public attributes alone.

Ours and scikit-learn's, which have the same attributes.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import sparse

from adatron.problems import Dual, csvc, nusvc, nusvr, oneclass, svr

from . import programs


@dataclass(frozen=True)
class Point:
    """A point of a program.

    rows : (m,) the samples that it is about
    K : kernel matrix of its variables
    scale : what the coefficients were divided by, rho of nu-SVC; LIBSVM's may be negative where there is no margin
    b : the bias, times ``scale``
    moved : how far ``snapped`` moved the coefficients, in all
    """

    rows: np.ndarray
    K: np.ndarray
    dual: Dual
    beta: np.ndarray
    scale: float
    b: float
    moved: float

    @classmethod
    def of(cls, rows, K, dual, beta, scale, b):
        """The point, its coefficients on their bounds where rounding moved them off."""
        near = snapped(dual, beta)
        return cls(rows, K, dual, near, scale, b, np.abs(near - beta).sum())

    @property
    def objective(self):
        return -programs.objective(self.K, self.dual, self.beta)

    @property
    def gap(self):
        return programs.gap(self.K, self.dual, self.beta)

    @property
    def violation(self):
        return programs.kkt(self.K, self.dual, self.beta)

    @property
    def noise(self):
        """What rounding, and what was moved, may change in a violation, the difference of two gradients."""
        largest = np.abs(self.K).max() + self.dual.lambda2
        rounding = 1e-13 * (1.0 + np.abs(self.beta).sum() * largest + np.abs(self.dual.t).max())
        return rounding + 2.0 * self.moved * largest

    def intervals(self):
        """(low, high) of every multiplier: where the conditions of optimality allow it to be at this point."""
        up, down = programs.slopes(self.dual, self.beta, programs.gradient(self.K, self.dual, self.beta))
        found = []
        for a in programs.matrix(self.dual):
            more, less = np.where(a > 0, up, down)[a != 0], np.where(a > 0, down, up)[a != 0]
            found.append((more.max(initial=-np.inf), -less.max(initial=-np.inf)))
        return np.array(found)


def dense(A):
    return A.toarray() if sparse.issparse(A) else np.asarray(A)


def pairs_of(model, y):
    """Rows and signed coefficients of every binary problem of a one-against-one classifier, the first class positive.

    Of two classes the second one is positive.
    """
    dual = dense(model.dual_coef_)
    codes = np.searchsorted(model.classes_, y[model.support_])
    if len(model.classes_) == 2:
        return [(model.support_, dual[0])]
    found = []
    for i, j in combinations(range(len(model.classes_)), 2):
        row = np.where(codes == i, dual[j - 1], np.where(codes == j, dual[i], 0.0))
        found.append((model.support_[row != 0], row[row != 0]))
    return found


def scattered(rows, values, n):
    out = np.zeros(n)
    out[rows] = values
    return out


def classifiers(model, K, y, weight):
    """The points of SVC or NuSVC; ``weight`` includes that of the classes."""
    classes, n = model.classes_, len(y)
    two = len(classes) == 2
    sides = [(classes[1], classes[0])] if two else combinations(classes, 2)
    form = getattr(model, "bias", "explicit"), getattr(model, "augment", 1.0)
    found = []
    for (plus, minus), (support, values), b in zip(sides, pairs_of(model, y), model.intercept_, strict=True):
        rows = np.flatnonzero((y == plus) | (y == minus))
        sign, w, beta = np.where(y[rows] == plus, 1.0, -1.0), weight[rows], scattered(support, values, n)[rows]
        scale = 1.0
        if "nu" in model.get_params():
            scale = model.nu * w.sum() / (sign @ beta)
            dual = nusvc(sign, w, model.nu, *form)
        else:
            dual = csvc(sign, model.C * w, *form)
        found.append(Point.of(rows, K[np.ix_(rows, rows)], dual, scale * beta, scale, scale * b))
    return found


def regressor(model, K, y, weight):
    """The point of SVR or NuSVR. What the coefficients of nu-SVR lack in size is in pairs that cancel each other."""
    form = getattr(model, "bias", "explicit"), getattr(model, "augment", 1.0)
    beta, C = scattered(model.support_, dense(model.dual_coef_)[0], len(y)), model.C * weight
    if "nu" not in model.get_params():
        dual = svr(y, C, model.epsilon, *form)
    else:
        dual, K = nusvr(y, C, model.nu, *form), np.tile(K, (2, 2))
        missing = 0.5 * (model.nu * C.sum() - np.abs(beta).sum())
        room = C - np.abs(beta)
        pairs = np.clip(missing - np.cumsum(room) + room, 0.0, room) if missing > 1e-12 * C.sum() else 0.0
        beta = np.concatenate([np.maximum(beta, 0.0) + pairs, np.minimum(beta, 0.0) - pairs])
    return Point.of(np.arange(len(y)), K, dual, beta, 1.0, float(model.intercept_[0]))


def points(model, K, y, weight):
    """The points of any of the five, over the training samples with this kernel matrix."""
    if y is None:
        beta, dual = scattered(model.support_, dense(model.dual_coef_)[0], len(K)), oneclass(weight, model.nu)
        return [Point.of(np.arange(len(K)), K, dual, beta, 1.0, float(model.intercept_[0]))]
    return classifiers(model, K, y, weight) if hasattr(model, "classes_") else [regressor(model, K, y, weight)]


def snapped(dual, beta):
    """Rounding moves a variable off its bound: by the division by rho and back, or as what a sum leaves over."""
    crumb = 1e-12 * np.maximum(np.abs(dual.lower), np.abs(dual.upper))
    for bound in (dual.lower, dual.upper, np.zeros(len(dual))):
        beta = np.where(np.abs(beta - bound) <= crumb, bound, beta)
    return beta


def quadratic(X, beta, gamma):
    """beta' K beta of the RBF kernel in float64, some rows at a time."""
    X = dense(X)
    norms, total = (X**2).sum(axis=1), 0.0
    for a in range(0, len(X), 2000):
        part = slice(a, a + 2000)
        K = np.exp(-gamma * np.maximum(norms[part, None] + norms[None] - 2 * X[part] @ X.T, 0))
        total += beta[part] @ K @ beta
    return total
