"""The certificate of a fitted model in long double, from the data, the parameters and the public attributes alone.

No code of the library takes part: kernel values come from ``values``, by differences; the program of each estimator,
its violation and its gap are written here again, from their definitions. Long double has a mantissa of 64 bits on x86,
so these numbers are 2,000 times as accurate as the library's. Where long double is float64 (Windows, ARM on macOS) the
error bounds below grow with its rounding and nearly every comparison is undecided; none becomes wrong.

Every number is an interval: the value at the coefficients as stored, and what it is at least given the checker's own
rounding. A claim is false only if it is below the latter.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .values import L, Matrix, U, depth, total

COMMON = 2.0**-49  # relative error of the sums of a fit in float64, commonly
UNIT = 2.0**-53  # relative rounding of a float64
PRODUCT = 16  # roundings of a bound, a product of weights, and one more for each sample: so near to it is at it
Vector = NDArray[L]


class Program(NamedTuple):
    """minimise 1/2 b'(K + lambda^2 + diag(R))b - t'b + epsilon |b|_1, lower <= b <= upper, A b = s, and a point of it.

    rows : (m,) row of K of each variable; several may share one
    row, sign : (m,) the equality it is in, and its entry there; ``totals`` is s, empty without an equality
    lacking : what the coefficients >= 0, and minus those <= 0, of the same samples lack of their sums: of two
        coefficients of a sample only the sum is known
    fuzzy : relative error of the coefficients, which are stored divided by the margin
    unit : what the coefficients are divided by
    """

    rows: NDArray[np.int64]
    beta: Vector
    t: Vector
    lower: Vector
    upper: Vector
    totals: tuple[Any, ...] = ()
    row: Any = 0
    sign: Any = 1
    epsilon: float = 0.0
    lambda2: Any = L(0)
    lacking: Any = 0
    fuzzy: float = 0.0
    unit: float = 1.0
    hard: bool = False  # a hard margin
    ridge: Any = 0  # (m,) R, where errors cost their square; 0 without


class Interval(NamedTuple):
    """The value, and what it is at least."""

    value: float
    least: float


class Truth(NamedTuple):
    """What is true of the point of a program.

    violation, gap : KKT violation, and duality gap at the best multipliers, relative to the objective: the smaller
        size of both bounds of the optimum, or infinite if they have not one sign
    primal, dual : objectives, to be read as in the primal
    low, high : the optimum is between them, in units of the model
    excess : the most that a coefficient is beyond its bound, relative to the bound
    missed : the most that a sum is off, relative to the sum of absolute values and the total
    grain, grains : what float64 sums commonly lose in a slope, and in the gap, relative as it is
    split : whether coefficients of which only the sum is known were chosen, so that others may violate less
    size : number of samples
    """

    violation: Interval
    gap: Interval
    primal: float
    dual: float
    low: float
    high: float
    excess: float
    missed: float
    grain: float
    grains: float
    split: bool
    size: int


@np.errstate(invalid="ignore")  # infinite bounds
def truth(program: Program, K: Matrix, error: Matrix) -> Truth:
    """Measure the point. ``error`` bounds the rounding of the entries of K."""
    p = program
    own = np.ix_(p.rows, p.rows)
    small = len(p.rows) == len(set(p.rows.tolist()))
    K, error, beta, back = (K[own], error[own], p.beta, slice(None)) if small else _folded(p, K, error)
    terms, length = K * beta, total(np.abs(p.beta))
    size = total(np.abs(terms)) + abs(p.lambda2) * length
    f = (total(terms) + p.lambda2 * total(beta))[back]
    e = total(error * np.abs(beta)) + (depth(len(p.beta)) + 3 + L(p.fuzzy) / U) * U * size
    own = p.ridge * p.beta
    e = e[back] + 2.0 * U * np.abs(p.t) + 4.0 * U * np.abs(own)
    g = f + own - p.t
    if p.lacking:
        p, length = _split(p, g), length + 2 * p.lacking
    sums = _sums(p)
    norm2, linear = total(p.beta * f), total(p.beta * p.t)
    dual = linear - 0.5 * (norm2 + total(p.beta * own)) - p.epsilon * length
    noise = total(np.abs(p.beta) * (e + depth(len(p.beta)) * U * (np.abs(f) + np.abs(own) + np.abs(p.t))))
    gap = _hard(p, f, e, norm2, dual, noise) if p.hard else _gap(p, g, e, sums)
    level = max(dual, -dual - gap.value)
    relative = Interval(_ratio(gap.value, level), _ratio(gap.least, max(dual + noise, noise - dual - gap.least)))
    up, down = _slopes(p, g)
    violation = Interval(_violation(p, up, down), _violation(p, up - e, down - e))
    sizes = [max(length + abs(aim), np.finfo(L).tiny) for aim in p.totals]  # of the terms of A b - s
    missed = max((abs(miss) / one for miss, one in zip(sums, sizes, strict=True)), default=0.0)
    low, high = _ends(p, g, e, sums, dual, gap, noise)
    grain = COMMON * (size[back] + np.abs(p.t))
    return Truth(
        violation,
        relative,
        primal=float(dual + gap.value),
        dual=float(dual),
        low=float(low),
        high=float(high),
        excess=_excess(p),
        missed=float(missed),
        grain=float(grain.max()),
        grains=_ratio((np.abs(p.beta) * grain).sum(), level),
        split=bool(p.lacking),
        size=len(beta),
    )


def without_bias(p: Program, K: Matrix) -> Program:
    """The program with targets less the mean of the multipliers, each the middle of what its variables allow.

    What the coefficients lack of their sums makes some of them free, so they get it first.
    """
    g = K[np.ix_(p.rows, p.rows)] @ p.beta + p.lambda2 * total(p.beta) + p.ridge * p.beta - p.t
    up, down = _slopes(_split(p, g) if p.lacking else p, g)
    middles = []
    for tie, aim in _members(p):
        ends = np.array([up[tie].max(initial=-np.inf), -down[tie].max(initial=-np.inf)])
        if aim is not None and np.isfinite(ends).any():
            middles.append(ends[np.isfinite(ends)].mean())
    return p._replace(t=p.t - np.mean(middles)) if middles else p


def _ends(p: Program, g: Vector, e: Vector, sums: list[Any], dual: Any, gap: Interval, noise: Any) -> tuple[Any, Any]:
    """What the optimum is at least and at most: the dual at a point that is moved into the program, and the primal."""
    steep = np.abs(g) + e + L(p.epsilon)
    moved = sum(abs(miss) for miss in sums) * steep.max(initial=0.0)
    low = dual - noise - moved - max(0.0, _excess(p)) * total(np.abs(p.beta) * steep)
    width = np.maximum(np.maximum(-p.lower, p.upper), np.abs(p.beta))
    if np.ndim(p.ridge):  # no bound, but the square, limits what an error of the slope costs
        middle = (
            _bottom(lambda mu: total((p.beta - _terms(p, g + mu * p.sign)[1]) * p.sign), g)[-1] if p.totals else L(0)
        )
        width = np.abs(p.beta) + np.abs(_terms(p, g + middle * p.sign)[1]) + (e + L(p.epsilon) * U) / p.ridge
    high = L(np.inf) if p.hard else dual + gap.value + noise + 2 * total(e * width)
    return low * p.unit**2, high * p.unit**2


def _ratio(value: Any, level: Any) -> float:
    return float(value / level) if level > 0 and np.isfinite(value) else float(value and np.inf)


def _excess(p: Program) -> float:
    """The most that a coefficient is beyond its bounds, relative to the larger one; to itself if that is infinite."""
    size = np.maximum(np.abs(p.lower), np.abs(p.upper))
    size = np.where(np.isinf(size), np.abs(p.beta), size)
    over = np.maximum(p.beta - p.upper, p.lower - p.beta)
    return float((np.maximum(over, 0.0) / np.maximum(size, np.finfo(L).tiny)).max(initial=0.0))


def _folded(p: Program, K: Matrix, error: Matrix) -> tuple[Matrix, Matrix, Vector, NDArray[np.int64]]:
    """One variable for each row of K, and which of them each variable of the program belongs to."""
    rows, back = np.unique(p.rows, return_inverse=True)
    beta = np.zeros(len(rows), L)
    np.add.at(beta, back, p.beta)
    return K[np.ix_(rows, rows)], error[np.ix_(rows, rows)], beta, back


def _split(p: Program, g: Vector) -> Program:
    """Add to both coefficients of some samples what the sums lack, which changes neither the function nor the gap.

    A sample whose coefficients are inside their boxes violates by as much as others can gain against it; those for
    which this is least are taken first.
    """
    n = len(p.beta) // 2
    plus, minus = p.beta[:n], p.beta[n:]
    up, down = _slopes(p, g)
    cost = np.maximum(up[:n].max() + g[:n], down[n:].max() - g[:n]) if np.ndim(p.row) else np.abs(g[:n])
    order = np.argsort(cost, kind="stable")
    room = np.minimum(p.upper[:n] - plus, minus - p.lower[n:])[order]
    taken = np.zeros(n, L)
    taken[order] = np.clip(p.lacking - (np.cumsum(room) - room), 0, room)
    return p._replace(beta=np.concatenate([plus + taken, minus - taken]))


def _members(p: Program) -> list[tuple[NDArray[np.bool_], Any]]:
    """The variables of each equality, and its total; of none: all of them, once."""
    row = np.broadcast_to(p.row, p.beta.shape)
    return [(row == r, aim) for r, aim in enumerate(p.totals)] or [(np.ones(len(p.beta), bool), None)]


def _sums(p: Program) -> list[Any]:
    """A b - s."""
    part = p.beta * p.sign
    return [total(part[tie]) - aim for tie, aim in _members(p) if aim is not None]


def _slopes(p: Program, g: Vector) -> tuple[Vector, Vector]:
    """What the objective falls by as a variable grows and as it shrinks, per unit; -inf where it cannot.

    |b| has a kink at 0. A variable within a few roundings of its bound counts as being there.
    """
    eps, inside = L(p.epsilon), 1 - L((PRODUCT + len(p.beta)) * UNIT)
    up, down = -g - np.where(p.beta >= 0, eps, -eps), g + np.where(p.beta > 0, eps, -eps)
    can_grow = (p.beta < p.upper) & ~((p.upper > 0) & (p.beta >= p.upper * inside))
    can_shrink = (p.beta > p.lower) & ~((p.lower < 0) & (p.beta <= p.lower * inside))
    return np.where(can_grow, up, -np.inf), np.where(can_shrink, down, -np.inf)


def _violation(p: Program, up: Vector, down: Vector) -> float:
    """The most that a variable gains; with equalities: the most that a pair in one of them gains."""
    up, down = np.where(np.asarray(p.sign) > 0, up, down), np.where(np.asarray(p.sign) > 0, down, up)
    if not p.totals:
        return float(max(0.0, up.max(initial=-np.inf), down.max(initial=-np.inf)))
    pairs = [up[tie].max(initial=-np.inf) + down[tie].max(initial=-np.inf) for tie, _ in _members(p)]
    return float(max(0.0, *pairs))


def _terms(p: Program, h: Vector) -> tuple[Vector, Vector]:
    """max over v in the box of h (b - v) + epsilon (|b| - |v|), and the v that attains it, 0 among them."""
    eps, zero = L(p.epsilon), np.clip(L(0), p.lower, p.upper)
    if np.ndim(p.ridge):
        return _bent(p, h)
    best, at = np.full(h.shape, -np.inf, L), np.zeros(h.shape, L)
    for v, side in ((p.lower, 1), (zero, 0), (p.upper, -1)):
        near = np.where(np.isinf(v), 0, v)  # an infinite bound pays infinitely, or nothing
        gain = h * (p.beta - near) + eps * (np.abs(p.beta) - np.abs(near))
        gain = np.where(np.isinf(v), np.where(side * h > eps, np.inf, -np.inf), gain)
        at = np.where(gain > best, v, at)
        best = np.maximum(best, gain)
    return best, at


def _bent(p: Program, h: Vector) -> tuple[Vector, Vector]:
    """The same with a ridge: max over v of h (b - v) - R / 2 (b - v)^2 + epsilon (|b| - |v|), for each sign of v."""
    eps, best, at = L(p.epsilon), np.full(h.shape, -np.inf, L), np.zeros(h.shape, L)
    for side in (1, -1):
        low, high = (np.maximum(p.lower, 0), p.upper) if side > 0 else (p.lower, np.minimum(p.upper, 0))
        v = np.clip(p.beta - (h + side * eps) / p.ridge, low, high)
        off = p.beta - v
        gain = np.where(low <= high, h * off - 0.5 * p.ridge * off**2 + eps * (np.abs(p.beta) - np.abs(v)), -np.inf)
        best, at = np.maximum(best, gain), np.where(gain > best, v, at)
    return best, at


def _least(p: Program, h: Vector, e: Vector) -> tuple[Vector, Vector]:
    """The least that a term may be if h is known up to e, and its slope: it is convex, >= 0, and 0 somewhere."""
    (low, at_low), (high, at_high) = _terms(p, h - e), _terms(p, h + e)
    turns = (p.beta - at_low <= 0) & (p.beta - at_high >= 0)
    slope = p.beta - np.where(low < high, at_low, at_high)
    return np.where(turns, 0.0, np.minimum(low, high)), np.where(turns, 0.0, slope)


def _gap(p: Program, g: Vector, e: Vector, sums: list[Any]) -> Interval:
    """The sum of the terms at the multipliers that make it smallest, and minus mu'(A b - s)."""
    value = least = L(0)
    for r, (tie, aim) in enumerate(_members(p)):
        ridge = p.ridge[tie] if np.ndim(p.ridge) else p.ridge
        part = p._replace(beta=p.beta[tie], lower=p.lower[tie], upper=p.upper[tie], ridge=ridge)
        if aim is None:
            found = Interval(total(_terms(part, g)[0]), total(_least(part, g, e)[0]) * (1 - _rounding(part)))
        else:
            sign = np.broadcast_to(p.sign, p.beta.shape)[tie].astype(L)
            found = _best(part, g[tie], e[tie], sign, sums[r])
        value, least = value + found.value, least + found.least
    return Interval(value, max(L(0), least))


