"""Moments of a run: the interpreter tells when a function is called and when it returns.

Nothing of the library is replaced (``sys.settrace``). A test may look at arguments and results, or let the outside
world do something at a moment: Ctrl-C comes, memory is at an end, another process writes a file.
"""

import inspect
import sys
import threading
from contextlib import contextmanager

LISTENERS = {}  # by the code of a function: what to call with its frame, whether it returns, and its result


def _begins(frame, _event, _result):
    listeners = LISTENERS.get(frame.f_code)
    if not listeners:
        return None
    frame.f_trace_lines = False
    for listener in listeners:
        listener(frame, False, None)
    return _ends


def _ends(frame, event, result):
    if event == "return":
        for listener in LISTENERS[frame.f_code]:
            listener(frame, True, result)
    return _ends


@contextmanager
def _listening(function, listener):
    code = inspect.unwrap(getattr(function, "__func__", function)).__code__
    before = LISTENERS.get(code, ())
    LISTENERS[code] = (*before, listener)
    tracers = sys.gettrace(), threading.gettrace()
    sys.settrace(_begins)
    threading.settrace(_begins)
    try:
        yield
    finally:
        LISTENERS[code] = before
        sys.settrace(tracers[0])
        threading.settrace(tracers[1])


def _arguments(frame):
    names = inspect.getargs(frame.f_code)
    some = [*names.args, *filter(None, (names.varargs, names.varkw))]
    return {name: frame.f_locals[name] for name in some if name in frame.f_locals}


@contextmanager
def calls(function, keep=lambda arguments, result: (arguments, result)):
    """Collect what ``keep`` makes of each call's arguments, by name, and result, on all threads, in the order of ends.

    The arguments are those at the end of the call.
    """
    found = []

    def listener(frame, ends, result):
        if ends:
            found.append(keep(_arguments(frame), result))

    with _listening(function, listener):
        yield found


@contextmanager
def at(function, act, number=1, end=False):
    """Call ``act`` with the arguments when the function is called for this time, or when this call has ended.

    What it returns is among the arguments, as "return". What ``act`` raises comes out of the function; nothing is told
    after that. Without a number it is every call.
    """
    count = [0]

    def listener(frame, ends, result):
        count[0] += ends == end
        if ends == end and number in (None, count[0]):
            act({**_arguments(frame), "return": result})

    with _listening(function, listener):
        yield


def raising(error):
    """An act that raises this error."""

    def act(*_):
        raise error

    return act
