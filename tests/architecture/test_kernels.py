"""Compiled files stand alone, because Numba stamps its cache with the function's own file only."""

import ast
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.bytecode import FunctionIdentity

import streamsieve._kernels  # noqa: F401 - numbers them

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
#: What slices are filled with, besides numbers.
SCALARS = {"False", "True", "np.inf", "math.nan", "np.nan", "nothing", "mean * factor"}
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
def test_slices_take_numbers_only(path):
    """An array in a slice compiles the text of an error about shapes as well, 1.6 s in every process."""
    if path.stem == "ogfs":  # matrices, where loops would be in the way of reading
        pytest.skip("whole matrices are copied")
    for function, _ in jitted(ast.parse(path.read_text())):
        for node in ast.walk(function):
            for target in getattr(node, "targets", []):
                index = getattr(target, "slice", None)
                if any(isinstance(part, ast.Slice) for part in getattr(index, "elts", [index])):
                    number = ast.unparse(node.value).removeprefix("-")
                    known = number.replace(".", "").isdigit() or number in SCALARS
                    assert known, f"{path.name}: {ast.unparse(node)}: assign in a loop"


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_inner_functions_of_kernels_are_numbered_anew_in_every_process():
    """Else kernels of two processes in the cache call one another's: an order was taken for sorted values."""
    number = "next(FunctionIdentity._unique_ids)"
    both = "import os; from numba.core.bytecode import FunctionIdentity; import streamsieve._kernels"
    child = f"pid = os.fork(); pid and os.waitpid(pid, 0); print({number})"
    done = subprocess.run([sys.executable, "-c", f"{both}; {child}"], capture_output=True, check=True)
    numbers = {next(FunctionIdentity._unique_ids), *map(int, done.stdout.split())}
    assert len({number >> 20 for number in numbers}) == 3
    assert min(numbers) > 2**20
