"""How the documentation is built: ``make docs``."""

from importlib import metadata

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
exclude_patterns = ["_build"]
