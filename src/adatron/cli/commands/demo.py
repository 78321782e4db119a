"""`adatron demo`: handwritten digits, compared with scikit-learn."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import click

from ..status import Status, echo_rows

REPEATS = 9  # Fits of each library, whose median time is shown.
LEAST_AGREEMENT = 0.99  # Fraction of equal predictions: two solvers within one tolerance may differ at ties.


@click.command(short_help="Fit handwritten digits, beside scikit-learn.")
def demo() -> Status:
    """Fit scikit-learn's digits with adatron and with scikit-learn, save, load, and check that all of it agrees."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
    from sklearn.svm import SVC as PeerSVC

    from ... import SVC
    from ..report import certificate_rows, kernel_rows

    data: Any = load_digits()
    split: Any = train_test_split(data.data, data.target, test_size=0.3, random_state=0)
    X, X_test, y, y_test = split
    click.echo(f"Handwritten digits: {len(X)} to train on, {len(X_test)} to test on, {X.shape[1]} grey values each.\n")
    ours, theirs = SVC(C=10.0), PeerSVC(C=10.0)
    first = _seconds(lambda: ours.fit(X, y))
    theirs.fit(X, y)
    times = [(_seconds(lambda: ours.fit(X, y)), _seconds(lambda: theirs.fit(X, y))) for _ in range(REPEATS)]
    click.echo("The certificate of adatron's fit (gap and violation: worst of its binary problems; objectives: sums):")
    echo_rows([*kernel_rows(ours), *certificate_rows(ours)], err=False)
    _compare(ours.score(X_test, y_test), theirs.score(X_test, y_test), first, times)
    agreement = float((ours.predict(X_test) == theirs.predict(X_test)).mean())
    checks = {
        "the fit converged": ours.fit_status_ == 0,
        f"both give the same class to {agreement:.2%} of the test images": agreement >= LEAST_AGREEMENT,
        "saved and loaded again, the decision values are equal to the last bit": _survives_a_file(ours, X_test),
    }
    click.echo()
    for claim, holds in checks.items():
        click.echo(f"{'yes' if holds else 'NO '}  {claim}")
    return Status.FINE if all(checks.values()) else Status.NOT_CONVERGED


def _compare(ours: float, theirs: float, first: float, times: list[tuple[float, float]]) -> None:
    """Print accuracies and times side by side."""
    medians = [statistics.median(column) for column in zip(*times, strict=True)]
    click.echo(f"\nMedian of {REPEATS} fits each, in turn, after one that is not counted:")
    rows = [
        ("", f"{'adatron':>12}{'scikit-learn':>15}"),
        ("accuracy", f"{ours:>12.2%}{theirs:>15.2%}"),
        ("seconds", f"{medians[0]:>12.4f}{medians[1]:>15.4f}"),
        ("first call (compiles if need be)", f"{first:>12.4f}"),
        ("scikit-learn's time / adatron's", f"{medians[1] / medians[0]:>12.2f}"),
    ]
    echo_rows(rows, err=False)
    if medians[1] < medians[0]:
        click.echo(
            "On so few samples the overhead of a fit outweighs its work, so scikit-learn is ahead;\n"
            "from a few thousand on it is the other way round, see the table in README.md."
        )


def _seconds(action: Any) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _survives_a_file(model: Any, X: Any) -> bool:
    """Save and load a model, and tell whether its answers are the same bits."""
    from ...files import load, save

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "digits.adatron"
        save(model, path)
        copy = load(path)
    same_values = model.decision_function(X).tobytes() == copy.decision_function(X).tobytes()
    return same_values and model.predict(X).tolist() == copy.predict(X).tolist()
