"""scikit-learn's layout of the coefficients of several binary problems, and the way back; pairs; feature weights."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..arrays import Ids, Vector, is_sparse

NO_CLASS = np.zeros(0, np.int64)  # Of problems without pairs.


ROUNDED = 1e-12  # Fraction of the sizes of coefficients that rounding may leave of their sum.
TABLE = 1 << 22  # Coefficients in a table of pairs of classes above which predictions do without the table.


class Coefficients(NamedTuple):
    """Nonzero coefficients of n samples in several problems, one after the other.

    Making and slicing one of SciPy's sparse arrays would take a tenth of a small fit.

    values, samples, problems : (n_coefficients,) each coefficient, its sample and its problem
    n_problems : how many there are
    """

    values: Vector
    samples: Ids
    problems: Ids
    n_problems: int

    @classmethod
    def of(cls, dense: Vector) -> Self:
        """Return the nonzero ones of all coefficients, (n_problems, n)."""
        problems, samples = map(np.ascontiguousarray, np.nonzero(dense))  # views of pairs are another type for numba
        return cls(dense[problems, samples], samples, problems, len(dense))

    @classmethod
    def of_problems(cls, parts: Sequence[Self]) -> Self:
        """Return the coefficients of several problems, given those of each."""
        if len(parts) == 1:
            return parts[0]
        numbers = np.repeat(np.arange(len(parts)), [len(part.values) for part in parts])
        values, samples = (np.concatenate([getattr(part, name) for part in parts]) for name in ("values", "samples"))
        return cls(values, samples, numbers, len(parts))

    def arranged(self, codes: Ids, n_classes: int, in_pairs: bool = False) -> tuple[Ids, NDArray[np.int32], Vector]:
        """Return the samples with a coefficient, class by class, their number in each class, and the coefficients.

        codes : (n,) the class of each sample
        in_pairs : whether the problems are the pairs i < j of classes. Then there are n_classes - 1 rows of
            coefficients, not one for each problem. A sample of class i takes part in n_classes - 1 pairs: row j holds
            its pair with class j < i, and row j - 1 its pair with class j > i.
        """
        from ..compiled.shares import arrange

        first, second = pairs(n_classes) if in_pairs else (NO_CLASS, NO_CLASS)
        return arrange(*self[:3], codes, n_classes, first, second, n_classes - 1 if in_pairs else self.n_problems)


def divided(coefficients: Coefficients, intercepts: Vector, by: Vector | None) -> tuple[Coefficients, Vector]:
    """Return decision functions divided by a number each, or as they are; a model refuses what is not finite then."""
    if by is None:
        return coefficients, intercepts
    with np.errstate(divide="ignore", invalid="ignore"):
        return coefficients._replace(values=coefficients.values / by[coefficients.problems]), intercepts / by


def misfit(dual: Any, intercepts: Vector, m: int, counts: Any) -> str:
    """Return what is wrong with the sizes of a model of m support vectors, which compiled loops trust, or "".

    counts : the support vectors of each class if ``dual`` has the arrangement of pairs, else None
    """
    rows = problems = np.size(intercepts)
    if counts is not None:
        whole = counts.ndim == 1 and counts.dtype.kind in "iu"
        if not whole or not 0 <= counts.min(initial=0) <= counts.max(initial=0) <= m or counts.sum() != m:
            return f"n_support_ does not count {m} support vectors"
        rows, problems = len(counts) - 1, len(counts) * (len(counts) - 1) // 2
    if np.shape(intercepts) != (problems,):
        return f"intercept_ has the shape {np.shape(intercepts)}, not {(problems,)}"
    return "" if dual.shape == (rows, m) else f"dual_coef_ has the shape {dual.shape}, not {(rows, m)}"


def from_dual_coef(dual_coef: Any, classes: Ids, n_classes: int) -> Vector:
    """Return the coefficients of pairs, (n_pairs, m), from their arrangement."""
    dense = dual_coef.toarray() if is_sparse(dual_coef) else dual_coef
    both = pairs(n_classes)
    ends = np.searchsorted(classes, np.arange(n_classes + 1)).tolist()  # the support vectors come class by class
    out, own = np.zeros((both.shape[1], dense.shape[1])), [slice(a, b) for a, b in pairwise(ends)]
    for problem, (i, j) in enumerate(both.T):
        out[problem, own[i]] = dense[j - 1, own[i]]
        out[problem, own[j]] = dense[i, own[j]]
    return out


@lru_cache(maxsize=8)
def pairs(n_classes: int) -> Ids:
    """Return the first and the second class of each pair, (2, n_pairs): (0, 1), (0, 2), ..., (1, 2), ..."""
    return np.stack(np.triu_indices(n_classes, 1))


def feature_weights(coefficients: Vector, vectors: Any) -> Any:
    """Return the weights of the features, (n_problems, n_features), stored like the vectors.

    BLAS is not used: the last bits would depend on its threads. Coefficients whose sum is 0 have the same weights for
    vectors less their mean, and the sums then lose less.
    """
    if balanced(coefficients):
        from ..gram import Source  # not at the top: it brings the compiler
        from ..kernels import Linear

        vectors = Source.of(vectors, np.arange(vectors.shape[0]), Linear(), balanced=True).centered()
    return weighted(coefficients, vectors)


def weighted(coefficients: Vector, vectors: Any) -> Any:
    """Return sums of vectors times coefficients, (n_problems, n_features), stored like the vectors."""
    if is_sparse(vectors):
        weights = _product(sparse.csr_matrix(coefficients), vectors)
        weights.sort_indices()
        weights.eliminate_zeros()
        return weights
    return np.einsum("pm,md->pd", coefficients, vectors)


def balanced(coefficients: Vector) -> bool:
    """Return whether the coefficients of each row sum to 0, up to rounding."""
    return bool((np.abs(coefficients.sum(axis=1)) <= ROUNDED * np.abs(coefficients).sum(axis=1)).all())


def _product(A: Any, B: Any) -> Any:
    """Return the product of CSR matrices; SciPy's takes memory for all columns of B, used or not."""
    from ..kernels.base import narrow, used_columns  # not at the top: kernels bring the compiler

    used = used_columns(B)
    if used is None:
        return A @ B
    found = A @ narrow(B, used)
    return sparse.csr_matrix((found.data, used[found.indices], found.indptr), (A.shape[0], B.shape[1]))
