"""Notes on columns and labels to question: identifiers, leaks, missing values, classes that look alike."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from streamsieve._suspects import Suspects
from streamsieve.cli.parameters import listed_names

SHOWN = 5


def suspects_notes(
    suspects: Suspects, target: str | None = None, encoded: Mapping[str, Sequence[str]] | None = None
) -> list[str]:
    """Return a line on each kind of suspicious column, and on what became of missing values.

    ``encoded`` are the features that stand for a column of text: options name the column.
    """
    lines = []
    columns_of = {each: name for name, made in (encoded or {}).items() for each in made}
    if suspects.incomplete:
        more = f" and {len(suspects.incomplete) - SHOWN} more" * (len(suspects.incomplete) > SHOWN)
        lines.append(
            f"note: missing values in {', '.join(sorted(suspects.incomplete)[:SHOWN])}{more}: each test uses "
            "the rows that are complete; --missing impute fills in means instead"
        )
    if suspects.identifiers:
        one = len(suspects.identifiers) == 1
        names = ", ".join(suspects.identifiers[:SHOWN])
        lines.append(
            f"warning: {names} look{'s' * one} like {'an identifier' if one else 'identifiers'} (whole "
            f"numbers, all different or in order): --id {listed_names(suspects.identifiers[:SHOWN])} leaves "
            f"{'it' if one else 'them'} out"
        )
    for mark, columns in suspects.marks.items():
        more = f" and {len(columns) - SHOWN} more" * (len(columns) > SHOWN)
        others = suspects.meant.get(mark, [])
        also = f"; --na is for all columns, and {mark:g} may be a value in {', '.join(others[:SHOWN])}"
        lines.append(
            f"warning: {mark:g} in {', '.join(columns[:SHOWN])}{more} is far from the other values: if "
            f"it means that a value is missing, say --na {mark:g} (text and workbooks; elsewhere, make it "
            f"null){also if others else ''}"
        )
    for name, how in list(suspects.leaks.items())[:SHOWN]:
        lines.append(
            f"warning: {name} alone gives the target away ({how}): if it is not known beforehand, "
            f"--exclude {listed_names([columns_of.get(name, name)])}"
        )
    totals = ({} if target is None else {target: suspects.target_total}) | suspects.totals
    sums = [(name, total) for name, total in totals.items() if total is not None]
    if sums:
        more = f" and {len(sums) - SHOWN} more" * (len(sums) > SHOWN)
        # rows where the column is missing do not fulfill a condition
        whole = next((f"{name}!={total!r}" for name, total in sums if name not in suspects.incomplete), None)
        way = "delete it" if whole is None else f"--where {shlex.quote(whole)} leaves it out"
        lines.append(
            f"warning: the last row holds the sum of all others in {', '.join(n for n, _ in sums[:SHOWN])}"
            f"{more}: if it is a row of totals, {way}"
        )
    return lines


def labels_note(source: Any) -> list[str]:
    """Say so where classes differ by case or blanks only."""
    y, alike = getattr(source, "y", None), dict[str, list[str]]()
    labels = sorted(source.labels) or ([] if y is None or y.dtype.kind != "U" else np.unique(y).tolist())
    for label in labels:
        if isinstance(label, str):
            alike.setdefault(label.strip().casefold(), []).append(label)
    several = [names for names in alike.values() if len(names) > 1]
    return [
        f"warning: the classes {', '.join(map(repr, names))} differ by case or blanks only: if they are one, "
        "write them alike"
        for names in several[:SHOWN]
    ]


def codes_note(suspects: Suspects, selector: Any) -> list[str]:
    """Say that a screen ranks columns by their numbers which may be codes: it does not guess types."""
    if type(selector).method_name() != "screen" or isinstance(selector.types, str):
        return []
    names = [name for name in suspects.codes if name not in (selector.types or {})]
    if not names:
        return []
    few, more = names[:SHOWN], f" and {len(names) - SHOWN} more" * (len(names) > SHOWN)
    what = "holds few whole numbers and is ranked as a quantity"
    if len(names) > 1:
        what = "hold few whole numbers and are ranked as quantities"
    return [f"note: {', '.join(few)}{more} {what}: --nominal {','.join(few)} declares codes"]
