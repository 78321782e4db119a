"""Structures that compiled functions hand to each other by the place where they are.

A tuple of twenty arrays is more than a hundred numbers. As an argument each of them is taken apart and put together
again in every function that has the tuple, which takes most of the time that such functions take to compile.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from zlib import crc32

from .jit import JIT_DISABLED, AttributeTemplate, cgutils, extending, intrinsic, numba_types, typeof

OTHER = "a compiled function is called by its address with arguments of other types than it was compiled for"


def lend(context: Any, builder: Any, kind: Any, value: Any) -> Any:
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
            part = lend(context, builder, member, builder.extract_value(value, number))
            value = builder.insert_value(value, part, number)
    return value


class At(NamedTuple):
    """An example of a place, for ``pointer.address``: of such a value, or of anything.

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


def number_of(value: Any) -> int:
    """Return a number for the type of a value, the same in every process; see ``hidden``."""
    return 0 if JIT_DISABLED else _number(typeof(value))


def _number(kind: Any) -> int:
    return crc32(str(kind).encode())


@extending.infer_getattr
class _Members(AttributeTemplate):
    key = Borrowed

    def generic_resolve(self, borrowed: Any, name: str) -> Any:
        fields = borrowed.kind.fields
        return _seen(borrowed.kind.types[fields.index(name)]) if name in fields else None


def _seen(member: Any) -> Any:
    """Return the type of a member: named tuples stay where they are."""
    return Borrowed(member) if isinstance(member, numba_types.BaseNamedTuple) else member


@extending.lower_getattr_generic(Borrowed)
def _member(context: Any, builder: Any, borrowed: Any, value: Any, name: str) -> Any:
    number = borrowed.kind.fields.index(name)
    member = borrowed.kind.types[number]
    kept = builder.bitcast(value, context.get_value_type(borrowed.kind).as_pointer())
    place = cgutils.gep_inbounds(builder, kept, 0, number)
    if isinstance(member, numba_types.BaseNamedTuple):
        return builder.bitcast(place, cgutils.voidptr_t)
    return lend(context, builder, member, builder.load(place))


@intrinsic
def _borrowed(typingctx: Any, value: Any) -> Any:
    if value == numba_types.none:
        return value(value), lambda context, builder, signature, args: args[0]

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = cgutils.alloca_once_value(builder, lend(context, builder, value, args[0]))
        return builder.bitcast(place, cgutils.voidptr_t)

    return Borrowed(value)(value), build


@intrinsic
def _contents(typingctx: Any, place: Any) -> Any:
    kind = place.kind if isinstance(place, Borrowed) else place

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if not isinstance(place, Borrowed):
            return lend(context, builder, kind, args[0])
        kept = builder.bitcast(args[0], context.get_value_type(kind).as_pointer())
        return lend(context, builder, kind, builder.load(kept))

    return kind(place), build


@intrinsic
def _hidden(typingctx: Any, place: Any, number: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wanted = context.get_constant(numba_types.int64, _number(place.kind))
        with cgutils.if_unlikely(builder, builder.icmp_signed("!=", args[1], wanted)):
            context.call_conv.return_user_exc(builder, TypeError, (OTHER,))
        return args[0]

    return Hidden()(place, numba_types.int64), build


@intrinsic
def _lent(typingctx: Any, value: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return lend(context, builder, value, args[0])

    return value(value), build


#: ``lent(value)``: an array, or a tuple of arrays, without counts of references. Nobody may keep it for longer than
#: the caller has it.
lent: Any = (lambda value: value) if JIT_DISABLED else _lent
#: ``borrowed(value)``: the place of a named tuple, for functions that are called before this one ends. Its arrays have
#: no counts of references. None stays None.
borrowed: Any = (lambda value: value) if JIT_DISABLED else _borrowed

#: ``contents(place)``: the named tuple itself, without counts of references; a named tuple is its own contents.
contents: Any = (lambda value: value) if JIT_DISABLED else _contents
#: ``hidden(place, number)``: a place that is handed on by functions that are compiled once, whatever is there.
#: TypeError unless the number is that of its type.
hidden: Any = (lambda place, number: place) if JIT_DISABLED else _hidden
