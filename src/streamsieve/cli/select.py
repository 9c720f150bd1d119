"""``streamsieve select`` and ``streamsieve screen``."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp

from streamsieve import choosing, registry, state
from streamsieve._kernels.compiling import compile_clock
from streamsieve._suspects import Suspects, Watched
from streamsieve._text import shown
from streamsieve._validation import classes_text, describe_target, range_text, task_of, whole_labels
from streamsieve.base import ColumnSelector, OfflineSelector
from streamsieve.base.effects import effect_name, effect_note
from streamsieve.base.showing import types_of
from streamsieve.cli import code, writing
from streamsieve.cli.dependent_rows import DependentRows
from streamsieve.cli.engine import check_engine, connected
from streamsieve.cli.grouped_columns import offer_groups, takes_groups
from streamsieve.cli.interrupts import leave
from streamsieve.cli.options import Engine, Output, Reading
from streamsieve.cli.output import check_files, console, say, say_json, warnings_as_notes
from streamsieve.cli.parameters import parsed, plain_parameters, task_parameter
from streamsieve.cli.progress import progress
from streamsieve.cli.reading import (
    check,
    described,
    features_of,
    named_target,
    named_ways_out,
    opened,
    take_types,
)
from streamsieve.cli.results import (
    confirmed_features,
    counts_of,
    explained,
    kept_features,
    nothing_kept,
    p_value_note,
    remarks_on,
    say_features,
    sign_note,
    types_line,
)
from streamsieve.cli.suspects import codes_note, labels_note, suspects_notes
from streamsieve.exceptions import CapabilityError, ParameterError, StateError, TargetWarning
from streamsieve.protocols import Task
from streamsieve.running import run
from streamsieve.running.checkpoint import CheckpointFile
from streamsieve.selecting import omit_missing

SHOWN = 20
#: Rows or columns from which on a rate is shown: of fewer, most of the time goes into starting.
FEWEST_FOR_A_RATE = 10_000


@dataclass(frozen=True, kw_only=True)
class Request:
    """What both commands have in common."""

    data: list[str]
    reading: Reading
    output: Output
    size: int
    rows: DependentRows = field(default_factory=DependentRows)
    engine: Engine = field(default_factory=Engine)
    #: Proportion of rows that selection does not see.
    holdout: float | None = None
    #: What the target was said to be.
    task: str | None = None


class Run(NamedTuple):
    """How a run went: rows or columns that were streamed, those of a checkpoint before, and seconds."""

    streamed: int
    before: int
    unit: str
    seconds: float
    compiling: float


def select(request: Request, method: str | None, goal: str | None, parameters: list[str]) -> int:
    """Run any method over the axis it streams."""
    check(request.reading)
    task = request.task
    if method is not None and goal is not None:
        raise ParameterError("--goal chooses a method, and --method names one: give one of them")
    if method is not None:
        cls = registry.selector(method)
        return _run(request, cls(**parsed(cls, parameters), **task_parameter(cls, task)))
    request.rows.check(None, request.data)
    source = opened(request.data, request.reading, exclude=request.rows.columns)
    with named_target(request.reading.target):
        choice = _chosen(source, task or "auto", goal or "accurate")
    cls = registry.selector(choice.method)
    asked = {**choice.parameters, **parsed(cls, parameters), **task_parameter(cls, task)}
    return _run(request, cls(**asked), source, str(choice))


def _chosen(source: Any, task: str, goal: str) -> choosing.Choice:
    """Choose a method by the data."""
    y = getattr(source, "y", None)
    if y is None:
        raise ParameterError("say which method: --method screen, for example, for a stream of rows")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TargetWarning)  # the selector says it
        labels, kind = task_of(y, task)
    classes = 0 if kind is Task.REGRESSION else len(np.unique(labels))
    profile = choosing.Profile(rows=len(y), columns=source.n_columns or 0, task=kind, classes=classes)
    return choosing.choose(profile, goal)


def screen(request: Request, parameters: dict[str, Any]) -> int:
    """Run a screen over rows."""
    check(request.reading)
    return _run(request, registry.selector("screen")(**parameters))


def _run(request: Request, selector: Any, source: Any = None, note: str = "") -> int:
    output = request.output
    request.rows.check(selector, request.data)
    if request.reading.missing == "omit":
        omit_missing(selector)
    if output.code:
        code.check_code(request.data)
    _check(request, selector)
    if source is None:
        source = opened(request.data, request.reading, exclude=request.rows.columns)
    take_types(selector, request.reading, source)
    if output.explain:
        features = [feature for column in output.explain for feature in features_of(column, source)]
        output = replace(output, explain=features)
        request = replace(request, output=output)
    suspects = Suspects()
    watched = Watched(source, suspects)
    with (
        warnings_as_notes(quiet=output.silent, task=request.task, target=request.reading.target),
        named_ways_out(selector),
        named_target(request.reading.target),
    ):
        how = _streamed(request, selector, watched)
    kept = kept_features(selector) if request.holdout is None else confirmed_features(selector)
    writing.write(output, selector, kept, source, request.reading)
    lines = [*([note] if note else []), *described(source, request.reading, request.rows.columns)]
    lines += [*_target_line(watched, request, selector), *types_line(types_of(selector))]
    lines += (
        suspects_notes(suspects, request.reading.target, getattr(source, "encoded", None))
        + codes_note(suspects, selector)
        + labels_note(watched)
    )
    types = [row["type"] for row in kept if "type" in row]
    effect = effect_name(selector, types)
    after = effect_note(selector, effect, types)
    after += sign_note(kept, effect, selector, source) if kept else []
    after += [] if request.rows.columns else p_value_note(kept[:SHOWN], effect, selector)
    after += _ledger_note(output, selector)
    _print(request, selector, kept, how, effect, lines, [*after, *remarks_on(selector)])
    if output.code and not output.json:
        fitted = request.rows.given(request.holdout)
        if request.reading.weight is not None:
            fitted = {**fitted, "sample_weight": f"data[{request.reading.weight!r}]"}
        say("", *code.lines(request.data, request.reading, selector, source, fitted), whole=True)
    return 0 if kept else 1


def _streamed(request: Request, selector: Any, source: Any) -> Run:
    """Stream the data through a selector, or give it all of it."""
    quiet, streamed = request.output.silent, 0
    by_rows = not isinstance(selector, (ColumnSelector, OfflineSelector))
    unit = "rows" if by_rows else "columns"
    before = _resumed_rows(request) if by_rows else 0
    total = source.n_rows if by_rows else source.n_columns
    leave(lambda: _where(request.output.checkpoint))

    def announce() -> None:
        if not quiet:
            console(stderr=True).print("compiling kernels, once per machine ...")

    with compile_clock(announce) as compiling, progress(unit, total, unit, quiet=quiet) as advance:

        def moved(n: int) -> None:
            nonlocal streamed
            streamed += n
            advance(n)

        started = time.perf_counter()
        if isinstance(selector, OfflineSelector):
            _fit(selector, source, request.size, moved)
        elif isinstance(selector, ColumnSelector):
            request.rows.begin(
                selector, source, target=request.reading.target, quiet=quiet, holdout=request.holdout
            )
            if takes_groups(selector, source):
                offer_groups(selector, source, request.size, moved)
            else:
                run(source, selector, block_size=request.size, progress=moved)
        else:
            _learn(request, selector, source, moved)
            selector.get_support()
        seconds = time.perf_counter() - started
        return Run(streamed - before, before, unit, max(seconds - compiling(), 0.0), compiling())


def _learn(request: Request, selector: Any, source: Any, moved: Any) -> None:
    """Learn the rows, here or on an engine."""
    output, asked = request.output, request.engine
    if asked.engine is not None:
        with connected(asked) as engine:
            run(
                source, selector, engine=engine, workers=asked.workers, rows_per_task=asked.rows_per_task,
                batch_size=request.size, progress=moved,
            )  # fmt: skip
        source.labels.clear()  # those of the first rows only: the workers have seen the others
        return
    run(
        source, selector, checkpoint=output.checkpoint, every=_every(output.every),
        resume=output.resume, verify=cast(Any, output.verify or "sample"), batch_size=request.size,
        progress=moved,
    )  # fmt: skip


def _fit(selector: OfflineSelector, source: Any, size: int, moved: Any) -> None:
    """Fit a method that needs the whole matrix."""
    import pyarrow as pa  # noqa: PLC0415

    blocks, names = [], list[str]()
    for block in source.columns(size):
        blocks.append(block.X)
        names += block.names or []
        moved(block.X.shape[1])
    X = sp.hstack(blocks, format="csr") if sp.issparse(blocks[0]) else np.hstack(blocks)
    table = X if sp.issparse(X) or len(names) != X.shape[1] else pa.table(list(X.T), names=names)
    selector.fit(table, *(() if source.y is None else (source.y,)))


def _check(request: Request, selector: Any) -> None:
    """Refuse, before any work, what cannot end well."""
    output = request.output
    check_engine(request.engine, selector, output, request.data)
    files: tuple[Path, ...] = ()
    if request.holdout is not None and not isinstance(selector, ColumnSelector):
        name = type(selector).method_name()
        raise ParameterError(f"--holdout is about methods that stream columns, and {name} does not")
    if output.checkpoint is None:
        about = {"--resume": output.resume, "--every": output.every, "--verify": output.verify}
        for option, given in about.items():
            if given:
                raise ParameterError(f"{option} is about a checkpoint: say which, --checkpoint PATH")
    elif isinstance(selector, (ColumnSelector, OfflineSelector)):
        how = "streams columns" if isinstance(selector, ColumnSelector) else "needs the whole matrix"
        raise CapabilityError(
            f"{type(selector).method_name()} {how}, and checkpoints are made of streams of rows: "
            "leave --checkpoint out; --save keeps what was learned"
        )
    else:
        files = CheckpointFile(output.checkpoint).files
    check_files(
        writing.paths_of(output), {"DATA": request.data}, overwrite=output.overwrite,
        suffixes=writing.SUFFIXES, checkpoint=files,
    )  # fmt: skip


def _every(text: str | None) -> str | int:
    if text is None:
        return "10s"
    return int(text) if text.isdecimal() else text


def _resumed_rows(request: Request) -> int:
    """Return the rows of a checkpoint that the run goes on from."""
    output = request.output
    return (_checkpoint_rows(output.checkpoint) or 0) if output.resume else 0


def _checkpoint_rows(checkpoint: Path | None) -> int | None:
    try:
        return None if checkpoint is None else int(state.read_header(checkpoint)["stream"]["rows"])
    except (StateError, KeyError):
        return None  # nothing was learned yet


def _where(checkpoint: Path | None) -> str:
    """Say what is left of an interrupted run, and how to go on."""
    rows = _checkpoint_rows(checkpoint)
    if rows is None:
        return "no file was half-written"
    where = f"{shown(checkpoint)} holds the first {rows:,} rows"
    return f"{where}: the same command with --resume goes on from there"


# ------------------------------------------------------------------------------------ output


def _ledger_note(output: Output, selector: Any) -> list[str]:
    """Say that the ledger of a stream of rows knows the end only, where nothing was reviewed on the way."""
    parameters = selector.get_params(deep=False)
    if output.ledger is None or parameters.get("review_every", 0) is not None:
        return []
    option = (
        "--review-every 1000" if type(selector).method_name() == "screen" else "--param review_every=1000"
    )
    return [f"note: the ledger holds the selection at the end; {option} records its changes on the way"]


def _target_line(source: Any, request: Request, selector: Any) -> list[str]:
    """Return what the target was taken for; of rows that streamed by, as far as they were counted."""
    name = request.reading.target
    if source.labels:
        task = getattr(selector, "task_", None)
        if task is None:  # labels that the method does not use
            return []
        if task == Task.REGRESSION:
            what = range_text(np.array(source.extremes, float))
        else:
            labels, counts = zip(*sorted(source.labels.items()), strict=True)
            what = classes_text(whole_labels(np.array(labels)), counts)
        return [f"target: {what}" if name is None else f"target: {shown(name)}, {what}"]
    if request.engine.engine is not None or getattr(source, "y", None) is None:
        return []
    task = str(getattr(selector, "task_", None) or "auto")
    kind = {"binary": "classification", "multiclass": "classification"}.get(task, task)
    return [describe_target(source.y, name, kind)]


def _print(
    request: Request, selector: Any, kept: list[dict[str, Any]], how: Run, effect: str, lines: list[str],
    after: list[str],
) -> None:  # fmt: skip
    output, counts = request.output, counts_of(selector, len(kept))
    if output.json:
        result = {
            "method": type(selector).method_name(), "parameters": plain_parameters(selector),
            "seconds": how.seconds, "compiling_seconds": how.compiling, how.unit: how.streamed,
            "features": selector.n_features_in_, "counts": counts, "effect": effect, "kept": kept,
            "notes": lines,
        }  # fmt: skip
        if isinstance(selector, ColumnSelector):
            result["found"] = selector.n_found_
            result["reasons"] = selector.ledger_.counts()
        if output.explain:
            answers = [explained(selector, feature) for feature in output.explain]
            result["explain"] = answers[0] if len(answers) == 1 else answers
        say_json(result)
        return
    if not output.quiet:
        say(*lines, *[""] * bool(lines))
        say_features(kept[:SHOWN], effect)
        if len(kept) > SHOWN:
            say(f"... and {len(kept) - SHOWN} more (--out writes them all)")
        say(_tally(counts, how), *after)
        for path in writing.paths_of(output).values():
            if path is not None:
                say(f"wrote {path}")
        if not kept:
            say(nothing_kept(selector))
    for feature in output.explain or ():
        say(explained(selector, feature))


def _tally(counts: dict[str, int], how: Run) -> str:
    """Return how much was streamed, how fast, and what became of it."""
    rate = ""
    if how.streamed >= FEWEST_FOR_A_RATE and how.seconds > 0:
        rate = f" ({how.streamed / how.seconds:,.0f} {how.unit}/s)"
    resumed = f", resumed after row {how.before:,}" if how.before else ""
    compiled = f", and {how.compiling:.1f} s to compile kernels, once per machine" if how.compiling else ""
    unit = how.unit if how.streamed != 1 else how.unit[:-1]
    offered = f"{counts['offered']:,} feature{'s' * (counts['offered'] != 1)} offered"
    rest = ", ".join(f"{count:,} {what}" for what, count in counts.items() if what != "offered")
    return f"{how.streamed:,} {unit} in {how.seconds:.2f} s{rate}{resumed}{compiled}: {offered}, {rest}"
