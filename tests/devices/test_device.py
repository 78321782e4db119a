"""Which device a parameter or an array asks for."""

import copy

import pytest

from adatron.devices import resolved, unsuited
from adatron.kernels import RBF, Laplacian, Linear, Precomputed

torch = pytest.importorskip("torch", reason="needs the extra gpu")
from twins.devices import plain  # noqa: E402


def test_without_a_wish_the_processor_computes():
    assert resolved(None) is None
    assert resolved("cpu") is None
    assert resolved("cpu", torch.device("meta")) is None


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "cuda:-1", "mps"])
def test_other_names_are_refused(name):
    with pytest.raises(ValueError, match="The 'device' parameter must be None, 'cpu', 'cuda'"):
        resolved(name)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_so():
    with pytest.raises(ValueError, match="needs a GPU that torch can use, and torch finds none"):
        resolved("cuda")


def test_an_unknown_device_of_an_array_is_refused():
    with pytest.raises(ValueError, match="X is on the device 'meta'"):
        resolved(None, torch.device("meta"))


def test_tiles_are_made_once_and_copies_share_them():
    device = plain()
    assert device.tiles(RBF(1.0)) is device.tiles(RBF(1.0))
    assert copy.deepcopy(device) is device
    for gamma in range(20):
        device.tiles(RBF(float(gamma)))


def test_kernels_that_no_device_evaluates_have_a_reason():
    assert unsuited(RBF(1.0) + Linear()) is None
    assert unsuited(Laplacian(1.0)) == "its distances are sums of absolute differences, not of products"
    assert unsuited(Precomputed()) == "its values are given"
