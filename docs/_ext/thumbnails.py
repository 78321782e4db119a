"""A small picture for each example of the gallery: few, large marks that can be read at the size of a card."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Annulus, Circle, Ellipse, FancyBboxPatch, Rectangle
from sphinx.application import Sphinx

BLUE, ORANGE, GREEN, GREY = "#2f81c5", "#ee8a2a", "#2a9d78", "#8b929c"  # seen on white and on black
PALE = ((47 / 255, 129 / 255, 197 / 255, 0.2), (238 / 255, 138 / 255, 42 / 255, 0.2))
SIZE, DOTS = (4.0, 2.8), 200  # inches, dots an inch
DRAWN: dict[str, Callable[[Any], None]] = {}


def drawn(draw: Callable[[Any], None]) -> Callable[[Any], None]:
    """Register the picture of the example that has the function's name."""
    return DRAWN.setdefault(draw.__name__, draw)


def moons(samples: int = 60, noise: float = 0.15) -> tuple[Any, Any]:
    """Return two classes in the plane."""
    from sklearn.datasets import make_moons

    return make_moons(samples, noise=noise, random_state=3)


def points(ax: Any, X: Any, y: Any, size: float = 60) -> None:
    """Draw the samples of two classes."""
    for label, colour, mark in ((0, BLUE, "o"), (1, ORANGE, "s")):
        ax.scatter(*X[y == label].T, s=size, c=colour, marker=mark, linewidths=0)


def boundary(ax: Any, model: Any, X: Any, levels: tuple[float, ...] = (0.0,), fill: bool = True) -> None:
    """Draw lines of equal decision values, and the sides of the boundary."""
    low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
    u, v = np.meshgrid(np.linspace(low[0], high[0], 120), np.linspace(low[1], high[1], 120))
    f = model.decision_function(np.column_stack([u.ravel(), v.ravel()])).reshape(u.shape)
    if fill:
        ax.contourf(u, v, f, [-1e9, 0, 1e9], colors=PALE)
    styles = ["-" if level == 0 else "--" for level in levels]
    ax.contour(u, v, f, levels, colors=GREY, linewidths=2.5, linestyles=styles)


def fitted(**parameters: Any) -> tuple[Any, Any, Any]:
    """Return two moons and a machine that separates them."""
    from adatron import SVC

    X, y = moons()
    return SVC(**{"C": 10, "gamma": 1, **parameters}).fit(X, y), X, y


def box(ax: Any, x: float, y: float, width: float, height: float, colour: Any, text: str = "") -> None:
    """Draw a box with round corners, and a text in it."""
    ax.add_patch(FancyBboxPatch((x, y), width, height, "round,pad=0,rounding_size=.25", fc=colour, ec="none"))
    ax.text(x + width / 2, y + height / 2, text, ha="center", va="center", size=17, color="white", weight="bold")


def plain(ax: Any, width: float = 10, height: float = 7) -> None:
    """Give a drawing of boxes and lines its room."""
    ax.set(xlim=(0, width), ylim=(0, height), aspect="equal")


@drawn
def first_fit(ax: Any) -> None:
    """Draw a boundary and its margins."""
    model, X, y = fitted()
    boundary(ax, model, X, (-1.0, 0.0, 1.0))
    points(ax, X, y)
    ax.scatter(*X[model.support_].T, s=150, facecolors="none", edgecolors=GREY, linewidths=2)


@drawn
def proof(ax: Any) -> None:
    """Draw a gap that falls below its bound."""
    t = np.linspace(0, 10, 60)
    gap = 6 * np.exp(-t / 4) + 0.25 * np.cos(2.2 * t) * np.exp(-t / 6)
    ax.fill_between(t, gap, color=PALE[0])
    ax.plot(t, gap, color=BLUE, lw=5)
    ax.axhline(1.2, color=ORANGE, ls="--", lw=3)
    ax.text(6.3, 1.5, "gap_tol", color=ORANGE, size=18, weight="bold")
    ax.set(ylim=(0, 7), xlim=(0, 10))


@drawn
def search(ax: Any) -> None:
    """Draw a map of scores with its best cell."""
    i, j = np.mgrid[:5, :7]
    ax.imshow(np.exp(-((i - 2) ** 2 + (j - 4) ** 2 + (i - 2) * (j - 4)) / 7), cmap="cividis", aspect="auto")
    ax.add_patch(Rectangle((3.5, 1.5), 1, 1, fill=False, ec="white", lw=5))


