"""Command line: ``python -m campaigns [NAME ...] [--minutes N] [--cases N] [--seed S] [--write]``."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from campaigns import isolated, report
from campaigns.outcome import Tally

#: Seconds that a case may take longer where kernels are compiled first.
COMPILING = 300.0
#: Those that run unless others are named, and those that need more than Python.
NAMES = ("programs", "sparse", "states", "values", "readers", "files", "kill", "signals", "threads", "soak")
ASKED = ("dask_workers", "spark_stream", "brokers")


def main() -> int:
    """Run campaigns; return 1 if one of them found something."""
    options = _options()
    if options.bounds_check:  # read by Numba when it is imported; code with checks has a cache of its own
        folder = Path(tempfile.gettempdir()) / "streamsieve-bounds-checked"
        os.environ["NUMBA_BOUNDSCHECK"] = "1"
        os.environ.setdefault("NUMBA_CACHE_DIR", str(folder))
    if options.only:
        importlib.import_module("campaigns.subjects").only = options.only
    reached = True
    for name in options.names or NAMES:
        tally = run(name, seed=options.seed, minutes=options.minutes, cases=options.cases)
        reached &= tally.reached
        _say(tally.line() + f", {tally.seconds:.0f} s")
        for case, outcome in tally.failures[: options.show]:
            _say(f"  {outcome.kind}: {case}: {outcome.text}")
        if not 2 * tally.progressed >= tally.tried:
            _say("  too few cases came far enough to mean anything")
        if options.write:
            report.store(tally)
    return 0 if reached else 1


def run(name: str, *, seed: int = 0, minutes: float = 1.0, cases: int | None = None) -> Tally:
    """Run one campaign and return its counts."""
    campaign = importlib.import_module(f"campaigns.{name}")
    tally = Tally(name, campaign.GOAL, seed, minutes)
    getattr(campaign, "prepare", lambda: None)()
    began = time.monotonic()
    stream = campaign.cases(np.random.default_rng(seed))
    patience = getattr(campaign, "PATIENCE", 30.0)
    if os.environ.get("NUMBA_BOUNDSCHECK") == "1":
        patience += COMPILING
    found = isolated.outcomes(stream, campaign.attempt, patience=patience, deadline=began + 60 * minutes)
    for case, outcome in found:
        tally.add(case, outcome)
        if tally.tried == cases:
            break
    tally.seconds = time.monotonic() - began
    return tally


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m campaigns", description="Try to break StreamSieve.")
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*NAMES, *ASKED, []],
                        help=f"{', '.join(NAMES)}; only if named: {', '.join(ASKED)}")  # fmt: skip
    parser.add_argument("--minutes", type=float, default=1.0, help="longest time of a campaign (1)")
    parser.add_argument(
        "--cases", type=int, help="most cases of a campaign; default: as many as the time allows"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random cases (0)")
    parser.add_argument("--bounds-check", action="store_true", help="kernels raise on a bad index; compiles")
    parser.add_argument("--only", default="", help="pattern of selectors and learners; default: all")
    parser.add_argument("--show", type=int, default=20, help="failures to print (20)")
    parser.add_argument("--write", action="store_true", help="write docs/evidence/reliability.md")
    return parser.parse_args()


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
