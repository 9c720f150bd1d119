"""Numbers as people read them."""

from __future__ import annotations

import math
import re

from streamsieve.evaluation.reports.wording import p_short

#: Longer names are cut: a feature's name may be as long as a book.
LONGEST = 80
#: What stands where there is nothing, and between the ends of a range.
DASH = "\N{EN DASH}"


def score(value: float) -> str:
    """Return a score in three decimals, more digits where it is large."""
    if math.isnan(value):
        return DASH
    return f"{value:.3f}" if abs(value) < 100 else f"{value:,.4g}"


def number(value: float) -> str:
    """Return a number in four digits."""
    return DASH if math.isnan(value) else f"{value:.4g}"


def p_value(value: float) -> str:
    """Return a p-value as tables have it."""
    return DASH if math.isnan(value) else p_short(value)


def tiny_p(value: float) -> str:
    """Return a p-value of one feature among many, where powers of ten matter."""
    return DASH if math.isnan(value) else f"{value:.2g}"


def seconds(value: float) -> str:
    """Return a time in the unit that suits it."""
    if math.isnan(value):
        return DASH
    if value >= 120:
        return f"{int(value) // 60:,} min {round(value) % 60} s"
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= unit:
            return f"{value / unit:.3g} {name}"
    return "0"


def size(n_bytes: float) -> str:
    """Return an amount of memory in the unit that suits it."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:,.3g} {name}"
    return f"{n_bytes:,.0f} B"


def short(name: str) -> str:
    """Return a name that is not longer than a line."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def listed(names: tuple[str, ...] | list[str], most: int = 3) -> str:
    """Return some names, and how many there are besides."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(short(name) for name in names[:most]) + more


def unbroken(sentence: str) -> str:
    """Return a sentence in which no line ends within a p-value, or a score with its deviation."""
    return re.sub(r" (?=±)|(?<=±) |(?<=\bp) |(?<=<) ", "\N{NO-BREAK SPACE}", sentence)
