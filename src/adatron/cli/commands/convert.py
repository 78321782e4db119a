"""`adatron convert`: between this tool's model files and LIBSVM's."""

from __future__ import annotations

import click

from ..overwrite import refuse_overwriting
from ..values import Number


@click.command(short_help="Convert a model from and to LIBSVM's text.")
@click.argument("model", type=click.Path())
@click.argument("output", type=click.Path())
@click.option("--to", type=click.Choice(["libsvm", "adatron"]), help="What to write.  [default: the other kind]")
@click.option("--features", type=Number(1, whole=True), help="Features of the data; LIBSVM's text may hold fewer.")
def convert(model: str, output: str, to: str | None, features: int | None) -> None:
    """Read MODEL, a model file of this tool or of LIBSVM, and write it to OUTPUT as the other kind.

    LIBSVM's text holds all five machines, the kernels linear, poly, rbf, sigmoid and precomputed, classes that are
    whole numbers, one class against one, and no scaling. It holds neither C, nu and epsilon nor the certificate.
    """
    from ...files import is_libsvm_model, load, rewindable, save, save_libsvm

    refuse_overwriting("OUTPUT", output, [model])
    source = rewindable(model)
    to = to or ("adatron" if is_libsvm_model(source) else "libsvm")
    write, found = save_libsvm if to == "libsvm" else save, load(source, features)
    write(found, output)
