"""C-support vector classification with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..fitting.formulation import Formulation, bounds
from ..problems import csvc
from .base.classifier import Classifier
from .base.parameters import PENALTY


class SVC(Classifier):
    r"""C-support vector classification, solved exactly, on all cores, with a proof of optimality.

    A drop-in replacement of :class:`sklearn.svm.SVC`, with its parameters, attributes and conventions, and a
    certificate on every fit. Sparse, dense, weighted and multi-class problems all take the same path. A ``y`` of shape
    (n_samples, T) of 0 and 1 has T labels for each sample, which one fit learns over one kernel matrix.

    The reference of the manual lists what is public in this class and its siblings. ``help`` also shows other names,
    which may change without notice.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of margin violations, > 0; ``inf`` is the hard margin. Multiplied by class and sample weights.
    kernel : str, adatron.kernels.Kernel or callable, default='rbf'
        'rbf', 'linear', 'poly', 'sigmoid', 'laplacian', 'precomputed'; a kernel object (``RBF(0.1) + 2 * Linear()``);
        or a function of two arrays of rows that returns their kernel matrix. Each entry must depend on its own pair
        alone; the function is called on blocks of at most 1,024 rows. If the samples are not rows of numbers (texts,
        graphs, series), the function gets all of them at once, as they are.
    degree : int, default=3
        Degree of 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        1 / (n_features * X.var()), 1 / n_features, or the value itself. A sample of weight 2 counts as two in the
        variance.
    coef0 : float, default=0.0
        Constant of 'poly' and 'sigmoid'.
    shrinking : bool, default=True
        Accepted for compatibility, without effect (``solver=ISDA(shrinking=False)`` is another setting).
    probability : bool or 'deprecated', default='deprecated'
        Whether to fit class probabilities, too, for ``predict_proba``: a sigmoid through 1/2 where the prediction
        changes, from decision values of samples that were left out. The probabilities agree with ``predict``.
        'deprecated' is False, as in scikit-learn, whose documented way also works and will stay:
        ``CalibratedClassifierCV(SVC(), ensemble=False)``.
    tol : float, default=1e-3
        Largest violation of the optimality (KKT) conditions, as in scikit-learn, but certified.
    cache_size : float, default=1000
        Megabytes for kernel values, in all: stored rows, blocks and tiles of all concurrent problems.
    class_weight : dict or 'balanced', default=None
        Weights of the classes. 'balanced' counts a sample of weight 2 as two.
    verbose : bool, default=False
        Print a line for each report of progress.
    max_iter : int, default=-1
        Most iterations in a binary problem. The default solver counts updates of pairs (or coordinates), the others
        what ``adatron info --solvers`` says. -1 is a finite limit that grows with the data.
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
        The algorithm, by name or as one of ``adatron.solvers`` with its own parameters. 'auto' is 'block'.
    n_jobs : int, default=None
        Threads; None and -1 are all that the process may use, or that joblib allows in its worker. Fits in several
        threads of a process share them. The number cannot change a single bit of the solution.
    precision : {'auto', 'single', 'double'}, default='auto'
        'auto': kernel values in float32 with float64 corrections if float32 is accurate enough. 'single': float32
        wherever it says anything about the values; decision values then come from float32, too. 'double': float64
        throughout, as given values and those of functions always are. Certificates are float64 in any case. With
        'auto' decision values are float64, also for float32 samples, and so are the classes, which float32 may prove.
    random_state : int, RandomState instance or None, default=None
        Shuffles the samples before they are left out for ``probability=True``; None is a fixed seed.
    multi_class : {'ovo', 'ovr'}, default='ovo'
        One classifier for each pair of classes, as in scikit-learn, or for each class against the rest.
    gap_tol : float or None, default=1e-3
        The relative duality gap that the fit goes on to after it meets ``tol``. If rounding or a limit ends the fit
        before, it is good with the value 1e-3, and ``certificate_`` says what is proven; with any other value it warns.
        None asks for ``tol`` alone, as scikit-learn does.
    max_time : float, default=None
        Seconds after which the fit stops and warns. Problems of classes, targets or quantiles that wait for each other
        share the time that is left equally. The certificate may take up to a tenth more and 0.2 s; bounds that could
        not be proven in that time are infinite. A call of a kernel function is not interrupted. The time for compiling
        code at first use comes on top.
    callback : callable, default=None
        Called with a :class:`adatron.solvers.Progress` (``n_iter``, ``kkt_violation``, ``duality_gap``, ...) now
        and then; returning True stops the fit.
    device : str, default=None
        Where to solve the problems and to predict: 'cuda' or 'cuda:1' for a GPU of NVIDIA, 'cpu' for the processor.
        None follows X: for a tensor of torch, or an array of CuPy, it is that one's GPU, and predictions come back as
        the same kind. It needs the extra ``gpu``. Small problems are solved on the processor; ``route_`` says where,
        and why. A model file does not keep it. A fit raises ValueError for a GPU that is not there, for sparse X and
        for kernels that a GPU does not evaluate; ImportError without torch; RuntimeError if sums of the GPU differ from
        the processor's.

    Attributes
    ----------
    dual_coef_, intercept_, n_iter_ : ndarray
        As in scikit-learn. With ``multi_class='ovr'`` and more than two classes, ``dual_coef_`` has one row, and the
        others have one entry, for each class; with T labels, for each label.
    classes_, class_weight_, coef_, fit_status_, support_, support_vectors_, n_support_, shape_fit_ :
        As in scikit-learn, and so are ``n_features_in_`` and ``feature_names_in_``.
    kernel_ : adatron.kernels.Kernel
        The kernel of the fit, with the numbers behind 'scale' and 'auto'.
    certificate_ : object with ``gap``, ``violation``, ``converged`` and ``problems``
        What is proven of all binary problems: the largest gap and violation. It prints as one line.
    duality_gap_, kkt_violation_, dual_objective_, primal_objective_ : float, or ndarray of one for each binary problem
        The certificate: ``kkt_violation_`` and ``duality_gap_`` are upper bounds, with all rounding errors in them.
        ``duality_gap_`` is (primal - dual) / min(\|primal\|, \|dual\|): no solution is better by a larger part of the
        optimum. (For more than 1,000 samples the divisor is up to an eighth smaller.) It is inf if the two have not
        one sign, so that the optimum may be 0, and nan if the kernel is found not to be positive semi-definite.
        Kernels that need not be so ('sigmoid', given values, functions) are checked on at most 512 samples; beyond
        these the bounds take it for granted. The optimum lies between the objectives (proven up to 1,000 samples,
        estimated above). The gap belongs to the best bias for these coefficients; ``intercept_`` is LIBSVM's.
    model_ : object
        What the fit has found, as one value. No later fit changes it.
    objects_ : ndarray of shape (n_samples,)
        The training samples, if a kernel function takes them and they are not rows of numbers; else it is not there.
    compact_ : bool
        Whether :meth:`compact` made the model; that method explains the attributes of such a model.
    route_ : adatron.solvers.Route
        How the problems were solved; ``print(model.route_)`` says it in three lines.
    trace_ : dict of ndarray, or a sequence of them for each binary problem
        'seconds', 'n_iter', 'kkt_violation', 'duality_gap', 'dual_objective' after each block or epoch, and further
        quantities of the solver. These are estimates of the solver; the last line is proven, as the certificate is. The
        gap is nan where it was not computed.

    References
    ----------
    Cortes and Vapnik, Support-vector networks, Machine Learning 20 (1995) 273-297.

    Examples
    --------
    >>> from adatron import SVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=10).fit(X, y)
    >>> bool(model.duality_gap_.max() <= 1e-3)
    True
    """

    C: float

    takes_labels = True
    _theirs = "SVC"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**Classifier._parameter_constraints, **PENALTY}

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
        cache_size: float = 1000,
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
        gap_tol: float | None = 1e-3,
        max_time: float | None = None,
        callback: Callable[[Any], object] | None = None,
        device: Any = None,
    ) -> None:
        self._keep(locals())

    def formulation(self, augment: float) -> Formulation:
        C, bias = self.C, self.bias
        return Formulation(
            lambda y, weight: csvc(y, bounds(C, weight), bias, augment),
            bound=C,
            sized=False,
            separable=bool(np.isfinite(C)),
        )
