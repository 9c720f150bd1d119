"""Count what the tests catch: a sample of small faults in ``src``, each tried on the tests that run it.

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
from functools import partial
from pathlib import Path

from tools.mutants.children import pytest_in, warm
from tools.mutants.reach import Reach, Recorder
from tools.mutants.results import page, table
from tools.mutants.sites import Mutant, mutants
from tools.mutants.survivors import read
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
        default=6,
        help="processor time per mutant, in the full tier twice; 0: try none",
    )
    parser.add_argument(
        "--results", type=Path, default=Path("mutants.jsonl"), help="file to write or continue"
    )
    parser.add_argument("--write", type=Path, help="page of evidence to write, as well as the table")
    options = parser.parse_args()
    tree = options.tree.resolve()
    tiers: dict[str, tuple[str, ...]] = (
        {"quick": (), "full": ("--full",)}
        if "--full" in (tree / "tests/conftest.py").read_text()
        else {"all": ()}
    )
    sample = mutants(tree)
    random.Random(options.seed).shuffle(sample)  # noqa: S311
    names = {_name(mutant, tree): mutant for mutant in sample[: options.count]}
    if options.seconds:
        _try(names, tree, tiers, options)
    rows = _rows(options.results, names)
    sys.stdout.write(table(list(rows.values()), list(tiers)))
    if options.write:
        git = ["git", "-C", str(tree), "rev-parse", "--short", "HEAD"]
        commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
        text = page(
            list(rows.values()), list(tiers), seed=options.seed, count=options.count, of=len(sample),
            commit=commit, seconds=options.seconds or parser.get_default("seconds"),
            since=read(options.write.with_name("mutants_since.jsonl")),
        )  # fmt: skip
        options.write.write_text(text)


def _try(
    names: dict[str, Mutant], tree: Path, tiers: dict[str, tuple[str, ...]], options: argparse.Namespace
) -> None:
    """Try all mutants on the quick tier, then the survivors on the full one; kernels uncompiled first."""
    copy, reach = _prepared(tree, options.results)
    for tier, arguments in tiers.items():
        for jit in (False, True):
            trials = Trials(tree, copy, reach, jit=jit)
            work = partial(_tried, names, tier, options.results, options.seconds * (1 + len(arguments)))
            trials.work([*arguments], work)


def _tried(names: dict[str, Mutant], tier: str, results: Path, seconds: float, trials: Trials) -> None:
    """Write what a tier makes of the mutants that it has not met; uncompiled kernels decide if they fail."""
    rows = _rows(results, names)
    for name, mutant in names.items():
        row = rows.get(name, {"mutant": name, "by": ""})
        if tier in row or not (trials.jit or "/_kernels/" in name):
            continue
        outcome, by = row.get("quick", "survived"), row["by"]
        if outcome == "survived":
            outcome, by = trials.verdict(mutant, seconds)
        if trials.jit or outcome != "survived":
            with results.open("a") as stream:
                stream.write(json.dumps({**row, tier: outcome, "by": by}) + "\n")


def _rows(results: Path, names: dict[str, Mutant]) -> dict[str, dict[str, str]]:
    """Return what is known of each mutant."""
    text = results.read_text() if results.exists() else ""
    return {row["mutant"]: row for row in map(json.loads, text.splitlines()) if row["mutant"] in names}


def _prepared(tree: Path, results: Path) -> tuple[Path, Reach]:
    """Copy the tree, and record which tests run which functions, unless both are there already."""
    copy, record = Path(f"{results}.copy").resolve(), Path(f"{results}.reach").resolve()
    ignored = shutil.ignore_patterns(".git", ".venv", ".*_cache")
    shutil.copytree(tree, copy, symlinks=True, ignore=ignored, dirs_exist_ok=True)
    compileall.compile_dir(copy / "src", quiet=1)
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    warm(copy)
    if not record.exists():
        part = record.with_suffix(".part")
        part.unlink(missing_ok=True)
        if (child := os.fork()) == 0:
            try:
                pytest_in(copy, [], Recorder(copy, part))
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        part.rename(record)
    return copy, Reach(tree, record)


def _name(mutant: Mutant, tree: Path) -> str:
    old = (tree / mutant.path).read_bytes()[mutant.start : mutant.end].decode()
    return f"{mutant.path}:{mutant.line} ({mutant.start}): {' '.join(old.split())}  ->  {mutant.new}"


if __name__ == "__main__":
    main()