@drawn
def report(ax: Any) -> None:
    """Draw a page with answers."""
    plain(ax)
    box(ax, 2, 0.3, 6, 6.4, PALE[0])
    for row, (length, colour) in enumerate([(3.6, BLUE), (2.6, BLUE), (3.1, ORANGE), (1.8, BLUE), (2.3, BLUE)]):
        ax.plot([2.6, 2.85, 3.3], [5.65 - 1.15 * row, 5.4 - 1.15 * row, 5.95 - 1.15 * row], color=GREEN, lw=4)
        box(ax, 3.9, 5.4 - 1.15 * row, length, 0.55, colour)


@drawn
def save_and_share(ax: Any) -> None:
    """Draw a file that becomes others."""
    plain(ax)
    box(ax, 0.3, 2.4, 3.1, 2.2, BLUE, ".adatron")
    for name, height in (("sklearn", 4.9), ("LIBSVM", 2.7), ("compact", 0.5)):
        box(ax, 6.4, height, 3.3, 1.6, ORANGE, name)
        ax.annotate("", (6.2, height + 0.8), (3.6, 3.5), arrowprops={"arrowstyle": "-|>", "lw": 3, "color": GREY})


@drawn
def network(ax: Any) -> None:
    """Draw a network of nodes."""
    plain(ax)
    layers = [[(1.5, y) for y in (1.5, 3.5, 5.5)], [(5, y) for y in (0.9, 2.6, 4.4, 6.1)], [(8.5, 3.5)]]
    for left, right in pairwise(layers):
        for one in left:
            for other in right:
                ax.plot(*zip(one, other, strict=True), color=GREY, lw=2, zorder=0)
    for layer, colour in zip(layers, (BLUE, GREEN, ORANGE), strict=True):
        for place in layer:
            ax.add_patch(Circle(place, 0.6, fc=colour, ec="none"))


@drawn
def multi_class(ax: Any) -> None:
    """Draw the regions of four classes."""
    from sklearn.datasets import make_blobs

    from adatron import SVC

    X, y = make_blobs(60, centers=[(0, 0), (4, 0.5), (1.5, 3.5), (5.5, 4)], cluster_std=0.7, random_state=0)
    u, v = np.meshgrid(np.linspace(-2, 7.5, 150), np.linspace(-2, 6, 150))
    places = SVC(gamma=0.3).fit(X, y).predict(np.column_stack([u.ravel(), v.ravel()])).reshape(u.shape)
    colours = (BLUE, ORANGE, GREEN, "#9b6bd0")
    ax.contourf(u, v, places, [-0.5, 0.5, 1.5, 2.5, 3.5], colors=colours, alpha=0.25)
    ax.scatter(*X.T, s=60, c=[colours[one] for one in y], linewidths=0)


@drawn
def imbalance(ax: Any) -> None:
    """Draw a rare class with and without weights."""
    from adatron import SVC

    rng = np.random.default_rng(5)
    X = np.vstack([rng.normal(0, 1, (70, 2)), rng.normal((2.2, 1.2), 0.5, (7, 2))])
    y = np.repeat([0, 1], [70, 7])
    boundary(ax, SVC(gamma=0.2, class_weight="balanced").fit(X, y), X)
    boundary(ax, SVC(gamma=0.2).fit(X, y), X, (1e-9,), fill=False)
    points(ax, X, y)


@drawn
def probabilities(ax: Any) -> None:
    """Draw predicted and observed shares."""
    p = np.linspace(0.05, 0.95, 7)
    ax.plot([0, 1], [0, 1], color=GREY, ls="--", lw=3)
    ax.plot(p, 1 / (1 + np.exp(-9 * (p - 0.5))), color=ORANGE, lw=4, marker="s", ms=9)
    ax.plot(p, p + 0.03 * np.sin(9 * p), color=BLUE, lw=4, marker="o", ms=10)


@drawn
def regression(ax: Any) -> None:
    """Draw a curve, its tube and outliers."""
    x = np.linspace(-9, 9, 200)
    f = np.sinc(x / np.pi)
    at = np.linspace(-8.5, 8.5, 28)
    y = np.sinc(at / np.pi) + np.random.default_rng(1).normal(0, 0.07, 28)
    y[[6, 21]] += 0.6
    ax.fill_between(x, f - 0.13, f + 0.13, color=PALE[0])
    ax.plot(x, f, color=BLUE, lw=4)
    ax.scatter(at, y, s=60, c=np.where(abs(y - np.sinc(at / np.pi)) > 0.13, ORANGE, GREY))


