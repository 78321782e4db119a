"""The estimators for clusters."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any, ClassVar

from ..estimators import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM, QuantileSVR
from .machine import CLUSTER_PARAMETERS, ClusterClassifier, ClusterNovelty, ClusterRegressor


class DaskSVC(ClusterClassifier, SVC):
    """C-support vector classification on a Dask cluster; parameters and attributes of :class:`adatron.SVC`.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.dask import DaskSVC
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client:
    ...     model = DaskSVC(C=10, client=client).fit(X, y)
    >>> bool((model.dual_coef_ == SVC(C=10).fit(X, y).dual_coef_).all())
    True
    """

    _local = SVC
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**SVC._parameter_constraints, **CLUSTER_PARAMETERS}

    def __init__(
        self, *, C: float = 1.0, kernel: Any = "rbf", degree: int = 3, gamma: float | str = "scale", coef0: float = 0.0,
        shrinking: bool = True, probability: bool | str = "deprecated", tol: float = 1e-3, cache_size: float = 1000,
        class_weight: dict[Any, float] | str | None = None, verbose: bool = False, max_iter: int = -1,
        decision_function_shape: str = "ovr", break_ties: bool = False, random_state: Any = None,
        bias: str = "explicit", augment: float | str = 1.0, solver: Any = "auto", n_jobs: int | None = None,
        precision: str = "auto", multi_class: str = "ovo", gap_tol: float | None = 1e-3, max_time: float | None = None,
        callback: Callable[[Any], object] | None = None, device: Any = None, client: Any = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> None:  # fmt: skip
        self._keep(locals())


class DaskNuSVC(ClusterClassifier, NuSVC):
    """Nu-support vector classification on a Dask cluster; parameters and attributes of :class:`adatron.NuSVC`.

    Examples
    --------
    >>> from adatron import NuSVC
    >>> from adatron.dask import DaskNuSVC
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client:
    ...     model = DaskNuSVC(nu=0.1, client=client).fit(X, y)
    >>> bool((model.dual_coef_ == NuSVC(nu=0.1).fit(X, y).dual_coef_).all())
    True
    """

    _local = NuSVC
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**NuSVC._parameter_constraints, **CLUSTER_PARAMETERS}

    def __init__(
        self, *, nu: float = 0.5, kernel: Any = "rbf", degree: int = 3, gamma: float | str = "scale",
        coef0: float = 0.0, shrinking: bool = True, probability: bool | str = "deprecated", tol: float = 1e-3,
        cache_size: float = 1000, class_weight: dict[Any, float] | str | None = None, verbose: bool = False,
        max_iter: int = -1, decision_function_shape: str = "ovr", break_ties: bool = False, random_state: Any = None,
        bias: str = "explicit", augment: float | str = 1.0, solver: Any = "auto", n_jobs: int | None = None,
        precision: str = "auto", multi_class: str = "ovo", gap_tol: float | None = 1e-3, max_time: float | None = None,
        callback: Callable[[Any], object] | None = None, device: Any = None, client: Any = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> None:  # fmt: skip
        self._keep(locals())


class DaskSVR(ClusterRegressor, SVR):
    """Epsilon-support vector regression on a Dask cluster; parameters and attributes of :class:`adatron.SVR`.

    Examples
    --------
    >>> from adatron import SVR
    >>> from adatron.dask import DaskSVR
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client:
    ...     model = DaskSVR(C=10, client=client).fit(X, y)
    >>> bool((model.dual_coef_ == SVR(C=10).fit(X, y).dual_coef_).all())
    True
    """

    _local = SVR
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**SVR._parameter_constraints, **CLUSTER_PARAMETERS}

    def __init__(
        self, *, kernel: Any = "rbf", degree: int = 3, gamma: float | str = "scale", coef0: float = 0.0,
        tol: float = 1e-3, C: float = 1.0, epsilon: float = 0.1, shrinking: bool = True, cache_size: float = 1000,
        verbose: bool = False, max_iter: int = -1, bias: str = "explicit", augment: float | str = 1.0,
        solver: Any = "auto", n_jobs: int | None = None, precision: str = "auto", gap_tol: float | None = 1e-3,
        max_time: float | None = None, callback: Callable[[Any], object] | None = None, device: Any = None,
        client: Any = None, checkpoint: str | PathLike[str] | None = None,
    ) -> None:  # fmt: skip
        self._keep(locals())


class DaskNuSVR(ClusterRegressor, NuSVR):
    """Nu-support vector regression on a Dask cluster; parameters and attributes of :class:`adatron.NuSVR`.

    Examples
    --------
    >>> from adatron import NuSVR
    >>> from adatron.dask import DaskNuSVR
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client:
    ...     model = DaskNuSVR(C=10, client=client).fit(X, y)
    >>> bool((model.dual_coef_ == NuSVR(C=10).fit(X, y).dual_coef_).all())
    True
    """

    _local = NuSVR
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**NuSVR._parameter_constraints, **CLUSTER_PARAMETERS}

    def __init__(
        self, *, nu: float = 0.5, C: float = 1.0, kernel: Any = "rbf", degree: int = 3, gamma: float | str = "scale",
        coef0: float = 0.0, shrinking: bool = True, tol: float = 1e-3, cache_size: float = 1000, verbose: bool = False,
        max_iter: int = -1, bias: str = "explicit", augment: float | str = 1.0, solver: Any = "auto",
        n_jobs: int | None = None, precision: str = "auto", gap_tol: float | None = 1e-3, max_time: float | None = None,
        callback: Callable[[Any], object] | None = None, device: Any = None, client: Any = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> None:  # fmt: skip
        self._keep(locals())


class DaskQuantileSVR(ClusterRegressor, QuantileSVR):
    """Regression of a quantile on a Dask cluster; parameters and attributes of :class:`adatron.QuantileSVR`.

    Examples
    --------
    >>> from adatron import QuantileSVR
    >>> from adatron.dask import DaskQuantileSVR
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client:
    ...     model = DaskQuantileSVR(quantile=0.9, client=client).fit(X, y)
    >>> bool((model.dual_coef_ == QuantileSVR(quantile=0.9).fit(X, y).dual_coef_).all())
    True
    """

    _local = QuantileSVR
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **QuantileSVR._parameter_constraints,
        **CLUSTER_PARAMETERS,
    }

    def __init__(
        self, *, quantile: Any = 0.5, C: float = 1.0, kernel: Any = "rbf", degree: int = 3,
        gamma: float | str = "scale", coef0: float = 0.0, tol: float = 1e-3, rearrange: bool = False,
        shrinking: bool = True, cache_size: float = 1000, verbose: bool = False, max_iter: int = -1,
        bias: str = "explicit", augment: float | str = 1.0, solver: Any = "auto", n_jobs: int | None = None,
        precision: str = "auto", gap_tol: float | None = 1e-3, max_time: float | None = None,
        callback: Callable[[Any], object] | None = None, device: Any = None, client: Any = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> None:  # fmt: skip
        self._keep(locals())


class DaskOneClassSVM(ClusterNovelty, OneClassSVM):
    """The support of a distribution on a Dask cluster; parameters and attributes of :class:`adatron.OneClassSVM`.

    Examples
    --------
    >>> from adatron import OneClassSVM
    >>> from adatron.dask import DaskOneClassSVM
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client:
    ...     model = DaskOneClassSVM(nu=0.1, client=client).fit(X)
    >>> bool((model.dual_coef_ == OneClassSVM(nu=0.1).fit(X).dual_coef_).all())
    True
    """

    _local = OneClassSVM
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OneClassSVM._parameter_constraints,
        **CLUSTER_PARAMETERS,
    }

    def __init__(
        self, *, kernel: Any = "rbf", degree: int = 3, gamma: float | str = "scale", coef0: float = 0.0,
        tol: float = 1e-3, nu: float = 0.5, shrinking: bool = True, cache_size: float = 1000, verbose: bool = False,
        max_iter: int = -1, solver: Any = "auto", n_jobs: int | None = None, precision: str = "auto",
        gap_tol: float | None = 1e-3, max_time: float | None = None, callback: Callable[[Any], object] | None = None,
        device: Any = None, client: Any = None, checkpoint: str | PathLike[str] | None = None,
    ) -> None:  # fmt: skip
        self._keep(locals())


# A cluster takes no kernel values, so predictions need no diagonal.
class DaskSVDD(ClusterNovelty, SVDD):  # pyright: ignore[reportIncompatibleMethodOverride]
    """The smallest ball around most samples on a Dask cluster; parameters and attributes of :class:`adatron.SVDD`.

    Examples
    --------
    >>> from adatron import SVDD
    >>> from adatron.dask import DaskSVDD
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client:
    ...     model = DaskSVDD(nu=0.1, client=client).fit(X)
    >>> bool((model.dual_coef_ == SVDD(nu=0.1).fit(X).dual_coef_).all())
    True
    """

    _local = SVDD
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**SVDD._parameter_constraints, **CLUSTER_PARAMETERS}

    def __init__(
        self, *, kernel: Any = "rbf", degree: int = 3, gamma: float | str = "scale", coef0: float = 0.0,
        tol: float = 1e-3, nu: float = 0.5, C: float | None = None, shrinking: bool = True, cache_size: float = 1000,
        verbose: bool = False, max_iter: int = -1, solver: Any = "auto", n_jobs: int | None = None,
        precision: str = "auto", gap_tol: float | None = 1e-3, max_time: float | None = None,
        callback: Callable[[Any], object] | None = None, device: Any = None, client: Any = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> None:  # fmt: skip
        self._keep(locals())
