"""The steps of ``cuda/blocks.cu`` in NumPy, one block at a time: slow, and plain to read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adatron.compiled.search import CHECK, FORBIDDEN, ROUNDING_UNIT

CURVATURE_ROUNDING = {4: 4.8e-7, 8: 9.2e-16}  # Curvature, as a fraction of the diagonal, that is rounding.


class _BlockState:
    """A block on its way, in the variables whose entries of A are 1."""

    def __init__(self, K: NDArray[Any], beta: Any, g: Any, lower: Any, upper: Any, epsilon: float) -> None:
        self.K, self.beta, self.g, self.lower, self.upper, self.epsilon = K, beta, g, lower, upper, epsilon
        self.diagonal = K.diagonal().copy()
        self.floor = K.dtype.type(np.abs(self.diagonal).max() * CURVATURE_ROUNDING[K.itemsize] + 1e-37)
        self.grow, self.shrink = np.empty_like(g), np.empty_like(g)
        self._slopes(slice(None))

    def _slopes(self, which: Any) -> None:
        """Set what growth and shrinkage of variables add to -g and to g."""
        beta, e = self.beta[which], self.epsilon
        self.grow[which] = np.where(beta >= self.upper[which], -FORBIDDEN, np.where(beta >= 0.0, -e, e))
        self.shrink[which] = np.where(beta <= self.lower[which], -FORBIDDEN, np.where(beta > 0.0, e, -e))

    def ends(self, i: int) -> tuple[float, float]:
        """Return how far a variable may shrink and grow in a step: to a bound, or to the kink at 0."""
        kinked, beta = self.epsilon > 0.0, self.beta[i]
        low = 0.0 if kinked and beta > 0.0 else self.lower[i]
        return low, 0.0 if kinked and beta < 0.0 else self.upper[i]

    def exchange(self, i: int, j: int, m: Any, against: Any, grows: bool, alone: bool) -> None:
        """Move i, and j against it unless i moves alone, to the best point or the first bound.

        The length of a step has the type of K, but a step up to a bound is as long as the room is in float64.
        """
        K, side, real = self.K, 1.0 if grows else -1.0, self.K.dtype.type
        end_i, end_j, room_j = self.ends(i)[grows], 0.0, np.inf
        room_i = side * (end_i - self.beta[i])
        curve, slope = max(K[i, i], self.floor), m
        if not alone:
            end_j = self.ends(j)[not grows]
            room_j = side * (self.beta[j] - end_j)
            curve, slope = max(K[i, i] + K[j, j] - 2 * K[i, j], self.floor), m + against
        room = min(room_i, room_j)
        length = min(slope / curve, real(room))
        d = room if length >= real(room) else float(length)
        self._set(i, end_i, side * d, d == room_i)
        change = real(side) * length * K[i]
        if not alone:
            self._set(j, end_j, -side * d, d == room_j)
            change = change - real(side) * length * K[j]
        self.g += change

    def _set(self, i: int, end: float, change: float, ends: bool) -> None:
        old, lower, upper = self.beta[i], self.lower[i], self.upper[i]
        value, crumb = old + change, ROUNDING_UNIT * max(abs(old), abs(change))
        if ends:
            value = end
        elif value - lower <= crumb:
            value = lower
        elif upper - value <= crumb:
            value = upper
        elif abs(value) <= crumb:
            value = 0.0
        self.beta[i] = value
        self._slopes(slice(i, i + 1))


def solved(
    K: NDArray[Any], old: Any, g: Any, lower: Any, upper: Any, valid: Any, sign: Any, group: Any,
    tol: float, most: int, epsilon: float, groups: int,
) -> tuple[NDArray[np.float64], int]:  # fmt: skip
    """Return better values of a block's variables, and the steps taken."""
    lower, upper = np.where(valid, lower, old), np.where(valid, upper, old)
    signs = np.ones(len(old)) if sign is None else sign.astype(np.float64)
    plus, beta, g = signs > 0.0, signs * old, (signs * g).astype(K.dtype)
    if sign is not None:
        K = K * np.outer(signs, signs).astype(K.dtype)
    low, high = np.where(plus, lower, -upper), np.where(plus, upper, -lower)
    walk = _BlockState(K, beta, g, low, high, epsilon)
    used = _pairs(walk, group, tol, most, max(1, groups)) if groups else _singles(walk, tol, most)
    return np.where(beta == signs * old, old, signs * beta), used


def _pairs(walk: _BlockState, group: Any, tol: float, most: int, groups: int) -> int:
    turn = calm = step = 0
    while step < most:
        own = np.ones(len(walk.g), bool) if group is None else group == turn
        up = np.where(own, walk.grow - walk.g, -4 * FORBIDDEN)
        i = int(np.argmax(up))
        against = np.where(own, walk.g + walk.shrink, -4 * FORBIDDEN)
        j, done = i, up[i] < -FORBIDDEN / 2
        if not done:
            far = np.maximum(up[i] + against, 0)
            gains = far * far / np.maximum(walk.K[i, i] + walk.diagonal - 2 * walk.K[i], walk.floor)
            j = int(np.argmax(gains))
            done = not gains[j] > 0 or ((step // groups) % CHECK == 0 and up[i] + against.max() <= tol)
        if done:
            calm += 1
            if calm >= groups:
                break
        else:
            calm = 0
            walk.exchange(i, j, up[i], against[j], grows=True, alone=False)
        turn, step = (turn + 1) % groups, step + 1
    return step


def _singles(walk: _BlockState, tol: float, most: int) -> int:
    for step in range(most):
        up, down = walk.grow - walk.g, walk.shrink + walk.g
        slope = np.maximum(np.maximum(up, down), 0)
        gains = slope * slope / np.maximum(walk.diagonal, walk.floor)
        i = int(np.argmax(gains))
        if not gains[i] > 0 or (step % CHECK == 0 and slope.max() <= tol):
            return step
        grows = bool(up[i] >= down[i])
        against = down if grows else up
        far = np.maximum(slope[i] + against, 0)
        both = far * far / np.maximum(walk.K[i, i] + walk.diagonal - 2 * walk.K[i], walk.floor)
        j = int(np.argmax(both))
        alone = j == i or not both[j] > gains[i]
        walk.exchange(i, j, slope[i], against[j], grows, alone)
    return most
