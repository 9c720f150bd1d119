"""Why a test or rule is liberal, and what to do: a sentence for every red cell of the page."""

from __future__ import annotations

from fnmatch import fnmatchcase

#: Subject and data, as patterns, and the sentence; the first that fits counts.
REASONS: dict[tuple[str, str], str] = {}


def reason(subject: str, data: str) -> str | None:
    """Return the sentence for a cell, or None."""
    for (some, where), sentence in REASONS.items():
        if fnmatchcase(subject, some) and fnmatchcase(data, where):
            return sentence
    return None
