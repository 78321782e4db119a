"""Compiled functions called by their address, and structures handed to them by the place where they are.

A function that is called by name is compiled into its caller, and again into the caller's caller. A tile loop with
every product and every kernel in it takes longer to compile than all of them alone, most of which a fit does not need.
By its address a function is compiled once, when it is first asked for; a call costs nothing compared with a tile.

A tuple of twenty arrays is more than a hundred numbers. As an argument each of them is taken apart and put together
again in every function that has the tuple, which takes most of the time that such functions take to compile. By its
place the tuple is one number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from zlib import crc32

from .jit import JIT_DISABLED, AttributeTemplate, cgutils, extending, intrinsic, numba_types, typeof
from .uninterrupted import uninterrupted

OTHER = "a compiled function is called by its address with arguments of other types than it was compiled for"
_UNCOMPILED: list[Callable[..., None]] = []  # an address is a place in this list if nothing is compiled

#: The place of machine code, and a number for the types of its arguments, which each call compares.
Address = tuple[int, int]
NOWHERE: Address = 0, 0  # Stands for an address, in examples and where nothing is called.


class At(NamedTuple):
    """An example of a place, for ``address``: of such a value, or of anything.

    hidden : whether callers do not know what is there
    """

    value: Any = None
    hidden: bool = False


class Borrowed(numba_types.Type):
    """The type of a place where a named tuple is: its members are read there, and cannot be replaced."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        super().__init__(name=f"Borrowed({kind})")


class Hidden(numba_types.Type):
    """The type of a place where a value of some type is."""

    def __init__(self) -> None:
        super().__init__(name="Hidden")


@extending.register_model(Borrowed)
@extending.register_model(Hidden)
class _Model(extending.models.OpaqueModel):
    """A pointer."""


@extending.typeof_impl.register(At)
def _type_of(at: At, context: Any) -> Any:
    return Hidden() if at.value is None else Borrowed(typeof(at.value))


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
    result = compiled.signature.return_type
    if result not in (numba_types.none, numba_types.int64) or not place:
        raise TypeError(f"{function.__name__} must be compiled, and return nothing or a whole number, for its address")
    seen = [Hidden() if isinstance(one, At) and one.hidden else kind for one, kind in zip(examples, types, strict=True)]
    return place, _number(numba_types.void if result == numba_types.none else result, *seen)


def number_of(value: Any) -> int:
    """Return a number for the type of a value, the same in every process; see ``hidden``."""
    return 0 if JIT_DISABLED else _number(typeof(value))


def _number(*kinds: Any) -> int:
    """Return a number for some types, the same in every process."""
    return crc32(", ".join(map(str, kinds)).encode())


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


