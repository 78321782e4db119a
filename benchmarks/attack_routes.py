"""Each optimisation of the route switched off in turn: whatever the route, the proven intervals overlap.

A fit chooses its route by a table. Here the table's answer is changed before it is used, so that the same program is
solved without batches, without shared or stored values, in small blocks, in parts, without Newton steps, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
from tests.twins.fitted import Task, programs

from adatron.fitting import engine
from adatron.solvers import Route, choose_route
from adatron.solvers.base import Way

from .attack_programs import Case, program
from .attack_verdict import Verdict, centred, fitted, may_bend, values_of, weighed

LARGEST, RECOMPUTED = 500, 160  # Most samples of a program, and of one whose claims are all recomputed.
SMALL_BLOCK = 16  # Variables of a block, so that small programs go the way of large ones.
ROUNDED = 2.0**-50  # Fraction of an end that is its rounding.


def _blocks(route: Route, way: Way) -> Route:
    ways = np.where(route.ways == Way.TRIVIAL, Way.TRIVIAL, way).astype(np.int8)
    return replace(route, ways=ways, then=ways, block=SMALL_BLOCK, whole=2 * SMALL_BLOCK, shared=False, held=False)


def _alone(route: Route) -> Route:
    return replace(route, ways=route.then)


def _not_at_once(route: Route) -> Route:
    ways, then = (np.where(own == Way.DENSE, Way.ONE_BLOCK, own).astype(np.int8) for own in (route.ways, route.then))
    return replace(route, ways=ways, then=then)


#: What is switched off: words, and the route without it. Blocks are small from "whole blocks" on.
SWITCHES: dict[str, Callable[[Route], Route]] = {
    "as chosen": lambda route: route,
    "no batches": _alone,
    "no batches, nothing shared": lambda route: replace(_alone(route), shared=False, held=False),
    "not in one go": lambda route: _not_at_once(_alone(route)),
    "one at a time": lambda route: replace(route, concurrent=1),
    "the other threads": lambda route: replace(route, light=not route.light),
    "no whole blocks": lambda route: _blocks(route, Way.DECOMPOSE),
    "in parts": lambda route: _blocks(route, Way.SHRUNKEN),
    "all rows stored": lambda route: replace(_blocks(route, Way.DECOMPOSE), slots=route.variables),
    "no Newton steps": lambda route: replace(_blocks(route, Way.DECOMPOSE), memory=0.0),
    "float32": lambda route: replace(_blocks(route, Way.DECOMPOSE), single=True),
    "float32, in parts": lambda route: replace(_blocks(route, Way.SHRUNKEN), single=True),
    "float32, one block": lambda route: replace(_not_at_once(_alone(route)), single=True, shared=False, held=False),
}


def routes(seed: int, number: int) -> Verdict:
    """Fit a program by each route, and compare the intervals in which the optimum is proven to be."""
    case = _case(seed, number)
    told = f"{case.estimator} {case.spec} {case.X.shape} {case.parameters} {', '.join(case.traits)}"
    verdict = Verdict(number, case.estimator, case.kernel, case.traits, told)
    ends: list[tuple[str, Any, Any]] = []
    matrix = values_of(case.spec, case.X, case.parameters) if case.X.shape[0] <= RECOMPUTED else None
    for name, change in SWITCHES.items():
        one = Verdict(number)
        with _changed(change):
            model = fitted(case.fit, one)
        _add(verdict, one, name)
        if model is None:
            if not ends and not one.broken:  # data that is refused, by any route
                return verdict
            continue
        if matrix is not None:
            tasks = programs(Task(case.estimator, case.parameters, case.X, case.y, case.weight), model)
            weighed(centred(tasks, matrix[0]), model, case.parameters, matrix, one)
            _add(verdict, one, name)
        low, high, gap = (np.atleast_1d(getattr(model, f"{end}_"))
                          for end in ("dual_objective", "primal_objective", "duality_gap"))  # fmt: skip
        known = np.isfinite(gap)
        ends.append((name, np.where(known, low, -np.inf), np.where(known, high, np.inf)))
        overlap(ends, verdict)
    return verdict


def _case(seed: int, number: int) -> Case:
    """Return the first program of a sequence that has a convex kernel, a default solver and few samples."""
    for k in count():
        case = program(seed, (number << 16) + k)
        small = case.X.shape[0] <= LARGEST and "solver" not in case.parameters
        if small and not may_bend(case.spec):
            case.parameters.pop("precision", None)
            return case
    raise AssertionError


def _add(verdict: Verdict, one: Verdict, name: str) -> None:
    """Add what was found on a route; its name stands before each sentence."""
    if one.outcome and (verdict.outcome in ("", "converged") or one.outcome == "broken"):
        verdict.outcome = one.outcome
    verdict.claims, one.claims = verdict.claims + one.claims, 0
    for kind in ("false", "undecided"):
        getattr(verdict, kind).extend((what, f"{name}: {text}") for what, text in getattr(one, kind))
        getattr(one, kind).clear()
    verdict.broken += [f"{name}: {text}" for text in one.broken]
    verdict.leaks += [f"{name}: {text}" for text in one.leaks]
    verdict.late |= one.late
    one.broken, one.leaks = [], []


def overlap(ends: list[tuple[str, Any, Any]], verdict: Verdict) -> None:
    """Compare the last interval with all before it."""
    name, low, high = ends[-1]
    verdict.claims += len(ends) - 1
    for other, least, most in ends[:-1]:
        below = np.maximum(low, least) - np.minimum(high, most)
        with np.errstate(invalid="ignore"):
            apart = below > ROUNDED * np.minimum(np.abs(high), np.abs(most))
        if apart.any():
            k = int(np.argmax(apart))
            text = f"problem {k}: [{low[k]:.16e}, {high[k]:.16e}] {name}, [{least[k]:.16e}, {most[k]:.16e}] {other}"
            verdict.false.append(("intervals", text))


@contextmanager
def _changed(change: Callable[[Route], Route]) -> Iterator[None]:
    """Let fits go by another route than the one that the table says."""

    def chosen(*given: Any) -> Route:
        return change(choose_route(*given))

    engine.choose_route = chosen
    try:
        yield
    finally:
        engine.choose_route = choose_route
