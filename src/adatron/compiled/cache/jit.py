"""The one decorator for compiled code, and its disk cache.

Numba's own cache looks only at the file of a function. After an edit to a function that it calls, it silently returns
old machine code. Here a hash of all packages with compiled code names the folder of the cache. Nor does Numba look at
who wrote its files, or whether they are whole: ``kept`` does.
Nothing else in the package imports numba, except ``precompiled``.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, ParamSpec, TypeVar
from typing import overload as typing_overload

from .uninterrupted import COMPILING, collector_paused, uninterrupted

with uninterrupted(), collector_paused():
    import numba
    import numpy.ma  # noqa: F401 # pyright: ignore[reportUnusedImport] (Numba does, at the first array)
    from numba import extending, typeof
    from numba import types as numba_types
    from numba.core import cgutils, config
    from numba.core.caching import FunctionCache
    from numba.core.compiler import CompileResult
    from numba.core.runtime.nrt import rtsys
    from numba.core.serialize import dumps
    from numba.core.typing.templates import AttributeTemplate
    from numba.extending import intrinsic

from .folder import cache_folder
from .kept import Kept
from .precompiled import precompiled
from .processes import TURN, begin

__all__ = ["JIT_DISABLED", "AttributeTemplate", "cgutils", "extending", "intrinsic", "jit", "numba_types", "typeof"]

P = ParamSpec("P")
R = TypeVar("R")

JIT_DISABLED = bool(vars(config)["DISABLE_JIT"])  # Whether NUMBA_DISABLE_JIT is set.
CODE_FOLDER = (None if JIT_DISABLED else cache_folder()) or Path(os.devnull)  # in which no file can be


class _Cache(FunctionCache):
    """The code of a function: a separate file for every signature, so that several processes compile side by side."""

    def __init__(self, py_func: Callable[..., Any]) -> None:
        self._py_func = py_func  # for ``_index_key``
        name = f"{py_func.__module__}.{py_func.__qualname__}"
        self._name = f"{py_func.__name__}-{hashlib.sha256(name.encode()).hexdigest()[:10]}"
        self._kept = Kept(CODE_FOLDER / self._name, dumps)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code on disk. Numba would first load all that it can compile, half of what a first fit takes."""
        rtsys.initialize(target_context)  # machine code needs nothing more, unless it hashes strings
        key = self._index_key(sig, target_context.codegen())
        data = precompiled(self._name, key)
        if data is None:
            data = self._kept.load(key)
        if data is None:
            begin(CODE_FOLDER)
            TURN.wait(self._kept.turn(key))
            data = self._kept.load(key)
            if data is None:
                return None
            TURN.end(self._kept.turn(key))
        return CompileResult._rebuild(target_context, *data)  # pyright: ignore[reportPrivateUsage]

    def save_overload(self, sig: Any, data: Any) -> None:
        key = self._index_key(sig, data.codegen)
        try:
            if not data.library.has_dynamic_globals:  # else the code has addresses of this process in it
                self._kept.save(key, data._reduce())
        except OSError:
            pass  # a full disk costs the next process a compilation, not this one its result
        finally:
            TURN.end(self._kept.turn(key))


def _unbroken(method: Callable[..., Any]) -> Callable[..., Any]:
    """Compile, or load, a function in one go: an interruption would cause an error later, here or in a child.

    The collector of cycles would take a fifth of the time.
    """

    @functools.wraps(method)
    def compile_all(*arguments: Any) -> Any:
        with uninterrupted(), COMPILING.running(), collector_paused():
            return method(*arguments)

    return compile_all


def _without_literals(dispatcher: Any) -> None:
    """Let a number in the source be an argument like any other; Numba would compile the function again for each."""
    compile_ = dispatcher.compile

    def compile_once(signature: Any) -> Any:
        if isinstance(signature, tuple):
            signature = tuple(map(numba_types.unliteral, signature))
        return compile_(signature)

    vars(dispatcher)["compile"] = compile_once


def _not_for_python(dispatcher: Any) -> None:
    """Let calls from Python raise TypeError: without a wrapper they would crash."""

    def refuse(*arguments: Any, **more: Any) -> NoReturn:
        raise TypeError(f"only compiled code calls {dispatcher.py_func.__name__}")

    def keep(compiled: Any) -> None:
        dispatcher.overloads[tuple(compiled.signature.args)] = compiled  # Numba would show it to Python, too

    vars(dispatcher).update(_compile_for_args=refuse, add_overload=keep)


@typing_overload
def jit(function: Callable[P, R]) -> Callable[P, R]: ...
@typing_overload
def jit(
    *, finite: bool = False, inner: bool = False, fused: bool = True
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def jit(
    function: Callable[..., Any] | None = None, *, finite: bool = False, inner: bool = False, fused: bool = True
) -> Any:
    """Compile a function to machine code that runs without the interpreter's lock.

    Products and sums are fused, never reordered: a value does not depend on the loop it was computed in.

    Parameters
    ----------
    finite : bool, default=False
        Promise that no NaN occurs, which lets searches for a maximum run on vectors.
    inner : bool, default=False
        Promise that only compiled code calls it: a wrapper for Python takes as long as a small function to compile.
    fused : bool, default=True
        False rounds every product, as error-free transformations need it.
    """

    def decorate(py_func: Callable[..., Any]) -> Callable[..., Any]:
        if JIT_DISABLED:
            return py_func
        flags = ({"contract"} if fused else set()) | ({"nnan", "nsz"} if finite else set())
        # Nothing is called from C, and a wrapper for C takes 7 % of a compilation. numba's stubs do not know this.
        options: dict[str, Any] = {"nogil": True, "fastmath": flags, "error_model": "numpy", "no_cfunc_wrapper": True}
        options["no_cpython_wrapper"] = inner
        dispatcher = numba.njit(**options)(py_func)
        vars(dispatcher)["_cache"] = _Cache(py_func)  # numba has no public way to choose the cache
        # ``_compile_for_args`` is what a call with new types calls first: it also loads Numba's extensions.
        for name in ("_compile_for_args", "compile"):
            vars(dispatcher)[name] = _unbroken(getattr(dispatcher, name))
        _without_literals(dispatcher)
        if inner:
            _not_for_python(dispatcher)
        return dispatcher

    return decorate if function is None else decorate(function)
