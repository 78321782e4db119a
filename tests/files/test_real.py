"""Real files: their sizes and classes, and the way from a file of data to a file of predictions."""

import numpy as np
import pytest
from scipy.sparse import issparse

from adatron.cli import main
from adatron.files import load, read

FILES = {
    "heart_scale": (270, 13),
    "a9a.gz": (32561, 123),
    "ijcnn1.trn.bz2": (49990, 22),
    "zip.train.gz": (7291, 256),
    "sonar.all-data": (208, 60),
    "ionosphere.data": (351, 34),
    "pima-indians-diabetes.csv": (768, 8),
}
pytestmark = pytest.mark.data


@pytest.mark.parametrize("name", FILES)
def test_real_files(name, data_dir):
    digits = name.startswith("zip")
    table = read(data_dir / name, label=0 if digits else None)
    assert table.shape == FILES[name]
    assert issparse(table.X) == (FILES[name][1] in (13, 22, 123))
    assert len(np.unique(table.y)) == (10 if digits else 2)


def predicted(data, labels, tmp_path, capsys, *options):
    """The model of a file and its predictions of this file, whose accuracy the tool prints."""
    model, out = str(tmp_path / "m.adatron"), tmp_path / "out"
    label = [] if labels is None else ["--label", str(labels)]
    assert main(["train", str(data), "--model", model, *label, *options]) == 0
    capsys.readouterr()
    assert main(["predict", model, str(data), *label, "--output", str(out)]) == 0
    found = np.array(out.read_text().split(), int)
    accuracy = float(capsys.readouterr().err.split()[1].rstrip("%")) / 100
    assert accuracy == pytest.approx(np.mean(found == read(data, label=labels).y), abs=1e-6)
    return load(model), found, accuracy


def test_real_data_from_file_to_file(data_dir, tmp_path, capsys):
    model, found, _ = predicted(data_dir / "heart_scale", None, tmp_path, capsys, "--gap-tol", "1e-6")
    assert set(found) == {-1, 1}
    assert model.duality_gap_ <= 1e-6


def test_real_digits_with_the_label_in_front(data_dir, tmp_path, capsys):
    model, _, accuracy = predicted(data_dir / "zip.test.gz", 0, tmp_path, capsys, "--C", "10")
    assert model.shape_fit_ == (2007, 256)
    assert accuracy > 0.99
