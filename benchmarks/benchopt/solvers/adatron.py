"""adatron's SVC."""

from benchmark_utils.machines import Machine

from adatron import SVC


class Solver(Machine):
    name = "adatron"
    requirements = []  # it is installed from this repository, see README.md
    parameters = {"n_jobs": [None]}

    def machine(self, **parameters):
        return SVC(n_jobs=self.n_jobs, **parameters)
