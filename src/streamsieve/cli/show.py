"""``streamsieve show``: what a saved selector or a checkpoint holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from streamsieve import registry, state
from streamsieve._paths import TABLES
from streamsieve.base import ColumnSelector
from streamsieve.base.effects import decision_effect, effect_name
from streamsieve.base.showing import types_of
from streamsieve.cli.output import say, say_json, say_table
from streamsieve.cli.parameters import plain_parameters
from streamsieve.cli.results import kept_features, say_features
from streamsieve.exceptions import ParameterError
from streamsieve.ledger import COLUMNS
from streamsieve.protocols import Decision

#: Labels that are written out.
LABELS = 10


def show(path: Path, *, top: int, tail: int, as_json: bool) -> None:
    """Print what a file holds."""
    if path.is_file() and path.suffix.lower() in TABLES:
        raise ParameterError(
            f"{path} is a table; show reads files that --save and --checkpoint have written: streamsieve "
            f"select {path.name} --target COLUMN selects its features"
        )
    selector = registry.load(path)
    found = _found(path, state.read_header(path), selector)
    kept = kept_features(selector)
    decisions = list(selector.ledger_)
    latest = decisions[len(decisions) - min(tail, len(decisions)) :]
    if as_json:
        ledger = [dict(zip(COLUMNS, d, strict=False)) for d in latest]
        counts = {"selected": len(kept), "decisions": len(decisions)}
        if isinstance(selector, ColumnSelector):
            counts["found"] = selector.n_found_
        say_json({**found, **counts, "top": kept[:top], "ledger": ledger})
        return
    say(*_lines(found, selector))
    if kept and top:
        say("")
        say_features(kept[:top], effect_name(selector, [row["type"] for row in kept if "type" in row]))
    more = f", the best {min(top, len(kept)):,} above" if kept and top else ""
    if isinstance(selector, ColumnSelector):
        more += f", {selector.n_found_:,} were found relevant"
    say(f"{len(kept):,} features are selected{more}")
    if latest:
        say("")
        _say_ledger(latest, selector)
    more = f", the latest {len(latest):,} above" if latest else ""
    say(f"{len(decisions):,} decisions in the ledger{more}")


def _found(path: Path, header: dict[str, Any], selector: Any) -> dict[str, Any]:
    """Return what is known of a file, except its features and decisions."""
    return {
        "file": str(path), "bytes": path.stat().st_size, "written": header.get("written"),
        "streamsieve": header.get("streamsieve"), "method": type(selector).method_name(),
        "parameters": plain_parameters(selector), "rows": selector.n_samples_seen_,
        "features": selector.n_features_in_, "classes": _classes(selector), "stream": header.get("stream"),
    }  # fmt: skip


def _classes(selector: Any) -> list[Any] | None:
    """Return the labels seen; None where there are none, or they are not stored."""
    known = getattr(selector, "classes_", None)
    if known is None and getattr(selector, "_target", None) == "classes":
        known = getattr(getattr(selector, "summary_", None), "classes", None)
    return None if known is None else [item.item() if hasattr(item, "item") else item for item in known]


def _lines(found: dict[str, Any], selector: Any) -> list[str]:
    written = f"written {found['written']} " if found["written"] else ""
    lines = [
        " ".join(repr(selector).partition(" # ")[0].split()),
        f"{found['file']}   {_size(found['bytes'])}   {written}by streamsieve {found['streamsieve']}",
        f"{found['rows']:,} rows   {found['features']:,} features",
    ]
    classes = found["classes"]
    if classes is not None:
        more = ", ..." if len(classes) > LABELS else ""
        lines[-1] += f"   {len(classes):,} classes: {', '.join(map(str, classes[:LABELS]))}{more}"
    stream = found["stream"]
    if isinstance(stream, dict):
        end = "the end of the stream" if stream.get("finished") else "not the end of the stream"
        place = ", ".join(f"{key} {value}" for key, value in (stream.get("position") or {}).items())
        lines.append(
            f"checkpoint {stream.get('number')}   after {stream.get('rows'):,} rows, {end} ({place})"
        )
    return lines


def _size(n_bytes: int) -> str:
    if n_bytes < 1000:
        return f"{n_bytes} bytes"
    return f"{n_bytes / 1e3:,.1f} kB" if n_bytes < 1_000_000 else f"{n_bytes / 1e6:,.1f} MB"


def _say_ledger(decisions: list[Decision], selector: Any) -> None:
    step = "column" if isinstance(selector, ColumnSelector) else "row"
    rows = (
        (f"{d.step:,}", d.feature, d.event, f"{d.reason}{_given(d)}", _effect(d, selector)) for d in decisions
    )
    left = dict.fromkeys(("feature", "event", "reason", "effect"), "left")
    say_table({step: "right", **left}, rows)


def _effect(decision: Decision, selector: Any) -> str:
    """Return the statistic with the name that the field has for it."""
    kind = types_of(selector).get(decision.feature)
    word, _, other = decision_effect(selector, decision._replace(type=kind)).partition(" with ")
    return f"{word} {decision.statistic:.4g}{other and f' with {other}'}"


def _given(decision: Decision) -> str:
    return f" given {', '.join(decision.by)}" if decision.by else ""
