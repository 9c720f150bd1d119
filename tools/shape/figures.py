"""The figures: each has a goal, a value now, and a list of what makes it up."""

from __future__ import annotations

import ast
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tools.shape.prose import banned, prose_files
from tools.shape.tree import PACKAGE, Class, Module, Tree

#: Packages whose ``__all__`` may name selectors.
SELECTORS = ("rows", "columns", "offline", "learners")
#: Names of classes for what became of a block of columns.
OUTCOMES = re.compile(
    r"(\w*(Verdicts?|Decisions?|Outcomes?|Evictions?|Departures?|Dominance|Judgements?)"
    r"|Settled|Offered|Lines|Fallen|Tried|_Standing)$"
)
LARGE = 350


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    kind: str
    what: str
    goal: float | None
    now: float | None  #: None if it could not be measured
    items: list[str] = field(default_factory=list)
    note: str = ""

    @property
    def met(self) -> bool:
        """Whether the goal is reached, if there is one."""
        return self.goal is None or (self.now is not None and self.now <= self.goal)


# ------------------------------------------------------------------------------------ borders


def private_imports(tree: Tree) -> list[str]:
    """List imports of private modules from outside the package that holds them."""
    found: dict[tuple[str, str], int] = {}
    for module in tree.modules.values():
        for item in tree.imports(module):
            if any(not _within(module.package, owner) for owner in _owners(item.module)):
                found.setdefault((module.file, item.module), item.line)
    return [f"{file}:{line} imports {target}" for (file, target), line in sorted(found.items())]


def private_names(tree: Tree) -> list[str]:
    """List imports of names with one leading underscore."""
    return [
        f"{module.file}:{item.line} imports {item.name} from {item.module}"
        for module in tree.modules.values()
        for item in tree.imports(module)
        if item.name and re.match("_[^_]", item.name)
    ]


def private_modules(tree: Tree) -> list[str]:
    """List the files whose name begins with an underscore."""
    return [m.file for m in tree.modules.values() if m.path.name.startswith("_") and m.path.stem[:2] != "__"]


def _owners(target: str) -> Iterator[str]:
    """Yield, for each private component of a dotted path, the package that holds it."""
    parts = target.split(".")
    return (".".join(parts[:i]) for i, part in enumerate(parts) if part.startswith("_"))


def _within(package: str, owner: str) -> bool:
    return package == owner or package.startswith(f"{owner}.")


# ------------------------------------------------------------------------------------ classes


def selector_chains(tree: Tree) -> dict[str, list[str]]:
    """Return the longest chain of own base classes above each public selector, longest chain first."""
    chains = {}
    for package in SELECTORS:
        names = tree.public(package)
        for cls in tree.classes:
            if cls.name in names and _within(cls.module.package, f"{PACKAGE}.{package}"):
                above = {base.name for base in tree.ancestors(cls)}
                if "Selector" in above:
                    chains[cls.name] = [base.name for base in tree.chain(cls)]
    return dict(sorted(chains.items(), key=lambda item: (-len(item[1]), item[0])))


def registered_classes(tree: Tree) -> dict[str, list[str]]:
    """Return where the classes that a state file may name are defined, by their bare name.

    They have the decorator ``register``, or an own base class whose ``__init_subclass__`` registers them.
    """
    found = defaultdict(list)
    for cls in tree.classes:
        marked = any(_last(decorator) == "register" for decorator in cls.node.decorator_list)
        if marked or any(_registers_subclasses(base) for base in tree.ancestors(cls)):
            found[cls.name].append(cls.where)
    return dict(found)


def outcome_types(tree: Tree) -> list[str]:
    """List the types for what became of a block of columns."""
    classes = (cls for cls in tree.classes if not _within(cls.module.package, f"{PACKAGE}.evaluation"))
    return [f"{cls.where} {cls.name}" for cls in classes if OUTCOMES.match(cls.name)]


def state_errors(tree: Tree) -> list[str]:
    """List every ``raise StateError``."""
    return [
        f"{module.file}:{node.lineno}"
        for module in tree.modules.values()
        for node in module.nodes
        if isinstance(node, ast.Raise) and node.exc is not None and _last(node.exc) == "StateError"
    ]


def hand_written_states(tree: Tree) -> list[str]:
    """List the classes with a ``from_state`` of their own."""
    return [
        f"{cls.where} {cls.name}"
        for cls in tree.classes
        if not _within(cls.module.name, f"{PACKAGE}.state")
        and not any(_last(base) == "Protocol" for base in cls.node.bases)  # which declares it and writes none
        and any(_is_from_state(m) for m in cls.methods())
    ]


def _is_from_state(method: ast.FunctionDef) -> bool:
    return method.name == "from_state" and any(_last(d) == "classmethod" for d in method.decorator_list)


