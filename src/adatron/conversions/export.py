"""Other forms of a fitted estimator: one of scikit-learn's, for deployment without this library, and a smaller one.

scikit-learn's estimators are made with the same parameters and given the attributes that their ``fit`` would set. For
two classes LIBSVM's signs, in ``_dual_coef_`` and ``_intercept_``, are the opposite of the public ones. In a smaller
one equal support vectors are merged. A merged vector may come from samples of several classes. So the vectors have no
class, and ``dual_coef_`` is not in scikit-learn's layout: it has a row of coefficients for each problem.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import svm
from sklearn.base import is_classifier, is_outlier_detector

from ..arrays import Ids, Matrix, canonical_csr, writable
from ..door import inputs
from ..fitting.samples import canonical
from ..kernels import RBF, Linear, Polynomial, Precomputed, Sigmoid
from ..model.layout import feature_weights
from ..model.model import Model

EXPORTED_KERNELS = (Linear, Polynomial, RBF, Sigmoid, Precomputed)  # Those that scikit-learn has, too.
INPUTS = ("n_features_in_", "feature_names_in_")
KERNEL_PARAMETERS = ("kernel", "degree", "gamma", "coef0")


def exported(model: Any, name: str, columns: NDArray[np.int64]) -> Any:
    """Return scikit-learn's estimator for a fitted model.

    Parameters
    ----------
    model : KernelMachine
    name : name of the class
    columns : ndarray of shape (n_support,)
        The column of each support vector if X holds kernel values.

    Raises
    ------
    ValueError
        The reasons that ``KernelMachine.to_sklearn`` lists.
    """
    kind = getattr(svm, name)
    _check(model, name)
    if name.startswith("Linear"):
        return _linear(model, kind)
    kernel = model.kernel_.spec()
    estimator = kind(**_parameters(model, kind, kernel))
    vars(estimator).update(
        _gamma=float(kernel.get("gamma", 0.0)),
        _effective_probability=False,
        _probA=np.empty(0),
        _probB=np.empty(0),
        fit_status_=model.fit_status_,
        n_iter_=model.n_iter_,
        _num_iter=np.atleast_1d(np.asarray(model.n_iter_, np.int32)),
        **_machine(model, columns),
        **_inputs(model),
    )
    if is_classifier(model):
        vars(estimator).update(classes_=model.classes_, class_weight_=model.class_weight_)
    if is_outlier_detector(model):
        estimator.offset_ = model.offset_
    return estimator


def _linear(model: Any, kind: type[Any]) -> Any:
    """Return a linear estimator of scikit-learn, which has weights and no vectors."""
    own = {name: value for name, value in model.get_params(deep=False).items() if name in kind().get_params()}
    estimator = kind(**{**own, "max_iter": kind().max_iter if own["max_iter"] == -1 else own["max_iter"]})
    n_iter = int(np.max(model.n_iter_, initial=0))
    vars(estimator).update(coef_=model.coef_, intercept_=np.atleast_1d(model.intercept_).copy(), n_iter_=n_iter)
    vars(estimator).update({name: vars(model)[name] for name in INPUTS if name in vars(model)})
    if is_classifier(model):
        estimator.classes_ = model.classes_
    return estimator


def _check(model: Any, name: str) -> None:
    kernel = model.kernel_
    if not isinstance(kernel, EXPORTED_KERNELS):
        known = ", ".join(repr(one.name) for one in EXPORTED_KERNELS)
        raise ValueError(f"scikit-learn's {name} without this library knows only the kernels {known}; not {kernel}.")
    if (many := model.readout.columns) is not None:
        raise ValueError(f"scikit-learn's {name} predicts one number or class, and this model predicts {many}.")
    if not is_classifier(model) or len(model.classes_) == 2 or name == "LinearSVC":
        return
    if model.readout.each:
        raise ValueError(
            f"scikit-learn's {name} decides between {len(model.classes_)} classes by pairs of them; this model, with "
            "multi_class='ovr', by one class against the rest."
        )
    if model.compact_:
        raise ValueError(
            f"scikit-learn's {name} of {len(model.classes_)} classes needs a class for each support vector, "
            "and those of a compact model have none. Call to_sklearn() instead of compact(), not after it."
        )


def _parameters(model: Any, kind: type[Any], kernel: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that both have.

    A kernel object, or a kernel that is no longer the fitted one, becomes its name and parameters.
    """
    own = {name: value for name, value in model.get_params(deep=False).items() if name != "probability"}
    given = {name: own.get(name) for name in KERNEL_PARAMETERS if name in kernel}
    same = all(given[name] == kernel[name] or (name == "gamma" and isinstance(given[name], str)) for name in given)
    if not same:
        own.update({name: kernel[name] for name in given})
    names = kind().get_params()
    return {name: value for name, value in own.items() if name in names}


