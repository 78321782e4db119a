"""Errors that say what to do: a misspelt parameter, and a method that the estimator has with other parameters only."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from typing import Any

from sklearn.utils._available_if import _AvailableIfDescriptor  # pyright: ignore[reportPrivateUsage]


class Spelling:
    """Base of the estimators: a constructor names the nearest parameter, or all, if it gets one that it lacks."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        parameters = list(signature(cls.__init__).parameters.values())[1:]
        open_ended = any(one.kind is Parameter.VAR_KEYWORD for one in parameters)
        if not (open_ended or hasattr(cls.__init__, "helpful")):
            helpful = _spelt(cls.__init__, [one.name for one in parameters])
            setattr(cls, "__init__", helpful)  # noqa: B010 (a type checker reads the original)


def _spelt(init: Callable[..., None], known: list[str]) -> Callable[..., None]:
    @wraps(init)
    def helpful(self: Any, *args: Any, **kwargs: Any) -> None:
        for name in kwargs:
            if name not in known:
                lower = {one.lower(): one for one in known}
                near = get_close_matches(name.lower(), lower, n=1)
                hint = f"Did you mean {lower[near[0]]!r}?" if near else f"Its parameters are {', '.join(known)}."
                raise TypeError(f"{init.__qualname__}() got an unexpected keyword argument {name!r}. {hint}")
        init(self, *args, **kwargs)

    setattr(helpful, "helpful", True)  # noqa: B010
    return helpful


class _ToldIf(_AvailableIfDescriptor):
    """The error has the words of the check; scikit-learn's says only that there is no such attribute."""

    def _check(self, obj: Any, owner: Any) -> None:
        try:
            self.check(obj)
        except Exception as error:  # hasattr must say no
            raise AttributeError(f"{owner.__name__} has no {self.attribute_name}: {error}") from None


def told_if(check: Callable[[Any], object]) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator of methods that are there unless ``check`` of the estimator raises an error, the reason."""
    return lambda method: _ToldIf(method, check, method.__name__)
