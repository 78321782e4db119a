"""NVIDIA's compiler takes the CUDA source; it needs no GPU for that."""

import pytest

from adatron.kernels import RBF, Linear, Polynomial, Sigmoid

torch = pytest.importorskip("torch", reason="needs the extra gpu")
pytest.importorskip("cuda.bindings.nvrtc", reason="needs cuda-bindings and NVRTC")
from adatron.devices.cuda_tiles import CudaTiles, block_arguments  # noqa: E402
from adatron.devices.nvrtc import compile_source  # noqa: E402

OPTIONS = ("--gpu-architecture=sm_80", "--std=c++17", "--fmad=false")


class Compiler:
    """An engine that only compiles."""

    def compiled(self, source, functions):
        try:
            binary = compile_source(source, OPTIONS)
        except RuntimeError as error:
            if "did not compile" in str(error):
                raise
            pytest.skip(f"NVRTC is not usable here: {error}")
        assert all(name.encode() in binary for name in functions)
        return self

    def launch(self, name, grid, threads, argument, shared=0):
        pass


@pytest.mark.parametrize("real", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("kernel", [RBF(0.1), 2.0 * Sigmoid(0.1, 0.2) * Polynomial(0.1, 3, 1.0) + Linear()], ids=str)
def test_tiles_compile(kernel, real):
    CudaTiles(kernel, Compiler()).operand(torch.zeros((4, 8), dtype=real))


@pytest.mark.parametrize("real", ["float", "double"])
def test_blocks_compile(real):
    from adatron.devices.cuda_tiles import text

    Compiler().compiled(f"#define REAL {real}\n{text('blocks.cu')}", block_arguments())
