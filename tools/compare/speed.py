"""Time the benchmarks of two trees in turn: ``python -m tools.compare.speed --git REV``, or two folders.

Each tree has a process of its own, which builds a case of its own ``benchmarks/`` and waits; the two then
run in turn, round after round, so that a busy moment disturbs both alike, and the best time of each counts.
Cases are matched by suite and name.  A case that is slower by more than the allowance is raced again in new
processes, because memory lies differently in each; and with the p-values of the papers, if its selectors
have others by default.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple, Self

from tools.compare import speed_page
from tools.compare.__main__ import checked_out

ROOT = Path(__file__).resolve().parents[2]
WORKER = Path(__file__).with_name("speed_worker.py")
#: Old names of cases, by suite and new name.
RENAMED = {
    ("learners", "RunningAverages, query fsa"): "RunningAverages, query ofsa",
    ("learners", "RunningAverages, query lasso"): "RunningAverages, query olasso",
    ("learners", "RunningAverages, query mcp"): "RunningAverages, query omcp",
    ("learners", "RunningAverages, query ols_threshold"): "RunningAverages, query olsth",
    ("offline", "LARS, gisette_valid"): "LARSSelector, gisette_valid",
}


class Tree:
    """A process that builds and times the cases of one tree."""

    def __init__(self, root: Path, *flags: str) -> None:
        path = os.pathsep.join([str(root / "src"), str(root)])
        self.process = subprocess.Popen(  # noqa: S603 - our own benchmarks
            [sys.executable, "-P", str(WORKER), *flags],
            cwd=root,
            env=os.environ | {"PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, *command: str) -> Any:
        """Send a command and return its answer."""
        pipe: Any = self.process.stdin
        pipe.write(json.dumps(command) + "\n")
        pipe.flush()
        pipe = self.process.stdout
        answer = pipe.readline()
        if not answer:
            raise RuntimeError(f"the process died at {command}")
        return json.loads(answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()


class Times(NamedTuple):
    """The best of both trees for one case, or why there is none."""

    suite: str
    before: str
    case: str
    old: float = float("nan")
    new: float = float("nan")
    #: With the p-values of the papers: None if the case has no others, or was not slower.
    papers: float | None = None
    not_run: str = ""

    @property
    def ratio(self) -> float:
        """What the new tree takes of the time of the old one."""
        return self.new / self.old

    def line(self) -> str:
        """Return one line of text."""
        if self.not_run:
            return f"{'':>31}  {self.suite}: {self.case} ({self.not_run})"
        papers = "" if self.papers is None else f"  (p-values of the papers: {self.papers / self.old:.3f})"
        return f"{self.old:10.4g} s {self.new:10.4g} s {self.ratio:6.3f}  {self.suite}: {self.case}{papers}"


class Comparison:
    """Races the cases of two trees."""

    def __init__(self, roots: list[Path], options: argparse.Namespace) -> None:
        self._roots, self._options = roots, options

    def suites(self) -> list[str]:
        """Return the suites that both trees have."""
        with self._tree(0) as old, self._tree(1) as new:
            return sorted(set(old.ask("suites")) & set(new.ask("suites")))

    def suite(self, suite: str) -> list[Times]:
        """Return the times of all cases of a suite that both trees have."""
        with self._tree(0) as old, self._tree(1) as new:
            had = old.ask("cases", suite)
            names = [name for name in new.ask("cases", suite) if self._options.only in name]
            pairs = [(name if name in had else RENAMED.get((suite, name), name), name) for name in names]
            found = []
            for before, after in pairs:
                if before in had:
                    found.append(self._raced(suite, old, new, (before, after)))
                    _say(found[-1].line())
        return [self._again(each) if self._slower(each) else each for each in found]

    def _slower(self, times: Times) -> bool:
        return times.ratio > 1 + float(self._options.allowance)

    def _again(self, first: Times) -> Times:
        """Race a case once more in new processes, then with the p-values of the papers."""
        pair, times = (first.before, first.case), first
        for papers in (False, True):
            with self._tree(0) as old, self._tree(1) as new:
                for tree in (old, new):
                    tree.ask("cases", first.suite)
                if papers:
                    new.ask("papers")
                second = self._raced(first.suite, old, new, pair, papers=papers)
            if second.not_run:
                break
            best = times._replace(old=min(times.old, second.old))
            times = (
                best._replace(papers=second.new) if papers else best._replace(new=min(best.new, second.new))
            )
            if not self._slower(times):
                break
        _say(f"{times.line()}  (again)")
        return times

    def _raced(
        self, suite: str, old: Tree, new: Tree, pair: tuple[str, str], *, papers: bool = False
    ) -> Times:
        began = time.perf_counter()
        times = Times(suite, *pair)
        for tree, name in zip((old, new), pair, strict=True):
            built = tree.ask("build", name)
            if isinstance(built, dict):
                return times._replace(not_run=built["not run"])
        if papers and not built:
            return times._replace(not_run="no p-values")
        best = [float("inf")] * 2
        for number in range(self._options.rounds):
            for i in (0, 1) if number % 2 else (1, 0):
                seconds = (old, new)[i].ask("run")
                if isinstance(seconds, dict):
                    return times._replace(not_run=seconds["not run"])
                best[i] = min(best[i], seconds)
            if number and time.perf_counter() - began > self._options.patience:
                break
        return times._replace(old=best[0], new=best[1])

    def _tree(self, which: int) -> Tree:
        flags = [f"--{name}" for name in ("cpu", "quick") if getattr(self._options, name)]
        return Tree(self._roots[which], *flags)


def main(arguments: list[str] | None = None) -> int:
    """Race the trees over the suites; return 1 if a case is slower by more than the allowance."""
    options = _parser().parse_args(arguments)
    roots = [Path(root).resolve() for root in options.roots]
    if options.git:
        roots = [checked_out(options.git).parent, *(roots or [ROOT])]
    if len(roots) != 2:
        sys.exit("two trees are needed: OLD_ROOT NEW_ROOT, or --git REV")
    began, comparison = time.perf_counter(), Comparison(roots, options)
    found = []
    for suite in options.suite or comparison.suites():
        started = time.perf_counter()
        found += comparison.suite(suite)
        _say(f"{suite}: {time.perf_counter() - started:.0f} s")
    slower = [each for each in found if each.ratio > 1 + options.allowance]
    _say(f"\nslower by more than {options.allowance:.0%}: {len(slower)} of {len(found)}")
    for each in sorted(slower, key=lambda each: -each.ratio):
        _say(each.line())
    if options.write:
        old = options.git or str(roots[0])
        took = time.perf_counter() - began
        options.write.write_text(speed_page.page(found, old=old, allowance=options.allowance, took=took))
    return bool(slower)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.compare.speed", description=__doc__)
    parser.add_argument("roots", nargs="*", type=Path, metavar="ROOT", help="old and new repository")
    parser.add_argument(
        "--git", metavar="REV", help="take the old tree from git, and compare it with this one"
    )
    parser.add_argument("--suite", nargs="+", metavar="NAME", help="only these suites")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name contains it")
    parser.add_argument("--rounds", type=int, default=100, help="most runs of a case in each tree (100)")
    parser.add_argument(
        "--patience", type=float, default=6.0, help="seconds after which a case has had its rounds (6)"
    )
    parser.add_argument(
        "--allowance", type=float, default=0.03, help="slower by this much is reported (0.03)"
    )
    parser.add_argument(
        "--cpu", action="store_true", help="processor time of all threads, for a machine that is busy"
    )
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does it run?")
    parser.add_argument(
        "--write", type=Path, metavar="PAGE", help="write a page, such as benchmarks/BEFORE.md"
    )
    return parser


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
