"""Section 3.6: time and memory of a step over the numbers of samples and features, and programs that start warm."""

from __future__ import annotations

import tracemalloc

import numpy as np
from sklearn.datasets import make_moons

from adatron.estimators import InputMarginSVC
from adatron.kernels import RBF
from adatron.margins.hyperplane import TiltedElements, products
from adatron.threads.gate import one_blas_thread

from ..claims import Claim
from ..fits import quietly, timed
from ..report import Section

# Numbers n of samples and m of features: the first n and the last m stay while the others grow.
COST_SIZES = {True: ((100, 200, 400), (4, 8, 16)), False: ((400, 800, 1600), (8, 32, 128))}  # Quick, full.
REPEATS = 3  # Runs, of which the shortest counts.


def section(quick: bool) -> tuple[Section, list[Claim]]:
    """Measure the matrix of eq. 8, and count the updates of its programs."""
    section = Section("Section 3.6: the cost of a step")
    samples, features = COST_SIZES[quick]
    by_n, by_m = ([_cost(n, features[-1]) for n in samples], [_cost(samples[0], m) for m in features])
    n_time, n_bytes = (_exponent(samples, [one[k] for one in by_n]) for k in range(2))
    m_time, m_bytes = (_exponent(features, [one[k] for one in by_m]) for k in range(2))
    section.add("time: exponents of m and n", [3, 2], [m_time, n_time])
    section.add("memory: exponents of m and n", [2, 2], [m_bytes, n_bytes], m_bytes < 1.0)
    section.remarks.append(
        "m features, n samples; processor time and largest memory of the matrix of eq. 8, by one thread. A tick "
        "needs an exponent of m below 1. The paper "
        "makes the m x m matrices K_xy of all pairs. Here only their products with two vectors are made, from n x n "
        "matrices. The transfer to new bases (section 3.5) is least squares with (1 + m) unknowns for each support "
        "vector: with many of them it is the longest part, and the one that grows with m³."
    )
    cold, warm = _updates(quick)
    section.add("updates of the programs of five steps, from 0 and from the last solution", None, [cold, warm],
                None if quick else warm < cold)  # fmt: skip
    return section, [
        Claim(
            "time O(m³ n²) for the temporary variables",
            "3.6",
            None,
            f"these matrices are not made here: exponents {m_time:.1f} and {n_time:.1f}",
        ),
        Claim("memory O(m² n²)", "3.6", None, f"the same: exponents {m_bytes:.1f} and {n_bytes:.1f}"),
        Claim(
            "the current solution as a start makes the next program cheaper",
            "3.6",
            warm < cold,
            f"{warm} updates in place of {cold}",
        ),
        Claim("faster than gradient algorithms", "3.6", None, "the paper describes none to compare with"),
    ]


def _cost(n: int, m: int) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    elements = TiltedElements(rng.normal(size=(n, m)), rng.normal(size=(n, m)))
    kernel = RBF(0.5 / m)
    with one_blas_thread():
        time = min(timed(products, kernel, elements, elements)[1] for _ in range(REPEATS))
        tracemalloc.start()
        products(kernel, elements, elements)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return time, float(peak)


def _exponent(sizes: tuple[int, ...], costs: list[float]) -> float:
    return round(float(np.polyfit(np.log(sizes), np.log(costs), 1)[0]), 1) + 0.0  # no -0.0


def _updates(quick: bool) -> tuple[int, int]:
    """Return the updates of all programs; a fit tells those of one, the one that its best step comes from."""
    X, y = make_moons(100 if quick else 300, noise=0.2, random_state=0)
    totals: list[int] = []
    for warm in (False, True):
        model = InputMarginSVC(C=10.0, gamma=1.0, rule="best", algorithm="fixed", warm=warm)
        totals.append(sum(int(quietly(model.set_params(n_steps=k), X, y).n_iter_.sum()) for k in range(1, 6)))
    return totals[0], totals[1]
