"""``streamsieve select`` and ``streamsieve screen``."""

from __future__ import annotations

import ast
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, cast

from streamsieve import registry, sources, state
from streamsieve._parameters import did_you_mean
from streamsieve._paths import SVMLIGHT
from streamsieve._text import shown, write_csv
from streamsieve.base import ColumnSelector, OfflineSelector
from streamsieve.cli.dependent_rows import DependentRows
from streamsieve.cli.interrupts import leave
from streamsieve.cli.output import check_files, say, say_json, say_table
from streamsieve.cli.progress import progress
from streamsieve.exceptions import CapabilityError, ParameterError, SourceError, StateError
from streamsieve.running import run
from streamsieve.running.checkpoint import CheckpointFile
from streamsieve.state import replacing

DEFAULT = "saola"
SHOWN = 20


@dataclass(frozen=True, kw_only=True)
class Request:
    """What both commands have in common."""

    data: list[str]
    target: str | None
    out: Path | None
    ledger: Path | None
    save: Path | None
    explain: str | None
    size: int
    checkpoint: Path | None
    every: str | None
    resume: bool
    verify: str | None
    skip_text: bool
    raw: bool
    overwrite: bool
    quiet: bool
    json: bool

    @property
    def silent(self) -> bool:
        """Whether only the result may be printed."""
        return self.quiet or self.json


def select(
    request: Request, method: str | None, parameters: list[str], groups: str | None, time: str | None
) -> int:
    """Run any method over the axis it streams."""
    cls = registry.selector(method or DEFAULT)
    if issubclass(cls, OfflineSelector):
        raise CapabilityError(f"{method} needs the whole matrix; call {cls.__name__}.fit from Python")
    note = "" if method else f"method {DEFAULT}: the default, because it takes any width and needs no tuning"
    return _run(request, cls(**_parsed(cls, parameters)), note, DependentRows(groups, time))


def screen(request: Request, parameters: dict[str, Any]) -> int:
    """Run a screen over rows."""
    return _run(request, registry.selector("screen")(**parameters))


def _run(request: Request, selector: Any, note: str = "", rows: DependentRows = DependentRows()) -> int:
    rows.check(selector, request.data)
    _check(request, selector)
    source = opened(request.data, request.target, skip_text=request.skip_text, exclude=rows.columns)
    started = time.perf_counter()
    if isinstance(selector, ColumnSelector):
        rows.begin(selector, source, quiet=request.silent)
        with progress("columns", source.n_columns, "columns", quiet=request.silent) as advance:
            run(source, selector, block_size=request.size, progress=advance)
    else:
        leave(lambda: _where(request.checkpoint))
        with progress("rows", source.n_rows, "rows", quiet=request.silent) as advance:
            run(
                source, selector, checkpoint=request.checkpoint, every=_every(request.every),
                resume=request.resume, verify=cast(Any, request.verify or "sample"), batch_size=request.size,
                progress=advance,
            )  # fmt: skip
        selector.get_support()
    seconds = time.perf_counter() - started
    kept = kept_features(selector)
    _write(request, selector, kept)
    if note and not request.silent:
        say(note)
    _print(request, selector, kept, seconds)
    return 0 if kept else 1


def opened(data: list[str], target: str | None, *, skip_text: bool, exclude: Sequence[str] = ()) -> Any:
    """Open the files of a command."""
    if target is None and not all(path.endswith(tuple(SVMLIGHT)) for path in data):
        raise SourceError("say which column is the target: --target NAME")
    options: dict[str, Any] = {"skip_text": True} if skip_text else {}
    options |= {"exclude": exclude} if exclude else {}
    return sources.open(data[0] if len(data) == 1 else data, target=target, **options)


def _check(request: Request, selector: Any) -> None:
    """Refuse, before any work, what cannot end well."""
    files: tuple[Path, ...] = ()
    if request.checkpoint is None:
        about = {"--resume": request.resume, "--every": request.every, "--verify": request.verify}
        for option, given in about.items():
            if given:
                raise ParameterError(f"{option} is about a checkpoint: say which, --checkpoint PATH")
    elif isinstance(selector, ColumnSelector):
        raise CapabilityError(
            f"{type(selector).method_name()} streams columns, and checkpoints are made of streams of rows: "
            "leave --checkpoint out; --save keeps what was learnt"
        )
    else:
        files = CheckpointFile(request.checkpoint).files
    check_files(
        {"--out": request.out, "--ledger": request.ledger, "--save": request.save},
        {"DATA": request.data},
        overwrite=request.overwrite,
        suffixes={"--out": (".csv", ".txt"), "--ledger": (".csv",)},
        checkpoint=files,
    )


