"""Compare two source trees: ``python -m tools.compare OLD_SRC NEW_SRC``."""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tools.compare.cases import STREAMS, Case, real_cases, seeded_cases
from tools.compare.differences import Difference, differences
from tools.compare.options import OPTIONS

ROOT = Path(__file__).resolve().parents[2]
#: Characters of a value that are shown.
WIDEST = 400


def main(arguments: list[str] | None = None) -> int:
    """Run a comparison; return 1 if anything differs."""
    options = _parser().parse_args(arguments)
    trees = list(options.trees)
    if options.git:
        trees.insert(0, str(checked_out(options.git)))
    if len(trees) != 2:
        sys.exit("two trees are needed: OLD_SRC NEW_SRC, or --git REV NEW_SRC")
    only = frozenset(filter(None, (options.only or "").split(",")))
    if only - OPTIONS.keys():
        sys.exit(f"no such class: {', '.join(sorted(only - OPTIONS.keys()))}; there are {', '.join(OPTIONS)}")
    cases = list(real_cases(options.seed, only) if options.real else _seeded(options, only))
    began = time.perf_counter()
    old, new = _answers(trees, cases, both_at_once=options.both)
    if options.write:
        Path(options.write).write_text("".join(json.dumps(answer) + "\n" for answer in old))
    report = Report(show=options.show)
    for case, before, after in zip(cases, old, new, strict=True):
        report.add(case, before, after, list(differences(before, after, texts=options.texts)))
    report.print_all()
    _say(f"{time.perf_counter() - began:.0f} s")
    return 1 if report.different else 0


def _say(text: str = "") -> None:
    sys.stdout.write(text + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.compare", description=__doc__)
    parser.add_argument("trees", nargs="+", metavar="SRC", help="old and new source folder; the old one may "
                        "be a file written by --write")  # fmt: skip
    parser.add_argument("--git", metavar="REV", help="take the old tree from git, in place of OLD_SRC")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--streams", type=int, default=STREAMS, help=f"about how many ({STREAMS})")
    parser.add_argument("--only", help="classes, such as SAOLA,Screen")
    parser.add_argument("--case", help="one case by its name, such as SAOLA-17")
    parser.add_argument(
        "--real", action="store_true", help="real data (STREAMSIEVE_DATA), default parameters"
    )
    parser.add_argument("--texts", action="store_true", help="compare the texts of errors too")
    parser.add_argument("--both", action="store_true", help="run both trees at the same time")
    parser.add_argument("--show", type=int, default=3, help="how many kinds of differences to show a class")
    parser.add_argument("--write", metavar="FILE", help="keep the old tree's answers, to compare with again")
    return parser


def _seeded(options: argparse.Namespace, only: frozenset[str]) -> Iterator[Case]:
    for case in seeded_cases(options.seed, options.streams, only):
        if options.case is None or case["id"] == options.case:
            yield case


# ------------------------------------------------------------------------------------ trees


def checked_out(revision: str) -> Path:
    """Return the sources of a revision, in a folder that stays, so that compiled kernels do too."""
    git = ["git", "-C", str(ROOT)]
    commit = subprocess.run(  # noqa: S603
        [*git, "rev-parse", "--verify", f"{revision}^{{commit}}"], check=True, capture_output=True, text=True
    ).stdout.strip()
    folder = Path(tempfile.gettempdir()) / f"streamsieve-{commit[:12]}"
    if not (folder / "benchmarks").is_dir():
        packed = subprocess.run([*git, "archive", commit], check=True, capture_output=True).stdout  # noqa: S603
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
    return folder / "src"


def _answers(trees: list[str], cases: list[Case], *, both_at_once: bool) -> tuple[list[Any], list[Any]]:
    """Let both trees answer all cases."""
    if Path(trees[0]).is_file():
        with Path(trees[0]).open() as file:
            kept = {answer["id"]: answer for answer in map(json.loads, file)}
        missing = [case["id"] for case in cases if case["id"] not in kept]
        if missing:
            sys.exit(f"{trees[0]} has no answer to {missing[0]}: same seed and streams?")
        return [kept[case["id"]] for case in cases], _finished(_started(trees[1], "new", cases), trees[1])
    first = _started(trees[0], "old", cases)
    if both_at_once:
        second = _started(trees[1], "new", cases)
        return _finished(first, trees[0]), _finished(second, trees[1])
    old = _finished(first, trees[0])
    return old, _finished(_started(trees[1], "new", cases), trees[1])


class _Worker:
    def __init__(self, process: subprocess.Popen[str], out: Any) -> None:
        self.process, self.out = process, out


def _started(tree: str, which: str, cases: list[Case]) -> _Worker:
    source = Path(tree).resolve()
    if not (source / "streamsieve").is_dir():
        sys.exit(f"{tree} is no source folder: there is no streamsieve in it")
    one = dict.fromkeys(
        ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
    )
    environment = {**os.environ, **one, "PYTHONPATH": str(source), "PYTHONHASHSEED": "0"}
    # files, not pipes: nobody waits for anybody
    given, out = (tempfile.TemporaryFile("w+") for _ in range(2))  # noqa: SIM115 - they end with the worker
    given.writelines(json.dumps(case) + "\n" for case in cases)
    given.seek(0)
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "tools.compare.worker", which, str(source)],
        stdin=given, stdout=out, env=environment, cwd=ROOT, text=True,
    )  # fmt: skip
    return _Worker(process, out)


