"""The estimators for clusters."""

from __future__ import annotations

from ..estimators import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM, QuantileSVR
from .machine import ClusterClassifier, ClusterNovelty, ClusterRegressor


class DaskSVC(ClusterClassifier, SVC, local=SVC):
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


class DaskNuSVC(ClusterClassifier, NuSVC, local=NuSVC):
    """Nu-support vector classification on a Dask cluster; parameters and attributes of :class:`adatron.NuSVC`.

    Examples
    --------
    >>> from adatron.dask import DaskNuSVC
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client:
    ...     DaskNuSVC(nu=0.1, client=client).fit(*load_iris(return_X_y=True)).to_local()
    NuSVC(nu=0.1)
    """


class DaskSVR(ClusterRegressor, SVR, local=SVR):
    """Epsilon-support vector regression on a Dask cluster; parameters and attributes of :class:`adatron.SVR`.

    Examples
    --------
    >>> from adatron.dask import DaskSVR
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client:
    ...     DaskSVR(C=10, client=client).fit(*load_iris(return_X_y=True)).to_local()
    SVR(C=10)
    """


class DaskNuSVR(ClusterRegressor, NuSVR, local=NuSVR):
    """Nu-support vector regression on a Dask cluster; parameters and attributes of :class:`adatron.NuSVR`.

    Examples
    --------
    >>> from adatron.dask import DaskNuSVR
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client:
    ...     DaskNuSVR(C=10, client=client).fit(*load_iris(return_X_y=True)).to_local()
    NuSVR(C=10)
    """


class DaskQuantileSVR(ClusterRegressor, QuantileSVR, local=QuantileSVR):
    """Regression of a quantile on a Dask cluster; parameters and attributes of :class:`adatron.QuantileSVR`.

    Examples
    --------
    >>> from adatron.dask import DaskQuantileSVR
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client:
    ...     DaskQuantileSVR(quantile=0.9, client=client).fit(*load_iris(return_X_y=True)).to_local()
    QuantileSVR(quantile=0.9)
    """


class DaskOneClassSVM(ClusterNovelty, OneClassSVM, local=OneClassSVM):
    """The support of a distribution on a Dask cluster; parameters and attributes of :class:`adatron.OneClassSVM`.

    Examples
    --------
    >>> from adatron.dask import DaskOneClassSVM
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client:
    ...     DaskOneClassSVM(nu=0.1, client=client).fit(*load_iris(return_X_y=True)).to_local()
    OneClassSVM(nu=0.1)
    """


# A cluster takes no kernel values, so predictions need no diagonal.
class DaskSVDD(ClusterNovelty, SVDD, local=SVDD):  # pyright: ignore[reportIncompatibleMethodOverride]
    """The smallest ball around most samples on a Dask cluster; parameters and attributes of :class:`adatron.SVDD`.

    Examples
    --------
    >>> from adatron.dask import DaskSVDD
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as client:
    ...     DaskSVDD(nu=0.1, client=client).fit(*load_iris(return_X_y=True)).to_local()
    SVDD(nu=0.1)
    """
