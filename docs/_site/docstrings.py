"""First line, formula and limits of a method, from its docstring; a card shows them first, and once."""

import inspect
import re
from typing import Any

from sphinx.application import Sphinx

FORMULA, LIMITS = "**Formula.**", "**When it fails.**"
#: A line this long goes on in the next one.
CUT = 85


def setup(app: Sphinx) -> dict[str, bool]:
    """Before numpydoc reads a docstring: take out what its card shows first; set descriptions below names."""
    app.connect("autodoc-process-docstring", _without_marked, priority=400)
    app.connect("autodoc-process-docstring", _described_below, priority=410)
    app.connect("autodoc-skip-member", _is_field)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def marked(cls: type[Any], mark: str) -> str:
    """Return a marked paragraph of a docstring as reStructuredText, without the mark."""
    paragraphs = _paragraphs((inspect.getdoc(cls) or "").splitlines())
    found = _places(paragraphs, mark)
    if not found:
        raise ValueError(f"the docstring of {cls.__name__} has no paragraph that begins with {mark}")
    text = "\n\n".join(_body(paragraphs[place]) for place in found).removeprefix(mark).strip()
    return re.sub(r":class:`(\w+)`", r":class:`~streamsieve.\1`", text)


def _paragraphs(lines: list[str]) -> list[str]:
    return re.split(r"\n{2,}", "\n".join(lines))


def _places(paragraphs: list[str], mark: str) -> list[int]:
    """Return the places of the marked paragraph, of a block after it, and of a "where" after that."""
    first = next((place for place, text in enumerate(paragraphs) if _body(text).startswith(mark)), None)
    if first is None:
        return []
    places = [first]
    for place in range(first + 1, len(paragraphs)):
        if not paragraphs[place].startswith((" ", "where ")):
            break
        places.append(place)
    return places


def _body(paragraph: str) -> str:
    """Return a paragraph without the heading of a section above it."""
    return re.sub(r"\A\s*\w+\n-{3,}\n", "", paragraph)


def _without_marked(app: Sphinx, what: str, _name: str, _cls: Any, _options: Any, lines: list[str]) -> None:
    if what != "class" or not app.env.docname.startswith("methods/"):
        return
    paragraphs = _paragraphs(lines)
    del paragraphs[0]  # the card begins with it
    for mark in (FORMULA, LIMITS):
        for place in reversed(_places(paragraphs, mark)):
            heading = paragraphs[place].removesuffix(_body(paragraphs[place])).strip()
            paragraphs[place : place + 1] = [heading] if heading else []
    text = "\n\n".join(paragraphs)
    text = re.sub(r"Notes\n-----\n\n(?=\w)(?!\w+\n---)", "Notes\n-----\n", text)  # the rest of the section
    lines[:] = re.sub(r"Notes\n-----\n\n?(?=\w+\n---|\Z)", "", text).splitlines()  # nothing is left of it


def _described_below(*event: Any) -> None:
    """Set "name : description" in two lines, because numpydoc takes what follows a colon for a type.

    A line is a description if nothing explains it below, or if its sentence was cut by the end of the line.
    """
    lines: list[str] = event[-1]
    bodies = [*(line.startswith("    ") for line in lines[1:]), False]
    heading = ""
    shown: list[str] = []
    for line, below, explained in zip(lines, [*lines[1:], ""], bodies, strict=True):
        heading = line if below.startswith("---") else heading
        name, colon, text = line.partition(" : ")
        entry = colon and heading in ("Parameters", "Attributes") and not line.startswith(" ")
        cut = len(line) > CUT and "default=" not in line
        shown += [name, f"    {text}"] if entry and (cut or not explained) else [line]
    lines[:] = shown


def _is_field(*event: Any) -> bool | None:
    """Say whether a member is a field of a named tuple, which the class describes under its attributes."""
    return True if str(inspect.getdoc(event[3])).startswith("Alias for field number") else None
