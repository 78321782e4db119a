"""The dual of the C-SVM, and what a solver's coefficients are worth."""

import numpy as np
from benchmark_utils.criterion import Proven
from benchmark_utils.truth import truth
from benchopt import BaseObjective


class Objective(BaseObjective):
    name = "Exact kernel SVM"
    min_benchopt_version = "1.7"
    requirements = ["scikit-learn"]
    parameters = {"kernel": ["rbf"]}  # or "linear", "poly"
    sampling_strategy = "tolerance"
    stopping_criterion = Proven(gap=1e-6)
    test_dataset_name = "simulated"

    def set_data(self, X, y, C, gamma):
        self.X, self.y, self.C = X, y, float(C)
        self.spec = {
            "rbf": {"kernel": "rbf", "gamma": gamma},
            "poly": {"kernel": "poly", "gamma": gamma, "degree": 3, "coef0": 1.0},
            "linear": {"kernel": "linear"},
        }[self.kernel]

    def get_objective(self):
        return {"X": self.X, "y": self.y, "C": self.C, "kernel": self.spec}

    def get_one_result(self):
        return {"beta": np.zeros(len(self.y))}

    def evaluate_result(self, beta):
        return truth(self.X, self.y, self.C, self.spec, beta)
