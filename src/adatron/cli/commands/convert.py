"""`adatron convert`: between this tool's model files and LIBSVM's, and to ONNX."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ..options import features_option
from ..outputs import DATA_ENDINGS, MODEL_ENDINGS, check_outputs


@click.command(short_help="Convert a model from and to LIBSVM's text, and to ONNX.")
@click.argument("model", type=click.Path())
@click.argument("output", type=click.Path())
@click.option(
    "--to",
    type=click.Choice(["libsvm", "adatron", "onnx"]),
    help="What to write.  [default: as OUTPUT ends, with .onnx, .adatron or .svm, else the other kind]",
)
@features_option
def convert(model: str, output: str, to: str | None, features: int | None) -> None:
    """Read MODEL, a model file of this tool or of LIBSVM, and write it to OUTPUT as another kind.

    LIBSVM's text holds all five machines, the kernels linear, poly, rbf, sigmoid and precomputed, classes that are
    whole numbers, one class against one, and no scaling. It holds neither C, nu and epsilon nor the certificate.

    An ONNX network holds all machines and kernels except precomputed, and scaling. It is compared with the model before
    it is written.
    """
    from ...files import is_libsvm_model, load, rewindable, save, save_libsvm

    endings = {"onnx": (".onnx",), "adatron": MODEL_ENDINGS, "libsvm": DATA_ENDINGS}
    to = to or next((kind for kind, known in endings.items() if Path(output).suffix.lower() in known), None)
    check_outputs({"OUTPUT": output}, [model], {"OUTPUT": endings[to] if to else ()})
    source = rewindable(model)
    to = to or ("adatron" if is_libsvm_model(source) else "libsvm")
    if features is not None and not is_libsvm_model(source):
        raise click.UsageError("--features is for a MODEL that is LIBSVM's text; this one knows its features")
    found = load(source, features)
    if to == "onnx":
        _to_onnx(found, output)
    else:
        (save_libsvm if to == "libsvm" else save)(found, output)


def _to_onnx(model: Any, output: str) -> None:
    """Write a network, and say how it agrees with the model."""
    from ...files.onnx import to_onnx

    try:
        network = to_onnx(model, path=output)
    except ImportError as error:
        raise click.UsageError(str(error)) from error
    parity = json.loads({one.key: one.value for one in network.metadata_props}["adatron.parity"])
    but = ", except where rounding decides," if parity["undecided_differ"] else ","
    click.echo(
        f"compared on {parity['rows']} rows: equal labels{but} and values that deviate by at most "
        f"{parity['deviation']:.1e} of the sum of their terms",
        err=True,
    )
