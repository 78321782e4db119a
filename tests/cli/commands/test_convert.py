"""Converting models from the command line."""

import numpy as np

from adatron.cli import main
from adatron.files import load


def test_a_converted_model_counts_as_its_data_did(from_0, tmp_path, capsys):
    a, b, rare = from_0
    paths = [str(tmp_path / name) for name in ("m", "m.model")]
    assert main(["train", a, "--model", paths[0], "--quiet"]) == 0
    assert main(["convert", *paths]) == 0
    assert capsys.readouterr().err == ""
    assert main(["predict", paths[1], b, "--quiet"]) == 0
    assert [int(row) for row in capsys.readouterr().out.split()] == load(paths[0]).predict(rare).tolist()


def test_a_model_goes_to_libsvm_and_back(samples, tmp_path, capsys):
    X, y = samples
    np.savez(tmp_path / "a.npz", X=X, y=np.unique(y, return_inverse=True)[1])
    data, ours, text, back = (str(tmp_path / name) for name in ("a.npz", "a.adatron", "a.txt", "b.adatron"))
    assert main(["train", data, "--model", ours, "--quiet"]) == 0
    assert main(["convert", ours, text]) == 0
    assert main(["convert", text, back, "--features", "2"]) == 0
    outputs = set()
    for model in (ours, text, back):
        assert main(["predict", model, data]) == 0
        outputs.add(capsys.readouterr().out)
    assert len(outputs) == 1
    assert main(["convert", ours, str(tmp_path / "none" / "a.txt")]) == 4
