"""``streamsieve compare``: which selector to trust on these data, as a page to read and files to reuse."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from streamsieve._files import check_outputs
from streamsieve._suspects import Suspects
from streamsieve._text import shown
from streamsieve._validation import describe_target
from streamsieve.cli import compare_data
from streamsieve.cli.compare_plan import Options, Plan, check_options, plan_for
from streamsieve.cli.interrupts import leave
from streamsieve.cli.options import Reading
from streamsieve.cli.output import say, say_json, say_table, warnings_as_notes
from streamsieve.cli.progress import progress
from streamsieve.cli.reading import declared_types, named_target, named_ways_out
from streamsieve.cli.results import types_line
from streamsieve.cli.suspects import suspects_notes
from streamsieve.column_types import guessed_types, type_names
from streamsieve.evaluation.engine.problem import Problem
from streamsieve.evaluation.engine.store import CELLS, REPORTED, SETTINGS
from streamsieve.evaluation.reports import html
from streamsieve.evaluation.reports.final_fit import FinalFit, chosen_table, final_fits, ledger_path
from streamsieve.evaluation.reports.recommendation import Recommendation, Standing, recommend
from streamsieve.evaluation.reports.report import REPORT, Report
from streamsieve.evaluation.reports.wording import count_text, metric_label, p_short
from streamsieve.exceptions import ParameterError, StateError

PAGE = "report.html"
#: Files that every comparison writes.
WRITTEN = {
    PAGE, REPORT, CELLS, SETTINGS, "table.csv", "standings.csv", "selections.csv", "chosen.csv", "drift.csv"
}  # fmt: skip
#: Names of its other files: ledgers, and pictures.
PATTERNS = (
    "ledger_*.csv", "score_*.png", "stream_*.png", "seconds.png", "seconds_by_columns.png", "stability.png",
    "agreement.png",
)  # fmt: skip
#: Combinations that are printed.
SHOWN = 10


@dataclass(frozen=True)
class Request:
    """The options of the command."""

    data: list[str]
    reading: Reading
    out: Path
    options: Options
    resume: bool
    overwrite: bool
    raw: bool
    quiet: bool
    json: bool
    command: str

    @property
    def silent(self) -> bool:
        """Whether only the result may be printed."""
        return self.quiet or self.json


def compare(request: Request) -> int:
    """Compare, write everything, and print what came out."""
    started = time.perf_counter()
    html.check_extra()
    options = request.options
    check_options(options)
    types = declared_types(request.reading)
    if types and options.protocol == "prequential":
        raise ParameterError(
            f"--{next(iter(types.values()))} goes with --protocol screening or streaming: learners that "
            "follow rows take numbers"
        )
    _check_folder(request)
    resumed = (request.out / CELLS).exists() and not request.overwrite
    data = compare_data.read(
        request.data, request.reading, options.groups or options.time, time=options.time is not None
    )
    task = data.task if request.options.task == "auto" else request.options.task
    with (
        warnings_as_notes(quiet=request.silent, task=task, target=request.reading.target),
        named_ways_out(where=f"{data.name}: "),
        named_target(request.reading.target),
    ):
        problem = Problem.of(data.X, data.y, task, data.names, data.types)
    plan = plan_for(request.options, problem)
    target = describe_target(data.y, data.target or None, str(problem.task))
    suspects = Suspects()
    suspects.look(data.X, data.y, data.names)
    notes = (
        *data.notes,
        *types_line(_types(data)),
        *suspects_notes(suspects, data.target or None, data.encoded),
    )
    _announce(request, problem, plan, (*notes, target))
    first = _fits(request, problem, plan, {}) if plan.batch_size is not None else None
    by = {} if data.rows is None else {"groups" if options.groups else "time": data.rows}
    if request.overwrite:
        _remove_earlier(request.out)
    known = "regression" if problem.regression else "classification"
    report = _run(request, problem, plan, y=data.y, task=known, **by)
    made = recommend(report)
    fits = _fits(request, problem, plan, _best_sizes(made)) if first is None else first
    facts = html.Facts(
        data.name, data.origin, data.target, request.command, time.perf_counter() - started,
        resumed=resumed, notes=notes,
    )  # fmt: skip
    _write(request, report, made, fits, facts)
    _print(request, report, made, fits, time.perf_counter() - started)
    return 0


def _types(data: compare_data.Data) -> dict[str, str]:
    """Return the declared types by name, or those that selectors with types guess."""
    names = data.names or [f"x{j}" for j in range(data.X.shape[1])]
    return dict(zip(names, type_names(guessed_types(data.X)), strict=True)) | data.types


def _best_sizes(made: Recommendation) -> dict[str, int]:
    """Return for every selector the size that suits its best learner."""
    best: dict[str, int] = {}
    for each in made.standings:
        best.setdefault(each.selector, each.size)
    return best


def _check_folder(request: Request) -> None:
    """Refuse, before any work, a folder that holds the data or other files."""
    out = request.out
    if out.exists() and not out.is_dir():
        raise ParameterError(f"--out {out} is a file: name a folder, which will be made if it is not there")
    check_outputs({"--out": [out / name for name in WRITTEN]}, {"DATA": request.data}, folder=("--out", out))
    if request.resume and request.overwrite:
        raise ParameterError(
            "--resume goes on with a comparison and --overwrite replaces it: give one of them"
        )
    if (out / SETTINGS).exists() and (out / CELLS).exists():
        if not request.resume and not request.overwrite:
            raise StateError(
                f"{out} holds a comparison already: --resume goes on with it if data and options are the "
                "same, --overwrite replaces it, or choose another folder"
            )
        return
    for each in sorted(out.iterdir()) if out.is_dir() else ():
        if each.name in WRITTEN or each.suffix == ".png" or each.name.startswith("ledger_"):
            raise StateError(
                f"{out} holds {each.name}, which is not of a comparison and might be overwritten: choose "
                "another folder"
            )


def _remove_earlier(out: Path) -> None:
    """Remove the files of an earlier comparison, unless there are others that might be overwritten."""
    if not (out / SETTINGS).exists():
        return
    here = sorted(out.iterdir())
    own = [each for each in here if each.name in WRITTEN or any(each.match(some) for some in PATTERNS)]
    for each in here:
        if each.suffix in REPORTED and each not in own:
            raise StateError(f"{out} holds {each.name}, which is not of a comparison: choose another folder")
    for each in own:
        each.unlink()


def _announce(request: Request, problem: Problem, plan: Plan, notes: tuple[str, ...]) -> None:
    n, p = problem.X.shape
    lines = [f"{n:,} rows x {p:,} features   protocol {plan.protocol}", *plan.description]
    if not request.silent:
        say(*notes, *lines)


def _run(request: Request, problem: Problem, plan: Plan, **target: Any) -> Report:
    """Run the protocol; an interruption says that nothing is lost."""
    done = 0
    leave(
        lambda: (
            f"{shown(request.out)} holds {done:,} of {plan.cells:,} parts: the same command with --resume "
            "goes on from there"
        )
    )
    with (
        progress("comparing", plan.cells, "parts", quiet=request.silent) as advance,
        _heard(plan.jobs != 1) as check,
    ):

        def notify(now: int, _total: int) -> None:
            nonlocal done
            step, done = now - done, now
            advance(step)
            check()

        running: dict[str, Any] = {"folder": request.out, "resume": request.resume, "progress": notify}
        return plan.run(problem, **target, **running)


@contextmanager
def _heard(several: bool) -> Iterator[Callable[[], None]]:
    """Context: with several processes, Ctrl-C is not lost; it gets a function to call after every part.

    joblib cleans up at any moment, in functions whose exceptions Python prints and forgets.  An interruption
    there waits for the next part.
    """
    waiting = False

    def interrupt(_number: int, frame: FrameType | None) -> None:
        nonlocal waiting
        if not waiting:  # a second one does not wait
            while frame is not None and not waiting:
                waiting = frame.f_globals.get("__name__") == "weakref"
                frame = frame.f_back
            if waiting:
                return
        raise KeyboardInterrupt

    def check() -> None:
        if waiting:
            raise KeyboardInterrupt

    ours = several and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield check
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _fits(request: Request, problem: Problem, plan: Plan, sizes: dict[str, int]) -> dict[str, FinalFit]:
    n = len(plan.selectors)
    with progress("fitting to all rows", n, "selectors", quiet=request.silent) as advance:
        return final_fits(
            problem, plan.selectors, sizes, random_state=request.options.seed,
            scale=plan.batch_size is None, batch_size=plan.batch_size, progress=advance,
        )  # fmt: skip


# ------------------------------------------------------------------------------------ output


def _write(
    request: Request, report: Report, made: Recommendation, fits: dict[str, FinalFit], facts: html.Facts
) -> None:
    """Write the page, and beside it tables, ledgers and pictures; each file is complete or not there."""
    report.extras |= {"standings": made.table(), "chosen": chosen_table(fits)}
    # the folder was checked before
    html.write_page(request.out / PAGE, report, made, fits, facts, overwrite=True)
    report.save(request.out, raw=request.raw, overwrite=True)
    for name, fit in fits.items():
        if fit.decisions:
            fit.write_ledger(ledger_path(request.out, name), raw=request.raw, overwrite=True)


def _print(
    request: Request, report: Report, made: Recommendation, fits: dict[str, FinalFit], seconds: float
) -> None:
    failures = [str(failure) for failure in report.failures]
    failures += [f"{name}, fitted to all rows: {fit.error}" for name, fit in fits.items() if fit.error]
    page = request.out / PAGE
    if request.json:
        chosen = {name: [each.name for each in fit.features] for name, fit in fits.items()}
        result = {
            **made.to_json(), "chosen": chosen,
            "failures": failures, "warnings": report.warnings, "report": str(page), "seconds": seconds,
        }  # fmt: skip
        say_json(result)
        return
    if request.quiet:
        say(made.sentence)
        return
    headings = dict.fromkeys((metric_label(made.metric), "std", "features", *(("p",) * made.tested)), "right")
    say_table(
        {"selector + learner": "left", **headings}, (_row(made, each) for each in made.standings[:SHOWN])
    )
    if len(made.standings) > SHOWN:
        say(f"... and {len(made.standings) - SHOWN} more")
    say("", made.sentence, "", style="bold")
    if failures:
        say(f"{len(failures):,} parts failed, the first: {failures[0]}")
    say(f"wrote {page} in {seconds:.1f} s, with tables and pictures beside it")


def _row(made: Recommendation, each: Standing) -> tuple[str, ...]:
    p = ("" if each is made.best else _number(each.adjusted, p_short(each.adjusted)),) * made.tested
    spread = _number(each.std, f"{each.std:.3f}")
    name = f"all features + {each.learner}" if each.keeps_all else each.name
    return name, f"{each.mean:.3f}", spread, count_text(each.features), *p


def _number(value: float, text: str) -> str:
    return "" if math.isnan(value) else text
