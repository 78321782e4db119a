"""Models as ONNX networks: plain operators in float64."""

from .export import to_onnx

__all__ = ["to_onnx"]
