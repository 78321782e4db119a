"""Compiled functions that other compiled functions call by their address.

What is called by name is compiled into its caller, and again into the caller's caller. A tile loop with every product
and every kernel in it takes longer to compile than all of them alone, most of which a fit does not need. By its
address a function is compiled once, when it is first asked for; a call costs nothing beside a tile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._jit import JIT_DISABLED, cgutils, intrinsic, numba_types, typeof

_PLAIN: list[Callable[..., None]] = []  # where nothing is compiled, an address is a place in this list


def address(function: Any, *examples: Any) -> int:
    """Where the machine code of a function under ``jit`` without a result is, for arguments of these types."""
    if JIT_DISABLED:
        if function not in _PLAIN:
            _PLAIN.append(function)
        return _PLAIN.index(function)
    types = tuple(typeof(example) for example in examples)
    function.compile(types)
    compiled = function.overloads[types]
    place = compiled.library.get_pointer_to_function(compiled.fndesc.mangled_name)
    if compiled.signature.return_type != numba_types.none or not place:
        raise TypeError(f"{function.__name__} must be compiled, and return nothing, to be called by its address")
    return place


def _declared(kind: Any) -> Any:
    """The type of an argument as ``address`` sees it.

    Arrays are of any type, but in C order and not read-only: then the precision and the kind of the rows say the rest.
    """
    if isinstance(kind, numba_types.Integer):
        return numba_types.int64
    if isinstance(kind, numba_types.Float):
        return numba_types.float64
    parts: Any = kind if isinstance(kind, numba_types.BaseTuple) else [kind]
    arrays = [part for part in parts if isinstance(part, numba_types.Array)]
    if not all(part.is_c_contig and part.mutable for part in arrays):
        raise TypeError(f"{kind} cannot be an argument of a function that is called by its address")
    return kind


@intrinsic
def _call(typingctx: Any, place: Any, *arguments: Any) -> Any:
    given: Any = numba_types.StarArgTuple.from_types(arguments)
    declared = [_declared(kind) for kind in arguments]

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = cgutils.unpack_tuple(builder, args[1], len(declared))
        values = [context.cast(builder, value, kind, to)
                  for value, kind, to in zip(values, arguments, declared, strict=True)]  # fmt: skip
        convention, nothing = context.call_conv, numba_types.void
        pointer = builder.inttoptr(args[0], convention.get_function_type(nothing, declared).as_pointer())
        status, _ = convention.call_function(builder, pointer, nothing, declared, values)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return numba_types.void(numba_types.int64, given), build


def _plain_call(place: int, *arguments: Any) -> None:
    """The same where nothing is compiled."""
    _PLAIN[place](*arguments)


#: ``call(place, *arguments)``: the function at an address, for arguments of the types that it was asked for with.
call: Any = _plain_call if JIT_DISABLED else _call
