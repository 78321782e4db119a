"""The decision functions of a model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids, Vector, dense_rows, is_sparse, parts_of, writable
from ..devices import Device, enough_memory
from ..gram import PairSums, Source
from ..kernels import Kernel
from ..quoted import quoted
from .checks import invalid_csr
from .decision import decision_values, pair_values
from .expansion import Expansion
from .layout import TABLE, from_dual_coef
from .readout import Counted
from .signs import Decided

if TYPE_CHECKING:
    from ..margins import Field

Finish = Callable[[Vector], NDArray[Any]]  # makes a result of the decision values of some rows


@dataclass(frozen=True)
class DecisionFunctions:
    """The decision functions of a fitted machine, one for each problem.

    kernel : that of a checked X; of a given one, the rows of X hold the values
    vectors : (m, d) support vectors
    dual : the coefficients of the support vectors, in the layout of ``dual_coef_``
    intercepts : (n_problems,)
    columns : (m,) the column of each support vector in an X of kernel values
    """

    kernel: Kernel
    vectors: Any
    dual: Any
    intercepts: Vector
    columns: Ids
    n_jobs: int | None

    @property
    @abstractmethod
    def takes_sparse(self) -> bool:
        """Whether rows may be CSR rows."""

    @abstractmethod
    def coefficients(self) -> Vector:
        """Return the coefficients of the support vectors, (n_problems, m)."""

    @abstractmethod
    def fields(self) -> list[Field]:
        """Return the functions with their derivatives."""

    @abstractmethod
    def values(
        self, X: Any, finish: Finish, decided: Decided | None, counted: Counted | None, own: Vector | None = None
    ) -> NDArray[Any]:
        """Return what is made of the values at the rows of a checked X, (n, n_problems).

        finish : makes a result of the values of some rows
        decided : which results float32 values prove, see ``signs``; None if values are asked for
        counted : what is made of the votes of many classes instead, see ``pair_values``
        own : (n,) k(x, x) of the rows, if X has kernel values and ``needs_own`` says that they are needed
        """

    @property
    def needs_own(self) -> bool:
        """Whether values need k(x, x), and a checked X does not tell it."""
        return False

    def remote_values(self, X: Any, device: Device, near: bool) -> Vector | None:
        """Return the values at rows, (n, n_problems), by a device; None if the processor is to make them.

        X : NumPy array or tensor
        near : whether X is on the device already
        """
        return None


@dataclass(frozen=True)
class KernelSum(DecisionFunctions):
    """Σ_j c_j k(z_j, ·) + b for each problem, and a multiple of k(·, ·).

    counts : the support vectors of each class if ``dual`` has scikit-learn's layout of pairs, else None
    precision : parameter of the machine; a proven error of float32 sums was up to 0.1 of the margin on common data
    cache : store of the sum that predictions need, which would else be made for every single sample; None to keep none
    diagonal : the multiple of k(x, x), 0 if it is the same for all x
    square : the squared radius of a ball, if the intercept may lack digits
    """

    counts: NDArray[np.int32] | None
    precision: str
    cache: dict[str, Any] | None
    diagonal: float = 0.0
    square: float | None = None

    @property
    def needs_own(self) -> bool:
        return bool(self.diagonal) and self.kernel.name == "precomputed"

    @property
    def takes_sparse(self) -> bool:
        return is_sparse(self.vectors)

    @property
    def _many_pairs(self) -> bool:
        """Whether a table of the coefficients of all pairs of classes would be too large."""
        return self.counts is not None and len(self.intercepts) * len(self.columns) > TABLE

    def coefficients(self) -> Vector:
        if self.counts is not None:
            classes = np.repeat(np.arange(len(self.counts)), self.counts)
            return from_dual_coef(self.dual, classes, len(self.counts))
        return self.dual.toarray() if is_sparse(self.dual) else writable(self.dual)

    def fields(self) -> list[Field]:
        from ..margins import Field

        if self.diagonal:
            raise TypeError(f"k(x, x) changes with x, and no derivative of it is known. Got {quoted(self.kernel)}.")
        points, parts = dense_rows(self.vectors), zip(self.coefficients(), self.intercepts, strict=True)
        return [Field(self.kernel, points, a, float(f0)) for a, f0 in parts]

    def values(
        self, X: Any, finish: Finish, decided: Decided | None, counted: Counted | None, own: Vector | None = None
    ) -> NDArray[Any]:
        constant = self.intercepts if self.square is None else np.array([self.square])
        how = constant, "single" if self.precision == "single" else "double", self.n_jobs
        if self._many_pairs:
            return pair_values(X, self._prepared(X), *how, finish, counted)
        proven = None if self.precision == "double" or self.diagonal else decided
        return decision_values(X, self._prepared(X), *how, finish, proven, diagonal=self.diagonal, own=own)

    def remote_values(self, X: Any, device: Device, near: bool) -> Vector | None:
        work = float(X.shape[0]) * max(1, len(self.columns)) * X.shape[1]
        off = self._many_pairs or bool(self.diagonal) or self.kernel.name == "precomputed"
        if off or not (near or work >= device.prediction):
            return None
        with enough_memory(device):
            remote = self._prepared(X).on(device)
            return None if remote is None else remote.values(X, self.intercepts, self.precision == "single")

    def _prepared(self, X: Any) -> Any:
        """Return the sum as predictions need it: made once, unless it depends on X, or somebody may change its numbers.

        Compiled code takes read-only arrays for another type.
        """
        if self.kernel.name == "precomputed":
            return self._made(X)
        keep = self.cache is not None and self.kernel.compiled
        keep = keep and not (_writeable(self.vectors) or _writeable(self.dual))
        if self.cache is not None and keep and "sum" in self.cache:
            return self.cache["sum"]
        made = self._made(self.vectors if is_sparse(self.vectors) else writable(self.vectors))
        return self.cache.setdefault("sum", made) if self.cache is not None and keep else made

    def _made(self, vectors: Any) -> Expansion | PairSums:
        """Return the sum over some vectors; of kernel values, these are in X."""
        rows = np.shape(vectors)[0] if self.kernel.name != "precomputed" else len(self.columns)
        if rows != len(self.columns) or (is_sparse(vectors) and invalid_csr(vectors)):
            raise ValueError("The support vectors of the model were altered. Fit again, or load the model again.")
        if not self._many_pairs:
            return Expansion(vectors, self.coefficients().T, self.kernel, self.columns, self.square is not None)
        assert self.counts is not None  # noqa: S101 (for the type checker)
        dual = self.dual.toarray() if is_sparse(self.dual) else self.dual
        points = Source.of(vectors, np.arange(len(self.columns)), self.kernel, self.columns)
        return PairSums(points, np.require(dual, np.float64, ["C", "W"]), self.counts.astype(np.int64))


def _writeable(values: Any) -> bool:
    if isinstance(values, np.ndarray):
        return values.flags.writeable
    return any(array.flags.writeable for array in parts_of(values))
