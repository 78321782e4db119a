"""The base of the estimators for clusters: from partitions to a model, and predictions of collections."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import blake2b
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ..estimators.base.classifier import Classifier, Labelled
from ..estimators.base.machine import KernelMachine
from ..estimators.base.one_program import Measured, solved
from ..estimators.checks import inputs, objects
from ..quoted import quoted
from ..threads import Clock, OutOfTime
from .cluster import beside_the_pool, client_of
from .collections import Blocks, cloned, is_collection, lazily, refuse_others

Vector = NDArray[np.float64]


class OnCluster(KernelMachine):
    """Base of the estimators for clusters: each is its one-machine estimator with a client.

    Parameters are those of that estimator, and two more:

    client : a ``distributed.Client``; None is the current one
    checkpoint : path of a file in which the fit keeps what it has found. A fit of the same training set with the same
        parameters goes on from there and has the same bits. The file is removed when the fit has converged.
    """

    client: Any
    checkpoint: str | PathLike[str] | None
    _local: ClassVar[type[KernelMachine]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        others = [base for base in cls.__mro__ if issubclass(base, KernelMachine) and not issubclass(base, OnCluster)]
        local = next((base for base in others if "__init__" in vars(base)), None)
        if local is None:
            return
        cls._local = local
        signature = inspect.signature(local.__init__)
        more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in OWN]

        def __init__(self: Any, *, client: Any = None, checkpoint: Any = None, **parameters: Any) -> None:
            local.__init__(self, **parameters)
            self.client, self.checkpoint = client, checkpoint

        __init__.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *more])  # pyright: ignore
        cls.__init__ = __init__
        unchecked: Any = "no_validation"  # scikit-learn's word
        cls._parameter_constraints = {
            **local._parameter_constraints,
            "client": unchecked,
            "checkpoint": [str, PathLike, None],
        }

    @property
    def client_(self) -> Any:
        """The client that is used: the given one, or the current one."""
        return client_of(self.client)

    def __sklearn_clone__(self) -> Any:
        return cloned(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for copies and pickles, which have no client."""
        return {**super().__getstate__(), "client": None}

    def to_local(self) -> Any:
        """Return the fitted estimator of one machine, which needs no cluster."""
        model = self._local(**{name: getattr(self, name) for name in self._local._get_param_names()})
        state = {name: value for name, value in self.__getstate__().items() if name not in OWN}
        model.__setstate__(state)
        return model

    def _on_cluster(self, X: Any, y: Any, sample_weight: Any, labels: bool, limit: float) -> Any:
        """Check parameters and partitions."""
        from .setup import Counted

        self._validate_params()
        self._refuse()
        if y is None and get_tags(self).target_tags.required:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        client = self.client_
        return Counted(client, Blocks(client, X, y, sample_weight, limit), labels, limit)

    def _refuse(self) -> None:
        """Refuse what needs all rows in one place."""
        name, local = type(self).__name__, self._local.__name__
        if self._given or objects.is_function(self.kernel) or not self._compiled():
            raise ValueError(
                f"{name} needs a kernel of rows, by name or as a kernel object. Got kernel={quoted(self.kernel)}; "
                f"{local} takes functions and kernel matrices."
            )
        if self.device not in (None, "cpu"):
            raise ValueError(
                f"{name} computes on the processors of the cluster. Leave device={quoted(self.device)} out, or use "
                f"{local}."
            )
        if self.solver not in ("auto", "block"):
            raise ValueError(
                f"{name} has the solver 'block' ('auto'). Got {quoted(self.solver)}; {local} has the others."
            )
        if getattr(self, "with_probability", False):
            raise ValueError(
                f"{name} has no probability=True; calibrate {name}.to_local() on some samples, for example with "
                "CalibratedClassifierCV(FrozenEstimator(model))."
            )

    def _compiled(self) -> bool:
        return isinstance(self.kernel, str) or self.kernel.compiled

    def _number(self, counted: Any) -> float:
        """Return the number behind gamma."""
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        d = counted.shape[1]
        return 1.0 / d if self.gamma == "auto" else inputs.gamma_of(d, counted.variance())

    def _factor(self, counted: Any) -> float:
        """Return the factor behind augment."""
        value = getattr(self, "augment", 1.0)
        return counted.magnitude() if isinstance(value, str) else float(value)

    @contextmanager
    def _fitting(self, counted: Any) -> Iterator[None]:
        """Fit with numbers and a solver in place of parameters; then keep what the training set is like."""
        from .gradient import FarBlock

        given = {"gamma": self.gamma, "solver": self.solver}
        largest = max(one.largest for one in counted.facts)
        if largest > np.sqrt(np.finfo(np.float64).max / (counted.shape[0] * counted.shape[1])):
            raise ValueError(inputs.NOT_FINITE)
        self.n_features_in_ = counted.shape[1]
        vars(self).pop("feature_names_in_", None)
        if counted.blocks.names is not None:
            self.feature_names_in_ = counted.blocks.names
        try:
            vars(self).update(gamma=self._number(counted), solver=FarBlock())
            with np.errstate(all="ignore"):
                yield
        finally:
            vars(self).update(given)
            counted.release()
        if counted.sparse and not sparse.issparse(self.dual_coef_):
            self._model = replace(self._model, dual=sparse.csr_matrix(self._model.dual))

    def _shared(self, counted: Any, classes: Any, class_weight: Any) -> Any:
        """Bring the samples to their slabs; mostly zero dense rows as CSR rows, where one machine does."""
        from .setup import lean, share

        room = float(self.cache_size) * 2.0**20
        return share(
            counted, classes, class_weight, room, lambda sizes: lean(self, counted, classes, class_weight, sizes)
        )

    @contextmanager
    def _recorded(self, shared: Any) -> Iterator[None]:
        """Keep what the fit inside finds in the file of the parameter ``checkpoint``, until it has converged."""
        if self.checkpoint is None:
            yield
            return
        from .checkpoint import Checkpoint

        with Checkpoint(self.checkpoint, self._fingerprint(shared)) as file:
            shared.rows.checkpoint = file
            yield
        if not self.fit_status_:
            file.remove()

    def _fingerprint(self, shared: Any) -> str:
        """Return what is equal for fits whose bits are equal."""
        from .. import __version__

        given = {name: getattr(self, name) for name in self._local._get_param_names() if name not in FREE}
        if not isinstance(self.kernel, str):
            given["kernel"] = self.kernel.spec()
        found = blake2b(repr([__version__, self._local.__name__, given]).encode(), digest_size=16)
        samples = shared.samples
        for array in (shared.rows.hashes(), samples.rows, samples.sizes, samples.weight, shared.codes):
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()

    def _predictions(self, method: str, X: Any, at_once: Callable[[Any], Any]) -> Any:
        """Return predictions: lazily for a Dask array or frame, else at once."""
        refuse_others(X, "X")
        if not is_collection(X):
            return at_once(X)
        check_is_fitted(self)
        return lazily(self.client, method, self.to_local(), X)


