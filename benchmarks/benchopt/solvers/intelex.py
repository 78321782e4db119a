"""Extension for scikit-learn: oneDAL's solver."""

import warnings

from benchmark_utils.machines import Machine
from sklearnex.svm import SVC


class Solver(Machine):
    name = "scikit-learn-intelex"
    requirements = ["scikit-learn-intelex"]
    parameters = {"cache_size": [1000]}

    def machine(self, **parameters):
        warnings.filterwarnings("ignore", category=FutureWarning)
        return SVC(cache_size=self.cache_size, **parameters)
