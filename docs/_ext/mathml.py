"""Formulas as MathML, by docutils: a browser draws them without a script, and nothing comes from another site."""

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging


def _written(node: nodes.Element, as_block: bool) -> str:
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        logging.getLogger(__name__).warning("this formula has no MathML: %s", error, location=node)
        return ""


def inline(translator: Any, node: nodes.Element) -> None:
    """Write a formula within a line."""
    translator.body.append(_written(node, as_block=False))
    raise nodes.SkipNode


def displayed(translator: Any, node: nodes.Element) -> None:
    """Write a formula of its own line."""
    translator.body.append(f'<div class="math">{_written(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
