"""Compiled functions that other compiled functions call by their address.

A function that is called by name is compiled into its caller, and again into the caller's caller. A tile loop with
every product and every kernel in it takes longer to compile than all of them alone, most of which a fit does not need.
By its address a function is compiled once, when it is first asked for; a call costs nothing compared with a tile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from zlib import crc32

from .jit import JIT_DISABLED, cgutils, intrinsic, numba_types, typeof
from .lending import OTHER, At, Hidden, lend
from .uninterrupted import uninterrupted

_UNCOMPILED: list[Callable[..., None]] = []  # an address is a place in this list if nothing is compiled


#: The place of machine code, and a number for the types of its arguments, which each call compares.
Address = tuple[int, int]
NOWHERE: Address = 0, 0  # Stands for an address, in examples and where nothing is called.


def address(function: Any, *examples: Any) -> Address:
    """Return where the machine code of a function under ``jit`` is, for arguments of these types.

    The function returns nothing, or a whole number. ``At`` stands for the place of a value.
    """
    if JIT_DISABLED:
        if function not in _UNCOMPILED:
            _UNCOMPILED.append(function)
        return _UNCOMPILED.index(function), 0
    types = tuple(typeof(example) for example in examples)
    with uninterrupted():
        function.compile(types)
        compiled = function.overloads[types]
        place = compiled.library.get_pointer_to_function(compiled.fndesc.mangled_name)
    if compiled.signature.return_type not in (numba_types.none, numba_types.int64) or not place:
        raise TypeError(f"{function.__name__} must be compiled, and return nothing or a whole number, for its address")
    seen = [Hidden() if isinstance(one, At) and one.hidden else kind for one, kind in zip(examples, types, strict=True)]
    return place, _signature(compiled.signature.return_type, seen)


def _signature(result: Any, kinds: Sequence[Any]) -> int:
    """Return a number for a type of result and types of arguments, the same in every process."""
    result = "nothing" if result in (numba_types.none, numba_types.void) else str(result)
    return crc32(f"{result} {', '.join(map(str, kinds))}".encode())


def _declared(kind: Any) -> Any:
    """Return the type of an argument as ``address`` sees it.

    Arrays are of any type, but in C order and not read-only: then the precision and the kind of the rows say the rest.
    """
    if isinstance(kind, numba_types.Integer):
        return numba_types.int64
    if isinstance(kind, numba_types.Float):
        return numba_types.float64
    if isinstance(kind, numba_types.BaseTuple):
        members: Any = kind
        for member in members:
            _declared(member)
    if isinstance(kind, numba_types.Array) and not (kind.is_c_contig and kind.mutable):
        raise TypeError(f"{kind} cannot be an argument of a function that is called by its address")
    return kind


def _emit(result: Any, place: Any, arguments: Any) -> Any:
    """Return the signature of a call, and what writes it."""
    given: Any = numba_types.StarArgTuple.from_types(arguments)
    declared = [_declared(kind) for kind in arguments]

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = cgutils.unpack_tuple(builder, args[2], len(declared))
        values = [lend(context, builder, to, context.cast(builder, value, kind, to))
                  for value, kind, to in zip(values, arguments, declared, strict=True)]  # fmt: skip
        convention = context.call_conv
        wanted = context.get_constant(numba_types.int64, _signature(result, declared))
        with cgutils.if_unlikely(builder, builder.icmp_signed("!=", args[1], wanted)):
            convention.return_user_exc(builder, TypeError, (OTHER,))
        pointer = builder.inttoptr(args[0], convention.get_function_type(result, declared).as_pointer())
        status, value = convention.call_function(builder, pointer, result, declared, values)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value() if result == numba_types.void else value

    return result(numba_types.int64, numba_types.int64, given), build


@intrinsic
def _call(typingctx: Any, place: Any, signature: Any, *arguments: Any) -> Any:
    return _emit(numba_types.void, place, arguments)


@intrinsic
def _count(typingctx: Any, place: Any, signature: Any, *arguments: Any) -> Any:
    return _emit(numba_types.int64, place, arguments)


def _plain_call(place: int, signature: int, *arguments: Any) -> Any:
    """Call the function in the list, if nothing is compiled."""
    return _UNCOMPILED[place](*arguments)


#: ``call(place, signature, *arguments)``: the function at an address. TypeError if the arguments have other types than
#: the address was asked for with.
call: Any = _plain_call if JIT_DISABLED else _call
#: The same for a function that returns a whole number, and that number.
count: Any = _plain_call if JIT_DISABLED else _count
