"""What was measured of a method, for its card: growth of cost, benchmarks, and its rows of the studies."""

import json
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
#: Tables of one study that a card repeats; the link leads to all of them.
MOST_TABLES = 2
#: Criteria whose p-values the calibration study counts.
CALIBRATED = ("t", "f", "correlation", "chi2", "mutual_info")
SLOPES = "the table above has its time and how it grows (`python -m benchmarks.slopes`)"
NOT_STUDIED = (
    "No study has rows of this method. [Compare it](/guides/comparing.md) on your own data with all "
    "features and with the plain top k."
)


@cache
def slopes() -> dict[str, Any]:
    """Return the figures of ``python -m benchmarks.slopes`` by the name of the card."""
    return dict(json.loads((ROOT / "benchmarks" / "slopes.json").read_text())["methods"])


def cost(name: str) -> list[tuple[str, str]]:
    """Return how time and state grow, as lines of a table."""
    if name not in slopes():
        return []
    figures = slopes()[name]
    size = figures["size"]
    k = f", k = {size['kept']}" if "kept" in figures["slopes"]["time"] else ""
    where = f"at {size['rows']:,} rows x {size['columns']:,} columns{k}"
    return [
        ("time of a fit", f"{duration(figures['seconds'])} {where}; {_powers(figures['slopes']['time'])}"),
        (
            "size of the state",
            f"{_bytes(figures['state_bytes'])} at that size; {_powers(figures['slopes']['state'])}",
        ),
    ]


def _powers(slopes: dict[str, float]) -> str:
    """Return a power law; an exponent near 0 is left out."""
    grown = [f"{axis}{{sup}}`{slope:.1f}`" for axis, slope in slopes.items() if abs(slope) >= 0.1]
    return f"grows as {' &times; '.join(grown)}" if grown else "does not grow"


def _bytes(count: float) -> str:
    for unit, size in (("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"


def duration(seconds: float | None) -> str:
    """Return seconds in a fitting unit; "" for None."""
    if seconds is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


@cache
def _results() -> list[dict[str, Any]]:
    suites = json.loads((ROOT / "benchmarks" / "results.json").read_text())
    return [row for suite in suites.values() for row in suite["results"]]


def benchmarks(cls: type[Any]) -> str:
    """Return the benchmark cases that name the class, or the criterion."""
    criterion = hasattr(cls, "needs")
    name = rf"(Screen( |\(['\"]|\(criterion=['\"])|^){cls.name}\b" if criterion else rf"\b{cls.__name__}\b"
    rows = [row for row in _results() if re.search(name, row["case"]) and row["suite"] != "scaling"]
    if not rows:
        return f"## Measured\n\nNo benchmark times it against another library; {SLOPES}."
    lines = ["## Measured", "", "| case | time | peer | peer's time |", "|---|---|---|---|"]
    for row in rows:
        peer, theirs = row["peer"] or "", duration(row["peer_seconds"])
        lines.append(f"| {row['case']} | {duration(row['ours_seconds'])} | {peer} | {theirs} |")
    return "\n".join([*lines, "", "From [the benchmarks](/evidence/benchmarks.md), which name the machine."])


class Table(NamedTuple):
    """A table of a study, and the heading above it."""

    section: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]


@cache
def _studies() -> dict[str, tuple[str, str, list[Table]]]:
    """Return title, text and tables of every study by the name of its page."""
    pages = {}
    for page in sorted((ROOT / "studies").glob("*.md")):
        if page.name != "RESULTS.md":
            text = page.read_text()
            pages[page.name] = (text.partition("\n")[0].lstrip("# "), text, _tables(text))
    return pages


def _tables(text: str) -> list[Table]:
    tables: list[Table] = []
    section, inside = "", False
    for line in text.splitlines():
        if line.startswith("#"):
            section = line.lstrip("# ")
        cells = tuple(cell.strip() for cell in line.strip().strip("|").split("|"))
        if not line.startswith("|"):
            inside = False
        elif not inside:
            tables.append(Table(section, cells, []))
            inside = True
        elif not set(line) <= set("|-: "):
            tables[-1].rows.append(cells)
    return tables


def studies(cls: type[Any]) -> str:
    """Return links to the studies that speak of the method, and its rows of their tables."""
    names = {cls.__name__, getattr(cls, "method_name", lambda: cls.__name__)()}
    anywhere = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")
    parts = []
    for name, (title, text, tables) in _studies().items():
        own = _own_rows(tables, first_cell(cls))
        if own or anywhere.search(text):
            parts.append(f"- [{title}](/evidence/studies/{name.lower()})")
            parts += [f"\n{_folded(title, own)}\n"] if own else []
    if getattr(cls, "name", None) in CALIBRATED:
        parts.append("- [Are its p-values calibrated?](/evidence/calibration.md#row-screens)")
    return "\n".join(["## Studied", "", *(parts or [NOT_STUDIED])])


def first_cell(cls: type[Any]) -> re.Pattern[str]:
    """Return a pattern of the first cell of a method's rows: "Fast-OSFS", "TopK, plain", "SAOLA + ADDIS"."""
    spelled = getattr(cls, "name", None) if hasattr(cls, "needs") else None
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|_", "[- _]?", spelled or cls.__name__)
    return re.compile(rf"`?{words}`?(?=$|[ ,+(])", re.IGNORECASE)


def _own_rows(tables: list[Table], pattern: re.Pattern[str]) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the method's rows, by the header of their tables; the section comes first."""
    found = defaultdict(list)
    for table in tables:
        for row in table.rows:
            if pattern.match(row[0]) and len(row) == len(table.header):
                found[table.header].append((table.section, *row))
    return dict(list(found.items())[:MOST_TABLES])


def _folded(title: str, own: dict[tuple[str, ...], list[tuple[str, ...]]]) -> str:
    lines = [f"```{{dropdown}} Rows of {title}"]
    for header, rows in own.items():
        lines += [f"| | {' | '.join(header)} |", "|---" * (len(header) + 1) + "|"]
        lines += [f"| {' | '.join(row)} |" for row in rows]
        lines.append("")
    return "\n".join([*lines, "```"])
