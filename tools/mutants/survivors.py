"""What became of mutants that survived: a test that catches each, or why no user could tell it is there.

``python -m tools.mutants.survivors FILE`` plants every one that has a test in a copy of the tree, runs that
test with and without it, and writes what came of it into the file, a line of JSON each.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.mutants.sites import Mutant, mutants

_NAME = re.compile(r"(?P<path>[^:]+):(?P<line>\d+) \(\d+\): (?P<fault>.*)", re.DOTALL)
#: What came of a test with a mutant and without it, by the exit codes of pytest.
_OUTCOMES = {(1, 0): "caught", (0, 0): "survived", (5, 5): "not run"}
#: How Markdown writes a bar inside a cell.
BAR = "\\|"


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants.survivors", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="", help="mutants whose name holds this text")
    options = parser.parse_args()
    tree = Path.cwd()
    git = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
    rows = read(options.file)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(tree, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".venv", ".*_cache"))
        for name, row in rows.items():
            if "test" in row and options.only in name:
                row |= {"outcome": _tried(name, row["test"], tree, copy), "commit": commit}
                sys.stdout.write(f"{row['outcome']}: {name}\n")
                sys.stdout.flush()
    options.file.write_text("".join(json.dumps(row) + "\n" for row in rows.values()))


def read(file: Path) -> dict[str, dict[str, str]]:
    """Return what is known of each survivor: its test, or the reason why there is none."""
    text = file.read_text() if file.exists() else ""
    return {row["mutant"]: row for row in map(json.loads, text.splitlines())}


def section(survivors: list[str], known: dict[str, dict[str, str]]) -> list[str]:
    """Return lines of the page: what became of each survivor."""
    caught = [name for name in survivors if known.get(name, {}).get("outcome") == "caught"]
    reasons = [name for name in survivors if "why" in known.get(name, {})]
    commits = sorted({row["commit"] for row in known.values() if "commit" in row})
    lines = ["", "## What became of the survivors", ""]
    rest = len(survivors) - len(caught) - len(reasons)
    lines.append(
        f"Of {len(survivors)} survivors of a tier, {len(caught)} are caught by a test named since: it "
        "fails with the fault planted and passes without (`python -m tools.mutants.survivors`, at commit "
        f"{', '.join(commits)}). {len(reasons)} have a reason why a user could not tell, or why the "
        f"statement went. {rest} have neither, or their test needs what was not installed."
    )
    lines += ["", "| fault | what became of it |", "| --- | --- |"]
    for name in survivors:
        row = known.get(name, {})
        said = row.get("why") or f"{row.get('outcome', 'no test')}: `{row.get('test', '')}`"
        lines.append(f"| `{name.removeprefix('src/streamsieve/').replace('|', BAR)}` | {said} |")
    return lines


def _tried(name: str, test: str, tree: Path, copy: Path) -> str:
    """Return what comes of a test with a mutant and without it."""
    mutant = _found(name, tree)
    if mutant is None:
        return "not found"
    source = (tree / mutant.path).read_bytes()
    try:
        (copy / mutant.path).write_bytes(mutant.text(source))
        planted = _run(test, mutant, copy)
    finally:
        shutil.copy2(tree / mutant.path, copy / mutant.path)
    return _OUTCOMES.get((planted, _run(test, mutant, copy)), "no verdict")


def _found(name: str, tree: Path) -> Mutant | None:
    """Return the mutant that changes the same text in the same way, nearest to the line it was in."""
    parts = _NAME.fullmatch(name)
    if parts is None:
        raise SystemExit(f"{name!r} is no name of a mutant")
    same = [
        mutant
        for mutant in mutants(tree, parts["path"])
        if f"{_old(mutant, tree)}  ->  {mutant.new}" == parts["fault"]
    ]
    return min(same, key=lambda mutant: abs(mutant.line - int(parts["line"])), default=None)


def _old(mutant: Mutant, tree: Path) -> str:
    return " ".join((tree / mutant.path).read_bytes()[mutant.start : mutant.end].decode().split())


def _run(test: str, mutant: Mutant, copy: Path) -> int:
    """Run one test in a new process; of kernels uncompiled, so that a write out of bounds is an error."""
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    if "/_kernels/" in mutant.path:
        environment["NUMBA_DISABLE_JIT"] = "1"
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--full", "-p", "no:cacheprovider", test]
    done = subprocess.run(  # noqa: S603
        command, cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    return 5 if " passed" not in done.stdout and " failed" not in done.stdout else done.returncode


if __name__ == "__main__":
    main()
