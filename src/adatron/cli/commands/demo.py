"""`adatron demo`: fits, proofs, a comparison with scikit-learn, a sample forgotten, a search, a file."""

from __future__ import annotations

import shlex
import statistics
import sys
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from timeit import timeit
from typing import Any

import click

from ..outputs import ExitStatus

DEMO_SAMPLES, DEMO_REPEATS = 20_000, 3  # Size of the large set, and fits of it after the first: the median is shown.
LEAST_AGREEMENT = 0.99  # Fraction of equal predictions: two solvers within one tolerance may differ at ties.
LEARNED = 600  # Digits in the model that forgets, and in the search.
EQUAL_VALUES = 1e-6  # Largest difference of decision values of two exact solutions; the numbers themselves are about 1.
DEMO_MODEL, DEMO_PICTURE = "digits.adatron", "search.png"
Claims = Iterator[tuple[str, bool]]
_seconds = partial(timeit, number=1)


@click.command(short_help="Fit, prove, compare, forget, search and save, in a minute or two.")
@click.option("--folder", default="adatron-demo", help="Where the model and the picture are written.")
def demo(folder: str) -> ExitStatus:
    """Show what adatron does: fit, prove, compare with scikit-learn, forget a sample, search, save.

    It takes a minute or two; the first time some more, as it compiles its code.
    """
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    place, data = Path(folder), load_digits(return_X_y=True)
    place.mkdir(parents=True, exist_ok=True)
    digits: Any = train_test_split(*data, test_size=0.3, random_state=0)
    parts: dict[str, Claims] = {  # each runs when its claims are asked for
        f"A fit that people wait for: {DEMO_SAMPLES:,} samples, 20 features, RBF kernel, C = 1": _large(),
        "Ten handwritten digits: the same classes as scikit-learn, saved and loaded": _saved(digits, place),
        f"One of {LEARNED} samples is forgotten: the exact solution of the others": _forgotten(digits),
        f"C and gamma are searched: {LEARNED} samples, ranges found from the data": _found(digits, place),
    }
    well = True
    for number, (heading, claims) in enumerate(parts.items(), 1):
        click.echo(f"{number}  {heading}")
        for claim, holds in claims:
            well &= holds
            click.echo(f"   {'yes' if holds else 'NO '}  {claim}")
    files = [path for path in (place / DEMO_MODEL, place / DEMO_PICTURE) if path.exists()]
    click.echo(f"\nWritten: {' and '.join(map(str, files))}\nNext: {_program()} info {files[0]}")
    return ExitStatus.FINE if well else ExitStatus.NOT_CONVERGED


def _program() -> str:
    """Return the command that calls this program again in a shell."""
    given, found = sys.argv[0], which("adatron")
    if Path(given).name == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m adatron"
    on_path = found is not None and Path(found).absolute() == Path(given).absolute()
    return "adatron" if on_path else shlex.quote(given)


def _large() -> Claims:
    from sklearn.datasets import make_classification
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC as PeerSVC

    from ... import SVC
    from ...model.model import GAP_TOL

    X, y = make_classification(DEMO_SAMPLES, 20, n_informative=10, flip_y=0.05, random_state=0)
    X = StandardScaler().fit_transform(X)
    peer_kind: Any = PeerSVC
    ours, theirs = SVC(gamma=0.05), peer_kind(gamma=0.05)
    first, peer = _seconds(lambda: ours.fit(X, y)), _seconds(lambda: theirs.fit(X, y))
    own = statistics.median(_seconds(lambda: ours.fit(X, y)) for _ in range(DEMO_REPEATS))
    _show("scikit-learn", f"{peer:.2f} s")
    _show("adatron", f"{own:.2f} s (the first fit: {first:.1f} s): {peer / own:.1f} times as fast")
    _show("proven", ours.certificate_)
    agreement = float((ours.predict(X) == theirs.predict(X)).mean())
    yield f"both give the same class to {agreement:.2%} of the samples", agreement >= LEAST_AGREEMENT
    yield "the optimum is proven to within 0.1 %", ours.certificate_.gap <= GAP_TOL


def _saved(digits: Any, place: Path) -> Claims:
    from sklearn.svm import SVC as PeerSVC

    from ... import SVC
    from ...files import load, save

    X, X_test, y, y_test = digits
    ours, theirs = SVC(C=10.0).fit(X, y), PeerSVC(C=10.0).fit(X, y)
    _show("accuracy", f"{ours.score(X_test, y_test):.2%}")
    _show("proven", ours.certificate_)
    agreement = float((ours.predict(X_test) == theirs.predict(X_test)).mean())
    yield f"both give the same class to {agreement:.2%} of the test images", agreement >= LEAST_AGREEMENT
    path = place / DEMO_MODEL
    save(ours, path)
    copy = load(path)
    same = ours.decision_function(X_test).tobytes() == copy.decision_function(X_test).tobytes()
    yield f"saved as {path} and loaded again, it decides the same to the last bit", same


def _forgotten(digits: Any) -> Claims:
    import numpy as np

    from ... import IncrementalSVC
    from ...quoted import upward

    X, X_test, y, _ = digits
    X, y = X[:LEARNED], y[:LEARNED] % 2
    model = IncrementalSVC(C=10.0, gamma=1e-3).fit(X, y)
    supporting = int(model.support_[0])
    taken = _seconds(lambda: model.forget([supporting]))
    others = IncrementalSVC(C=10.0, gamma=1e-3).fit(np.delete(X, supporting, 0), np.delete(y, supporting))
    difference = float(np.abs(model.decision_function(X_test) - others.decision_function(X_test)).max())
    proof = model.deletion_report()
    gap, violation = upward(proof["duality_gap"]), upward(proof["kkt_violation"])
    _show("seconds", f"{taken:.4f}")
    _show("proven", f"relative duality gap <= {gap}, KKT violation <= {violation}")
    yield f"a model that never saw the sample decides the same, to {difference:.0e}", difference <= EQUAL_VALUES


def _found(digits: Any, place: Path) -> Claims:
    import numpy as np
    from sklearn.model_selection import cross_val_score

    from ... import SVC
    from ...selection import GridSearchCV

    X, X_test, y, y_test = digits
    search: Any = GridSearchCV(SVC(), "auto", cv=5)
    first, again = (_seconds(lambda: search.fit(X[:LEARNED], y[:LEARNED])) for _ in range(2))
    best = ", ".join(f"{name} = {value:.3g}" for name, value in search.best_params_.items())
    cells = len(search.cv_results_["params"])
    _show("seconds", f"{again:.2f} for {5 * cells} fits (the first search: {first:.1f} s)")
    _show("best", f"{best}; accuracy on the test images {search.score(X_test, y_test):.2%}")
    apart = cross_val_score(SVC(**search.best_params_), X[:LEARNED], y[:LEARNED], cv=5)
    together = [search.cv_results_[f"split{fold}_test_score"][search.best_index_] for fold in range(5)]
    yield "the best has the scores of five fits of its own", bool(np.allclose(apart, together))
    if find_spec("matplotlib") is None:
        click.echo("   a picture of the scores needs matplotlib: pip install 'adatron[plot]'")
        return
    from ...plots import SearchDisplay

    picture = place / DEMO_PICTURE
    SearchDisplay.from_estimator(search).figure_.savefig(picture, dpi=120)
    _show("picture", picture)


def _show(name: str, value: object) -> None:
    """Print a number, aligned with the others."""
    click.echo(f"   {name:<{len('scikit-learn')}} {value}")
