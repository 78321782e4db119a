"""The base of the estimators for clusters: from partitions to a model, and predictions of collections."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ..door import arrays, inputs
from ..estimators.base.classifier import Classifier
from ..estimators.base.machine import KernelMachine
from ..estimators.base.novelty import Novelty
from ..estimators.base.regressor import Regressor
from ..quoted import quoted
from ..threads import Clock, OutOfTime
from .cluster import beside_the_pool
from .collections import Blocks, WithClient, is_collection, lazily, refuse_others

if TYPE_CHECKING:
    from ..model.model import Model
    from .setup import CheckedBlocks, SharedSamples


class OnCluster(WithClient, KernelMachine):
    """Base of the estimators for clusters: each is its one-machine estimator with a client.

    Parameters are those of that estimator, and ``client``: a ``distributed.Client``; None is the current one.
    """

    _local: ClassVar[type[KernelMachine]]

    @abstractmethod
    def _classes(self, counted: CheckedBlocks) -> tuple[Any, Any]:
        """Return the labels of a training set and their weights; None, None for a machine without classes."""

    def _meaning(self, shared: SharedSamples) -> dict[str, Any]:
        """Return the meaning of the targets: parts of the training set."""
        return {"readout": self.fixed_readout}

    def to_local(self) -> Any:
        """Return the fitted estimator of one machine, which needs no cluster."""
        model = self._local(**{name: getattr(self, name) for name in self._local._get_param_names()})
        state = {name: value for name, value in self.__getstate__().items() if name != "client"}
        model.__setstate__(state)
        return model

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Solve the problem on the cluster and certify the solution, which is that of one machine to the last bit.

        Parameters
        ----------
        X : Dask array or data frame, or array-like or sparse matrix, of shape (n_samples, n_features)
            Training samples, in chunks by rows of any lengths, known or not.
        y : Dask array or series, or array-like, of shape (n_samples,)
            Class labels or targets, in the same chunks. Novelty detectors need none: for an SVDD, -1 marks negatives;
            OneClassSVM ignores it, and it is there for pipelines and searches.
        sample_weight : Dask array or series, or array-like, of shape (n_samples,), default=None
            Weights, times those of the classes; one of weight 2 counts as two, one of weight 0 is left out.

        Returns
        -------
        self : the estimator

        Raises
        ------
        ValueError
            Bad parameters or data, as in the one-machine estimator; the partition of bad data is named.
        TimeoutError
            ``max_time`` was over while the samples were loaded.
        RuntimeError
            The cluster has no workers, or a task ends every worker that it comes to.
        """
        return self._fit_on_cluster(X, self._targets(y), sample_weight)

    def _targets(self, y: Any) -> Any:
        """Return the targets as the problem takes them."""
        return y

    def _fit_on_cluster(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Solve the problem on the cluster and keep the model."""
        from .setup import CheckedBlocks

        clock = Clock.starting(self.max_time)
        try:
            with beside_the_pool():
                self._validate_params()
                self._refuse(y)
                client = self.client_
                blocks = Blocks(client, X, y, sample_weight, clock.limit)
                counted = CheckedBlocks(client, blocks, is_classifier(self), clock.limit)
                try:
                    model, further = self._found(counted, clock)
                finally:
                    counted.release()
        except OutOfTime:
            raise TimeoutError(
                f"max_time={self.max_time} ended before the cluster had loaded and ordered the training set, so "
                "nothing was fitted. Raise max_time, or persist() X and y before the fit."
            ) from None
        if counted.sparse and not sparse.issparse(model.dual):
            model = replace(model, dual=sparse.csr_matrix(model.dual))
        vars(self).pop("feature_names_in_", None)
        if blocks.names is not None:
            self.feature_names_in_ = blocks.names
        return self._take(model, n_features_in_=counted.shape[1], **further)

    def _refuse(self, y: Any) -> None:
        """Refuse parameters that need all rows in one place, and missing targets."""
        name, local, kernel = type(self).__name__, self._local.__name__, self.kernel
        if self._given or arrays.is_function(kernel) or not (isinstance(kernel, str) or kernel.compiled):
            raise ValueError(
                f"{name} needs a kernel of rows, by name or as a kernel object. Got kernel={quoted(kernel)}; "
                f"{local} takes functions and kernel matrices."
            )
        if self.device not in (None, "cpu"):
            raise ValueError(
                f"{name} computes on the processors of the cluster. Leave device={quoted(self.device)} out, or use "
                f"{local}."
            )
        if self.solver not in ("auto", "block"):
            raise ValueError(
                f"{name} has only the solver 'block' ('auto'). Got {quoted(self.solver)}; {local} has other solvers."
            )
        if getattr(self, "with_probability", False):
            raise ValueError(
                f"{name} has no probability=True; calibrate {name}.to_local() on some samples, for example with "
                "CalibratedClassifierCV(FrozenEstimator(model))."
            )
        if y is None and get_tags(self).target_tags.required:
            raise ValueError(f"{name} requires y to be passed, but the target y is None.")

    def _found(self, counted: CheckedBlocks, clock: Clock) -> tuple[Model, dict[str, Any]]:
        """Return the model of a training set, and further attributes: the solver works on the cluster's rows."""
        from ..fitting.fit import TrainingSet, fit
        from ..kernels import resolve
        from .gradient import FarBlock
        from .setup import lean, share

        classes = self._classes(counted)
        gamma, augment = counted.gamma(self.gamma), counted.augment(getattr(self, "augment", 1.0))
        kernel, problem = resolve(self.kernel, gamma, self.degree, self.coef0), self.problem(augment)
        settings = replace(self.settings(kernel, clock, problem.sized), solver=FarBlock())

        def lean_rows(sizes: NDArray[np.int64]) -> bool:
            pairs = getattr(self, "multi_class", "ovr") == "ovo"
            largest = np.sort(sizes)[-2:].sum() if pairs else sizes.sum()
            return lean(counted, kernel, problem.copies * int(largest), *classes)

        shared = share(counted, *classes, settings.cache_bytes, lean_rows)
        with shared.rows.cluster:
            X, own = shared.rows, self._meaning(shared)
            model = fit([TrainingSet(X, X, shared.codes, shared.samples, kernel, gamma, **own)], [problem], settings)
            return model, self.reviewed(model, X) if isinstance(self, Regressor) else {}

    def predict(self, X: Any) -> Any:
        """Predict labels or targets: lazily, in X's chunks, for a Dask array or frame, else at once."""
        return self._predictions("predict", X)

    def _predictions(self, method: str, X: Any) -> Any:
        """Return predictions: lazily for a Dask array or frame, else at once."""
        refuse_others(X, "X")
        if not is_collection(X):
            return getattr(super(), method)(X)
        check_is_fitted(self)
        return lazily(self.client, method, self.to_local(), X)


class ClusterClassifier(OnCluster, Classifier):
    """Base of the classifiers for clusters."""

    takes_labels = False

    def _classes(self, counted: CheckedBlocks) -> tuple[Any, Any]:
        labels = counted.targets()
        if labels.dtype.kind == "c" or (labels.dtype.kind == "f" and not (labels == np.rint(labels)).all()):
            check_classification_targets(labels)
        if len(labels) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(labels)} class")
        if self.class_weight is None:
            return labels, np.ones(len(labels))
        if isinstance(self.class_weight, dict):
            return labels, inputs.named(self.class_weight, labels)
        return labels, inputs.balanced(counted.of_classes(labels))

    def _meaning(self, shared: SharedSamples) -> dict[str, Any]:
        if np.count_nonzero(shared.samples.sizes) < 2:
            raise ValueError(self._one_sided)
        return {"readout": self._readout_for(shared.classes), "found": {"class_weight_": shared.class_weight}}

    def decision_function(self, X: Any) -> Any:
        """Return decision values: lazily, in X's chunks, for a Dask array or frame, else at once."""
        return self._predictions("decision_function", X)


class ClusterProgram(OnCluster):
    """Base of the machines with one program for clusters."""

    def _classes(self, counted: CheckedBlocks) -> tuple[Any, Any]:
        return None, None


class ClusterRegressor(ClusterProgram, Regressor):
    """Base of the regressors for clusters."""

    takes_targets = False

    def _refuse(self, y: Any) -> None:
        super()._refuse(y)
        if self.columns is not None:
            raise ValueError(f"{type(self).__name__} takes one quantile; {self._local.__name__} takes a list of them.")


class ClusterNovelty(ClusterProgram, Novelty):
    """Base of the novelty detectors for clusters."""

    def _targets(self, y: Any) -> Any:
        refuse_others(y, "y")
        if y is None or not self.negatives:
            return None
        return 2.0 * ((y if is_collection(y) else np.asarray(y)) != -1) - 1.0

    def decision_function(self, X: Any) -> Any:
        """Return the signed distance to the boundary: lazily for a Dask array or frame, else at once."""
        return self._predictions("decision_function", X)

    def score_samples(self, X: Any) -> Any:
        """Return decision values without the offset: lazily for a Dask array or frame, else at once."""
        return self._predictions("score_samples", X)
