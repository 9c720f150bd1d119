"""``streamsieve show``: what a saved selector or a checkpoint holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from streamsieve import registry, state
from streamsieve.base import ColumnSelector
from streamsieve.cli.select import finite, kept_features, plain_parameters, table_of
from streamsieve.protocols import Decision

#: Labels that are written out.
LABELS = 10


def show(path: Path, *, top: int, tail: int, as_json: bool) -> None:
    """Print what a file holds."""
    selector = registry.load(path)
    found = _found(path, state.read_header(path), selector)
    kept = kept_features(selector)
    decisions = list(selector.ledger_)
    latest = decisions[len(decisions) - min(tail, len(decisions)) :]
    if as_json:
        result = {
            **found, "selected": len(kept), "top": kept[:top], "decisions": len(decisions),
            "ledger": [_as_row(decision) for decision in latest],
        }  # fmt: skip
        print(json.dumps(finite(result), indent=2, allow_nan=False))  # noqa: T201
        return
    console = Console(highlight=False, soft_wrap=True)
    console.print(escape("\n".join(_lines(found, selector))))
    if kept and top:
        console.print()
        console.print(table_of(kept[:top]))
    more = f", the best {min(top, len(kept)):,} above" if kept and top else ""
    console.print(f"{len(kept):,} features are selected{more}")
    if latest:
        console.print()
        console.print(_ledger_table(latest, selector))
    shown = f", the latest {len(latest):,} above" if latest else ""
    console.print(f"{len(decisions):,} decisions in the ledger{shown}")


def _found(path: Path, header: dict[str, Any], selector: Any) -> dict[str, Any]:
    """Return what is known of a file, except its features and decisions."""
    return {
        "file": str(path),
        "bytes": path.stat().st_size,
        "written": header.get("written"),
        "streamsieve": header.get("streamsieve"),
        "method": type(selector).method_name(),
        "parameters": plain_parameters(selector),
        "rows": selector.n_samples_seen_,
        "features": selector.n_features_in_,
        "classes": _classes(selector),
        "stream": header.get("stream"),
    }


def _classes(selector: Any) -> list[Any] | None:
    """Return the labels seen; None where there are none, or they are not stored."""
    known = getattr(selector, "classes_", None)
    if known is None and getattr(selector, "_target", None) == "classes":
        known = getattr(getattr(selector, "summary_", None), "classes", None)
    return None if known is None else [item.item() if hasattr(item, "item") else item for item in known]


def _lines(found: dict[str, Any], selector: Any) -> list[str]:
    written = f"written {found['written']} " if found["written"] else ""
    lines = [
        " ".join(repr(selector).split()),
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


def _as_row(decision: Decision) -> dict[str, Any]:
    row = decision._asdict()
    return {**row, "event": str(decision.event), "reason": str(decision.reason), "by": list(decision.by)}


def _ledger_table(decisions: list[Decision], selector: Any) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("column" if isinstance(selector, ColumnSelector) else "row", justify="right")
    for column in ("feature", "event", "reason"):
        table.add_column(column)
    table.add_column("statistic" if isinstance(selector, ColumnSelector) else "score", justify="right")
    for d in decisions:
        given = f" given {', '.join(d.by)}" if d.by else ""
        reason = escape(f"{d.reason}{given}")
        table.add_row(f"{d.step:,}", escape(d.feature), str(d.event), reason, f"{d.statistic:.4g}")
    return table
