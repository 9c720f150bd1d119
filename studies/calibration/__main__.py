"""Command line: ``python -m studies.calibration``; ``--help`` lists the options."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from fnmatch import fnmatchcase
from pathlib import Path

from studies._desk import HERE
from studies.calibration import page, plan

DOCS = HERE.parent / "docs"


def main(arguments: list[str] | None = None) -> int:
    """Run the study and write its page; return 1 if a test is liberal and the page does not say why."""
    options = _options(arguments)
    stored, docs = HERE / "results" / "calibration.jsonl", DOCS
    if options.quick:
        docs = Path(tempfile.mkdtemp(prefix="calibration-"))
        stored = docs / "calibration.jsonl"
    store = plan.Store(stored, fresh=options.fresh)
    if options.check:
        some = [job for job in plan.jobs(options.seed, 0) if _wanted(job, options.only)]
        differ = plan.stale(store, some, options.check, _say)
        for job in differ:
            _say(f"stale, count it again: {job.subject}, {job.data}, n = {job.n}")
        return 1 if differ else 0
    until, number = time.monotonic() + 60 * options.minutes, 0
    # the first round is always complete
    while plan.run(
        store,
        [job for job in plan.jobs(options.seed, number, quick=options.quick) if _wanted(job, options.only)],
        until=until if number else float("inf"),
        quick=options.quick,
        say=_say,
    ):
        number += 1
        if options.quick or time.monotonic() > until:
            break
    if not options.quick:
        store.tidy()
    cells = store.cells(options.seed)
    _say(f"wrote {page.write(cells, docs)}")
    unexplained = page.unexplained(cells)
    for line in unexplained:
        _say(f"liberal, and no sentence says why: {line}")
    return 1 if unexplained else 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m studies.calibration", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="defaults only, few draws, in a temporary folder"
    )
    parser.add_argument(
        "--minutes", type=float, default=0, help="go on with further rounds for this long (0)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of all draws (0)")
    parser.add_argument(
        "--only", help="compute these tests or experiments only, a pattern; others are as stored"
    )
    parser.add_argument(
        "--check", type=int, default=0, metavar="N",
        help="count N stored cells of every test again, and say which differ from today's code",
    )  # fmt: skip
    parser.add_argument("--fresh", action="store_true", help="forget stored results")
    return parser.parse_args(arguments)


def _wanted(job: plan.Job, only: str | None) -> bool:
    return only is None or fnmatchcase(job.subject, only)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
