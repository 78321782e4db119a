"""What the tests of ONNX networks share; without the packages of the extra they are skipped."""

import json

import numpy as np
import pytest

for _package in ("onnx", "onnxruntime", "skl2onnx"):
    pytest.importorskip(_package, reason=f"{_package} is not installed: pip install '.[onnx]'")


@pytest.fixture
def three():
    """Rows of four features, and three classes of text that overlap."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=150)
    return rng.normal(size=(150, 4)) + y[:, None] * [0.8, 0.4, 0.0, -0.6], np.array(["red", "green", "blüe"])[y]


@pytest.fixture
def answer():
    """A function that runs a network, or the file of one, with all optimisations, and returns the results by name."""
    import onnxruntime

    def run(network, X):
        content = network if isinstance(network, str) else network.SerializeToString()
        session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
        inputs = X if isinstance(X, dict) else {session.get_inputs()[0].name: X}
        names = [one.name for one in session.get_outputs()]
        return dict(zip(names, session.run(names, inputs), strict=True))

    return run


@pytest.fixture
def about():
    """A function that returns what a network says of its model."""

    def read(network):
        found = {one.key.removeprefix("adatron."): one.value for one in network.metadata_props}
        return {name: value if name == "model" else json.loads(value) for name, value in found.items()}

    return read
