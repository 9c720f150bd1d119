"""What the tiers of the tests made of a sample of mutants: as a table, and as a page of evidence."""

from collections.abc import Iterator
from datetime import UTC, datetime

from tools.mutants.survivors import section

OUTCOMES = ("caught", "timed out", "survived")
_PAGE = """\
# Mutants

How many small faults of the source do the tests catch? A fault is another comparison, operator or number, a
negated condition, or a missing statement. Each is planted alone and tried on the tests of the quick tier
that run the function that holds it, cheap and special tests first, within {seconds:g} processor seconds; a
fault in a kernel on the tests of its file without the JIT, then, with 30 seconds more to compile, on the
tests that call it. What survives is tried on the full tier in the same way, within twice as much. Both counts
are lower bounds: more time may catch more.

Written by `python -m tools.mutants --seed {seed} --count {count} --write docs/evidence/mutants.md` on {date}
for commit {commit}: {count} of {of:,} possible faults, drawn by the seed; {tried} were tried. `mutants.jsonl`
beside it has a line for each; given by `--results` in a clone of that commit, the command tries the rest.

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
        lines += sorted(f"{row['mutant']}  {row['by']}" for row in rows if row.get(tier) == "survived")
    return "\n".join(lines) + "\n"


def page(
    rows: list[dict[str, str]],
    tiers: list[str],
    *,
    seed: int,
    count: int,
    of: int,
    commit: str,
    seconds: float,
    since: dict[str, dict[str, str]],
) -> str:
    """Return counts and survivors as Markdown; a fault on which the tests never end is caught as well.

    ``since`` says what became of survivors.
    """
    shares = []
    for tier in tiers:
        tried = [row for row in rows if tier in row]
        caught = sum(row[tier] != "survived" for row in tried)
        shares.append(
            f"- The {tier} tier catches {caught} of {len(tried)} tried ({caught / len(tried):.1%})."
        )
    both = [row for row in rows if tiers[-1] in row]
    if len(tiers) > 1:
        quick, full = (sum(row[tier] != "survived" for row in both) for tier in tiers)
        shares.append(f"- Of those tried on both, quick catches {quick / full:.1%} of what full catches.")
    left = [row for row in both if row[tiers[-1]] == "survived"]
    cut = sum(bool(row["by"]) for row in left)
    shares.append(
        f"- Of {len(left)} that survive all, {cut} could not be tried on all chosen tests within the limit."
    )
    head = [f"{tier}: {outcome}" for tier in tiers for outcome in OUTCOMES]
    lines = [_row("folder", *head), _row(*["---"] * (1 + len(head)))]
    lines += [_row(folder, *counts) for folder, counts in _counts(rows, tiers)]
    for tier in tiers:
        lines += ["", f"## Survivors of the {tier} tier", ""]
        some = sorted((row for row in rows if row.get(tier) == "survived"), key=lambda row: row["mutant"])
        lines += [f"- `{row['mutant'].removeprefix('src/streamsieve/')}`{_late(row, tier)}" for row in some]
    if since:
        survivors = sorted(row["mutant"] for row in rows if "survived" in {row.get(tier) for tier in tiers})
        lines += section(survivors, since)
    numbers = {
        "seed": seed,
        "count": count,
        "tried": len(rows),
        "of": of,
        "commit": commit,
        "seconds": seconds,
    }
    today = f"{datetime.now(tz=UTC):%Y-%m-%d}"
    return _PAGE.format(**numbers, date=today, shares="\n".join(shares), table="\n".join(lines))


def _late(row: dict[str, str], tier: str) -> str:
    """Return a remark on a fault that was not tried on all tests that were chosen for it."""
    return " (the time was over)" if row["by"] and row.get("full", "survived") == row[tier] else ""


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _counts(rows: list[dict[str, str]], tiers: list[str]) -> Iterator[tuple[str, list[int]]]:
    """Yield the number of mutants per tier and outcome: of each folder, and of all."""
    for folder in [*sorted({_folder(row) for row in rows}), "all"]:
        own = [row for row in rows if folder in {_folder(row), "all"}]
        yield folder, [sum(row.get(tier) == outcome for row in own) for tier in tiers for outcome in OUTCOMES]


def _folder(row: dict[str, str]) -> str:
    """Return the folder of the package that a mutant is in."""
    parts = row["mutant"].partition(":")[0].split("/")
    return parts[2] if len(parts) > 3 else "(package)"
