"""The mutants of a source tree: every place where one small fault can be planted."""

import ast
import copy
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_PAIRS = """
    Lt LtE  LtE Lt  Gt GtE  GtE Gt  Eq NotEq  NotEq Eq  Is IsNot  IsNot Is  In NotIn  NotIn In  And Or  Or And
    Add Sub  Sub Add  Mult Div  Div Mult  FloorDiv Mult  Mod Mult  Pow Mult  BitAnd BitOr
    LShift RShift  RShift LShift"""
_NAMES = [getattr(ast, name) for name in _PAIRS.split()]
#: Operators and what replaces each of them.
_OTHER = dict(zip(_NAMES[::2], _NAMES[1::2], strict=True))
#: Parts of a node in which nothing is planted.
_NOT_ENTERED = ("annotation", "returns", "decorator_list")


class Mutant(NamedTuple):
    """One fault: the bytes from ``start`` to ``end`` of the file at ``path`` become ``new``."""

    path: str
    line: int
    start: int
    end: int
    new: str

    def text(self, source: bytes) -> bytes:
        """Return the source with the fault, of the same number of lines."""
        new = self.new.encode() + b"\n" * source[self.start : self.end].count(b"\n")
        return source[: self.start] + (new if self.new == "pass" else b"(" + new + b")") + source[self.end :]


def mutants(tree: Path, only: str | None = None) -> list[Mutant]:
    """Return all mutants of the package in ``tree/src``, or of one file, in order of files and lines."""
    found = []
    for file in sorted((tree / "src").rglob("*.py")) if only is None else [tree / only]:
        starts = [0]
        for line in file.read_bytes().splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        for node, new in _faults(ast.parse(file.read_bytes())):
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            found.append(Mutant(str(file.relative_to(tree)), node.lineno, start, end, new))
    return found


def _faults(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Yield the nodes to replace and their new text; Python 3.11 does not know positions within f-strings."""
    other = copy.copy(node)
    if isinstance(node, ast.JoinedStr):
        return
    if isinstance(other, ast.Compare) and len(other.ops) == 1:
        other.ops = [_OTHER[type(other.ops[0])]()]
        yield node, ast.unparse(other)
    elif isinstance(other, ast.BinOp | ast.BoolOp) and type(other.op) in _OTHER:
        other.op = _OTHER[type(other.op)]()
        yield node, ast.unparse(other)
    elif isinstance(node, ast.Constant) and type(node.value) in {int, float}:
        yield node, repr(node.value + 1)
    elif isinstance(node, ast.If | ast.While | ast.IfExp) and ast.unparse(node.test) != "TYPE_CHECKING":
        yield node.test, f"not ({ast.unparse(node.test)})"
    if isinstance(node, ast.AugAssign | ast.Raise) or _is_effect(node):
        yield node, "pass"
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in _NOT_ENTERED:
                yield from _faults(child)


def _is_effect(node: ast.AST) -> bool:
    """Whether a statement is a call or changes an object, so that without it no name is undefined."""
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