def _without_counts(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return the value without its arrays' counts of references.

    Whoever gets it counts none when it takes rows and parts of them. Threads that count those of one array wait for
    each other, and even alone a count takes as long as ten numbers.
    """
    if isinstance(kind, numba_types.Array):
        array = context.make_array(kind)(context, builder, value)
        for name in ("meminfo", "parent"):
            setattr(array, name, getattr(array, name).type(None))
        return array._getvalue()
    if isinstance(kind, numba_types.BaseTuple):
        members: Any = kind
        for number, member in enumerate(members):
            part = _without_counts(context, builder, member, builder.extract_value(value, number))
            value = builder.insert_value(value, part, number)
    return value


def _compare(context: Any, builder: Any, number: Any, wanted: int) -> None:
    """Write a TypeError for a number that is another one than the wanted."""
    constant = context.get_constant(numba_types.int64, wanted)
    with cgutils.if_unlikely(builder, builder.icmp_signed("!=", number, constant)):
        context.call_conv.return_user_exc(builder, TypeError, (OTHER,))


def _emit(result: Any, arguments: Any) -> Any:
    """Return the signature of a call, and what writes it."""
    given: Any = numba_types.StarArgTuple.from_types(arguments)
    declared = [_declared(kind) for kind in arguments]

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = cgutils.unpack_tuple(builder, args[2], len(declared))
        values = [_without_counts(context, builder, to, context.cast(builder, value, kind, to))
                  for value, kind, to in zip(values, arguments, declared, strict=True)]  # fmt: skip
        _compare(context, builder, args[1], _number(result, *declared))
        convention = context.call_conv
        pointer = builder.inttoptr(args[0], convention.get_function_type(result, declared).as_pointer())
        status, value = convention.call_function(builder, pointer, result, declared, values)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value() if result == numba_types.void else value

    return result(numba_types.int64, numba_types.int64, given), build


@intrinsic
def _call(typingctx: Any, place: Any, signature: Any, *arguments: Any) -> Any:
    return _emit(numba_types.void, arguments)


@intrinsic
def _count(typingctx: Any, place: Any, signature: Any, *arguments: Any) -> Any:
    return _emit(numba_types.int64, arguments)


@extending.infer_getattr
class _Members(AttributeTemplate):
    key = Borrowed

    def generic_resolve(self, borrowed: Any, name: str) -> Any:
        """Return the type of a member: named tuples stay where they are."""
        fields = borrowed.kind.fields
        if name not in fields:
            return None
        member = borrowed.kind.types[fields.index(name)]
        return Borrowed(member) if isinstance(member, numba_types.BaseNamedTuple) else member


@extending.lower_getattr_generic(Borrowed)
def _member(context: Any, builder: Any, borrowed: Any, value: Any, name: str) -> Any:
    number = borrowed.kind.fields.index(name)
    member = borrowed.kind.types[number]
    kept = builder.bitcast(value, context.get_value_type(borrowed.kind).as_pointer())
    place = cgutils.gep_inbounds(builder, kept, 0, number)
    if isinstance(member, numba_types.BaseNamedTuple):
        return builder.bitcast(place, cgutils.voidptr_t)
    return _without_counts(context, builder, member, builder.load(place))


@intrinsic
def _borrowed(typingctx: Any, value: Any) -> Any:
    if value == numba_types.none:
        return value(value), lambda context, builder, signature, args: args[0]

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = cgutils.alloca_once_value(builder, _without_counts(context, builder, value, args[0]))
        return builder.bitcast(place, cgutils.voidptr_t)

    return Borrowed(value)(value), build


@intrinsic
def _contents(typingctx: Any, place: Any) -> Any:
    kind = place.kind if isinstance(place, Borrowed) else place

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = args[0]
        if isinstance(place, Borrowed):
            value = builder.load(builder.bitcast(value, context.get_value_type(kind).as_pointer()))
        return _without_counts(context, builder, kind, value)

    return kind(place), build


@intrinsic
def _hidden(typingctx: Any, place: Any, number: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _compare(context, builder, args[1], _number(place.kind))
        return args[0]

    return Hidden()(place, numba_types.int64), build


def _plain_call(place: int, signature: int, *arguments: Any) -> Any:
    """Call the function in the list, if nothing is compiled."""
    return _UNCOMPILED[place](*arguments)


#: ``call(place, signature, *arguments)``: the function at an address. TypeError if the arguments have other types than
#: the address was asked for with.
call: Any = _plain_call if JIT_DISABLED else _call
#: The same for a function that returns a whole number, and that number.
count: Any = _plain_call if JIT_DISABLED else _count
#: ``borrowed(value)``: the place of a named tuple, for functions that are called before this one ends. Its arrays have
#: no counts of references. None stays None.
borrowed: Any = (lambda value: value) if JIT_DISABLED else _borrowed
#: ``contents(place)``: the named tuple itself, or an array or tuple that is given in place of one, without counts of
#: references. Nobody may keep it for longer than the caller has it.
contents: Any = (lambda value: value) if JIT_DISABLED else _contents
#: ``hidden(place, number)``: a place that is handed on by functions that are compiled once, whatever is there.
#: TypeError unless the number is that of its type.
hidden: Any = (lambda place, number: place) if JIT_DISABLED else _hidden
