"""C-support vector classification with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, _fit_context  # pyright: ignore[reportPrivateUsage]
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Hidden, StrOptions
from sklearn.utils.multiclass import _ovr_decision_function  # pyright: ignore[reportPrivateUsage]
from sklearn.utils.validation import check_is_fitted

from . import inputs, layout
from .machine import KernelMachine


class SVC(ClassifierMixin, KernelMachine):
    r"""C-support vector classification, solved exactly, on all cores, with a proof of optimality.

    A drop-in replacement of :class:`sklearn.svm.SVC`: its parameters, attributes and conventions, and a certificate on
    every fit. Sparse, dense, weighted and multi-class problems all take the same path.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of margin violations, > 0; ``inf`` is the hard margin. Multiplied by class and sample weights.
    kernel : str, adatron.kernels.Kernel or callable, default='rbf'
        'rbf', 'linear', 'poly', 'sigmoid', 'laplacian', 'precomputed'; a kernel object (``RBF(0.1) + 2 * Linear()``);
        or a function of two arrays of rows that returns their kernel matrix, each entry from its own pair alone.
    degree : int, default=3
        Degree of 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        1 / (n_features * X.var()), 1 / n_features, or the value itself.
    coef0 : float, default=0.0
        Constant of 'poly' and 'sigmoid'.
    shrinking, random_state :
        Accepted for compatibility, without effect (``solver=ISDA(shrinking=False)`` is another thing).
    probability : bool
        Accepted for compatibility; use ``CalibratedClassifierCV(SVC(), ensemble=False)``.
    tol : float, default=1e-3
        Largest violation of the optimality (KKT) conditions, as in scikit-learn, but certified.
    cache_size : float, default=500
        Megabytes for kernel values, in all: stored rows, blocks and tiles of all concurrent problems.
    class_weight : dict or 'balanced', default=None
        Weights of the classes.
    verbose : bool, default=False
        Print a line for each report of progress.
    max_iter : int, default=-1
        Most iterations in a binary problem: updates of pairs (or coordinates) for the default solver, for the others
        what they count (``adatron info --solvers``); -1 is a finite limit that grows with the data.
    decision_function_shape : {'ovr', 'ovo'}, default='ovr'
        Shape of the decision function of more than two classes.
    break_ties : bool, default=False
        Break ties of votes by the decision values.
    bias : {'explicit', 'augmented', 'none'}, default='explicit'
        An unpenalised b; b penalised with the weights through a constant feature ``augment``; no b.
    augment : float or 'auto', default=1.0
        Augmenting factor λ of ``bias='augmented'`` (SVMseq's λ; ISDA's 1/k = λ²); 'auto' is the magnitude of the
        inputs, the root of their mean squared norm.
    solver : {'auto', 'block', 'kernel_adatron', 'svmseq', 'isda', 'smo', 'decomposition'} or Solver, default='auto'
        The algorithm, by name or as one of :mod:`adatron.solvers` with its own parameters. 'auto' is 'block'.
    n_jobs : int, default=None
        Threads; None and -1 are all that the process may use. The solution does not depend on it by a single bit.
    precision : {'auto', 'single', 'double'}, default='auto'
        Kernel values in float32 with float64 corrections where float32 is accurate enough; always (decision values
        then come from float32 too); or float64 throughout. Certificates are float64 in any case.
    multi_class : {'ovo', 'ovr'}, default='ovo'
        One classifier for each pair of classes, as scikit-learn, or for each class against the rest.
    gap_tol : float, default=None
        If given, the relative duality gap must also be at most this.
    max_time : float, default=None
        Seconds after which the fit stops and warns.
    callback : callable, default=None
        Called with a :class:`adatron.solvers.base.Progress` now and then; returning True stops the fit.

    Attributes
    ----------
    dual_coef_, intercept_, n_iter_ : ndarray
        As in scikit-learn. With ``multi_class='ovr'`` and more than two classes, ``dual_coef_`` has one row, the others
        have one entry, for each class.
    classes_, class_weight_, coef_, fit_status_, support_, support_vectors_, n_support_, shape_fit_ :
        As in scikit-learn, and so are ``n_features_in_`` and ``feature_names_in_``.
    duality_gap_, kkt_violation_, dual_objective_, primal_objective_ : float, or ndarray of one for each binary problem
        The certificate. ``duality_gap_`` is relative, (primal - dual) / max(1, \|primal\|, \|dual\|): an upper bound of
        how far the solution is from optimal; nan if the kernel is found not to be positive semi-definite.
    trace_ : dict of ndarray, or list of them for each binary problem
        'seconds', 'n_iter', 'kkt_violation', 'duality_gap', 'dual_objective' after each block, epoch or so, and what
        the solver adds. The gap is nan where it was not computed.

    References
    ----------
    Cortes and Vapnik, Support-vector networks, Machine Learning 20 (1995) 273-297.

    Examples
    --------
    >>> from adatron import SVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=10).fit(X, y)
    >>> bool(model.duality_gap_.max() < 1e-2)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "probability": ["boolean", Hidden(StrOptions({"deprecated"}))],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "random_state": ["random_state"],
        "multi_class": [StrOptions({"ovo", "ovr"})],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 500,
        class_weight: dict[Any, float] | str | None = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        bias: str = "explicit",
        augment: float | str = 1.0,
        solver: Any = "auto",
        n_jobs: int | None = None,
        precision: str = "auto",
        multi_class: str = "ovo",
        gap_tol: float | None = None,
        max_time: float | None = None,
        callback: Callable[[Any], object] | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.bias = bias
        self.augment = augment
        self.solver = solver
        self.n_jobs = n_jobs
        self.precision = precision
        self.multi_class = multi_class
        self.gap_tol = gap_tol
        self.max_time = max_time
        self.callback = callback

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVC:
        """Solve the problem and certify the solution.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training samples, or their kernel matrix for ``kernel='precomputed'``.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights that multiply C; a sample of weight 2 counts as two, one of weight 0 is left out.

        Returns
        -------
        self : SVC

        Raises
        ------
        ValueError
            Bad parameters or data: NaN or infinity, fewer than two classes, unequal lengths, no positive weight.
        """
        from . import samples
        from .binary import binary_problems

        check_random_state(self.random_state)
        if self.probability is True:
            raise ValueError(
                "The 'probability' parameter of SVC must be False. Got True instead; wrap the classifier: "
                "CalibratedClassifierCV(SVC(), ensemble=False)."
            )
        X, y = inputs.training_data(self, X, y, self._given)
        classes, codes = inputs.classes(y)
        class_weight = inputs.weights_of_classes(self.class_weight, classes, codes)
        weight = inputs.weights_of_samples(X, codes, class_weight, sample_weight)
        distinct = samples.canonical(X, codes, len(classes), weight, mergeable=not self._given)
        augment = inputs.augment(self.augment, X)
        problems = binary_problems(len(classes), self.multi_class, distinct, self.C, self.bias, augment)
        fitted = self._solve(X, distinct, problems)
        self.classes_, self.class_weight_ = classes, class_weight
        self._store_coefficients(X, codes, self._spread(distinct, fitted, X.shape[0]), fitted)
        self._store_certificates(fitted, len(classes) == 2)
        inputs.warn_unless_converged(fitted, X)
        return self

    def _store_coefficients(
        self, X: Any, codes: NDArray[np.int64], coefficients: NDArray[np.float64], fitted: list[Any]
    ) -> None:
        support = np.flatnonzero(coefficients.any(axis=0))
        support = support[np.argsort(codes[support], kind="stable")]
        self._n_support = np.bincount(codes[support], minlength=len(self.classes_)).astype(np.int32)
        dual = coefficients[:, support]
        if self._one_against_one():
            dual = layout.to_dual_coef(dual, codes[support], len(self.classes_))
        self._store_support(X, support, dual, fitted)

    def _one_against_one(self) -> bool:
        return len(self.classes_) > 2 and self.multi_class == "ovo"

    def _coefficients(self) -> NDArray[np.float64]:
        if self._one_against_one():
            classes = np.repeat(np.arange(len(self.classes_)), self._n_support)
            return layout.from_dual_coef(self.dual_coef_, classes, len(self.classes_))
        return super()._coefficients()

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Signed decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            Two classes: positive for ``classes_[1]``. More: votes refined by decision values ('ovr', as scikit-learn),
            the values of the pairs ('ovo'), or those of each class with ``multi_class='ovr'``. They are computed in
            float64 unless X is float32 or ``precision='single'``.
        """
        values = self._decision(X)
        if len(self.classes_) == 2:
            return values.ravel()
        if self.decision_function_shape == "ovr" and self._one_against_one():
            return _ovr_decision_function(values < 0, -values, len(self.classes_))
        return values

    def predict(self, X: Any) -> NDArray[Any]:
        """Class labels of samples, (n_samples,).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        if len(self.classes_) == 2:
            codes = (self._decision(X).ravel() >= 0).astype(np.int64)
        elif self._one_against_one() and not self.break_ties:
            codes = layout.votes(self._decision(X), len(self.classes_))
        else:
            codes = np.argmax(self.decision_function(X), axis=1)
        return self.classes_[codes]
