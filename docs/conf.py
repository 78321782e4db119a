"""How the documentation is built: ``make docs``."""

import sys
from importlib import metadata
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
from lessons import LESSONS, site_links  # noqa: E402 (found on the path above)

project = "adatron"
author = "The adatron developers"
copyright = "The adatron developers"  # noqa: A001 (the name that Sphinx reads)
release = version = metadata.version("adatron")
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "scikit_learn",
]
exclude_patterns = ["_build"]
nitpicky = True  # a reference that leads nowhere is a warning
nitpick_ignore_regex = [("py:obj", r"\w+_")]  # numpydoc links attributes that are properties, which have no page
templates_path = ["_templates"]
myst_enable_extensions = ["dollarmath", "colon_fence", "substitution", "attrs_block"]
myst_substitutions = {"version": release}
myst_heading_anchors = 3

# The pages of classes and functions.
autodoc_member_order = "bysource"
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"  # the names of methods alone fit beside the page
numpydoc_show_class_members = False  # the template of a class lists its methods
# Some file systems take the names of a function and of its result for the same.
autosummary_filename_map = {
    name: f"{name}.result"
    for name in ("adatron.estimators.Balance", "adatron.insight.Influence", "adatron.insight.Sensitivity")
}
autosummary_context = {
    "internal": [
        # What other parts of the library call.
        *("for_step", "foundation", "given_objects", "lasting_state", "remember_file"),
        "reviewed",
        *("restore_state", "settings", "with_probability"),
        *("faults", "readout", "readout_of", "fixed_readout"),
        *("part", "problem", "problems", "problem_values", "with_model"),
        # What every estimator of scikit-learn has.
        *("get_metadata_routing", "set_fit_request", "set_partial_fit_request", "set_score_request"),
        *("set_predict_request", "set_decision_function_request", "set_score_samples_request"),
    ]
}
html_math_renderer = "mathml"

# The benchmarks' tables and history are pages that `benchmarks/index.md` links to.
BENCHMARKS = HERE.parent / "benchmarks"
for text in (BENCHMARKS / "history.md", *BENCHMARKS.glob("results/**/*.md")):
    copy = HERE / "benchmarks" / text.relative_to(BENCHMARKS)
    copy.parent.mkdir(parents=True, exist_ok=True)
    linked = text.read_text("utf-8").replace("](../docs/", "](../").replace("](README.md)", "](index.md)")
    copy.write_text(f"---\norphan: true\n---\n\n{linked}", "utf-8")

# The examples, in the order of a course. The page of an example that is gone goes, too.
for page in HERE.glob("gallery/*/*.rst"):
    if page.stem != "index" and not (HERE.parent / "examples" / page.parent.name / f"{page.stem}.py").exists():
        page.unlink()
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/",  # run every file
    "ignore_pattern": "__init__",
    "subsection_order": [f"../examples/{folder}" for folder in LESSONS],
    "within_subsection_order": "lessons.LessonKey",
    "backreferences_dir": "gallery/uses",
    "doc_module": ("adatron",),
    "copyfile_regex": r".*\.rst",
    "download_all_examples": False,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 60,
    "matplotlib_animations": False,
    "reset_modules": ("matplotlib", "lessons.colors"),
}

html_theme = "pydata_sphinx_theme"
html_title = f"adatron {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_sidebars = {"index": []}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "adatron"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 4,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def _link(app: Sphinx, page: str, source: list[str]) -> None:
    source[0] = site_links(source[0])


def setup(app: Sphinx) -> None:
    """Let the manual's links to examples and tables lead to their pages."""
    app.connect("source-read", _link)
