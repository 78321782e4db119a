"""The option --device of the tool."""

import numpy as np
import pytest

from lines import told

torch = pytest.importorskip("torch", reason="needs the extra gpu")


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    X = np.random.default_rng(0).standard_normal((60, 3))
    np.savetxt(path, np.column_stack([X, X[:, 0] > 0]), delimiter=",", fmt="%.6g")
    return path


@pytest.mark.parametrize("name", ["gpu", "cuda:99"])
def test_a_device_that_is_not_there_is_wrong_usage(name, data, tmp_path, capsys):
    assert "device" in told(capsys, ["train", str(data), "--model", str(tmp_path / "m"), "--device", name], 2).err
