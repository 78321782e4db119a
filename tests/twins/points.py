"""Small programs of every kind, and points in their boxes."""

from dataclasses import replace

import numpy as np

from adatron.problems import ball, csvc, nusvc, nusvr, oneclass, quantile, svr
from twins.primal import data

PROGRAMS = {
    "csvc": lambda y, w, t, bias: csvc(y, w, bias, 0.5),
    "svr": lambda y, w, t, bias: svr(t, w, 0.125, bias, 0.5),
    "quantile": lambda y, w, t, bias: quantile(t, 0.25 * w, w, bias, 0.5),
    "nusvc": lambda y, w, t, bias: nusvc(y, w, 0.25, bias, 0.5),
    "nusvr": lambda y, w, t, bias: nusvr(t, w, 0.25, bias, 0.5),
    "oneclass": lambda y, w, t, bias: oneclass(w, 0.25),
    "ball": lambda y, w, t, bias: ball(w, 0.5),
    "both": lambda y, w, t, bias: replace(svr(t, w, 0.125), sign=y, row=(t > 0).astype(np.int64), totals=(0.0, 0.0)),
}


def grid(values):
    """Numbers of few digits: their sums and differences are exact."""
    return np.round(values * 2.0**16) / 2.0**16


def point(seed, name, bias):
    """A program, a point in its box with some variables at bounds and at 0, and a gradient."""
    _, y, w, t = data(seed)
    dual, rng = PROGRAMS[name](y, grid(w), grid(t), bias), np.random.default_rng(seed)
    part = np.clip(rng.uniform(-0.5, 1.5, len(dual)), 0.0, 1.0)
    beta = grid(dual.lower + part * (dual.upper - dual.lower))
    beta[(rng.random(len(dual)) < 0.3) & (dual.lower <= 0) & (dual.upper >= 0)] = 0.0
    return dual, beta, grid(rng.normal(size=len(dual))), rng
