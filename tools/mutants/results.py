"""What the tiers of the tests made of a sample of mutants: as a table, and as a page of evidence."""

from collections.abc import Iterator
from datetime import UTC, datetime

OUTCOMES = ("caught", "timed out", "survived")
_PAGE = """\
# Tests

How many small faults of the source do the tests catch? A fault is another comparison, operator or number, a
negated condition, or a missing statement. Each is planted alone and tried on the tests that execute its line,
within a limit of processor time; what survives the quick tier is tried on the full one.
Written by `python -m tools.mutants --seed {seed} --count {count} --write docs/evidence/tests.md` on {date}:
{count} of {of:,} possible faults, drawn by a seed.

{shares}

{table}
"""


def table(rows: list[dict[str, str]], tiers: list[str]) -> str:
    """Return counts per folder and tier, then the survivors."""
    lines = [f"{'':<16}" + "".join(f"{tier + ' ' + outcome:>17}" for tier in tiers for outcome in OUTCOMES)]
    for folder, counts in _counts(rows, tiers):
        lines.append(f"{folder:<16}" + "".join(f"{count:>17}" for count in counts))
    for tier in tiers:
        lines.append(f"\nsurvived {tier}:")
        lines += sorted(f"{row['mutant']}  {row['by']}" for row in rows if row[tier] == "survived")
    return "\n".join(lines) + "\n"


def page(rows: list[dict[str, str]], tiers: list[str], seed: int, of: int) -> str:
    """Return counts and survivors as Markdown; a fault on which the tests never end is caught as well."""
    shares = []
    for tier in tiers:
        caught = sum(row[tier] != "survived" for row in rows)
        shares.append(f"- The {tier} tier catches {caught} of {len(rows)} ({caught / len(rows):.0%}).")
    cut = sum(row[tiers[-1]] == "survived" and bool(row["by"]) for row in rows)
    shares.append(f"- Of those that survive all, {cut} could not be tried on all tests within the limit.")
    head = [f"{tier}: {outcome}" for tier in tiers for outcome in OUTCOMES]
    lines = [_row("folder", *head), _row(*["---"] * (1 + len(head)))]
    lines += [_row(folder, *counts) for folder, counts in _counts(rows, tiers)]
    for tier in tiers:
        lines += ["", f"## Survivors of the {tier} tier", ""]
        names = sorted(row["mutant"] for row in rows if row[tier] == "survived")
        lines += [f"- `{name.removeprefix('src/streamsieve/')}`" for name in names]
    return _PAGE.format(
        seed=seed, count=len(rows), of=of, date=f"{datetime.now(tz=UTC):%Y-%m-%d}", shares="\n".join(shares),
        table="\n".join(lines),
    )  # fmt: skip


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _counts(rows: list[dict[str, str]], tiers: list[str]) -> Iterator[tuple[str, list[int]]]:
    """Yield the number of mutants per tier and outcome: of each folder, and of all."""
    for folder in [*sorted({_folder(row) for row in rows}), "all"]:
        own = [row for row in rows if folder in {_folder(row), "all"}]
        yield folder, [sum(row[tier] == outcome for row in own) for tier in tiers for outcome in OUTCOMES]


def _folder(row: dict[str, str]) -> str:
    """Return the folder of the package that a mutant is in."""
    parts = row["mutant"].partition(":")[0].split("/")
    return parts[2] if len(parts) > 3 else "(package)"
