"""Formulas as MathML: browsers draw it themselves, so that pages need no script and no network."""

from typing import Any

from latex2mathml.converter import convert
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the visitors of both kinds of formulas."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(translator: Any, node: Any) -> None:
    translator.body.append(convert(node.astext(), display="inline"))
    raise _skip()


def _block(translator: Any, node: Any) -> None:
    translator.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>\n')
    raise _skip()


def _skip() -> Exception:
    from docutils.nodes import SkipNode  # noqa: PLC0415 - only while pages are written

    return SkipNode()