def _registers_subclasses(cls: Class) -> bool:
    hooks = (method for method in cls.methods() if method.name == "__init_subclass__")
    calls = (node for hook in hooks for node in ast.walk(hook) if isinstance(node, ast.Call))
    return any(_last(call).startswith("register") for call in calls)


def _last(node: ast.expr) -> str:
    """Return the last name of ``a.b`` or ``a.b(...)``."""
    inner = node.func if isinstance(node, ast.Call) else node
    return inner.attr if isinstance(inner, ast.Attribute) else getattr(inner, "id", "")


# ------------------------------------------------------------------------------------ kernels and sizes


def intrinsics(tree: Tree) -> dict[str, dict[str, list[str]]]:
    """Return the copies of each intrinsic of the kernels: name, then text, then the files with this text.

    The plain twin for ``NUMBA_DISABLE_JIT``, a function of the same name in the same file, is kept apart.
    """
    copies: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for module in _kernels(tree):
        functions = [node for node in module.nodes if isinstance(node, ast.FunctionDef)]
        names = {node.name for node in functions if _is_intrinsic(node)}
        for node in functions:
            if node.name in names:
                kind = node.name if _is_intrinsic(node) else f"{node.name} (plain)"
                copies[kind][ast.get_source_segment(module.text, node) or ""].append(module.file)
    return {kind: dict(texts) for kind, texts in copies.items()}


def argument_counts(tree: Tree) -> list[tuple[int, str]]:
    """Return the number of arguments of each function of the kernels, largest first."""
    counts = []
    for module in _kernels(tree):
        for node in module.nodes:
            if isinstance(node, ast.FunctionDef):
                spec = node.args
                number = len(spec.posonlyargs) + len(spec.args) + len(spec.kwonlyargs)
                counts.append((number, f"{module.file}:{node.lineno} {node.name}"))
    return sorted(counts, key=lambda item: (-item[0], item[1]))


def _kernels(tree: Tree) -> Iterator[Module]:
    return (module for name, module in tree.modules.items() if _within(name, f"{PACKAGE}._kernels"))


def _is_intrinsic(node: ast.FunctionDef) -> bool:
    return any(_last(decorator) == "intrinsic" for decorator in node.decorator_list)


def _lines(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py"))


# ------------------------------------------------------------------------------------ all together


def figures(tree: Tree) -> Iterator[Figure]:
    """Yield all figures that need no running code."""
    listed: list[tuple[str, str, int, Callable[[Tree], list[str]]]] = [
        ("private-imports", "imports of another package's private module", 0, private_imports),
        ("private-names", "imports of a _name of another module", 0, private_names),
        ("private-modules", "private modules", 40, private_modules),
        ("state-errors", "raise StateError", 80, state_errors),
        ("from-state", "classes with a hand-written from_state", 0, hand_written_states),
        ("outcomes", "types for what became of a block", 3, outcome_types),
    ]
    for kind, what, goal, function in listed:
        items = function(tree)
        note = f"of {len(tree.modules)}" if kind == "private-modules" else ""
        yield Figure(kind, what, goal, len(items), items, note)
    yield from _depth(tree)
    yield from _sizes(tree)
    yield from _prose(tree)


def _depth(tree: Tree) -> Iterator[Figure]:
    chains = selector_chains(tree)
    items = [f"{len(chain)} {name} < {' < '.join(chain)}" for name, chain in chains.items()]
    most = max((len(chain) for chain in chains.values()), default=0)
    worst = [name for name, chain in chains.items() if len(chain) == most]
    yield Figure("bases", "own base classes above a selector, most", 3, most, items, ", ".join(worst))


def _sizes(tree: Tree) -> Iterator[Figure]:
    by_size = sorted(tree.modules.values(), key=lambda module: -module.lines)
    large = [f"{module.lines} {module.file}" for module in by_size if module.lines > LARGE]
    sizes = [module.lines for module in by_size]
    yield Figure("", "lines of src", 61_000, _lines(tree.src))
    yield Figure("", "lines of tests", 48_000, _lines(tree.src.parent / "tests"))
    yield Figure("large-files", f"files over {LARGE} lines", None, len(large), large, "".join(large[:1]))
    yield Figure("", "median file, lines", None, round(statistics.median(sizes)))
    counts = argument_counts(tree)
    items = [f"{number} {where}" for number, where in counts if number >= 20]
    number, where = counts[0] if counts else (0, "-")
    yield Figure("arguments", "most arguments of a kernel", None, number, items, where)


def _prose(tree: Tree) -> Iterator[Figure]:
    root = tree.src.parent
    for part, files in prose_files(root).items():
        uses = list(banned(files))
        items = [f"{path.relative_to(root).as_posix()}:{line} {phrase}" for path, line, phrase in uses]
        most = Counter(phrase for _, _, phrase in uses).most_common(3)
        note = ", ".join(f"{phrase} {count}" for phrase, count in most)
        yield Figure(f"phrases-{part}", f"banned phrases in {part}", 0, len(uses), items, note)