def _rounding(p: Program) -> Any:
    """Relative rounding of a sum of terms, all of which are >= 0."""
    return (depth(len(p.beta)) + 4) * U


def _best(p: Program, g: Vector, e: Vector, sign: Vector, miss: Any) -> Interval:
    """The gap of the variables of one equality at its best multiplier.

    It is convex in mu and linear between the kinks of the terms, so that one of these is the best.
    """

    def exact(mu: Any) -> tuple[Any, Any]:
        terms, at = _terms(p, g + mu * sign)
        return total(terms) - mu * miss, _total_slope(sign * (p.beta - at)) - miss

    def at_least(mu: Any) -> tuple[Any, Any]:
        terms, slope = _least(p, g + mu * sign, e + U * abs(mu))
        least = total(terms) * (1 - _rounding(p)) if np.isfinite(terms).all() else L(np.inf)
        return least - mu * miss - abs(mu) * _rounding(p) * length, _total_slope(sign * slope) - miss

    near, length = -sign * g, total(np.abs(p.beta))
    if np.ndim(p.ridge):  # without kinks
        value = min(exact(mu)[0] for mu in _bottom(lambda mu: exact(mu)[1], near))
        return Interval(value, min(value, *(at_least(mu)[0] for mu in _bottom(lambda mu: at_least(mu)[1], near))))
    kinks = np.concatenate([near - L(p.epsilon), near + L(p.epsilon)])
    around = np.concatenate([kinks - np.tile(e, 2), kinks + np.tile(e, 2)])
    value = _smallest(exact, np.unique(kinks))
    return Interval(value, min(value, _smallest(at_least, np.unique(around))))


