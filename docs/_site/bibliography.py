"""The bibliography: the papers that docstrings name, each with the methods that draw on it."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

from numpydoc.docscrape import NumpyDocString

from _site.cards import card_names


def pages() -> dict[str, str]:
    """Return one page: the references of every method, as its docstring has them."""
    lines = [
        "# Bibliography",
        "",
        "The papers behind each method, from its docstring; the card says where the method deviates. To cite",
        "StreamSieve itself, see `CITATION.cff` in the repository.",
        "",
        "| method | papers |",
        "|---|---|",
    ]
    lines += [f"| [{title}](/methods/{name}.md) | {papers(cls)} |" for name, title, cls in _methods()]
    return {"reference/bibliography.md": "\n".join([*lines, ""])}


def _methods() -> Iterator[tuple[str, str, type[Any]]]:
    yield from sorted(card_names(), key=lambda card: card[1].lower())


def papers(cls: type[Any]) -> str:
    """Return the references of a class on one line."""
    text = " ".join(NumpyDocString(inspect.getdoc(cls) or "")["References"])
    return re.sub(
        r":\w+:`~?([\w.]+)`", r"`\1`", " ".join(text.split()).replace("|", "\\|").replace("``", "`")
    )
