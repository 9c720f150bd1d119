"""The messages of errors and warnings, read off the source: their texts and their classes, by file.

A message is made where it is raised, or by a function that is given a part of the text, as in
``raise another_stream("its columns differ")``. A value that is known only when the program runs is "...".
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

GAP = "..."
#: A sentence that a function collects has at least this many words.
FEWEST_WORDS = 4


class Maker(NamedTuple):
    """A function that makes an error or a warning: its parameters, and what it makes."""

    parameters: tuple[str, ...]
    made: tuple[tuple[ast.expr, str], ...]


def messages(src: Path) -> dict[Path, set[tuple[str, str]]]:
    """Return the texts and classes of all errors and warnings, by file."""
    trees = {path: ast.parse(path.read_text()) for path in sorted(src.rglob("*.py"))}
    makers = {name: maker for tree in trees.values() for name, maker in _makers(tree)}
    return {path: {*_made_here(tree), *_made_by(makers, tree)} for path, tree in trees.items()}


def _makers(tree: ast.Module) -> Iterator[tuple[str, Maker]]:
    """Yield the functions that make an error with one of their parameters in its text."""
    for function in _functions(tree):
        names = tuple(each.arg for each in function.args.args if each.arg != "self")
        made = [(call.args[0], kind) for call, kind in _constructed(function) if call.args]
        shown = [each for each in made if any(_name(node) in names for node in ast.walk(each[0]))]
        if shown:
            yield function.name, Maker(names, tuple(shown))


def _made_by(makers: dict[str, Maker], tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield what is made by calls that give a part of the text as a sentence."""
    for call in _calls(tree):
        maker = makers.get(_name(call.func))
        if maker is not None:
            given = dict(zip(maker.parameters, map(_text, call.args), strict=False))
            given |= {each.arg: _text(each.value) for each in call.keywords if each.arg}
            given = {name: text for name, text in given.items() if _words(text) >= FEWEST_WORDS}
            yield from ((_text(text, given), kind) for text, kind in maker.made if given)


def _made_here(tree: ast.Module) -> Iterator[tuple[str, str]]:
    sentences = {each.name: each for each in _functions(tree)}
    for function in sentences.values():
        for call, kind in _constructed(function):
            wanted = call.args[0] if call.args else ast.Constant("")
            for text in map(_text, _origins(wanted, function, sentences)):
                if _words(text) > 1:
                    yield text, kind
            if ".join(" in ast.unparse(wanted):
                yield from ((part, kind) for part in _collected(tree))


def _origins(node: ast.expr, function: ast.FunctionDef, near: dict[str, ast.FunctionDef]) -> list[ast.expr]:
    """Return the expressions that a text may come from: what a name was set to, what a function returns."""
    if isinstance(node, ast.IfExp):
        return [*_origins(node.body, function, near), *_origins(node.orelse, function, near)]
    if isinstance(node, ast.Name):
        given = [each for each in ast.walk(function) if isinstance(each, ast.Assign)]
        return [each.value for each in given if node.id in map(_name, each.targets)]
    if isinstance(node, ast.Call) and _name(node.func) in near:
        within = ast.walk(near[_name(node.func)])
        return [each.value for each in within if isinstance(each, ast.Return) and each.value is not None]
    return [node]


def _collected(tree: ast.Module) -> Iterator[str]:
    """Yield the sentences that are appended to a list."""
    for call in _calls(tree):
        text = _text(call.args[0]) if _name(call.func) == "append" and call.args else ""
        if _words(text) >= FEWEST_WORDS:
            yield text


def _words(text: str) -> int:
    return len(text.replace(GAP, " ").split())


def _constructed(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    """Yield the calls that make an error, or give a warning, and its class."""
    for call in _calls(tree):
        name = _name(call.func)
        if re.fullmatch(r"[A-Z]\w*(Error|Warning)", name):
            yield call, name
        elif name == "warn" and call.args:
            kind = _name(call.args[1]) if len(call.args) > 1 else "UserWarning"
            if kind.endswith("Warning"):
                yield call, kind


def _functions(tree: ast.AST) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def _calls(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _text(node: ast.expr, given: dict[str, str] | None = None) -> str:
    """Return a text with "..." for what is known only when the program runs, unless it is given by name."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.FormattedValue) else part for part in node.values)
        return re.sub(r"(\.\.\.){2,}", GAP, "".join(_text(part, given) for part in parts))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left, given) + _text(node.right, given)
    if isinstance(node, ast.Name):
        return (given or {}).get(node.id, GAP)
    return GAP
