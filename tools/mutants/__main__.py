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
from pathlib import Path

from tools.mutants.children import warm
from tools.mutants.recording import record
from tools.mutants.sites import mutants
from tools.mutants.trials import Trials

OUTCOMES = ("caught", "timed out", "survived")


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
    options = parser.parse_args()
    tree = options.tree.resolve()
    tiers = (
        {"quick": (), "full": ("--full",)}
        if "--full" in (tree / "tests/conftest.py").read_text()
        else {"all": ()}
    )
    sample = mutants(tree)
    random.Random(options.seed).shuffle(sample)  # noqa: S311
    text = options.results.read_text() if options.results.exists() else ""
    rows = {row["mutant"]: row for row in map(json.loads, text.splitlines())}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(tree, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".venv", ".*_cache"))
        compileall.compile_dir(copy / "src", quiet=1)
        os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        warm(copy)
        trials = Trials(tree, copy, *record(copy, f"{options.results}.tests"))
        for mutant in sample[: options.count]:
            old = (tree / mutant.path).read_bytes()[mutant.start : mutant.end].decode()
            name = f"{mutant.path}:{mutant.line} ({mutant.start}): {' '.join(old.split())}  ->  {mutant.new}"
            if name not in rows:
                rows[name] = {"mutant": name}
                for tier, arguments in tiers.items():
                    if rows[name].get("quick", "survived") == "survived":
                        seconds = options.seconds * (1 + 2 * len(arguments))
                        outcome, rows[name]["by"] = trials.verdict(mutant, seconds, *arguments)
                    rows[name][tier] = outcome
                with options.results.open("a") as stream:
                    stream.write(json.dumps(rows[name]) + "\n")
    sys.stdout.write(table(list(rows.values()), list(tiers)))


def table(rows: list[dict[str, str]], tiers: list[str]) -> str:
    """Return counts per folder and tier, then the survivors."""
    lines = [f"{'':<16}" + "".join(f"{tier + ' ' + outcome:>17}" for tier in tiers for outcome in OUTCOMES)]
    for folder in [*sorted({_folder(row) for row in rows}), "all"]:
        own = [row for row in rows if folder in {_folder(row), "all"}]
        counts = [sum(row[tier] == outcome for row in own) for tier in tiers for outcome in OUTCOMES]
        lines.append(f"{folder:<16}" + "".join(f"{count:>17}" for count in counts))
    for tier in tiers:
        lines.append(f"\nsurvived {tier}:")
        lines += sorted(f"{row['mutant']}  {row['by']}" for row in rows if row[tier] == "survived")
    return "\n".join(lines) + "\n"


def _folder(row: dict[str, str]) -> str:
    """Return the folder of the package that a mutant is in."""
    parts = row["mutant"].partition(":")[0].split("/")
    return parts[2] if len(parts) > 3 else "(package)"


if __name__ == "__main__":
    main()
