"""How the documentation is built: ``make docs``."""

import re
from importlib import metadata
from typing import Any

project = "adatron"
author = "The adatron developers"
copyright = "The adatron developers"  # noqa: A001 (the name that Sphinx reads)
release = version = metadata.version("adatron")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"adatron {release}"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
exclude_patterns = ["_build"]


def literal_names(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Names of fitted attributes end in an underscore, which reStructuredText takes for a link: make them literals."""
    text = "\n".join(lines).replace("\\\n", "")
    names = re.compile(r"^\w+_(, \w+_)*(?= :)", re.MULTILINE)
    lines[:] = names.sub(lambda match: re.sub(r"\w+", r"``\g<0>``", match[0]), text).split("\n")


def setup(app: Any) -> None:
    """Go before napoleon, which turns the sections into fields."""
    app.connect("autodoc-process-docstring", literal_names, priority=100)