def _finished(worker: _Worker, tree: str) -> list[Any]:
    code = worker.process.wait()
    worker.out.seek(0)
    answers = [json.loads(line) for line in worker.out]
    if code:
        last = answers[-1]["id"] if answers else "none"
        sys.exit(f"the worker over {tree} ended with {code}; the last case answered is {last}")
    return answers


# ------------------------------------------------------------------------------------ report


class Report:
    """Count differences, and show the first of each kind."""

    def __init__(self, show: int) -> None:
        self._show = show
        self._counts: dict[str, Counter[str]] = {}
        self._kinds: dict[str, dict[str, list[tuple[Case, Difference]]]] = {}
        self.different = 0

    def add(self, case: Case, old: Any, new: Any, found: list[Difference]) -> None:
        """Take what differs in one case."""
        counts = self._counts.setdefault(case["cls"], Counter())
        counts["cases"] += 1
        counts["lines"] += sum(_lines_in(step.get("answer")) for step in old["steps"])
        counts["errors"] += any("raises" in step for step in old["steps"])
        counts["reloads"] += any(op[0] in ("reload", "state") for op in case["ops"])
        counts["different"] += bool(found)
        counts["old ms"] += round(1000 * old["seconds"])
        counts["new ms"] += round(1000 * new["seconds"])
        self.different += bool(found)
        for difference in found:
            kinds = self._kinds.setdefault(case["cls"], {})
            kinds.setdefault(difference.kind, []).append((case, difference))

    def print_all(self) -> None:
        """Print the differences, then the table."""
        for kinds in self._kinds.values():
            for kind, found in list(kinds.items())[: self._show]:
                _print_difference(kind, found)
            if len(kinds) > self._show:
                _say(f"  ... and {len(kinds) - self._show} more kinds: --show {len(kinds)}")
            _say()
        heads = ("cases", "lines", "errors", "reloads", "different", "old ms", "new ms")
        _say(f"{'class':<22}" + "".join(f"{head:>10}" for head in heads))
        total: Counter[str] = Counter()
        for name, counts in self._counts.items():
            _say(f"{name:<22}" + "".join(f"{counts[head]:>10,}" for head in heads))
            total += counts
        _say(f"{'all':<22}" + "".join(f"{total[head]:>10,}" for head in heads))
        _say("no difference" if not self.different else f"{self.different} cases differ")


def _lines_in(answer: Any) -> int:
    """Count the ledger lines in an answer."""
    if not isinstance(answer, dict):
        return 0
    return len(answer.get("decisions", ())) + len(answer.get("attributes", {}).get("ledger_", ()))


def _print_difference(kind: str, found: list[tuple[Case, Difference]]) -> None:
    case, first = found[0]
    ids: Iterable[str] = dict.fromkeys(case["id"] for case, _ in found)
    shown = ", ".join(f"{name}={value!r}" for name, value in case["parameters"].items())
    spec = case["data"]
    source = spec.get("real") or f"{spec['task']} {spec['n']} x {spec['p']}"
    _say(f"{case['cls']}: {kind} ({len(list(ids))} cases)")
    _say(f"  {case['id']}: {case['cls']}({shown}) over {source}, {first.where}")
    _say(f"    old {_short(first.old)}")
    _say(f"    new {_short(first.new)}")


def _short(value: Any) -> str:
    if isinstance(value, dict) and "values" in value:
        value = value["values"]
    text = repr(value)
    return text if len(text) <= WIDEST else text[:WIDEST] + " ..."


if __name__ == "__main__":
    sys.exit(main())
