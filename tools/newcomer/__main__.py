"""Add throwaway parts to a copy of the work tree, and count the files."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
#: The tests that hold lists of files, names, methods, cards and parameters.
LISTS = (
    "tests/architecture/test_registration.py",
    "tests/architecture/test_public_names.py",
    "tests/architecture/test_folders.py",
    "tests/architecture/test_parameters.py",
    "tests/docs/test_cards.py",
    "tests/docs/test_readme.py::test_methods_and_criteria_named_in_the_readme_are_the_registry",
    "tests/docs/test_readme.py::test_the_table_of_methods_is_the_registry",
    "tests/docs/test_how_it_works.py",
)


class Part(NamedTuple):
    """A kind of part, how many files it may take, what to measure for its card, and its own tests."""

    goal: int
    slopes: str
    tests: tuple[str, ...]


PARTS = {
    "pairwise_rule": Part(4, "", ("tests/columns/redundancy/test_spearman.py",)),
    "criterion": Part(3, "criterion_hellinger", ("tests/criteria/test_table_oracles.py",)),
    "column_selector": Part(4, "variance_threshold", ("tests/columns/test_variance_threshold.py",)),
}


def tried(name: str, part: Part, *, test: bool) -> bool:
    """Add a part to a copy; print the files and, if asked, whether the tests pass."""
    patch = Path(__file__).with_name(f"{name}.patch")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        _run(["git", "clone", "--quiet", "--shared", str(ROOT), str(copy)], ROOT)
        _run(["git", "apply", str(patch)], copy)
        edited = _changed(copy)
        _run([sys.executable, "-m", "tools.exports"], copy)
        if part.slopes:
            _run([sys.executable, "-m", "benchmarks.slopes", "--only", part.slopes], copy)
        written = _changed(copy) - edited
        failed = _failures(copy, part) if test else ""
    verdict = failed or ("tests pass" if test else "not tested")
    sys.stdout.write(
        f"{name}: {len(edited)} files by hand (goal {part.goal}), {len(written)} by commands, {verdict}\n"
    )
    for path in sorted(edited):
        sys.stdout.write(f"  {path}\n")
    for path in sorted(written):
        sys.stdout.write(f"  {path} (written)\n")
    return not failed and len(edited) <= part.goal


def _failures(copy: Path, part: Part) -> str:
    """Run the tests that hold lists and those of the part; return what they say if some fail."""
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *LISTS, *part.tests]
    done = subprocess.run(  # noqa: S603
        tests, cwd=copy, env=_environment(copy), capture_output=True, text=True, check=False
    )
    return done.stdout[-2_000:] if done.returncode else ""


def _changed(copy: Path) -> set[str]:
    found = _run(["git", "status", "--porcelain", "--untracked-files=all"], copy)
    return {line[3:] for line in found.splitlines()}


def _environment(copy: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(copy / "src"), str(copy)])}


def _run(command: list[str], folder: Path) -> str:
    return subprocess.run(  # noqa: S603
        command, cwd=folder, env=_environment(folder), capture_output=True, text=True, check=True
    ).stdout


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tools.newcomer", description=__doc__)
    parser.add_argument(
        "parts", nargs="*", choices=[*PARTS, []], default=[], help="which; all if none is named"
    )
    parser.add_argument("--count", action="store_true", help="only count: run no tests")
    options = parser.parse_args()
    chosen = options.parts or list(PARTS)
    passed = [tried(name, PARTS[name], test=not options.count) for name in chosen]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
