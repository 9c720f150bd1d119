"""What every selector chose, and why, for the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from streamsieve.evaluation.reports.final_fit import FinalFit
from streamsieve.evaluation.reports.html import markup
from streamsieve.evaluation.reports.recommendation import Recommendation
from streamsieve.evaluation.reports.report import Report

#: Features that stand open; the others are folded.
OPEN = 20
#: Features of all selectors together that are on the page; files hold them all.
MOST = 3000


def sections(fits: Mapping[str, FinalFit], recommendation: Recommendation) -> list[dict[str, Any]]:
    """Return a section a selector: the recommended one, and then in the order of their best scores."""
    most = max(OPEN, MOST // max(1, len(fits)))
    ranked = [
        recommendation.recommended.selector,
        *(each.selector for each in recommendation.standings),
        *fits,
    ]
    order = [name for name in dict.fromkeys(ranked) if name in fits]
    return [_section(fits[name], recommendation, most) for name in order]


def _section(fit: FinalFit, recommendation: Recommendation, most: int) -> dict[str, Any]:
    rows = [
        {
            "rank": f"{rank:,}",
            "name": markup.short(each.name),
            "number": markup.number(each.number),
            "p": markup.tiny_p(each.p_value),
            "others": markup.listed(each.others, 2),
        }
        for rank, each in enumerate(fit.features[:most], 1)
    ]
    left_out = [
        {
            "name": markup.short(each.name),
            "number": markup.number(each.number),
            "p": markup.tiny_p(each.p_value),
            "why": each.why + (f" given {markup.listed(each.others)}" if each.others else ""),
        }
        for each in fit.nearest
    ]
    return {
        "name": fit.selector,
        "error": fit.error,
        "used": fit.selector == recommendation.recommended.selector,
        "told": _told(fit, recommendation.n_features),
        "measure": fit.measure,
        "has_p": any(row["p"] != markup.DASH for row in rows),
        "has_others": any(row["others"] for row in rows),
        "open": rows[:OPEN],
        "folded": rows[OPEN:],
        "missing": len(fit.features) - len(rows),
        "left_out": left_out,
        "n_left_out": f"{recommendation.n_features - len(fit.features):,}",
    }


def _told(fit: FinalFit, n_features: int) -> str:
    """Return in a line what happened to all features."""
    kept = f"{len(fit.features):,} of {n_features:,} features"
    if fit.size:
        kept += f" (asked for {fit.size:,})"
    rest = [f"{count:,} {what}" for what, count in fit.counts.items() if what not in ("kept", "evicted")]
    evicted = fit.counts.get("evicted", 0)
    if evicted:
        rest.append(f"{evicted:,} kept for a while")
    return " · ".join([kept, *rest, f"{markup.size(fit.peak_bytes)} of memory at the peak"])


def kept_nothing(report: Report) -> list[str]:
    """Return sentences on selectors that kept nothing somewhere."""
    stored = report.extras["selections"]
    if "columns" in stored and stored.n_rows:
        stored = stored.where(columns=int(stored["columns"].max()))
    found = []
    for (name,), rows in stored.groups("selector").items():
        empty = int(np.count_nonzero(stored["n_selected"][rows] == 0))
        if empty:
            often = "every time" if empty == len(rows) else f"{empty:,} of {len(rows):,} times"
            found.append(
                f"{name} kept nothing {often}; learners then predict the most frequent class, or the mean."
            )
    return found
