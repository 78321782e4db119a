"""`adatron completion`: names of commands, options and files by the Tab key."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")  # Those that click completes for.


@click.command(short_help="Print the script that completes words in a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script for SHELL; then the Tab key completes commands, options, their values and files.

    \b
    bash, in ~/.bashrc:                    eval "$(adatron completion bash)"
    zsh, in ~/.zshrc:                      eval "$(adatron completion zsh)"
    fish, in ~/.config/fish/config.fish:   adatron completion fish | source
    """  # noqa: D301 (click looks for the character itself)
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 (for the type checker)
    click.echo(kind(context.find_root().command, {}, "adatron", "_ADATRON_COMPLETE").source())
