"""Models as ONNX networks: plain operators in float64, or the SVM operators of ai.onnx.ml."""

from .export import to_onnx

__all__ = ["to_onnx"]
