"""The parts of a model: the machine, and what it remembers of its data."""

from __future__ import annotations

from typing import Any

import click

from .status import InputError


def machine_of(model: Any) -> Any:
    """Return the machine at the end of a model."""
    from ..estimators.base.machine import KernelMachine

    last = _way(model).machine
    if not isinstance(last, KernelMachine):
        raise InputError(f"the model is a {type(last).__name__}; this command is for support vector machines")
    return last


def task_of(model: Any) -> str:
    """Return what a model was made for: classification, regression or novelty."""
    from sklearn.utils import get_tags

    from ..estimators.base.shown import TASK_NAMES

    return TASK_NAMES[str(get_tags(machine_of(model)).estimator_type)]


def remember_names(model: Any, names: tuple[str, ...] | None) -> None:
    """Give a fitted model the names of its features, as scikit-learn does after a fit to named columns."""
    import numpy as np

    from .preparing.columns import branches

    if names is None:
        return
    first = _way(model).estimators[0]
    first.feature_names_in_ = np.array(names, dtype=object)
    for inner, columns in branches(first):
        remember_names(inner, tuple(names[at] for at in columns))


def take_names(model: Any) -> tuple[str, ...] | None:
    """Return the names of a model's features, which it then forgets: it would warn that arrays have none."""
    from .preparing.columns import branches, numbered

    first, names = _way(model).estimators[0], names_of(model)
    if names is not None and hasattr(first, "transformers_"):  # it then takes arrays
        first.transformers_ = numbered(first)
    for inner, _ in branches(first):
        take_names(inner)
    vars(first).pop("feature_names_in_", None)
    return names


def names_of(model: Any) -> tuple[str, ...] | None:
    """Return the names of a model's features, if it knows any."""
    names = vars(_way(model).estimators[0]).get("feature_names_in_")
    return None if names is None else tuple(map(str, names))


def remember_counting(model: Any, first_index: int | None) -> None:
    """Tell a fitted model from which number on the features were counted, if its data were LIBSVM text."""
    if first_index is not None:
        _way(model).machine.first_index_ = first_index


def counting_of(model: Any) -> int | None:
    """Return the number from which a model's features are counted in LIBSVM text; None if it was not told."""
    return vars(_way(model).machine).get("first_index_")


def remember_label(model: Any, label: str | None) -> None:
    """Tell a fitted model where its labels came from."""
    if label is not None:
        _way(model).machine.label_ = label


def label_of(model: Any) -> str | None:
    """Return where a model's labels came from; None if it was not told."""
    found = vars(_way(model).machine).get("label_")
    return found if isinstance(found, str) else None


def _way(model: Any) -> Any:
    """Return the steps of a model, from the part that meets the data first to the machine."""
    from ..estimators.forms.way import way_to

    return way_to(model)


def scaling_of(model: Any) -> str:
    """Return the name of the scaling in a model."""
    from .preparing.columns import all_parts

    names = [type(part).__name__ for part in list(all_parts(model))[:-1]]
    others = ("ColumnTransformer", "FunctionTransformer")
    scalers = (name for name in names if name.endswith(("Scaler", "Normalizer", "Transformer")) and name not in others)
    return next(scalers, "none")


device_option: Any = click.option(
    "--device", help="Where to compute: cuda, cuda:1 (a GPU, extra gpu) or cpu.  [default: cpu]"
)


def use_device(model: Any, device: str | None) -> None:
    """Let the machine of a model compute on a device, or fail if the machine or the computer has none."""
    if device is None:
        return
    machine = machine_of(model)
    if "device" not in machine.get_params(deep=False):
        raise click.UsageError(f"--device: an {type(machine).__name__} computes on the processor only")
    check_device(device)
    machine.set_params(device=device)


def check_device(name: str) -> None:
    """Fail if the computer has no such device."""
    from ..devices import resolved

    try:
        resolved(name)
    except (ValueError, ImportError) as error:
        raise click.UsageError(f"--device: {error}") from error