def _machine(model: Any, columns: NDArray[np.int64]) -> dict[str, Any]:
    """Return support vectors, coefficients and intercepts, as arrays of the types that LIBSVM's wrapper takes."""
    dual: Any = model.dual_coef_
    dual = np.array(dual.toarray() if sparse.issparse(dual) else dual, np.float64, order="C")
    vectors: Any = model.support_vectors_
    rows, n = dual.shape
    if sparse.issparse(vectors):
        vectors = sparse.csr_matrix(vectors, dtype=np.float64, copy=True)
        vectors.indices, vectors.indptr = vectors.indices.astype(np.int32), vectors.indptr.astype(np.int32)
        # Zeros are also stored: the wrapper reads only the data.
        places = np.tile(np.arange(n, dtype=np.int32), rows), n * np.arange(rows + 1, dtype=np.int32)
        dual = sparse.csr_matrix((dual.ravel(), *places), shape=(rows, n))
    elif inputs.given(model.kernel_):
        vectors = np.empty((0, 0))
    else:
        vectors = np.array(vectors, np.float64, order="C")
    two = is_classifier(model) and len(model.classes_) == 2
    counts = model.n_support_ if is_classifier(model) else np.array([n, n])
    if two and model.compact_:
        counts = np.array([n, 0])  # with two classes the class of a vector makes no difference
    return {
        "_sparse": sparse.issparse(vectors),
        "support_": columns.astype(np.int32),
        "support_vectors_": vectors,
        "_n_support": counts.astype(np.int32),
        "dual_coef_": dual,
        "_dual_coef_": -dual if two else dual,
        "intercept_": model.intercept_.copy(),
        "_intercept_": -model.intercept_ if two else model.intercept_.copy(),
    }


def _inputs(model: Any) -> dict[str, Any]:
    """Return the attributes that describe X."""
    kept = {name: vars(model)[name] for name in INPUTS if name in vars(model)}
    if not inputs.given(model.kernel_):
        return {**kept, "shape_fit_": model.shape_fit_}
    n = kept.get("n_features_in_")
    if n is None:
        raise ValueError(
            "The number of training samples is not known, as LIBSVM's file does not contain it, and scikit-learn "
            "needs a kernel value for each of them. Call compact() first."
        )
    return {**kept, "shape_fit_": (n, n)}


def shrunk(model: Model) -> Model:
    """Return the compact form of a model.

    Raises
    ------
    ValueError
        No two terms are alike, or its samples are not rows of numbers.
    """
    if model.tilts is not None:
        raise ValueError("A model of algorithm='full' cannot be made smaller: no two of its bases are equal.")
    if model.samples is not None:
        raise ValueError("compact() needs samples that are rows of numbers; this model's kernel function takes others.")
    numbers, vectors, width = model.support[:, None].astype(np.float64), model.vectors, model.width
    first, coefficients = _merge(numbers if model.values else vectors, model.coefficients())
    if model.values:
        width = len(first)  # from now on X has the columns of the support vectors only
    else:
        vectors = vectors[first]
        weights = feature_weights(coefficients, vectors) if model.kernel == Linear() else None
        if weights is not None and weights.size < vectors.size:  # for CSR the size counts stored numbers
            # f(x) = w·x + b: w is the one vector that a problem needs; of a ball the centre, whose coefficient is 2.
            size = 2.0 if model.readout.diagonal else 1.0
            first, vectors, coefficients = first[:0], weights / size, size * np.eye(len(coefficients))
    as_sparse, counts = sparse.issparse(vectors), np.array([coefficients.shape[1]], np.int32)
    dual = sparse.csr_matrix(coefficients) if as_sparse else coefficients
    parts = {"vectors": vectors, "dual": dual, "support": model.support[first], "counts": counts, "width": width}
    return replace(model, compact=True, **parts)


def _merge(rows: Any, coefficients: Matrix) -> tuple[Ids, Matrix]:
    """Return the first of each set of equal rows and its summed coefficients, without sets whose sums are all 0."""
    n = rows.shape[0]
    rows = canonical_csr(rows) if sparse.issparse(rows) else writable(rows)
    equal = canonical(rows, np.zeros(n, np.int64), 1, np.ones(n), mergeable=True)
    sums = np.zeros((len(equal.rows), len(coefficients)))
    np.add.at(sums, equal.group, coefficients.T[equal.members])
    kept = np.flatnonzero(sums.any(axis=1))
    kept = kept[np.argsort(equal.rows[kept])]
    return equal.rows[kept], np.ascontiguousarray(sums[kept].T)
