"""Kernel matrices in long double, by differences, with a bound of their own rounding. No code of the library.

A kernel is a tuple: ("linear",), ("rbf", gamma), ("laplacian", gamma), ("poly", gamma, degree, coef0),
("sigmoid", gamma, coef0), ("sum", one, other), ("product", one, other), ("scaled", factor, one) or ("given", K).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

L = np.longdouble
U = np.finfo(L).eps  # twice the largest relative rounding

Matrix = NDArray[L]


def dense(X: Any) -> Matrix:
    """The numbers of X as they are."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X).astype(L)


def total(terms: Any) -> Any:
    """Sums along the last axis, half by half: a term takes part in no more than ``depth`` additions."""
    while terms.shape[-1] > 1:
        half = terms.shape[-1] // 2
        more = terms[..., half : 2 * half]
        odd = terms[..., 2 * half :]
        terms = np.concatenate([terms[..., :half] + more, odd], axis=-1)
    return terms.sum(axis=-1)


def depth(n: int) -> int:
    return 2 + n.bit_length()


def values(kernel: tuple[Any, ...], X: Any) -> tuple[Matrix, Matrix]:
    """The kernel matrix of the rows of X, and a bound of the rounding of each entry."""
    name, *numbers = kernel
    if name == "given":
        K = dense(numbers[0])
        return K, np.zeros_like(K)
    if name in ("sum", "product"):
        (K, e), (M, f) = (values(part, X) for part in numbers)
        if name == "sum":
            return K + M, e + f + U * np.abs(K + M)
        return K * M, e * np.abs(M) + f * np.abs(K) + e * f + U * np.abs(K * M)
    if name == "scaled":
        K, e = values(numbers[1], X)
        return L(numbers[0]) * K, L(numbers[0]) * (e + U * np.abs(K))
    rows = dense(X)
    if name in ("rbf", "laplacian"):
        return _decay(rows, L(numbers[0]), squared=name == "rbf")
    K, size = rows @ rows.T, np.abs(rows) @ np.abs(rows).T
    e = (rows.shape[1] + 1) * U * size
    return (K, e) if name == "linear" else _mapped(name, [L(number) for number in numbers], K, e)


def _decay(rows: Matrix, gamma: Any, squared: bool) -> tuple[Matrix, Matrix]:
    """exp(-gamma |x - z|^2 or |x - z|_1). x exp(-x) is less than 1, so a relative error of x is an absolute one."""
    exponent = np.zeros((len(rows), len(rows)), L)
    for column in rows.T:
        apart = np.abs(column[:, None] - column)
        exponent += apart * apart if squared else apart
    K = np.exp(-gamma * exponent)
    return K, (rows.shape[1] + 5) * U * np.maximum(K, K * gamma * exponent)


def _mapped(name: str, numbers: list[Any], products: Matrix, error: Matrix) -> tuple[Matrix, Matrix]:
    """The polynomial or the sigmoid of products of rows."""
    gamma, coef0 = numbers[0], numbers[-1]
    inner = gamma * products + coef0
    error = gamma * error + 3.0 * U * (np.abs(gamma * products) + abs(coef0))
    if name == "sigmoid":
        return np.tanh(inner), error + 4.0 * U
    degree = int(numbers[1])
    K, grown, top = np.ones_like(inner), np.zeros_like(inner), np.abs(inner) + error
    for _ in range(degree):  # e_k = e_(k-1) |top| + |K| e + rounding
        grown = grown * top + np.abs(K) * error + U * np.abs(K) * top
        K = K * inner
    return K, grown
