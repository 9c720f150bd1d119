"""Command line: ``python -m benchmarks [--suite NAME ...] [--only TEXT]``; ``--help`` lists all options."""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from pathlib import Path

from benchmarks import _report, _scaling
from benchmarks._cases import Case, Size, SkipCase, cases_of, suite_names
from benchmarks._console import Printer
from benchmarks._machine import load, machine
from benchmarks._run import Result, run


def main() -> int:
    """Run the suites asked for; return 1 if a case broke, whatever the figures."""
    options = _options()
    size, printer = Size(options.quick), Printer()
    if options.list:
        return _list(options.suite, size, options.only, printer)
    printer.say(machine())
    results: list[Result] = []
    broken = 0
    for suite in options.suite:
        busy = load()
        found, missing, failed = _run_suite(suite, size, options.only, printer)
        results += found
        broken += failed
        # after every suite, so that an interrupted run loses only its last one
        if not (options.quick or options.only):
            _report.store(suite, _report.section(found, missing, machine=machine(), load=busy))
        if options.json:
            options.json.write_text(json.dumps([result.figures() for result in results], indent=1) + "\n")
    for picture in () if options.quick or options.only else _scaling.draw(results):
        printer.say(f"drew {picture}")
    printer.say(f"\n{len(results)} cases, {_tally(results, quick=options.quick)}, {broken} broken")
    if options.quick:
        printer.say("--quick: tiny sizes, so the figures say nothing about speed and RESULTS.md is as it was")
    return 1 if broken else 0


def _tally(results: list[Result], *, quick: bool) -> str:
    """Return how many bars were reached; tiny sizes are not held to them."""
    if quick:
        return f"{sum(result.bar is not None for result in results)} bars not judged"
    bars = [result.reached for result in results if result.reached is not None]
    return f"{sum(bars)} of {len(bars)} bars reached"


def _options() -> argparse.Namespace:
    suites = suite_names()
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Speed and memory against peers."
    )
    parser.add_argument("--suite", nargs="+", choices=suites, default=suites, metavar="NAME",
                        help=f"only these: {', '.join(suites)}")  # fmt: skip
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="cases with this in the name; leaves RESULTS.md alone"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as a JSON list")
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes: does it run? leaves RESULTS.md alone"
    )
    parser.add_argument("--list", action="store_true", help="list the cases and their bars, run nothing")
    return parser.parse_args()


def _list(suites: list[str], size: Size, only: str, printer: Printer) -> int:
    for suite in suites:
        for case in _cases(suite, size, only):
            printer.say(f"{suite:10} {case.name}" + (f"  [{case.bar}]" if case.bar else ""))
    return 0


def _cases(suite: str, size: Size, only: str) -> list[Case]:
    return [case for case in cases_of(suite, size) if only in case.name]


def _run_suite(
    suite: str, size: Size, only: str, printer: Printer
) -> tuple[list[Result], dict[str, str], int]:
    """Return the results, the cases without one and why, and how many of those broke."""
    printer.suite(suite)
    results: list[Result] = []
    missing: dict[str, str] = {}
    broken = 0
    for case in _cases(suite, size, only):
        try:
            results.append(run(case, size))
        except SkipCase as reason:
            missing[case.name] = f"skipped, {reason}"
        except Exception as error:  # noqa: BLE001 - one broken case must not cost the others their run
            missing[case.name] = f"BROKEN, {type(error).__name__}: {' '.join(str(error).split())}"
            broken += 1
            traceback.print_exc(file=sys.stderr)
        else:
            printer.result(results[-1])
        _say_missing(case, missing, printer)
    return results, missing, broken


def _say_missing(case: Case, missing: dict[str, str], printer: Printer) -> None:
    if case.name in missing:
        printer.say(f"{case.name}: {missing[case.name]}")


if __name__ == "__main__":
    sys.exit(main())
