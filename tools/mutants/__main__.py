"""Count what the tests catch: a sample of small faults in ``src``, each tried on the tests that execute it.

Which test executes what is recorded once per tree.  Mutants that survive the quick tier are tried on the full
one; a tree without tiers has one.  Results are lines of JSON: an interrupted run continues from them.
"""

import argparse
import compileall
import json
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.mutants.children import warm
from tools.mutants.recording import record
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
        "--seconds", type=float, default=60, help="processor time per mutant; in full, three times"
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
    if names.keys() - rows.keys():
        for row in _tried({name: names[name] for name in names if name not in rows}, tree, tiers, options):
            rows[row["mutant"]] = row
            with options.results.open("a") as stream:
                stream.write(json.dumps(row) + "\n")
    sys.stdout.write(table(list(rows.values()), list(tiers)))
    if options.write:
        options.write.write_text(page(list(rows.values()), list(tiers), options.seed, len(sample)))


def _tried(
    names: dict[str, Mutant], tree: Path, tiers: dict[str, tuple[str, ...]], options: argparse.Namespace
) -> Iterator[dict[str, str]]:
    """Yield what each tier makes of each mutant."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(tree, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".venv", ".*_cache"))
        compileall.compile_dir(copy / "src", quiet=1)
        os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        warm(copy)
        trials = Trials(tree, copy, *record(copy, f"{options.results}.tests"))
        for name, mutant in names.items():
            row = {"mutant": name}
            for tier, arguments in tiers.items():
                if row.get("quick", "survived") == "survived":
                    seconds = options.seconds * (1 + 2 * len(arguments))
                    outcome, row["by"] = trials.verdict(mutant, seconds, *arguments)
                row[tier] = outcome
            yield row


def _name(mutant: Mutant, tree: Path) -> str:
    old = (tree / mutant.path).read_bytes()[mutant.start : mutant.end].decode()
    return f"{mutant.path}:{mutant.line} ({mutant.start}): {' '.join(old.split())}  ->  {mutant.new}"


if __name__ == "__main__":
    main()