OWN = ("client", "checkpoint")  # parameters that the one-machine estimators do not have
FREE = ("solver", "n_jobs", "verbose", "max_time", "callback", "class_weight")  # on which no bit depends, or by weights


@contextmanager
def fitting(seconds: float | None) -> Iterator[None]:
    """Fit beside the pool of a worker; say so if the time was over before there was anything to solve."""
    try:
        with beside_the_pool():
            yield
    except OutOfTime:
        raise TimeoutError(
            f"max_time={seconds} was over before the training set was loaded and in order on the cluster, so nothing "
            "was fitted. Raise max_time, or persist() X and y before the fit."
        ) from None


class ClusterClassifier(OnCluster, Classifier):
    """Base of the classifiers for clusters."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve the problem on the cluster and certify the solution, which is that of one machine to the last bit.

        Parameters
        ----------
        X : Dask array or data frame, or array-like or sparse matrix, of shape (n_samples, n_features)
            Training samples, in chunks by rows of any lengths, known or not.
        y : Dask array or series, or array-like, of shape (n_samples,)
            Class labels, in the same chunks.
        sample_weight : Dask array or series, or array-like, of shape (n_samples,), default=None
            Their weights, times those of the classes; one of weight 2 counts as two, one of weight 0 is left out.

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
        clock = Clock.starting(self.max_time)
        with fitting(self.max_time):
            self._fit_on_cluster(X, y, sample_weight, clock)
        return self

    def _fit_on_cluster(self, X: Any, y: Any, sample_weight: Any, clock: Clock) -> None:
        counted = self._on_cluster(X, y, sample_weight, labels=True, limit=clock.limit)
        classes = counted.targets()
        if classes.dtype.kind == "c" or (classes.dtype.kind == "f" and not (classes == np.rint(classes)).all()):
            check_classification_targets(classes)
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class")
        class_weight = np.ones(len(classes))
        if isinstance(self.class_weight, dict):
            class_weight = inputs.named(self.class_weight, classes)
        elif self.class_weight is not None:
            class_weight = inputs.balanced(counted.of_classes(classes))
        with self._fitting(counted):
            factor = self._factor(counted)
            shared = self._shared(counted, classes, class_weight)
            if np.count_nonzero(shared.samples.sizes) < 2:
                raise ValueError(self._one_sided)
            data = Labelled(shared.rows, shared.codes, classes, class_weight, shared.samples, None)
            with shared.rows.cluster, self._recorded(shared):
                model = self._solved(data, self.formulation(factor), self._resolved(data.X, None), clock)
                self._take(model, class_weight_=class_weight)

    def predict(self, X: Any) -> Any:
        """Predict class labels: lazily, in X's chunks, for a Dask array or frame, else at once."""
        return self._predictions("predict", X, super().predict)

    def decision_function(self, X: Any) -> Any:
        """Return decision values: lazily, in X's chunks, for a Dask array or frame, else at once."""
        return self._predictions("decision_function", X, super().decision_function)


class ClusterProgram(OnCluster):
    """Base of the machines with one program for clusters."""

    def _fit_on_cluster(self, X: Any, y: Any, sample_weight: Any) -> Self:
        clock = Clock.starting(self.max_time)
        with fitting(self.max_time):
            counted = self._on_cluster(X, y, sample_weight, labels=False, limit=clock.limit)
            with self._fitting(counted):
                factor = self._factor(counted)
                shared = self._shared(counted, None, None)
                with shared.rows.cluster, self._recorded(shared):
                    data = Measured(shared.rows, shared.codes, shared.samples, None)
                    model, more = solved(self, data, self.formulation(factor), self._resolved(data.X, None), clock)
                    self._take(model, **more)
        return self
