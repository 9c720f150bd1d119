"""Compiled files stand alone, because Numba stamps its cache with the function's own file only."""

import ast
import hashlib
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src/streamsieve"
KERNELS = sorted((PACKAGE / "_kernels").glob("[!_]*.py"))
#: Of our own only types, of which nothing reaches compiled code, and a file that never changes.
ALLOWED = {
    "__future__",
    "typing",
    "math",
    "numba",
    "numpy",
    "numpy.typing",
    "llvmlite",
    "streamsieve.protocols",
    "streamsieve._kernels.intrinsics",
}
INTRINSICS = "36daad251c4d2374b053cc5366813cb1fb57b42d1238c6de8a765b3250278814"


def imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def jitted(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if "jit" in ast.unparse(decorator):
                    yield node, decorator


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_a_compiled_file_imports_nothing_of_ours(path):
    tree = ast.parse(path.read_text())
    if not list(jitted(tree)):
        pytest.skip(f"{path.name} compiles nothing")
    foreign = {name for name in imports(tree) if name not in ALLOWED and not name.startswith("numba.")}
    assert not foreign, f"{path}: compiled code may not depend on {foreign}"


def test_the_shared_intrinsics_never_change():
    """Kernels that use them keep old machine code in their caches; put a new version into another file."""
    tree = ast.parse((PACKAGE / "_kernels/intrinsics.py").read_text())
    assert hashlib.sha256("\n".join(map(ast.unparse, tree.body[1:])).encode()).hexdigest() == INTRINSICS


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_flags_are_literal_and_keep_nan(path):
    for function, decorator in jitted(ast.parse(path.read_text())):
        flags = {k.arg: ast.literal_eval(k.value) for k in decorator.keywords}
        where = f"{path}:{function.lineno} {function.name}"
        assert flags.get("cache") is True, f"{where} is not cached"
        assert flags.get("fastmath", set()) in (set(), {"reassoc", "contract"}), f"{where}: fastmath"


def test_module_constants_stay_out_of_compiled_code():
    """A constant is frozen into machine code; changing it in an upgrade must change the file."""
    for path in KERNELS:
        tree = ast.parse(path.read_text())
        for function, _ in jitted(tree):
            imported = {
                alias.asname or alias.name
                for node in tree.body
                if isinstance(node, ast.ImportFrom) and node.module == "streamsieve.protocols"
                for alias in node.names
            }
            annotations = {
                id(name)
                for part in [*function.args.args, function]
                for annotation in [getattr(part, "annotation", None) or getattr(part, "returns", None)]
                if annotation is not None
                for name in ast.walk(annotation)
            }
            used = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and id(n) not in annotations}
            assert not used & imported, f"{path}: {function.name} uses {used & imported} from another file"


def test_only_kernels_import_numba():
    for path in PACKAGE.rglob("*.py"):
        if path.parent.name != "_kernels":
            names = set(imports(ast.parse(path.read_text())))
            assert not any(n and n.split(".")[0] in ("numba", "llvmlite") for n in names), path
