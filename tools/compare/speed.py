"""Time the benchmarks of two trees in turn: ``python -m tools.compare.speed OLD_ROOT NEW_ROOT``.

Each tree has a process of its own, which builds a case and waits; the two then run in turn, round after
round, so that a busy moment disturbs both alike, and the best time of each counts.  Peers are not run.  Cases
are matched by suite and name, or by their order where a case was renamed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

#: Runs inside a tree: one JSON command a line, one JSON answer a line.
WORKER = """
import gc, json, os, sys, time
from benchmarks._cases import Size, SkipCase, cases_of, suite_names
answers, sys.stdout = os.fdopen(os.dup(1), "w"), sys.stderr
size, race, found = Size(), None, {}
clock = time.process_time if "--cpu" in sys.argv else time.perf_counter
def seconds():
    gc.collect()
    start = clock()
    result = race.ours()
    spent = clock() - start
    return float(result) if type(result).__name__ == "Seconds" and clock is time.perf_counter else spent
for line in sys.stdin:
    command, *rest = json.loads(line)
    try:
        if command == "suites":
            answer = suite_names()
        elif command == "cases":
            found = {case.name: case for case in cases_of(rest[0], size)}
            answer = list(found)
        elif command == "build":
            race = None
            race = found[rest[0]].build(size)
            answer = "measured" if race.measured else "ready"
            if answer == "ready" and race.warm_up:
                race.ours()
        elif command == "run":
            answer = race.measured()[0] if race.measured else seconds()
    except SkipCase as reason:
        answer = {"skipped": str(reason)}
    except Exception as error:
        answer = {"broken": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), file=answers, flush=True)
"""


class Tree:
    """A process that builds and times the cases of one tree."""

    def __init__(self, root: Path, *, cpu: bool = False) -> None:
        path = os.pathsep.join([str(root / "src"), str(root)])
        self.process = subprocess.Popen(  # noqa: S603 - our own benchmarks
            [sys.executable, "-c", WORKER, *(["--cpu"] if cpu else [])],
            cwd=root,
            env=os.environ | {"PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, *command: Any) -> Any:
        """Send a command and return its answer."""
        pipe: Any = self.process.stdin
        pipe.write(json.dumps(command) + "\n")
        pipe.flush()
        pipe = self.process.stdout
        answer = pipe.readline()
        if not answer:
            raise RuntimeError(f"the process died at {command}")
        return json.loads(answer)


def raced(trees: list[Tree], names: tuple[str, str], rounds: int, patience: float) -> list[float] | str:
    """Return the best seconds of both trees, or why there are none."""
    for tree, name in zip(trees, names, strict=True):
        built = tree.ask("build", name)
        if isinstance(built, dict):
            return " ".join(f"{key}, {value}" for key, value in built.items())
    best, spent = [float("inf")] * 2, 0.0
    for number in range(rounds):
        for i in (0, 1) if number % 2 else (1, 0):
            seconds = trees[i].ask("run")
            if isinstance(seconds, dict):
                return " ".join(f"{key}, {value}" for key, value in seconds.items())
            best[i] = min(best[i], seconds)
            spent += seconds
        if number and spent > patience:
            break
    return best


def main() -> int:
    """Race the trees over the suites; return 1 if a case is slower by more than the allowance."""
    parser = argparse.ArgumentParser(prog="python -m tools.compare.speed", description=__doc__)
    parser.add_argument("roots", nargs=2, type=Path, metavar="ROOT", help="old and new repository")
    parser.add_argument("--suite", nargs="+", metavar="NAME", help="only these suites")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name contains it")
    parser.add_argument("--rounds", type=int, default=15, help="most runs of a case in each tree (15)")
    parser.add_argument("--patience", type=float, default=10.0, help="seconds a case may take in all (10)")
    parser.add_argument(
        "--allowance", type=float, default=0.03, help="slower by this much is reported (0.03)"
    )
    parser.add_argument(
        "--cpu", action="store_true", help="processor time of all threads, for a machine that is busy"
    )
    options = parser.parse_args()
    trees = [Tree(root.resolve(), cpu=options.cpu) for root in options.roots]
    suites = options.suite or sorted(set(trees[0].ask("suites")) & set(trees[1].ask("suites")))
    slower = []
    for suite in suites:
        old, new = (tree.ask("cases", suite) for tree in trees)
        pairs = (
            [(name, name) for name in old if name in new]
            if len(old) != len(new)
            else zip(old, new, strict=True)
        )
        for pair in pairs:
            if options.only not in pair[1]:
                continue
            found = raced(trees, pair, options.rounds, options.patience)
            if isinstance(found, str):
                _say(f"{'':>28}  {suite}: {pair[1]} ({found})")
                continue
            ratio = found[1] / found[0]
            _say(f"{found[0]:10.4g} s {found[1]:10.4g} s {ratio:6.3f}  {suite}: {pair[1]}")
            if ratio > 1 + options.allowance:
                slower.append((ratio, suite, pair[1]))
    _say(f"\nslower by more than {options.allowance:.0%}: {len(slower)}")
    for ratio, suite, name in sorted(slower, reverse=True):
        _say(f"{ratio:6.3f}  {suite}: {name}")
    return bool(slower)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
