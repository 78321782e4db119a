"""The one loop of proposals and proofs, with a proposer that reads its part from a script; the next tolerance.

Also tested here: ``solution``, ``status`` and ``tolerance``.
"""

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.certificates import Certificate
from adatron.solvers.base import Options
from adatron.solvers.loop import AIM, LARGEST_SHARE, LEAST_SHARE, rounding_error, tolerance_for_gap, until_proven
from adatron.solvers.results import Status

FAR, NEAR, WIDE = (Certificate(1.0, gap, violation) for gap, violation in ((9.0, 1.0), (1e-9, 1e-4), (0.5, 1e-4)))
LOST = Certificate(1.0, float("inf"), float("inf"), resolution=float("inf"))


@dataclass
class Scripted:
    """Proposes, proves and tightens as its lists say."""

    reached: list[Status]
    proofs: list[Certificate]
    following: list[float | Status] = field(default_factory=list)
    asked: list[float] = field(default_factory=list)

    def propose(self, tol):
        self.asked.append(tol)
        return self.reached.pop(0), tol

    def prove(self):
        return self.proofs.pop(0)

    def tighten(self, tol, proof):
        return self.following.pop(0)


def run(reached, proofs, *following, gap_tol=None):
    scripted = Scripted(list(reached), list(proofs), list(following))
    status, proof = until_proven(scripted, 1e-3, Options(tol=1e-3, gap_tol=gap_tol))
    assert [scripted.reached, scripted.proofs, scripted.following] == [[], [], []]
    return status, proof, scripted.asked


C, STUCK, LIMITS = Status.CONVERGED, Status.STUCK, (Status.MAX_ITER, Status.MAX_TIME, Status.STOPPED)
SCRIPTS = {  # what is reached and proven, what follows; the end and the tolerances that were asked for
    "a proof that suffices ends it": ([C], [NEAR], [], C, [1e-3]),
    "one that falls short asks for less": ([C] * 3, [FAR, FAR, NEAR], [5e-4, 1e-4], C, [1e-3, 5e-4, 1e-4]),
    "a large gap suffices if none is asked for": ([C], [WIDE], [], C, [1e-3]),
    "steps that are stuck may have arrived": ([STUCK], [NEAR], [], C, [1e-3]),
    "or not": ([STUCK], [FAR], [], STUCK, [1e-3]),
    "whoever tightens may end it": ([C], [FAR], [STUCK], STUCK, [1e-3]),
    "numbers that overflow end it": ([Status.MAX_TIME], [LOST], [], Status.OVERFLOW, [1e-3]),
    **{f"{one.name} stays whatever is proven": ([one], [NEAR], [], one, [1e-3]) for one in LIMITS},
}


@pytest.mark.parametrize(("reached", "proofs", "following", "status", "asked"), SCRIPTS.values(), ids=SCRIPTS)
def test_proposals_go_on_until_a_proof_suffices_or_nothing_can(reached, proofs, following, status, asked):
    assert run(reached, proofs, *following) == (status, proofs[-1], asked)


def test_a_gap_that_is_too_large_falls_short_if_one_is_asked_for():
    assert run([C] * 2, [WIDE, NEAR], 1e-4, gap_tol=1e-6)[:2] == (C, NEAR)


POSITIVE = st.floats(1e-12, 1e6)


@settings(deadline=None)
@given(tol=POSITIVE, gap=POSITIVE, wanted=POSITIVE)
def test_a_tolerance_falls_in_proportion_within_limits(tol, gap, wanted):
    near = tolerance_for_gap(tol, gap, wanted)
    assert LEAST_SHARE * tol <= near <= LARGEST_SHARE * tol
    share = AIM * wanted / (gap / (1.0 + gap))  # of the larger bound of the optimum
    if LEAST_SHARE < share < LARGEST_SHARE:
        assert np.isclose(near / tol, share)
    assert tolerance_for_gap(tol, np.inf, wanted) == tolerance_for_gap(tol, np.nan, wanted) == LARGEST_SHARE * tol


def test_errors_of_kernel_values_add_up_as_squares():
    assert rounding_error(4.0, 3.0, 4) == 6.0 * 2.0**-24
    assert rounding_error(4.0, 3.0, 8) == 6.0 * 2.0**-53
