"""Links from ``:class:`sklearn.svm.SVC``` to scikit-learn's pages; the build asks no other site."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

#: Sections and terms of scikit-learn's pages that the docstrings of inherited methods name.
SECTIONS = {
    "accuracy_score": "modules/model_evaluation.html#accuracy-score",
    "classes_": "glossary.html#term-classes_",
    "metadata_routing": "metadata_routing.html",
    "r2_score": "modules/model_evaluation.html#r2-score-the-coefficient-of-determination",
}


def linked(app: Sphinx, env: Any, node: nodes.Element, text: nodes.TextElement) -> nodes.reference | None:
    """Return a link for a class or function of scikit-learn; None for other names."""
    target = node.get("reftarget", "")
    if target in SECTIONS:
        page = SECTIONS[target]
    elif target.startswith("sklearn."):
        page = f"api/{target}.html" if node["reftype"] == "mod" else f"modules/generated/{target}.html"
    else:
        return None
    address = f"https://scikit-learn.org/stable/{page}"
    return nodes.reference("", "", text, internal=False, refuri=address)


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen for names that are not documented here."""
    app.connect("missing-reference", linked)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
