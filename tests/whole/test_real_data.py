"""The command line on real files, beside scikit-learn at the same tolerance."""

import numpy as np
import pytest
import sklearn.svm

from adatron.cli import main
from adatron.files import load, read
from twins.models import pairs_of, quadratic

pytestmark = pytest.mark.data

# file to train on, file to predict, options of the command line, parameters of scikit-learn
SETS = {
    "heart_scale": ("heart_scale", "heart_scale", [], {"C": 1.0, "gamma": 1 / 13}),
    "usps": ("zip.train.gz", "zip.test.gz", ["--label", "0"], {"C": 10.0, "gamma": 0.0078125}),
    "a9a": ("a9a.gz", "a9a.t.gz", [], {"C": 1.0, "gamma": 0.03}),
    "ijcnn1": ("ijcnn1.trn.bz2", "ijcnn1.tst.bz2", [], {"C": 10.0, "gamma": 1.0}),
}


def dual_objective(model, X, y, gamma):
    """Sum over the binary problems of sum |beta| - beta' K beta / 2, in float64."""
    return sum(np.abs(beta).sum() - 0.5 * quadratic(X[rows], beta, gamma) for rows, beta in pairs_of(model, y))


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_train_and_predict_as_scikit_learn(name, data_dir, tmp_path, capsys):
    train, test, options, parameters = SETS[name]
    model_file, labels_file = tmp_path / "m.adatron", tmp_path / "labels.txt"
    flags = [f"--{key}={value}" for key, value in parameters.items()]
    assert main(["train", str(data_dir / train), "--model", str(model_file), *options, *flags]) == 0
    assert main(["predict", str(model_file), str(data_dir / test), "--output", str(labels_file), *options]) == 0
    ours = load(model_file)
    label = int(options[1]) if options else None
    learn = read(data_dir / train, label=label)
    check = read(data_dir / test, label=label, n_features=learn.X.shape[1])
    theirs = sklearn.svm.SVC(cache_size=2000, **parameters).fit(learn.X, learn.y)

    predicted = np.loadtxt(labels_file, dtype=check.y.dtype)
    accuracy = (predicted == check.y).mean()
    assert accuracy == pytest.approx(theirs.score(check.X, check.y), abs=1e-3)
    found, expected = (dual_objective(m, learn.X, learn.y, parameters["gamma"]) for m in (ours, theirs))
    assert found == pytest.approx(expected, rel=1e-5)
    differ = len(np.setxor1d(ours.support_, theirs.support_))
    assert differ <= 0.01 * len(theirs.support_)
    assert found * (1.0 - 1e-5) <= np.sum(ours.dual_objective_) <= found * (1.0 + 1e-9)  # lower ends
    with capsys.disabled():
        gap = np.max(ours.duality_gap_)
        print(f"\n{name}: accuracy {accuracy:.4f}, dual {found:.6g} ({found / expected - 1:+.1e}), {differ} of "
              f"{len(theirs.support_)} support vectors differ, gap {gap:.1e}")  # fmt: skip
