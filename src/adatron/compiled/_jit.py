"""The one decorator for compiled code, and its disk cache.

Numba's own cache looks only at the file a function is in: after an edit to a function that it calls, it
silently returns old machine code. Here the folder of the cache is named by a hash of all layers with compiled code.
Nothing else in the package imports numba.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, overload

import numba
from numba import types as numba_types
from numba.core import cgutils, config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator  # pyright: ignore[reportPrivateUsage]
from numba.extending import intrinsic

__all__ = [
    "JIT_DISABLED",
    "cache_folder",
    "cgutils",
    "intrinsic",
    "jit",
    "numba_types",
    "package_hash",
]

P = ParamSpec("P")
R = TypeVar("R")

JIT_DISABLED = bool(vars(config)["DISABLE_JIT"])
FACES = ("cli", "estimators", "files", "papers", "plots")  # no compiled code here, nor anything that it could import
LOCK_SECONDS = 120.0  # a process that compiles longer than this is taken for dead


@functools.cache
def package_hash() -> str:
    """Hash of every source file of the package but for the faces', and of the compiler's version."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] in FACES:
            continue
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _user_cache_folder() -> Path:
    if given := os.environ.get("ADATRON_CACHE_DIR"):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "adatron"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "adatron"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "adatron"


def _private_folder(base: Path) -> Path | None:
    """``base/<hash>``, made for this user alone and owned by it, or None where that cannot be had."""
    folder = base / package_hash()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
            return None  # machine code is loaded from here: never from somebody else's folder
        if not hasattr(os, "getuid") or folder.stat().st_mode & 0o077 == 0:
            return folder if os.access(folder, os.W_OK | os.X_OK) else None
    except OSError:
        pass
    return None


@functools.cache
def cache_folder() -> Path | None:
    """The folder of the compiled code: the user's cache, else a temporary one, else None (no cache)."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    try:
        first = _private_folder(_user_cache_folder())
    except RuntimeError:  # no home folder is known
        first = None
    return first or _private_folder(Path(tempfile.gettempdir()) / f"adatron-{user}")


class _Lock:
    """A lock file that lets one process compile while the others wait for its result.

    Compilations nest (a function compiles those it calls), so it counts. It is an optimisation only: after
    ``LOCK_SECONDS`` a waiting process compiles by itself.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.owner = 0

    def acquire(self, folder: Path) -> None:
        if self.owner != os.getpid():  # a forked child does not own its parent's lock
            self.depth, self.owner = 0, os.getpid()
        self.depth += 1
        if self.depth > 1:
            return
        path, end = folder / "compiling", time.monotonic() + LOCK_SECONDS
        while time.monotonic() < end:
            try:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL))
                return
            except FileExistsError:
                try:
                    if time.time() - path.stat().st_mtime > LOCK_SECONDS:
                        path.unlink(missing_ok=True)
                except OSError:
                    pass
                time.sleep(0.02)
            except OSError:
                return

    def release(self, folder: Path) -> None:
        self.depth = max(0, self.depth - 1)
        if self.depth == 0 and self.owner == os.getpid():
            (folder / "compiling").unlink(missing_ok=True)


_LOCK = _Lock()


class _Locator(_CacheLocator):
    def __init__(self, py_func: Callable[..., Any], folder: Path) -> None:
        self._py_file = py_func.__code__.co_filename
        self._name = f"{py_func.__module__}.{py_func.__qualname__}"
        self._folder = folder

    def get_cache_path(self) -> Any:
        return str(self._folder)

    def get_source_stamp(self) -> Any:
        return package_hash()

    def get_disambiguator(self) -> Any:
        return hashlib.sha256(self._name.encode()).hexdigest()[:10]

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator | None:
        folder = cache_folder()
        return None if folder is None else cls(py_func, folder)


class _CacheImpl(CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012 (the base class's form)


class _Cache(FunctionCache):
    _impl_class = _CacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)
        if found is None and (folder := cache_folder()) is not None:
            _LOCK.acquire(folder)
            found = super().load_overload(sig, target_context)
            if found is not None:
                _LOCK.release(folder)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError:
            pass  # a full disk costs the next process a compilation, not this one its result
        finally:
            if (folder := cache_folder()) is not None:
                _LOCK.release(folder)


@overload
def jit(function: Callable[P, R]) -> Callable[P, R]: ...
@overload
def jit(*, finite: bool) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def jit(function: Callable[..., Any] | None = None, *, finite: bool = False) -> Any:
    """Compile a function to machine code that runs without the interpreter's lock.

    Products and sums are fused, never reordered: a value does not depend on the loop it was computed in.

    Parameters
    ----------
    finite : bool, default=False
        Promise that no NaN occurs, which lets searches for a maximum run on vectors.
    """

    def decorate(py_func: Callable[..., Any]) -> Callable[..., Any]:
        if JIT_DISABLED:
            return py_func
        flags = {"contract", "nnan", "nsz"} if finite else {"contract"}
        dispatcher = numba.njit(nogil=True, fastmath=flags, error_model="numpy")(py_func)
        if cache_folder() is not None:
            vars(dispatcher)["_cache"] = _Cache(py_func)  # numba has no public way to choose the cache
        return dispatcher

    return decorate if function is None else decorate(function)
