"""Random programs against a checker in long double: the false claims of fits, incremental models and searches.

The fits run in a process of their own. A fit that never ends or takes the process down is then an entry in the table.
"""

from __future__ import annotations

import multiprocessing
import signal
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice
from multiprocessing.connection import Connection
from time import monotonic
from typing import Any

import numpy as np
from tqdm import tqdm

from .attack_balls import ball_lives, balls
from .attack_conformal import conformal, jackknives
from .attack_given import given
from .attack_linear import linear
from .attack_lives import lived
from .attack_programs import ESTIMATORS
from .attack_radii import radii
from .attack_routes import routes
from .attack_searches import judged_search
from .attack_sequences import sequences
from .attack_targets import judged_targets, quantiles
from .attack_verdict import ROUNDING, WARNED, Verdict, judged

#: Share of the programs, what they are, and what judges the program of a seed and a number.
KINDS: dict[str, tuple[float, str, Callable[[int, int], Verdict]]] = {
    "fits": (0.1, "single fits of the five classical machines", judged),
    "lives": (0.04, "incremental models against refits", lived),
    "searches": (0.01, "searches against single fits", judged_search),
    "quantiles": (0.3, "quantile machines", quantiles),
    "targets": (0.2, "regressions with several targets", judged_targets),
    "balls": (0.12, "SVDD", balls),
    "ball lives": (0.03, "incremental SVDD against fits", ball_lives),
    "sequences": (0.02, "300 steps of incremental one-class, nu and SVDD", sequences),
    "jackknife+": (0.1, "intervals and sets by jackknife+ and CV+ against naive refits", jackknives),
    "conformal": (0.06, "p-values and sets of full conformal against naive refits", conformal),
    "given": (0.02, "given matrices that are indefinite where a fit does not look", given),
    "routes": (0.01, "each optimisation of the route switched off in turn", routes),
    "linear": (0.1, "every machine with a linear kernel and few features", linear),
    "radii": (0.05, "certified radii against projected gradients", radii),
}

LIMIT = 60.0  # Seconds for a program, after which its process is stopped.
START = 600.0  # Seconds for a process that starts and compiles.
PROGRAMS_SHOWN, SENTENCES = 100, 4  # Programs in full, the worst first, and sentences about each.
COUNTED = ("programs", "claims", "false", "undecided", "refused", "warned", "broken")
HEADINGS = [("kind", "kind", "name"), ("what", "what", "name"), *((name, name, "count") for name in COUNTED)]
NOTES = (
    "`python -m benchmarks attack --programs {programs} --seed {seed}`: random and constructed programs. The run took "
    "{seconds:,.0f} s; fits use up to {threads}. Each claim is compared with what `tests/twins/checker.py` computes in "
    "long double from the data and the public attributes, with naive refits, or with points that an attack finds. "
    "Claims are counted in the columns claims, false and undecided. Undecided: a claim that differs from the truth by "
    "no more than the checker's own rounding, a number that the optimum leaves open, a radius of 0, or a gap that the "
    "certificate calls proven only if the kernel is positive semi-definite, where it is not. Refused, warned and "
    "broken are programs: data that a fit refuses in a sentence, fits that say that they did not converge, and what "
    "must not happen. `--seed {seed} --only NUMBER` finds a program again."
)
COLUMNS = ("fits", "converged", "warned", "refused", "undecided", "false", "late", "leaks", "broken")


def kind_of(seed: int, number: int) -> str:
    """Return the kind of a program, always and everywhere the same."""
    shares = np.cumsum([share for share, _, _ in KINDS.values()])
    place = np.random.default_rng([seed, number, len("kind")]).random() * shares[-1]
    return list(KINDS)[int(np.searchsorted(shares, place, side="right"))]


def verdicts(
    seed: int,
    minutes: float,
    only: int | None = None,
    limit: float = LIMIT,
    programs: int | None = None,
    kinds: tuple[str, ...] = (),
) -> Iterator[Verdict]:
    """Yield the programs 0, 1, 2, ... until the time or the number of programs is over, or a single one.

    limit : seconds for a program
    kinds : those that are judged, all by default; the numbers of others are left out
    """
    numbers: Iterable[int] = [only]
    if only is None:
        some = (number for number in count() if not kinds or kind_of(seed, number) in kinds)
        numbers = some if programs is None else islice(some, programs)
    worker = _Worker(seed, limit)
    try:
        worker.start()
        started = monotonic()
        with tqdm(total=programs, unit=" programs", disable=None) as bar:
            for number in numbers:
                yield worker.judge(number)
                bar.update()
                if monotonic() - started > 60 * minutes:
                    return
    finally:
        worker.stop()


