"""Two classes from scikit-learn's generator, standardised, with some labels wrong."""

from benchopt import BaseDataset
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler


class Dataset(BaseDataset):
    name = "simulated"
    requirements = ["scikit-learn"]
    parameters = {"n_samples, n_features, C": [(2_000, 20, 1.0), (10_000, 20, 1.0), (10_000, 20, 100.0)], "seed": [0]}
    test_parameters = {"n_samples, n_features, C": [(200, 5, 1.0)]}

    def get_data(self):
        X, y = make_classification(
            self.n_samples, self.n_features, n_informative=self.n_features // 2, flip_y=0.05, class_sep=0.7,
            random_state=self.seed,
        )  # fmt: skip
        return {"X": StandardScaler().fit_transform(X), "y": 2.0 * y - 1.0, "C": self.C, "gamma": 1 / self.n_features}
