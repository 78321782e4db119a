"""The common part of solvers with scikit-learn's interface."""

import numpy as np
from benchopt import BaseSolver

LEAST = 1e-9  # A smaller tolerance is beyond what float64 can reach.


class Machine(BaseSolver):
    """Fits an SVC with the tolerance that is asked for, and returns its dual coefficients."""

    sampling_strategy = "tolerance"

    def machine(self, **parameters):
        """Return an unfitted estimator."""
        raise NotImplementedError

    def set_objective(self, X, y, C, kernel):
        self.X, self.y, self.parameters = X, y, {"C": C, **kernel}

    def warm_up(self):
        self.run(1.0)  # compiles, or loads what is compiled

    def get_next(self, tolerance):
        return max(LEAST, min(1.0, tolerance) / 10.0)

    def run(self, tolerance):
        self.model = None
        if tolerance < 2.0:  # the coefficients 0 violate the conditions by 2
            self.model = self.machine(tol=tolerance, **self.parameters).fit(self.X, self.y)

    def get_result(self):
        beta = np.zeros(len(self.y))
        if self.model is not None:
            values = self.model.dual_coef_
            beta[self.model.support_] = np.ravel(values.toarray() if hasattr(values, "toarray") else values)
        return {"beta": beta}
