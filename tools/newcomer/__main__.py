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


def tried(name: str, part: Part) -> bool:
    """Add a part to a copy; print the files and whether the tests pass."""
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
        tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *LISTS, *part.tests]
        done = subprocess.run(  # noqa: S603
            tests, cwd=copy, env=_environment(copy), capture_output=True, text=True, check=False
        )
    verdict = "tests pass" if done.returncode == 0 else done.stdout[-2_000:]
    sys.stdout.write(
        f"{name}: {len(edited)} files by hand (goal {part.goal}), {len(written)} by commands, {verdict}\n"
    )
    for path in sorted(edited):
        sys.stdout.write(f"  {path}\n")
    for path in sorted(written):
        sys.stdout.write(f"  {path} (written)\n")
    return done.returncode == 0 and len(edited) <= part.goal


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
    chosen = parser.parse_args().parts or list(PARTS)
    passed = [tried(name, PARTS[name]) for name in chosen]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