@drawn
def quantiles(ax: Any) -> None:
    """Draw a band that widens with the noise, and its middle."""
    x, rng = np.linspace(0, 6, 200), np.random.default_rng(0)
    at = np.linspace(0.2, 5.8, 40)
    ax.fill_between(x, np.sin(x) - 0.1 - 0.13 * x, np.sin(x) + 0.1 + 0.13 * x, color=PALE[0])
    ax.plot(x, np.sin(x), color=BLUE, lw=4)
    ax.scatter(at, np.sin(at) + (0.05 + 0.1 * at) * rng.normal(size=40), s=60, c=GREY)


@drawn
def crossing(ax: Any) -> None:
    """Draw lines of different slopes, which cross."""
    x = np.linspace(-1.5, 4, 30)
    ax.scatter(x, 0.5 * x + 0.6 * abs(x) * np.random.default_rng(0).normal(size=30), s=60, c=GREY)
    for slope, colour in ((1.2, ORANGE), (0.5, BLUE), (-0.2, ORANGE)):
        ax.plot(x, slope * x, color=colour, lw=4)


@drawn
def targets(ax: Any) -> None:
    """Draw a path of two coordinates, and what was measured of it."""
    t, noise = np.linspace(0, 2 * np.pi, 300), np.random.default_rng(0).normal(0, 0.08, (2, 60))
    ax.scatter(np.sin(2 * t[::5]) + noise[0], np.sin(3 * t[::5]) + noise[1], s=60, c=GREY)
    ax.plot(np.sin(2 * t), np.sin(3 * t), color=BLUE, lw=4)


@drawn
def labels(ax: Any) -> None:
    """Draw the regions of two labels, and samples with none, one or both."""
    ax.set(xlim=(0, 10), ylim=(0, 7), aspect="equal")
    for x, colour in ((3.8, BLUE), (6.2, ORANGE)):
        ax.add_patch(Circle((x, 3.5), 2.8, fc=colour, ec=colour, lw=3, alpha=0.45))
    for x, y, word in ((2.4, 3.5, "1 0"), (5, 3.5, "1 1"), (7.6, 3.5, "0 1"), (0.9, 0.7, "0 0")):
        ax.text(x, y, word, size=20, color=GREY if word == "0 0" else "white", weight="bold", ha="center", va="center")


@drawn
def intervals(ax: Any) -> None:
    """Draw a curve, its band and samples, one of which is outside."""
    x, at = np.linspace(-9, 9, 200), np.linspace(-8.4, 8.4, 22)
    width = 0.22 + 0.004 * x**2
    ax.fill_between(x, np.sinc(x / np.pi) - width, np.sinc(x / np.pi) + width, color=PALE[0])
    ax.plot(x, np.sinc(x / np.pi), color=BLUE, lw=4)
    for end in (-1, 1):
        ax.plot(x, np.sinc(x / np.pi) + end * width, color=BLUE, lw=2.5, ls="--")
    y = np.sinc(at / np.pi) + np.random.default_rng(3).uniform(-0.2, 0.2, 22)
    y[16] += 0.5
    ax.scatter(at, y, s=70, c=[ORANGE if one == 16 else GREY for one in range(22)])


@drawn
def sets(ax: Any) -> None:
    """Draw overlapping regions of classes."""
    ax.set(xlim=(0, 10), ylim=(0, 7), aspect="equal")
    for place, colour in (((3.6, 2.6), BLUE), ((6.4, 2.6), ORANGE), ((5, 4.7), GREEN)):
        ax.add_patch(Circle(place, 2.2, fc=colour, ec="none", alpha=0.45))
    for x, y, word in ((2.6, 2.2, "a"), (7.4, 2.2, "b"), (5, 5.7, "c"), (5, 2.0, "ab"), (5, 3.4, "abc")):
        ax.text(x, y, word, size=22, color="white", weight="bold", ha="center", va="center")


@drawn
def novelty(ax: Any) -> None:
    """Draw the region of what is known, and what is new."""
    rng = np.random.default_rng(2)
    angle, radius = rng.uniform(0, 2 * np.pi, 70), rng.normal(2, 0.2, 70)
    ax.add_patch(Annulus((0, 0), 2.6, 1.2, fc=PALE[0], ec=BLUE, lw=3))
    ax.scatter(radius * np.cos(angle), radius * np.sin(angle), s=45, c=BLUE, linewidths=0)
    ax.scatter([0, 3.6, -3.7, -3.3, 3.3], [0, 1.8, 1.5, -1.9, -1.6], s=150, c=ORANGE, marker="X", linewidths=0)
    ax.set(aspect="equal", xlim=(-4.2, 4.2), ylim=(-2.9, 2.9))


