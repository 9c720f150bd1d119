"""The modules of a package as syntax trees: what each one imports, and which classes stand above a class."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGE = "streamsieve"


class Import(NamedTuple):
    """One imported name; ``name`` is None if the module itself is imported."""

    line: int
    module: str
    name: str | None
    alias: str


@dataclass(frozen=True)
class Class:
    """A class, and the module that defines it."""

    module: Module
    node: ast.ClassDef

    @property
    def name(self) -> str:
        """Its name."""
        return self.node.name

    @property
    def where(self) -> str:
        """Its file and line."""
        return f"{self.module.file}:{self.node.lineno}"

    def methods(self) -> Iterator[ast.FunctionDef]:
        """Yield the methods that it defines itself."""
        return (node for node in self.node.body if isinstance(node, ast.FunctionDef))


class Module:
    """A module by its dotted name."""

    def __init__(self, path: Path, src: Path) -> None:
        self.path = path
        self.file = path.relative_to(src).as_posix()
        parts = path.relative_to(src).with_suffix("").parts
        self.name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        self.package = ".".join(parts[:-1])
        self.text = path.read_text(encoding="utf-8")
        self.lines = self.text.count("\n")

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of its syntax tree."""
        return list(ast.walk(ast.parse(self.text, str(self.path))))

    @cached_property
    def classes(self) -> list[Class]:
        """All classes that it defines."""
        return [Class(self, node) for node in self.nodes if isinstance(node, ast.ClassDef)]


class Tree:
    """All modules of the package under a ``src`` folder."""

    def __init__(self, src: Path = ROOT / "src") -> None:
        self.src = src
        modules = (Module(path, src) for path in sorted((src / PACKAGE).rglob("*.py")))
        self.modules = {module.name: module for module in modules}
        self._imports = {module.name: list(self._read_imports(module)) for module in self.modules.values()}

    @cached_property
    def classes(self) -> list[Class]:
        """All classes of the package."""
        return [cls for module in self.modules.values() for cls in module.classes]

    def imports(self, module: Module) -> list[Import]:
        """Return what a module imports from the package, one item per name."""
        return self._imports[module.name]

    def bases(self, cls: Class) -> list[Class]:
        """Return the classes of the package from which a class derives directly."""
        found = []
        for base in cls.node.bases:
            inner = base.value if isinstance(base, ast.Subscript) else base
            if isinstance(inner, ast.Attribute):  # module.Class
                aliases = {item.alias: item.module for item in self.imports(cls.module) if item.name is None}
                source = self.modules.get(aliases.get(ast.unparse(inner.value), ""))
                above = self._find(source, inner.attr) if source else None
            else:
                above = self._find(cls.module, ast.unparse(inner))
            if above is not None and above != cls:
                found.append(above)
        return found

    def chain(self, cls: Class) -> list[Class]:
        """Return the longest chain of base classes above a class, nearest first."""
        chains = ([base, *self.chain(base)] for base in self.bases(cls))
        return max(chains, key=len, default=[])

    def ancestors(self, cls: Class) -> Iterator[Class]:
        """Yield all base classes of the package, some of them repeatedly."""
        for base in self.bases(cls):
            yield base
            yield from self.ancestors(base)

    def public(self, package: str) -> set[str]:
        """Return the names in the literal ``__all__`` of a package."""
        module = self.modules.get(f"{PACKAGE}.{package}")
        for node in module.nodes if module else ():
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                return set(ast.literal_eval(node.value))
        return set()

    def _read_imports(self, module: Module) -> Iterator[Import]:
        for node in module.nodes:
            if isinstance(node, ast.Import):
                for item in node.names:
                    if item.name.split(".")[0] == PACKAGE:
                        yield Import(node.lineno, item.name, None, item.asname or item.name)
            elif isinstance(node, ast.ImportFrom):
                parents = module.package.split(".")
                start = parents[: len(parents) - node.level + 1] if node.level else []
                source = ".".join([*start, *([node.module] if node.module else [])])
                for item in node.names if source.split(".")[0] == PACKAGE else ():
                    alias, full = item.asname or item.name, f"{source}.{item.name}"
                    if full in self.modules:
                        yield Import(node.lineno, full, None, alias)
                    else:
                        yield Import(node.lineno, source, item.name, alias)

    def _find(self, module: Module, name: str) -> Class | None:
        """Return the class of a name as a module sees it; follows re-exports, and lazy ones by name."""
        own = [cls for cls in module.classes if cls.name == name]
        if own:
            return own[0]
        for item in self.imports(module):
            if item.alias == name and item.name is not None:
                source = self.modules.get(item.module)
                found = self._find(source, item.name) if source and source is not module else None
                same = [cls for cls in self.classes if cls.name == item.name]
                return found or (same[0] if len(same) == 1 else None)
        return None
