"""Files: readers of data, and model files that are written and read."""

from .atomic import atomic_write
from .models.libsvm_text import save_libsvm
from .models.model import is_libsvm_model, load, save
from .source import rewindable
from .table import DataError, ModelFileError, NoModelError, Table
from .tables.readers import FORMATS, read

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
