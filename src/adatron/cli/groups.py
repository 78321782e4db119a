"""The help of commands with many options, in groups."""

from __future__ import annotations

import click

_DATA = (
    "format", "label", "zero_based", "max_bytes", "separator", "decimal", "header", "drop", "index", "keep_index",
    "missing", "encoding", "test", "features", "scale", "categorical", "impute",
)  # fmt: skip
_OUTPUT = ("target", "plot", "save_partial", "wants_json", "quiet", "no_progress", "_click_default_help")
_LIMITS = ("tol", "gap_tol", "max_time", "n_jobs", "device")
GROUPS = {name: group for group, names in (("Data", _DATA), ("Output", _OUTPUT), ("Limits", _LIMITS)) for name in names}
WIDEST = 36  # Columns of an option; one that is wider has its words on the next line.


class GroupedCommand(click.Command):
    """A command whose options are listed as data, model, output and limits."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        for group in ("Data", "Model", "Limits", "Output"):
            chosen = [one for one in options if GROUPS.get(str(one.name), "Model") == group]
            with formatter.section(group):
                formatter.write_dl([row for one in chosen if (row := one.get_help_record(ctx))], WIDEST)
