"""TorchKM's exact mode: it takes the whole kernel matrix, and minimises mean hinge loss + lambda a'Ka.

lambda = 1 / (2 n C) gives the same machine, with a for β. Its authors run up to 32,768 samples.
"""

import numpy as np
import torch
from benchmark_utils.machines import LEAST
from benchopt import BaseSolver
from sklearn.metrics.pairwise import pairwise_kernels
from torchkm.cvksvm import cvksvm

MOST_SAMPLES = 32_768


class Solver(BaseSolver):
    name = "TorchKM"
    requirements = ["pip::torchkm"]
    parameters = {"device": [None]}  # None: a GPU if there is one
    sampling_strategy = "tolerance"

    def skip(self, X, y, C, kernel):
        if len(y) > MOST_SAMPLES:
            return True, f"TorchKM stores the whole kernel matrix: at most {MOST_SAMPLES:,} samples"
        return False, None

    def set_objective(self, X, y, C, kernel):
        self.X, self.y, self.C, self.kernel = X, y, C, kernel

    def get_next(self, tolerance):
        return max(LEAST, min(1.0, tolerance) / 10.0)

    def run(self, tolerance):
        self.beta = np.zeros(len(self.y))
        if tolerance >= 2.0:
            return
        more = {name: value for name, value in self.kernel.items() if name != "kernel"}
        K = torch.from_numpy(pairwise_kernels(self.X, metric=self.kernel["kernel"], **more))
        n = len(self.y)
        model = cvksvm(
            Kmat=K,
            y=torch.from_numpy(np.asarray(self.y, np.float64)),
            nlam=1,
            ulam=torch.tensor([1.0 / (2.0 * n * self.C)], dtype=torch.double),
            foldid=torch.ones(n),
            nfolds=0,  # no cross-validation
            eps=tolerance,
            KKTeps=tolerance,
            maxit=100_000,
            gamma=1e-8,
            is_exact=1,
            device=self.device,
        )
        model.fit()
        self.beta = model.alpmat[1:, 0].cpu().numpy()

    def get_result(self):
        return {"beta": self.beta}
