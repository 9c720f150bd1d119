"""``streamsieve select`` and ``streamsieve screen``."""

from __future__ import annotations

import ast
import csv
import json
import math
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from streamsieve import registry, sources, state
from streamsieve._parameters import did_you_mean
from streamsieve.base import ColumnSelector, OfflineSelector
from streamsieve.cli.progress import progress
from streamsieve.exceptions import CapabilityError, ParameterError, SourceError, StateError
from streamsieve.running import run
from streamsieve.sources.checks import SVMLIGHT
from streamsieve.state import replacing

DEFAULT = "saola"
SHOWN = 20


@dataclass(frozen=True)
class Request:
    """What both commands have in common."""

    data: list[str]
    target: str | None
    out: Path | None
    ledger: Path | None
    save: Path | None
    explain: str | None
    size: int
    skip_text: bool
    quiet: bool
    json: bool
    checkpoint: Path | None = None
    every: str | None = None
    resume: bool = False

    @property
    def silent(self) -> bool:
        """Whether only the result may be printed."""
        return self.quiet or self.json


def select(request: Request, method: str | None, parameters: list[str]) -> int:
    """Run any method over the axis it streams."""
    cls = registry.selector(method or DEFAULT)
    if issubclass(cls, OfflineSelector):
        raise CapabilityError(f"{method} needs the whole matrix; call {cls.__name__}.fit from Python")
    note = "" if method else f"method {DEFAULT}: the default, because it takes any width and needs no tuning"
    return _run(request, cls(**_parsed(cls, parameters)), note)


def screen(request: Request, parameters: dict[str, Any]) -> int:
    """Run a screen over rows."""
    return _run(request, registry.selector("screen")(**parameters))


def _run(request: Request, selector: Any, note: str = "") -> int:
    _check_folders(request)
    _check_checkpoint(request, selector)
    if request.target is None and not all(path.endswith(tuple(SVMLIGHT)) for path in request.data):
        raise SourceError("say which column is the target: --target NAME")
    data = request.data[0] if len(request.data) == 1 else request.data
    options = {"skip_text": True} if request.skip_text else {}
    source = sources.open(data, target=request.target, **options)
    started = time.perf_counter()
    if isinstance(selector, ColumnSelector):
        _stream_columns(source, selector, request)
    else:
        _stream_rows(source, selector, request)
    seconds = time.perf_counter() - started
    kept = kept_features(selector)
    _write(request, selector, kept)
    if note and not request.silent:
        Console(highlight=False, soft_wrap=True).print(note)
    _print(request, selector, kept, seconds)
    return 0 if kept else 1


def _stream_columns(source: Any, selector: ColumnSelector, request: Request) -> None:
    with progress("columns", source.n_columns, "columns", quiet=request.silent) as advance:
        run(source, selector, block_size=request.size, progress=advance)


def _stream_rows(source: Any, selector: Any, request: Request) -> None:
    try:
        with progress("rows", source.n_rows, "rows", quiet=request.silent) as advance:
            run(
                source, selector, checkpoint=request.checkpoint, every=_every(request.every),
                resume=request.resume, batch_size=request.size, progress=advance,
            )  # fmt: skip
    except KeyboardInterrupt:
        _say_where(request.checkpoint)
        raise
    selector.get_support()


def _check_checkpoint(request: Request, selector: Any) -> None:
    if request.checkpoint is None:
        if request.resume or request.every is not None:
            option = "--resume" if request.resume else "--every"
            raise ParameterError(f"{option} is about a checkpoint: say which, --checkpoint PATH")
    elif isinstance(selector, ColumnSelector):
        raise CapabilityError(
            f"{type(selector).method_name()} streams columns, and checkpoints are made of streams of rows: "
            "leave --checkpoint out; --save keeps what was learnt"
        )


def _every(text: str | None) -> str | int:
    if text is None:
        return "10s"
    return int(text) if text.isdecimal() else text


def _say_where(checkpoint: Path | None) -> None:
    """Say that an interrupted run can be resumed."""
    try:
        rows = None if checkpoint is None else state.read_header(checkpoint)["stream"]["rows"]
    except (StateError, KeyError):
        return  # nothing was learnt yet
    if rows is not None:
        print(  # noqa: T201
            f"{checkpoint} holds the first {rows:,} rows: the same command with --resume goes on from there",
            file=sys.stderr,
        )


def kept_features(selector: Any) -> list[dict[str, Any]]:
    """Return the kept features as rows for a table."""
    if isinstance(selector, ColumnSelector):
        decisions = {d.feature: d for d in selector.ledger_.kept()}
        nothing = float("nan")
        rows = []
        for name in selector.get_feature_names_out().tolist():
            found = decisions.get(name)  # with ledger=none there is no record
            numbers = (nothing, nothing) if found is None else (found.statistic, found.p_value)
            rows.append({"feature": name, "statistic": numbers[0], "p_value": numbers[1]})
        return rows
    names, scores, p_values = _names(selector), selector.scores_, getattr(selector, "pvalues_", None)
    return [
        {"feature": names[j], "score": float(scores[j])}
        | ({} if p_values is None else {"p_value": float(p_values[j])})
        for j in selector.ranked_.tolist()
    ]


def _names(selector: Any) -> list[str]:
    """Return the names of all features of a screen, given or made up."""
    known = getattr(selector, "feature_names_in_", None)
    return [f"x{j}" for j in range(selector.n_features_in_)] if known is None else [str(n) for n in known]


