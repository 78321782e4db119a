"""The quadratic programs: one problem a file, all of the form in ``dual``, as ``problem`` describes them."""

from .ball import Ball, ball
from .csvc import CClassification, csvc, with_targets
from .dual import Dual
from .nusvc import NuClassification, feasible_nu, nusvc
from .nusvr import NuRegression, nusvr
from .oneclass import OneClass, oneclass
from .problem import Bias, Problem
from .quantile import QuantileRegression, quantile
from .squared import SquaredClassification, SquaredRegression, squared
from .svr import EpsilonRegression, svr

__all__ = [
    "Ball",
    "Bias",
    "CClassification",
    "Dual",
    "EpsilonRegression",
    "NuClassification",
    "NuRegression",
    "OneClass",
    "Problem",
    "QuantileRegression",
    "SquaredClassification",
    "SquaredRegression",
    "ball",
    "csvc",
    "feasible_nu",
    "nusvc",
    "nusvr",
    "oneclass",
    "quantile",
    "squared",
    "svr",
    "with_targets",
]