@drawn
def text(ax: Any) -> None:
    """Draw words and their weights."""
    for row, (word, weight) in enumerate([("kernel", 3), ("array", 1.8), ("plot", -1.5), ("axis", -2.6)]):
        beside = "right" if weight > 0 else "left"
        ax.barh(-row, weight, color=ORANGE if weight > 0 else BLUE, height=0.7)
        ax.text(-0.15 * np.sign(weight), -row, word, ha=beside, va="center", size=20, color=GREY)
    ax.set(xlim=(-3.4, 3.4))


@drawn
def sums(ax: Any) -> None:
    """Draw a trend and a season."""
    t = np.linspace(0, 10, 300)
    ax.plot(t, 0.05 * t**2, color=ORANGE, lw=4, ls="--")
    ax.plot(t, 0.05 * t**2 + np.sin(2 * np.pi * t / 1.7), color=BLUE, lw=4)


@drawn
def strings(ax: Any) -> None:
    """Draw two words that are compared."""
    plain(ax)
    for x, y, word in ((0.3, 4.8, "Hamburg"), (3.2, 2.75, "Bamberg"), (5.6, 0.7, "Bergamo")):
        box(ax, x, y, 4.1, 1.5, ORANGE if word == "Bergamo" else BLUE, word)
    ax.text(7.7, 5.4, "k(s, t)", size=20, color=GREY, ha="center", va="center", style="italic")


@drawn
def path(ax: Any) -> None:
    """Draw a bound along a path of widths, and its smallest value."""
    x = np.linspace(-3, 3, 30)
    ax.plot(x, x**2 + 0.6 * x, color=BLUE, lw=4, marker="o", ms=6)
    ax.scatter([-0.3], [-0.09], s=300, c=ORANGE, zorder=3)


@drawn
def classical_solvers(ax: Any) -> None:
    """Draw solvers on their ways to the optimum."""
    t = np.linspace(0, 10, 50)
    for rate, colour in ((0.9, BLUE), (0.45, GREEN), (0.25, ORANGE), (0.12, "#9b6bd0")):
        ax.plot(t, np.exp(-rate * t), color=colour, lw=4)


@drawn
def plane(ax: Any) -> None:
    """Draw a sample and its nearest boundary point."""
    model, X, y = fitted()
    boundary(ax, model, X)
    points(ax, X, y, 25)
    _way(ax, model, X[model.decision_function(X).argmax()], 400)


def _way(ax: Any, model: Any, sample: Any, size: float) -> float:
    """Draw the way to the nearest boundary point, and return its length."""
    from adatron import input_margin

    found = input_margin(model, sample[None])
    ax.plot(*np.vstack([sample, found.projection[0]]).T, color=GREY, lw=4)
    ax.scatter(*sample, s=size, c=ORANGE, marker="*", zorder=3)
    return float(np.linalg.norm(found.projection[0] - sample))


@drawn
def input_margin(ax: Any) -> None:
    """Draw samples with the balls that no boundary enters."""
    model, X, y = fitted()
    boundary(ax, model, X)
    for at in (3, 11, 17, 22, 26):
        ax.add_patch(Circle(X[y == 1][at], _way(ax, model, X[y == 1][at], 120), fill=False, ec=ORANGE, lw=3))
    ax.set(aspect="equal")


@drawn
def wide_margin(ax: Any) -> None:
    """Draw a boundary in the middle of a wide band."""
    x = np.linspace(-3, 3, 100)
    f = 0.5 * np.sin(1.6 * x)
    ax.fill_between(x, f - 0.6, f + 0.6, color=(0.55, 0.57, 0.61, 0.25))
    ax.plot(x, f, color=GREY, lw=4)
    rng = np.random.default_rng(0)
    at = rng.uniform(-2.9, 2.9, 44)
    side = np.repeat([0, 1], 22)
    off = (0.68 + rng.exponential(0.35, 44)) * np.where(side == 1, 1, -1)
    points(ax, np.column_stack([at, 0.5 * np.sin(1.6 * at) + off]), side)


