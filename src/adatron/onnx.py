"""Models as ONNX networks. To import this module registers adatron's machines with skl2onnx, if that is installed.

``skl2onnx.to_onnx`` then converts pipelines, searches and other estimators with a machine of adatron in them.
"""

from importlib.util import find_spec

from .files.onnx import to_onnx
from .files.onnx.converter import register
from .files.onnx.parity import ParityError

__all__ = ["ParityError", "register", "to_onnx"]

if find_spec("skl2onnx") is not None:
    register()
