"""scikit-learn's SVC, which is LIBSVM."""

from benchmark_utils.machines import Machine
from sklearn.svm import SVC


class Solver(Machine):
    name = "scikit-learn"
    requirements = ["scikit-learn"]
    parameters = {"cache_size": [1000]}

    def machine(self, **parameters):
        return SVC(cache_size=self.cache_size, **parameters)
