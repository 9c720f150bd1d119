"""The page: one HTML file with what others do better first, then a section per part."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import jinja2

from benchmarks.streaming_fs.bench import Bench
from benchmarks.streaming_fs.boards import Board, figure
from benchmarks.streaming_fs.conformance import Conformance
from benchmarks.streaming_fs.entries import ABSENT
from benchmarks.streaming_fs.pictures import pictures
from benchmarks.streaming_fs.version import VERSION
from streamsieve.evaluation.reports.html import markup
from streamsieve.state import replacing

PACKAGES = (
    "streamsieve",
    "scikit-learn",
    "river",
    "fastcan",
    "mrmr-selection",
    "Boruta",
    "datasketches",
    "online-fdr",
)
PARTS = {
    "networks": "1. Columns with truth",
    "shapes": "2. Non-linear truth",
    "noise": "3. Pure noise",
    "real_sets": "4. Real sets",
    "row_streams": "5. Streams of rows",
    "conformance": "6. Conformance",
}


def write(
    path: Path,
    bench: Bench,
    boards: Mapping[str, Sequence[Board]],
    conformance: Conformance | None,
    minutes: Mapping[str, float],
) -> None:
    """Write the leaderboard, atomically; minutes are those of one processor, by part."""
    listed = [board for part in boards.values() for board in part]
    content = {
        "version": VERSION,
        "quick": bench.quick,
        "half": bench.half,
        "half_seed": bench.half_seed,
        "better": [
            said
            for board in listed
            for said in (board.ahead() or board.ahead_in_cases(), board.published_ahead())
            if said
        ],
        "parts": [_part(PARTS[name], part) for name, part in boards.items()],
        "minutes": [(PARTS[name], f"{took:.1f}") for name, took in minutes.items()],
        "minutes_in_all": f"{sum(minutes.values()):.1f}",
        "agreements": [_agreement(each) for each in conformance.agreements] if conformance else [],
        "used": bench.used,
        "skipped": [*(f"{name}: {why}" for name, why in ABSENT.items()), *bench.desk.missing],
        "versions": [("Python", platform.python_version()), *((name, _version(name)) for name in PACKAGES)],
        "written": f"{datetime.now(UTC):%Y-%m-%d}",
    }
    with replacing(path) as file:
        file.write(_environment().get_template("leaderboard.html.jinja").render(**content))


def _environment() -> jinja2.Environment:
    here = jinja2.FileSystemLoader(Path(__file__).parent / "templates")
    parts = jinja2.PackageLoader(
        "streamsieve.evaluation.reports.html"
    )  # style and macros of comparison pages
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([here, parts]), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip


def _part(title: str, boards: Sequence[Board]) -> dict[str, Any]:
    return {"title": title, "boards": [_board(board) for board in boards if board.cells]}


def _board(board: Board) -> dict[str, Any]:
    ranks = board.ranks()
    by_rank = {} if ranks is None else dict(zip(ranks.entries, ranks.means, strict=True))
    rows = [
        {
            "name": name,
            "kind": board.kinds[name],
            "mean": figure(board.mean(name)),
            "rank": f"{by_rank[name]:.1f}" if name in by_rank else markup.DASH,
            "size": _size(board.mean(name, "size")),
            "seconds": markup.seconds(board.mean(name, "seconds")),
            "scores": [_cell(board, name, case) for case in board.cases],
        }
        for name in board.order()
    ]
    rows += [
        {
            "name": name.removesuffix(", published"),
            "kind": "published",
            "mean": figure(_printed_mean(board, row)),
            "rank": markup.DASH,
            "size": markup.DASH,
            "seconds": markup.DASH,
            "scores": [figure(row[case]) if case in row else markup.DASH for case in board.cases],
        }
        for name, row in sorted(board.published.items(), key=lambda each: -_printed_mean(board, each[1]))
    ]
    test = (
        "" if ranks is None else
        f"Friedman's test over {ranks.n_cases} cases and {len(ranks.entries)} methods: p = "
        f"{ranks.p_value:.2g}; critical difference of mean ranks {ranks.difference:.1f}."
    )  # fmt: skip
    return {
        "title": board.title, "measure": board.measure, "about": board.about, "test": test, "rows": rows,
        "cases": board.cases, "pictures": pictures(board),
    }  # fmt: skip


def _printed_mean(board: Board, row: Mapping[str, float]) -> float:
    known = [row[case] for case in board.cases if case in row]
    return sum(known) / len(known) if known else math.nan


def _size(columns: float) -> str:
    return markup.DASH if math.isnan(columns) else f"{columns:,.1f}"


def _cell(board: Board, name: str, case: str) -> str:
    cell = board.cells[name].get(case)
    if cell is None:
        return markup.DASH
    spread = f" ± {cell.spread:.3f}" if cell.spread > 0 else ""  # NaN is not
    return figure(cell.score) + spread


def _agreement(each: Any) -> tuple[str, ...]:
    verdict = "equal" if each.apart <= each.wanted else "apart"
    return each.what, each.oracle, f"{each.compared:,}", f"{each.apart:.2g}", verdict


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
