"""Kernel machines on a Dask cluster: the solution of one machine, to the last bit, for any number of workers.

Each estimator has the parameters and attributes of its one-machine namesake, and ``client``. ``fit`` takes Dask arrays,
Dask data frames, or arrays in memory.
"""

from .estimators import DaskNuSVC, DaskNuSVR, DaskOneClassSVM, DaskSVC, DaskSVR
from .search import DaskGridSearchCV

__all__ = ["DaskGridSearchCV", "DaskNuSVC", "DaskNuSVR", "DaskOneClassSVM", "DaskSVC", "DaskSVR"]
