"""The base of SVR, NuSVR and QuantileSVR."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from ...docstrings import predicting, training
from ...door import inputs
from ...model.readout import Target
from .attributes import Attribute
from .machine import KernelMachine
from .methods import fitting
from .parameters import BIAS, PENALTY

if TYPE_CHECKING:
    from ...model.model import Model
    from ...problems import Bias


class Regressor(RegressorMixin, KernelMachine):
    """Base of the regressors, which have one program, or one for each of several targets or quantiles.

    Parameters
    ----------
    tol : float, default=1e-3
        Largest violation of the optimality (KKT) conditions, in units of the target. For targets whose range is below
        2, it is in units of half of their range (to a power of two below).

    Attributes
    ----------
    dual_coef_ : ndarray of shape (1, n_support) or (n_targets, n_support)
        Coefficients of the support vectors. Each of several targets or quantiles has a row, and an entry of
        ``intercept_``, ``n_iter_`` and the certificate.
    """

    fixed_readout = Target()
    _columns = Attribute("readout", "columns")
    #: Whether a fit takes several targets.
    takes_targets: ClassVar[bool] = True

    C: float
    bias: Bias = "explicit"
    augment: float | str = 1.0

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        **BIAS,
        **PENALTY,
    }

    @fitting
    @training
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve the problem and certify the solution.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets. Each of several has a program of its own, solved as if it were alone.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights that multiply C; a sample of weight 2 counts as two, one of weight 0 is left out.

        Warns
        -----
        UserWarning
            Curves of a ``QuantileSVR`` cross, and ``rearrange`` is False.
        """
        from ...fitting.fit import fit
        from ...threads import Clock

        clock = Clock.starting(self.max_time)
        rows, y = inputs.training_data(self, X, y, several=self.takes_targets)
        columns = [y] if y.ndim == 1 else [np.ascontiguousarray(one) for one in y.T]
        data = self._measured(rows, columns, sample_weight, Target(self.columns if y.ndim == 1 else y.shape[1]))
        problems = self.problems(inputs.augment(self.augment, rows, data[0].repeated))
        if len(data) > 1 and len(problems) > 1:
            raise ValueError(f"{type(self).__name__} takes one target with several quantiles. Got {len(data)} targets.")
        model = fit(data, problems, self.settings(data[0].serving, clock, problems[0].sized, X))
        return self._take(model, **self.reviewed(model, rows))

    @property
    def columns(self) -> int | None:
        """How many numbers the parameters ask for at once; None: one, and no row of them."""
        return None

    def reviewed(self, model: Model, X: Any) -> dict[str, Any]:
        """Return further attributes of a model, given the checked samples."""
        return {}

    def _readout_of_state(self, parts: dict[str, Any]) -> Target:
        return Target(**parts.pop("readout", {}))

    def readout_of(self, model: Model) -> Target:
        return self._with_parameters(model.readout)

    @property
    def readout(self) -> Target:
        return self._with_parameters(self.part("readout", "readout")) if self.__sklearn_is_fitted__() else Target()

    def _with_parameters(self, readout: Any) -> Target:
        """Return the readout of a model, as the parameters are now."""
        return readout

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.takes_targets
        return tags

    @predicting
    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict targets of samples, (n_samples,), or (n_samples, T) of T targets or quantiles."""
        model = self.model_
        return self._decision(model, X, self.readout_of(model).predictions)
