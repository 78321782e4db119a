"""A network that does not decide as its model is an error."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from adatron import SVC, to_onnx
from adatron.files.onnx.parity import Parity
from adatron.onnx import ParityError


def float32(X):
    return X.astype(np.float32).astype(np.float64)


@pytest.fixture
def identity(three, monkeypatch):
    """skl2onnx takes a function without a converter for the identity."""
    import skl2onnx

    same, convert = make_pipeline(FunctionTransformer(), SVC()).fit(*three)[:-1], skl2onnx.convert_sklearn
    monkeypatch.setattr(skl2onnx, "convert_sklearn", lambda steps, **options: convert(same, **options))


@pytest.mark.usefixtures("identity")
@pytest.mark.parametrize(
    ("step", "words"),
    [
        (float32, "a value deviates by .* and 1e-12 is allowed"),
        (np.negative, "of 150 labels differ"),
    ],
)
def test_steps_that_onnx_computes_otherwise_are_found(step, words, three, tmp_path):
    X, y = three
    model = make_pipeline(FunctionTransformer(step), SVC(C=100.0)).fit(X, y)
    with pytest.raises(ParityError, match=words):
        to_onnx(model, X, tmp_path / "a.onnx")
    assert not list(tmp_path.iterdir())


def test_a_row_on_the_boundary_is_no_error(about):
    """By symmetry f is 0 at the centre of the four points, and rounding has the say."""
    model = SVC().fit([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    parity = about(to_onnx(model, [[0.5, 0.5], [0.0, 0.0], [1.0, 0.0]]))["parity"]
    assert (parity["rows"], parity["undecided"], parity["labels_differ"]) == (3, 1, 0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("classes", "kernel"), [(2, "linear"), (3, "linear"), (3, "poly")])
def test_labels_that_differ_by_rounding_are_told(classes, kernel, about):
    """Rows so far from the origin leave little but rounding in the sums."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(80, 5)) + 1e8, rng.integers(classes, size=80)
    model = SVC(kernel=kernel, bias="augmented").fit(X, y)  # an explicit bias lets linear kernels centre the rows
    with pytest.warns(UserWarning, match=r"Rounding decides the labels of 80 of 80 rows, and \d+ of them differ"):
        network = to_onnx(model, X)
    parity = about(network)["parity"]
    assert (parity["undecided"], parity["labels_differ"]) == (80, 0)
    assert parity["undecided_differ"] > 0


@pytest.mark.parametrize("numbers", [(np.nan, 0.0, 0.0), (0.0, 0.0, np.nan), (1e-3, 0.0, None)])
def test_what_is_no_number_is_a_deviation(numbers):
    with pytest.raises(ParityError, match="a value deviates") as caught:
        Parity(10, 0, 0, *numbers, "1").check()
    assert "Steps of a pipeline" not in str(caught.value)
