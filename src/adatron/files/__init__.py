"""Files: data in, models out and in again."""

from .atomic import atomic_write
from .libsvm_model import save_libsvm
from .model import is_libsvm_model, load, save
from .readers import FORMATS, read
from .source import rewindable
from .table import DataError, ModelFileError, NoModelError, Table

__all__ = [
    "FORMATS",
    "DataError",
    "ModelFileError",
    "NoModelError",
    "Table",
    "atomic_write",
    "is_libsvm_model",
    "load",
    "read",
    "rewindable",
    "save",
    "save_libsvm",
]