def _bottom(slope: Any, near: Vector) -> Vector:
    """Points among which a convex function is smallest: where its slope turns, between all ``near`` or beyond them.

    Where the function is flat they are both ends of it, and the middle.
    """
    far = 2 * np.abs(near).max(initial=0.0) + 1
    ends = []
    for turned in (lambda at: at >= 0, lambda at: at > 0):
        low, high = -far, far
        for _ in range(200):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if turned(slope(middle)) else (middle, high)
        ends += [low, high]
    return np.array([*ends, np.mean(ends)], L)


def _total_slope(slopes: Vector) -> Any:
    """Their sum; of infinite ones on both sides nothing can be said."""
    with np.errstate(invalid="ignore"):
        return total(slopes)


def _smallest(function: Any, kinks: Vector) -> Any:
    """The least value of a convex function, linear between its kinks, from its values and slopes.

    Between kinks that are only a rounding apart the values do not tell which way is down; the slopes do.
    """
    low, high = 0, len(kinks) - 1
    while low < high:
        middle = (low + high) // 2
        _, slope = function(kinks[middle])
        if np.isnan(slope):  # infinite on both sides: it is finite nowhere, or a kink is as good as any other
            return min(function(mu)[0] for mu in kinks)
        low, high = (middle + 1, high) if slope < 0 else (low, middle)
    return min(function(kinks[k])[0] for k in range(max(0, low - 3), min(len(kinks), low + 4)))


def _hard(p: Program, f: Vector, e: Vector, norm2: Any, dual: Any, noise: Any) -> Interval:
    """A hard margin: w and b divided by the smallest margin, which the best b makes as large as it can be."""

    def margin(f: Vector) -> Any:
        plus, minus = f[p.t > 0], f[p.t < 0]
        if not p.totals:
            return (p.t * f).min()
        return 0.5 * (plus.min() - minus.max()) if len(plus) and len(minus) else L(np.inf)

    m, widest = margin(f), margin(f + p.t * e)
    value = 0.5 * norm2 / m**2 - dual if m > 0 else L(np.inf)
    least = 0.5 * (norm2 - noise) / widest**2 - dual - noise if widest > 0 else L(np.inf)
    return Interval(max(value, L(0)), max(least, L(0)))


def lowest_eigenvalue(K: Matrix) -> float:
    """The smallest eigenvalue of the symmetric part in units of the largest entry, to float64."""
    largest = np.abs(K).max(initial=0.0)
    if largest == 0.0:
        return 0.0
    scaled = (0.5 * (K + K.T) / largest).astype(np.float64)
    return float(np.linalg.eigvalsh(scaled)[0])
