"""Count what the tests catch: a sample of small faults in ``src``, each tried on the tests of its file.

Mutants that survive the quick tier are tried on the full one; a tree without tiers has one.  Results are
lines of JSON: an interrupted run continues from them.
"""

import argparse
import compileall
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.mutants.children import warm
from tools.mutants.results import page, table
from tools.mutants.sites import Mutant, mutants
from tools.mutants.trials import Trials


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("--tree", type=Path, default=Path(), help="a clone of the project")
    parser.add_argument("--count", type=int, default=300, help="size of the sample")
    parser.add_argument(
        "--seed", type=int, default=0, help="a larger sample of a seed begins with the smaller one"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=8,
        help="processor time per mutant, in the full tier twice; 0: try none",
    )
    parser.add_argument(
        "--results", type=Path, default=Path("mutants.jsonl"), help="file to write or continue"
    )
    parser.add_argument("--write", type=Path, help="page of evidence to write, as well as the table")
    options = parser.parse_args()
    tree = options.tree.resolve()
    tiers = (
        {"quick": (), "full": ("--full",)}
        if "--full" in (tree / "tests/conftest.py").read_text()
        else {"all": ()}
    )
    sample = mutants(tree)
    random.Random(options.seed).shuffle(sample)  # noqa: S311
    names = {_name(mutant, tree): mutant for mutant in sample[: options.count]}
    text = options.results.read_text() if options.results.exists() else ""
    rows = {row["mutant"]: row for row in map(json.loads, text.splitlines()) if row["mutant"] in names}
    for row in _tried(names, rows, tree, tiers, options) if options.seconds else ():
        rows[row["mutant"]] = row
        with options.results.open("a") as stream:
            stream.write(json.dumps(row) + "\n")
    sys.stdout.write(table(list(rows.values()), list(tiers)))
    if options.write:
        git = ["git", "-C", str(tree), "rev-parse", "--short", "HEAD"]
        commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
        text = page(
            list(rows.values()), list(tiers), seed=options.seed, of=len(sample), commit=commit,
            seconds=options.seconds or parser.get_default("seconds"),
        )  # fmt: skip
        options.write.write_text(text)


def _tried(
    names: dict[str, Mutant], rows: dict[str, dict[str, str]], tree: Path, tiers: dict[str, tuple[str, ...]],
    options: argparse.Namespace,
) -> Iterator[dict[str, str]]:  # fmt: skip
    """Yield what the tiers make of each mutant: all in the quick tier, then the survivors in the full one."""
    trials = None
    for tier, arguments in tiers.items():
        for name, mutant in names.items():
            row = rows.get(name, {"mutant": name, "by": ""})
            if tier in row:
                continue
            if row.get("quick", "survived") != "survived":
                outcome = row["quick"]
            else:
                trials = trials or _trials(tree, options.results)
                outcome, row["by"] = trials.verdict(
                    mutant, options.seconds * (1 + len(arguments)), *arguments
                )
            yield {**row, tier: outcome}


def _trials(tree: Path, results: Path) -> Trials:
    """Copy the tree; a copy that is there already keeps what was compiled."""
    copy = Path(f"{results}.copy").resolve()
    ignored = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__")
    shutil.copytree(tree, copy, symlinks=True, ignore=ignored, dirs_exist_ok=True)
    compileall.compile_dir(copy / "src", quiet=1)
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    warm(copy)
    return Trials(tree, copy)


def _name(mutant: Mutant, tree: Path) -> str:
    old = (tree / mutant.path).read_bytes()[mutant.start : mutant.end].decode()
    return f"{mutant.path}:{mutant.line} ({mutant.start}): {' '.join(old.split())}  ->  {mutant.new}"


if __name__ == "__main__":
    main()
