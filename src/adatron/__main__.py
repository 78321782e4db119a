"""Run the command line tool: `python -m adatron`, or the script `adatron`.

Everything is imported within ``run``, so that Ctrl-C at any moment ends with one line.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from types import FrameType


def run() -> int:
    """Run the tool as a process of its own, and return its exit status."""
    try:
        import signal

        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a shell's background job ignores it
            signal.signal(signal.SIGINT, _interrupt)
        try:
            from .cli import main
        except ModuleNotFoundError as error:
            if error.name != "click":
                raise
            from .extras import how_to_get

            print(f"error: the command line tool takes click: {how_to_get('cli')}", file=sys.stderr)
            return 1
        status = main()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done and said; the process only has to end
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return 130
    return status


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, but after the import that goes on, if one does.

    An import that is broken off may swallow the exception, or turn it into another one.
    """
    import signal

    importer = None
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            importer = frame.f_back
        frame = frame.f_back
    wrapped = signal.getsignal(number) is not _interrupt  # whoever wraps this handler holds back what it raises
    if importer is None or wrapped:
        raise KeyboardInterrupt
    importer.f_trace = _raise  # at the next line of whoever asked for the import
    sys.settrace(lambda frame, event, value: None)


def _raise(frame: FrameType, event: str, value: object) -> NoReturn:
    sys.settrace(None)
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(run())
