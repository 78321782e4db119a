"""Which device a parameter or an array asks for."""

import copy
import threading
import warnings
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from sklearn.datasets import make_classification

from adatron import SVC
from adatron.devices import resolved
from adatron.kernels import RBF

torch = pytest.importorskip("torch", reason="needs the extra gpu")
from adatron.devices import Device  # noqa: E402
from twins.devices import device, plain  # noqa: E402
from twins.plain_tiles import PlainTiles  # noqa: E402


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
    with pytest.raises(ValueError, match=r"needs a GPU that torch can use, and .+\. Leave it out"):
        resolved("cuda")


@pytest.mark.parametrize(
    ("version", "said", "reason"),
    [
        (None, None, "this torch was built without CUDA"),
        ("12.8", None, "torch finds none"),
        ("12.8", "The NVIDIA driver on your system is too old (11040).", "torch says: The NVIDIA driver on"),
    ],
)
def test_the_reason_why_there_is_no_gpu_is_named(monkeypatch, version, said, reason):
    def available():
        if said:
            warnings.warn(said, stacklevel=1)
        return False

    monkeypatch.setattr(torch.version, "cuda", version)
    monkeypatch.setattr(torch.cuda, "is_available", available)
    with pytest.raises(ValueError, match=f"that torch can use, and {reason}"):
        resolved("cuda")


def test_too_little_memory_names_the_device_and_what_helps():
    class Full(PlainTiles):
        def ascend(self, block):
            raise torch.OutOfMemoryError("CUDA out of memory")

        def sums(self, *_):
            raise torch.OutOfMemoryError("CUDA out of memory")

    X, y = make_classification(60, random_state=0)
    with pytest.raises(MemoryError, match=r"twin has too little free memory.*pass device='cpu'"):
        SVC(device=device(Full)).fit(X, y)
    model = SVC().fit(X, y).set_params(device=device(Full))
    with pytest.raises(MemoryError, match="twin has too little free memory"):
        model.predict(X)


def test_an_unknown_device_of_an_array_is_refused():
    with pytest.raises(ValueError, match="X is on the device 'meta'"):
        resolved(None, torch.device("meta"))


def test_tiles_are_made_once_and_copies_share_them():
    device = plain()
    assert device.tiles(RBF(1.0)) is device.tiles(RBF(1.0))
    assert copy.deepcopy(device) is device
    for gamma in range(20):
        device.tiles(RBF(float(gamma)))


class Recorder:
    """In place of torch's recorder of launches: ``streams`` are those that it recorded on."""

    def __init__(self):
        self.streams, self.underway = [], 0
        self.replay = lambda: None

    def stream(self, stream):
        self.streams.append(stream)
        return nullcontext()

    def capture_begin(self, capture_error_mode):
        self.underway += 1
        assert self.underway == 1, "torch allows one recording at a time"

    def capture_end(self):
        self.underway -= 1


@pytest.fixture
def recorder(monkeypatch):
    found = Recorder()
    monkeypatch.setattr(torch.cuda, "stream", found.stream)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: found)
    stream = SimpleNamespace(wait_stream=lambda _: None)
    monkeypatch.setattr(torch.cuda, "Stream", lambda device=None: SimpleNamespace(device=device, **vars(stream)))
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: stream)
    monkeypatch.setattr(torch.cuda, "device", lambda _: nullcontext())
    return found


def gpu(index):
    return Device(f"cuda:{index}", "twin", torch.device("cuda", index), PlainTiles)


def test_launches_are_recorded_on_a_stream_of_their_own_gpu(recorder):
    for index in (0, 1, 0):
        gpu(index).recorded(lambda: None)()
    assert [stream.device for stream in recorder.streams] == [0, 1, 0]


def test_threads_record_launches_one_after_the_other(recorder):
    begun, ended, done = threading.Event(), threading.Event(), []

    def first():
        begun.set()
        ended.wait(0.2)  # the other thread would begin now

    def run(work):
        done.append(gpu(0).recorded(work))

    threads = [threading.Thread(target=run, args=(work,)) for work in (first, ended.set)]
    threads[0].start()
    begun.wait()
    threads[1].start()
    for thread in threads:
        thread.join()
    assert len(done) == 2