# ------------------------------------------------------------------------------------ output


def _check_folders(request: Request) -> None:
    """Refuse to work for an hour towards a file that cannot be written."""
    for path in (request.out, request.ledger, request.save):
        if path is not None and not path.absolute().parent.is_dir():
            folder = path.absolute().parent
            raise ParameterError(f"the folder {folder} for {path.name} does not exist: make it first")
    for option, path, suffixes in (
        ("--out", request.out, (".csv", ".txt")),
        ("--ledger", request.ledger, (".csv",)),
    ):
        if path is not None and path.suffix not in suffixes:
            raise ParameterError(f"{option} writes {' or '.join(suffixes)}, got {path.name}")


def _write(request: Request, selector: Any, kept: list[dict[str, Any]]) -> None:
    if request.out is not None:
        with replacing(request.out) as file:
            if request.out.suffix == ".txt":
                file.writelines(f"{row['feature']}\n" for row in kept)
            else:
                writer = csv.DictWriter(file, list(kept[0]) if kept else ["feature"])
                writer.writeheader()
                writer.writerows(kept)
    if request.ledger is not None:
        selector.ledger_.to_csv(request.ledger)
    if request.save is not None:
        selector.save(request.save)


def _print(request: Request, selector: Any, kept: list[dict[str, Any]], seconds: float) -> None:
    counts = selector.ledger_.counts() if isinstance(selector, ColumnSelector) else {}
    counts = {**counts, "kept": len(kept)}  # in the end; the ledger counts those evicted later, too
    if request.json:
        result = {
            "method": type(selector).method_name(), "parameters": plain_parameters(selector),
            "seconds": seconds, "features": selector.n_features_in_, "counts": counts, "kept": kept,
        }  # fmt: skip
        if request.explain is not None:
            result["explain"] = _explained(selector, request.explain)
        print(json.dumps(finite(result), indent=2, allow_nan=False))  # noqa: T201
        return
    console = Console(highlight=False, soft_wrap=True)
    if not request.quiet:
        console.print(table_of(kept[:SHOWN]))
        if len(kept) > SHOWN:
            console.print(f"... and {len(kept) - SHOWN} more (--out writes them all)")
        tally = "   ".join(f"{count:,} {what}" for what, count in counts.items())
        console.print(f"{selector.n_features_in_:,} features in {seconds:.2f} s   {tally}")
        for line in _remarks(selector):
            console.print(escape(line))
        for path in (request.out, request.ledger, request.save):
            if path is not None:
                console.print(f"wrote {escape(str(path))}")
        if not kept:
            console.print("nothing was kept: no feature passed (a larger alpha keeps more)")
    if request.explain is not None:
        console.print(escape(_explained(selector, request.explain)))


def _remarks(selector: Any) -> list[str]:
    """Return what else there is to say about a run."""
    remarks = []
    moved = getattr(selector, "drift_", [])
    if moved:
        names = _names(selector)
        latest = ", ".join(dict.fromkeys(names[drift.feature] for drift in moved[:-4:-1]))
        remarks.append(f"{len(moved)} changes of relevance, the latest of {latest}")
    if getattr(selector, "stopped_", None):
        remarks.append(f"stopped early: {selector.stopped_}")
    return remarks


def finite(value: Any) -> Any:
    """Replace NaN and infinity, which JSON does not have, by null."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def table_of(kept: list[dict[str, Any]]) -> Table:
    """Return features as a table for the terminal."""
    table = Table(box=None, pad_edge=False)
    for column in kept[0] if kept else ():
        table.add_column(column.replace("_", "-"), justify="left" if column == "feature" else "right")
    for row in kept:
        table.add_row(*(escape(v) if isinstance(v, str) else f"{v:.4g}" for v in row.values()))
    return table


def _explained(selector: Any, feature: str) -> str:
    """Return one sentence on a feature."""
    if not isinstance(selector, ColumnSelector):
        known = _names(selector)
        if feature not in known:
            raise ParameterError(f"there is no feature {feature!r}{did_you_mean(feature, known)}")
        j = known.index(feature)
        rank = int((selector.scores_ > selector.scores_[j]).sum()) + 1
        status = "kept" if selector.get_support()[j] else "not kept"
        return f"{feature}: {status}, rank {rank} of {len(known)}, score {selector.scores_[j]:.4g}"
    try:
        decision = selector.ledger_.why(feature)
    except KeyError as error:
        known = [d.feature for d in selector.ledger_]
        raise ParameterError(f"there is no feature {feature!r}{did_you_mean(feature, known)}") from error
    return str(decision)


# ------------------------------------------------------------------------------------ parameters


def _parsed(cls: type[Any], texts: list[str]) -> dict[str, Any]:
    """Turn alpha=0.05 into parameters of a selector."""
    known = cls().get_params(deep=False)
    parameters = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise ParameterError(f"--param wants name=value, got {text!r}")
        if name not in known:
            raise ParameterError(
                f"{cls.method_name()} has no parameter {name!r}{did_you_mean(name, known)}; "
                f"it has {', '.join(known)}"
            )
        try:
            parameters[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            parameters[name] = value
    return parameters


def plain_parameters(selector: Any) -> dict[str, Any]:
    """Return the parameters, as JSON can hold them."""
    simple = (str, int, float, bool, type(None))
    parameters = selector.get_params(deep=False).items()
    return {name: value if isinstance(value, simple) else repr(value) for name, value in parameters}
