"""The packages that a plain installation does without."""

from __future__ import annotations

#: The packages of each extra of the installation.
EXTRAS = {"parquet": ("pyarrow",), "hdf5": ("h5py",), "plot": ("matplotlib",)}


def how_to_get(extra: str) -> str:
    """Return the command that installs the packages of an extra, and the one that installs them with this package."""
    return f"pip install {' '.join(EXTRAS[extra])} (as part of adatron, in its folder: pip install '.[{extra}]')"