@drawn
def metrics(ax: Any) -> None:
    """Draw balls whose sizes and forms differ from place to place."""
    for x, wide, high in ((0.5, 0.5, 0.25), (1.7, 0.8, 0.4), (3.4, 1.3, 0.7)):
        for y in (0.5, 2.0):
            ax.add_patch(Ellipse((x, y * (0.5 + 0.2 * x)), wide, high, fill=False, ec=BLUE if y < 1 else ORANGE, lw=4))
    ax.set(xlim=(0, 4.3), ylim=(0, 3), aspect="equal")
    ax.axis("off")


@drawn
def attributions(ax: Any) -> None:
    """Draw shares of a decision value."""
    shares = np.array([-0.35, 0.2, -0.6, 0.9, 1.3])
    ax.barh(range(len(shares)), shares, color=np.where(shares > 0, "C1", "C0"), height=0.7)
    ax.axvline(0.0, color="0.3", linewidth=2)
    ax.axis("off")


@drawn
def label_errors(ax: Any) -> None:
    """Draw two samples with doubtful labels."""
    rng = np.random.default_rng(4)
    X = np.vstack([rng.normal((-1.6, 0), 0.7, (28, 2)), rng.normal((1.6, 0), 0.7, (28, 2))])
    y = np.repeat([0, 1], 28)
    y[[3, 40]] = 1 - y[[3, 40]]
    points(ax, X, y, 80)
    ax.scatter(*X[[3, 40]].T, s=600, facecolors="none", edgecolors="#d6455d", linewidths=5)


@drawn
def stream(ax: Any) -> None:
    """Draw an accuracy that falls where the rule changes, and recovers."""
    t = np.linspace(0, 10, 100)
    ax.axvline(5, color=GREY, ls="--", lw=3)
    ax.plot(t, np.where(t < 5, 0.95, 0.95 - 0.8 * np.exp(-(t - 5) / 1.2)), color=BLUE, lw=5)
    ax.plot(t, np.where(t < 5, 0.92, 0.22), color=ORANGE, lw=4)
    ax.set(ylim=(0, 1.1))


@drawn
def unlearning(ax: Any) -> None:
    """Draw samples that leave."""
    X, y = moons()
    gone = np.zeros(len(y), bool)
    gone[::6] = True
    points(ax, X[~gone], y[~gone], 80)
    ax.scatter(*X[gone].T, s=90, facecolors="none", edgecolors=GREY, linewidths=2)
    ax.scatter(*X[gone].T, s=190, c="#d6455d", marker="x", linewidths=4)


@drawn
def every_c(ax: Any) -> None:
    """Draw coefficients that change along straight lines."""
    for ends, colour in (
        ([0, 2, 4, 6, 7], BLUE), ([0, 2, 3, 3, 5], ORANGE), ([0, 1, 0, 0, 0], GREEN), ([0, 0, 1.2, 4.4, 4], "#9b6bd0"),
    ):  # fmt: skip
        ax.plot([0, 2, 4.5, 7, 10], ends, color=colour, lw=4, marker="o", ms=9)


@drawn
def dask_cluster(ax: Any) -> None:
    """Draw a client and its workers."""
    plain(ax)
    for y in (0.5, 2.8, 5.1):
        ax.plot([3, 6.6], [3.5, y + 0.7], color=GREY, lw=3, zorder=0)
        box(ax, 6.3, y, 3.3, 1.4, BLUE, "worker")
    box(ax, 0.4, 2.6, 3.1, 1.8, ORANGE, "client")


@drawn
def gpu(ax: Any) -> None:
    """Draw a chip."""
    plain(ax)
    for at in np.linspace(2.6, 7.4, 6):
        ax.plot([at, at], [0.2, 6.8], color=GREY, lw=6, zorder=0)
    for at in np.linspace(1.4, 5.6, 5):
        ax.plot([1.3, 8.7], [at, at], color=GREY, lw=6, zorder=0)
    box(ax, 2, 0.9, 6, 5.2, BLUE, "GPU")


def write(folder: Path) -> None:
    """Write the pictures over those that the gallery made."""
    for example in sorted(folder.glob("*/*.rst")):
        if example.stem == "index":
            continue
        target = example.parent / "images" / "thumb" / f"sphx_glr_{example.stem}_thumb.png"
        figure = Figure(figsize=SIZE, layout="constrained")
        ax = figure.add_subplot()
        ax.axis("off")
        with mpl.rc_context({"lines.solid_capstyle": "round"}):
            DRAWN[example.stem](ax)
        target.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(target, dpi=DOTS, transparent=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw when the gallery has been made."""
    app.connect("builder-inited", lambda app: write(Path(app.srcdir) / "gallery"), priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
