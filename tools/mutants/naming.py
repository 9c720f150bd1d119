"""Which files of tests are likely to notice a fault: those that name what its file defines."""

import ast
import re
from collections import Counter
from pathlib import Path

#: What a name is worth that a file defines, one that imports it, and one that imports that.
_WORTH = (1.0, 0.2, 0.05)
#: A file of tests is likely to notice a fault if it scores at least this share of the best one.
_LEAST = 0.04
#: Folders of tests that are about texts, that only the full tier runs, or that start clusters.
_LEFT_OUT = ("architecture", "benchmarks", "campaigns", "contract", "docs", "engines", "examples", "studies")
_SELECTORS = ("rows", "columns", "offline")


class Naming:
    """Names that a tree defines, imports and tests."""

    def __init__(self, tree: Path) -> None:
        src = tree / "src"
        trees = {path: ast.parse(path.read_bytes()) for path in sorted(src.rglob("*.py"))}
        modules = {".".join(path.relative_to(src).with_suffix("").parts): path for path in trees}
        self._tree, self._defines = tree, {path: _defined(path, body) for path, body in trees.items()}
        self._users: dict[Path, set[Path]] = {path: set() for path in trees}
        for path, body in trees.items():
            for node in ast.walk(body):
                if isinstance(node, ast.ImportFrom) and node.module and path.name != "__init__.py":
                    for module in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                        if module in modules:
                            self._users[modules[module]].add(path)
        tests = [path for path in (tree / "tests").rglob("test_*.py") if path.parts[-2] not in _LEFT_OUT]
        self._words = {
            str(path.relative_to(tree)): {path.stem, *re.findall(r"\w+", path.read_text())} for path in tests
        }
        self._frequency = Counter(word for words in self._words.values() for word in words)

    def tests(self, path: str) -> list[str]:
        """Return the files of tests for a source file, the likeliest first."""
        worth: dict[str, float] = {}
        near = {self._tree / path}
        for weight in _WORTH:
            for file in near:
                for name in self._defines[file]:
                    worth[name] = max(weight, worth.get(name, 0.0))
            near = {user for file in near for user in self._users[file]}
        score = {
            file: sum(worth[word] / self._frequency[word] ** 2 for word in worth.keys() & words)
            * (2 if _folder(file) == _folder(path) else 1)
            for file, words in self._words.items()
        }
        least = max(score.values()) * _LEAST
        return [file for file in sorted(score, key=lambda file: -score[file]) if score[file] > least]

    def selectors(self, path: str) -> list[str]:
        """Return the public classes of a source file and of its users, if they may be selectors."""
        files = [self._tree / path, *sorted(self._users[self._tree / path])]
        some = [file for file in files if _folder(str(file.relative_to(self._tree))) in _SELECTORS]
        return [name for file in some for name in sorted(self._defines[file]) if name[0].isupper()]


def _defined(path: Path, body: ast.Module) -> set[str]:
    """Return the functions, classes and methods that a file defines, its name and that of its tests."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    top = [node for node in body.body if isinstance(node, kinds)]
    inner = [node for outer in top if isinstance(outer, ast.ClassDef) for node in outer.body]
    names = {node.name for node in [*top, *inner] if isinstance(node, kinds) and node.name[0] != "_"}
    return names | {path.stem, f"test_{path.stem}"} - {"__init__"}


def _folder(path: str) -> str:
    return path.removeprefix("src/streamsieve/").removeprefix("tests/").partition("/")[0].removeprefix("_")