class _Worker:
    """The process that fits."""

    def __init__(self, seed: int, limit: float) -> None:
        self.seed, self.limit = seed, limit
        self.process: Any = None

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.here, there = context.Pipe()
        self.process = context.Process(target=_work, args=(there, self.seed), daemon=True)
        self.process.start()
        there.close()
        if not self.here.poll(START):
            raise RuntimeError(f"The process that fits did not start within {START:g} s.")
        self.here.recv()

    def judge(self, number: int) -> Verdict:
        self.here.send(number)
        try:
            if self.here.poll(self.limit):
                return self.here.recv()
            lost = f"no end within {self.limit:g} s"
        except EOFError:
            self.process.join()
            lost = f"the process ended with status {self.process.exitcode}"
        self.stop()
        self.start()
        return Verdict(number, outcome="broken", kind=kind_of(self.seed, number), broken=[lost])

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.here.close()


def _work(there: Connection, seed: int) -> None:
    """Judge the programs whose numbers come, after the programs that make the compiler work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _warm_up()
    there.send(None)
    while True:
        number = there.recv()
        kind = kind_of(seed, number)
        try:
            verdict = KINDS[kind][2](seed, number)
        except Exception:
            verdict = Verdict(number, outcome="broken", broken=[traceback.format_exc()])
        verdict.kind = kind
        there.send(verdict)


def _warm_up() -> None:
    """Compile before the clock runs."""
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n in (30, 1100):
            X = rng.normal(size=(n, 3))
            y = (X[:, 0] > 0).astype(int)
            for name, estimator in ESTIMATORS.items():
                parameters = {} if name == "OneClassSVM" or n > 30 else {"bias": "augmented"}
                for rows in (X, X.astype(np.float32)):
                    estimator(**parameters).fit(rows, y)


class Table:
    """Counts by kind, and by estimator, kernel and trait."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {}
        self.of_kinds: dict[str, Counter[str]] = {}
        self.kinds: Counter[tuple[str, str]] = Counter()
        self.wrong: list[tuple[int, str]] = []

    def add(self, seed: int, one: Verdict) -> None:
        found = Counter({"fits": 1, "late": int(one.late), one.outcome: 1})
        found.update({name: int(bool(getattr(one, name))) for name in ("undecided", "false", "leaks")})
        found["broken"] = int(bool(one.broken))
        whole = Counter({"programs": 1, "claims": one.claims, one.outcome: 1})
        whole.update({name: len(getattr(one, name)) for name in ("undecided", "false", "leaks")})
        whole["broken"] = int(bool(one.broken))
        self.of_kinds.setdefault(one.kind, Counter()).update(whole)
        for row in ("all", one.estimator or "lost", one.kernel or "lost", *one.traits):
            self.counts.setdefault(row, Counter()).update(found)
        self.kinds.update(("false", kind) for kind in {kind for kind, _ in one.false})
        self.kinds.update(("undecided", kind) for kind in {kind for kind, _ in one.undecided})
        wrong = [*one.broken, *one.leaks, *(f"{kind}: {text}" for kind, text in one.false)]
        if wrong:
            rank = 0 if one.broken or one.leaks else min(_rank(kind) for kind, _ in one.false)
            head = f"--seed {seed} --only {one.number}  {one.kind}: {one.told}"
            self.wrong.append((rank, "\n    ".join([head, *wrong[:SENTENCES]])))

    @property
    def failed(self) -> int:
        """The programs with a fault."""
        return len(self.wrong)

    def rows(self) -> list[dict[str, Any]]:
        """Return the counts of each kind: claims that are false or undecided, and programs of the other columns."""
        known = [kind for kind in KINDS if kind in self.of_kinds]
        return [
            {"kind": kind, "what": KINDS[kind][1], **{name: self.of_kinds[kind][name] for name in COUNTED}}
            for kind in known
        ]

    def text(self) -> str:
        """Return the tables, and the faults in words."""
        first = ["all", *ESTIMATORS]
        names = [*[row for row in first if row in self.counts], *sorted(self.counts.keys() - set(first))]
        width = max(map(len, names), default=0)
        out = [f"{'kind':<{width}}" + "".join(f"{column:>11}" for column in COUNTED)]
        out += [f"{row['kind']:<{width}}" + "".join(f"{row[c]:>11}" for c in COUNTED) for row in self.rows()]
        out += ["", " " * width + "".join(f"{column:>11}" for column in COLUMNS)]
        out += [f"{name:<{width}}" + "".join(f"{self.counts[name][c]:>11}" for c in COLUMNS) for name in names]
        out += ["", *(f"{number:>7} {what}: {kind}" for (what, kind), number in sorted(self.kinds.items()))]
        wrong = [text for _, text in sorted(self.wrong, key=lambda one: one[0])]
        more = [f"... and {len(wrong) - PROGRAMS_SHOWN} programs more"] if len(wrong) > PROGRAMS_SHOWN else []
        return "\n".join([*out, "", *wrong[:PROGRAMS_SHOWN], *more])


def _rank(kind: str) -> int:
    """Rank the worst first: faults beyond rounding, of a fit that did not warn."""
    return 2 * (ROUNDING in kind) + (WARNED in kind)
