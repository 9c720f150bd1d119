"""The error index: every message that StreamSieve raises, read off the source."""

import ast
from collections import defaultdict
from pathlib import Path

SRC = Path(__file__).resolve().parents[2] / "src" / "streamsieve"
#: Folders whose errors a user of the library or of the command line meets, in the order of the page.
AREAS = {
    "_validation": "Input: matrices, targets, weights, names",
    "_frames.py": "Input: matrices, targets, weights, names",
    "_values.py": "Input: matrices, targets, weights, names",
    "_parameters.py": "Parameters",
    "base": "Calls: the order of calls, feature names, merging",
    "columns": "Streaming columns",
    "rows": "Streaming rows",
    "offline": "Offline selectors",
    "learners": "Learners",
    "criteria": "Criteria and summaries",
    "summaries": "Criteria and summaries",
    "independence": "Tests and measures",
    "dependence": "Tests and measures",
    "sources": "Files, tables and Kafka",
    "_files.py": "Files, tables and Kafka",
    "running": "Runs and checkpoints",
    "state": "State files",
    "registry.py": "State files",
    "evaluation": "Comparing",
    "datasets": "Data sets",
    "cli": "Command line",
}


def pages() -> dict[str, str]:
    """Return the page of all messages, by where they come from."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for path in sorted(SRC.rglob("*.py")):
        area = AREAS.get(path.relative_to(SRC).parts[0])
        if area:
            found[area] |= set(_messages(ast.parse(path.read_text())))
    lines = [
        "# Errors",
        "",
        "Every message says what was wrong, what is accepted and what to do. `...` stands for a value.",
        "Search this page for a few words of the message; all classes are in `streamsieve.exceptions`.",
        "",
    ]
    for area in dict.fromkeys(AREAS.values()):
        lines += [f"## {area}", "", "| message | raised as |", "|---|---|"]
        lines += [f"| {_escaped(text)} | `{kind}` |" for text, kind in sorted(found[area])]
        lines.append("")
    return {"reference/errors.md": "\n".join(lines)}


def _messages(tree: ast.Module) -> list[tuple[str, str]]:
    """Return the texts of all errors raised with a literal message, and their classes."""
    messages = []
    for node in ast.walk(tree):
        call = node.exc if isinstance(node, ast.Raise) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.args:
            text = _text(call.args[0])
            if text and any(letter.isalpha() for letter in text):
                messages.append((text, call.func.id))
    return messages


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "..." for part in node.values)
    if isinstance(node, ast.BinOp):
        return _text(node.left) + _text(node.right)
    return ""


def _escaped(text: str) -> str:
    for mark in "\\`*_{}[]<>|$":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())
