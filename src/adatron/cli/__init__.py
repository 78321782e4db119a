"""The command line tool `adatron`.

Text for people goes to stderr, results to stdout or a file. Exit status: 0 fine, 1 bad data or model, 2 wrong usage,
3 not converged or out of time (or a failed check of the demo), 4 input or output error,
130 interrupted.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from .commands.convert import convert
from .commands.demo import demo
from .commands.info import doctor, info, warmup
from .commands.predict import evaluate, predict, prove, report
from .commands.search import search
from .commands.stream import stream
from .commands.train import train
from .outputs import ExitStatus, warnings_as_lines


@click.group(context_settings={"help_option_names": ["-h", "--help"], "show_default": True, "terminal_width": 116})
@click.version_option(package_name="adatron", message="%(prog)s %(version)s")
def adatron() -> None:
    """Train and use exact, certified kernel support vector machines."""


FOR_LABEL = ("--target", "--y", "--class")  # What other tools call --label.
for command in (train, search, predict, evaluate, report, prove, stream, info, convert, warmup, demo, doctor):
    adatron.add_command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool and return its exit status; an error is one line on stderr.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after the tool's name; by default those of the process.
    """
    try:
        with warnings_as_lines():
            status: int | None = adatron.main(arguments, prog_name="adatron", standalone_mode=False)
        return status or ExitStatus.FINE
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return ExitStatus.USAGE
    except click.ClickException as error:
        known = (
            [one.name for one in error.ctx.command.params] if isinstance(error, click.UsageError) and error.ctx else []
        )
        if isinstance(error, click.NoSuchOption) and error.option_name in FOR_LABEL and "label" in known:
            return _fail(ExitStatus.USAGE, f"No such option '{error.option_name}'. Did you mean '--label'?")
        return _fail(ExitStatus.USAGE, error.format_message())
    except click.Abort as error:
        return _fail(ExitStatus.INTERRUPTED, str(error) or "interrupted")
    except OSError as error:
        return _fail(ExitStatus.IO, ": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
    except MemoryError as error:
        return _fail(ExitStatus.BAD_INPUT, str(error) or "not enough memory")
    except ValueError as error:
        return _fail(ExitStatus.BAD_INPUT, str(error))
    except SystemError as error:
        # Ctrl-C at the border of compiled code is the cause of another error.
        if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            return _fail(ExitStatus.INTERRUPTED, "interrupted")
        raise


def _fail(status: ExitStatus, message: str) -> ExitStatus:
    click.echo(f"error: {' '.join(message.split())}", err=True)
    return status
