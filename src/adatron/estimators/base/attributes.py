"""The attributes of a fitted machine: each reads a part of its model, and none can be set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class Attribute(Generic[T]):
    """An attribute that users read. Only a fit changes it, with all others at once.

    path : the part of the model, and the parts of that part; see ``model.Model``
    unfitted : what it is before a fit; None if it is not there
    shown : makes what a user sees of the part of a machine; None shows the part itself
    """

    def __init__(self, *path: str, unfitted: Any = None, shown: Callable[[Any, Any], Any] | None = None) -> None:
        self.path, self.unfitted, self.shown = path, unfitted, shown

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, machine: None, owner: type) -> Self: ...
    @overload
    def __get__(self, machine: object, owner: type | None = None) -> T: ...
    def __get__(self, machine: Any, owner: type | None = None) -> Any:
        if machine is None:
            return self
        if self.unfitted is not None and not machine.__sklearn_is_fitted__():
            return self.unfitted
        part = machine.part(self.path[0], self.name)
        for name in self.path[1:]:
            part = getattr(part, name)
        if part is None and self.path[0] in UNSEEN:
            raise missing(machine, self.name)
        return part if self.shown is None else self.shown(machine, part)

    def __set__(self, machine: Any, value: Any) -> None:
        raise AttributeError(
            f"{self.name} belongs to the fitted model of this {type(machine).__name__}, which only a fit replaces. To "
            "shift a decision, compare decision_function(X) with a number of your own."
        )


UNSEEN = ("samples",)  # parts that few models have; the others have no such attribute
DERIVED = ("offset", "radius", "worst")  # parts that follow from others, and that no state has


def missing(machine: Any, name: str) -> AttributeError:
    """Return the error of an attribute that is not there."""
    return AttributeError(f"{type(machine).__name__!r} object has no attribute {name!r}")


def attributes_of(kind: type) -> dict[str, tuple[str, ...]]:
    """Return the paths of all attributes of a class of machines, by name."""
    found: dict[str, tuple[str, ...]] = {}
    for base in reversed(kind.__mro__):
        own = {name: one.path for name, one in vars(base).items() if isinstance(one, Attribute)}
        found.update({name: path for name, path in own.items() if path[-1] not in DERIVED})
    return found


def flat(kind: type, whole: Any) -> dict[str, Any]:
    """Return the parts of a model, or of another object with such parts, by the names of the attributes."""
    found: dict[str, Any] = {}
    for name, path in attributes_of(kind).items():
        part = getattr(whole, path[0], whole)
        if part is whole:
            continue
        for inner in path[1:]:
            part = getattr(part, inner)
        if not (part is None and path[0] in UNSEEN):
            found[name] = part
    return found


def grouped(kind: type, state: dict[str, Any]) -> dict[str, Any]:
    """Take the attributes out of a state, and return them by the parts of a model that they belong to."""
    parts: dict[str, Any] = {}
    for name, path in attributes_of(kind).items():
        if name not in state:
            continue
        value = state.pop(name)
        if len(path) == 1:
            parts[path[0]] = value
        else:
            parts.setdefault(path[0], {})[path[1]] = value
    return parts