def _every(text: str | None) -> str | int:
    if text is None:
        return "10s"
    return int(text) if text.isdecimal() else text


def _where(checkpoint: Path | None) -> str:
    """Say what is left of an interrupted run, and how to go on."""
    try:
        rows = None if checkpoint is None else state.read_header(checkpoint)["stream"]["rows"]
    except (StateError, KeyError):
        rows = None  # nothing was learnt yet
    if rows is None:
        return "no file was half-written"
    where = f"{shown(checkpoint)} holds the first {rows:,} rows"
    return f"{where}: the same command with --resume goes on from there"


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


def _write(request: Request, selector: Any, kept: list[dict[str, Any]]) -> None:
    if request.out is not None:
        with replacing(request.out) as file:
            if request.out.suffix == ".txt":
                file.writelines(f"{row['feature']}\n" for row in kept)
            else:
                header = list(kept[0]) if kept else ["feature"]
                write_csv(file, chain([header], (row.values() for row in kept)), raw=request.raw)
    if request.ledger is not None:  # that it may be replaced was checked before the work
        selector.ledger_.to_csv(request.ledger, raw=request.raw, overwrite=True)
    if request.save is not None:
        selector.save(request.save, overwrite=True)


def _print(request: Request, selector: Any, kept: list[dict[str, Any]], seconds: float) -> None:
    counts = selector.ledger_.counts() if isinstance(selector, ColumnSelector) else {}
    counts = {**counts, "kept": len(kept)}  # in the end; the ledger counts those evicted later, too
    if request.json:
        result = {
            "method": type(selector).method_name(), "parameters": plain_parameters(selector),
            "seconds": seconds, "features": selector.n_features_in_, "counts": counts, "kept": kept,
        }  # fmt: skip
        if isinstance(selector, ColumnSelector):
            result["found"] = selector.n_found_
        if request.explain is not None:
            result["explain"] = _explained(selector, request.explain)
        say_json(result)
        return
    if not request.quiet:
        say_features(kept[:SHOWN])
        if len(kept) > SHOWN:
            say(f"... and {len(kept) - SHOWN} more (--out writes them all)")
        tally = "   ".join(f"{count:,} {what}" for what, count in counts.items())
        say(f"{selector.n_features_in_:,} features in {seconds:.2f} s   {tally}", *_remarks(selector))
        for path in (request.out, request.ledger, request.save):
            if path is not None:
                say(f"wrote {path}")
        if not kept:
            say("nothing was kept: no feature passed (a larger alpha keeps more)")
    if request.explain is not None:
        say(_explained(selector, request.explain))


def _remarks(selector: Any) -> list[str]:
    """Return what else there is to say about a run."""
    remarks = []
    moved = getattr(selector, "drift_", [])
    if moved:
        names = _names(selector)
        latest = ", ".join(dict.fromkeys(names[drift.feature] for drift in moved[:-4:-1]))
        remarks.append(f"{len(moved)} changes of relevance, the latest of {latest}")
    rule, alpha = (getattr(selector, name, None) for name in ("fdr", "alpha"))
    if rule is not None:
        rate = "family-wise error rate" if rule == "alpha_spending" else "false discovery rate"
        remarks.append(
            f"{selector.n_found_:,} columns found at a {rate} of {alpha:g} ({rule}), {selector.n_kept_:,} of "
            "them kept; the rate is about those found"
        )
    if getattr(selector, "stopped_", None):
        remarks.append(f"stopped early: {selector.stopped_}")
    return remarks


def say_features(kept: list[dict[str, Any]]) -> None:
    """Print features as a table."""
    columns = kept[0] if kept else {}
    headings = {name.replace("_", "-"): "left" if name == "feature" else "right" for name in columns}
    rows = ([v if isinstance(v, str) else f"{v:.4g}" for v in row.values()] for row in kept)
    say_table(headings, rows)


def _explained(selector: Any, feature: str) -> str:
    """Return one sentence on a feature."""
    by_columns = isinstance(selector, ColumnSelector)
    known = [d.feature for d in selector.ledger_] if by_columns else _names(selector)
    if feature not in known:
        raise ParameterError(f"there is no feature {feature!r}{did_you_mean(feature, known)}")
    if by_columns:
        return str(selector.ledger_.why(feature))
    j = known.index(feature)
    rank = int((selector.scores_ > selector.scores_[j]).sum()) + 1
    status = "kept" if selector.get_support()[j] else "not kept"
    return f"{feature}: {status}, rank {rank} of {len(known)}, score {selector.scores_[j]:.4g}"


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
