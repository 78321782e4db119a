"""The order of the gallery: that of a course, easy things and those that most people need first."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

LESSONS = {
    "begin": ("first_fit", "proof", "search", "report", "save_and_share", "network"),
    "tasks": (
        "multi_class",
        "labels",
        "imbalance",
        "probabilities",
        "regression",
        "quantiles",
        "crossing",
        "targets",
        "intervals",
        "sets",
        "novelty",
        "text",
        "unscaled",
    ),
    "kernels": ("sums", "strings", "classical_solvers"),
    "boundary": ("plane", "input_margin", "wide_margin", "metrics", "attributions"),
    "learning": ("label_errors", "unlearning", "stream", "every_c"),
    "scale": ("dask_cluster", "gpu"),
}


class LessonKey:
    """Sorts the examples of a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder).name

    def __call__(self, file: str) -> int:
        """Return the place of an example."""
        return LESSONS[self.folder].index(Path(file).stem)


def colors(_: dict[str, Any], __: str) -> None:
    """Draw an example in the colours of the library's displays."""
    import matplotlib.pyplot as plt

    plt.style.use("petroff10")


def site_links(text: str) -> str:
    """Return a page whose links to programs and measured tables lead to pages of the site that the repository lacks."""
    linked = re.sub(r"\]\(\.\./examples/(\w+)/(\w+)\.py\)", r"](gallery/\1/\2.rst)", text)
    linked = linked.replace("](../benchmarks/results/", "](benchmarks/results/")
    return linked.replace("](../examples)", "](gallery/index.rst)")
