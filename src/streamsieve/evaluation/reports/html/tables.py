"""The tables of a page: all combinations, how stable selectors are, and what each chose and why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from streamsieve.evaluation.candidates.stream_learners import BASELINES
from streamsieve.evaluation.measures.stability import Stability, stability
from streamsieve.evaluation.reports.final_fit import FinalFit
from streamsieve.evaluation.reports.html import markup
from streamsieve.evaluation.reports.recommendation import Recommendation, Standing
from streamsieve.evaluation.reports.report import Report
from streamsieve.evaluation.reports.wording import count_text, metric_label

#: Features that stand open; the others are folded.
OPEN = 20
#: Features of all selectors together that are on the page; files hold them all.
MOST_FEATURES = 3000


def standings(recommendation: Recommendation, fits: Mapping[str, FinalFit], report: Report) -> dict[str, Any]:
    """Return the table of combinations: what its columns are, and the cells of each row."""
    low, high = _range(recommendation.standings)
    kappa, best = _kappas(report), recommendation.best
    rows = []
    for each in recommendation.standings:
        fit = fits.get(each.selector)
        rows.append(
            {
                "called": "all features" if each.keeps_all else each.selector,
                "selector": each.selector,
                "learner": each.learner,
                "score": markup.score(each.mean),
                "spread": "" if math.isnan(each.std) else f"± {markup.score(each.std)}",
                "bar": _bar(each, low, high),
                "p": "best" if recommendation.tested and each is best else markup.p_value(each.adjusted),
                "apart": recommendation.beats(each),
                "tiers": _tiers(each),
                "asked": "" if not each.size else f"{each.size:,}",
                "features": markup.DASH if each.learner in BASELINES else count_text(each.features),
                "select": markup.DASH if each.keeps_all else markup.seconds(each.select_seconds),
                "learn": markup.seconds(each.learn_seconds),
                "memory": markup.size(fit.peak_bytes) if fit is not None and not fit.error else markup.DASH,
                "kappa": kappa.get((each.selector, each.learner), ""),
                "used": each is recommendation.recommended,
                "incomplete": not each.complete,
            }
        )
    return {
        "metric": metric_label(recommendation.metric),
        "rows": rows,
        "low": markup.score(low),
        "high": markup.score(high),
        "tested": recommendation.tested,
        "kappa": bool(kappa),
    }


def _range(shown: Sequence[Standing]) -> tuple[float, float]:
    reach = [0.0 if math.isnan(each.std) else each.std for each in shown]
    low = min(each.mean - by for each, by in zip(shown, reach, strict=True))
    high = max(each.mean + by for each, by in zip(shown, reach, strict=True))
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _bar(each: Standing, low: float, high: float) -> dict[str, float]:
    """Return where a mean and its deviation stand between the lowest and the highest, in percent."""
    reach = 0.0 if math.isnan(each.std) else each.std
    at = [100 * (value - low) / (high - low) for value in (each.mean - reach, each.mean, each.mean + reach)]
    return {"left": round(at[0], 1), "middle": round(at[1], 1), "right": round(at[2], 1)}


def _tiers(each: Standing) -> str:
    first, last = each.tiers
    if not first:
        return markup.DASH
    return str(first) if first == last else f"{first}{markup.DASH}{last}"


def _kappas(report: Report) -> dict[tuple[str, str], str]:
    """Return kappa at the end of a stream of rows, by combination."""
    table = report.table
    if "kappa" not in table or not table.n_rows:
        return {}
    end = table.where(rows=int(table["rows"].max()))
    found = {}
    for selector, learner, kappa in zip(end["selector"], end["learner"], end["kappa"].tolist(), strict=True):
        named = "no features" if learner in BASELINES else str(selector)
        found[named, str(learner)] = markup.score(kappa)
    return found


def stabilities(report: Report, recommendation: Recommendation) -> dict[str, Stability]:
    """Return how stable every selector is, at the size that suits its best learner."""
    stored = report.extras["selections"]
    found = {}
    for name in stored.unique("selector"):
        best = recommendation.of(name)
        chosen = report.selections(name, best.size if best is not None else None)
        if recommendation.n_features:
            measured = stability(chosen, recommendation.n_features)
            same = measured.mean_size in (0, recommendation.n_features)  # there was no choice to judge
            found[name] = replace(measured, value=math.nan) if same else measured
    return found


def stability_rows(found: Mapping[str, Stability]) -> list[dict[str, str]]:
    """Return a row per selector for the table of stabilities."""

    def shown(value: float) -> str:
        return markup.DASH if math.isnan(value) else f"{value:.2f}"

    return [
        {
            "selector": name,
            "value": shown(each.value),
            "interval": "" if math.isnan(each.low) else f"{shown(each.low)} to {shown(each.high)}",
            "runs": f"{each.n_runs:,}",
            "size": count_text(each.mean_size),
        }
        for name, each in found.items()
    ]


def sections(fits: Mapping[str, FinalFit], recommendation: Recommendation) -> list[dict[str, Any]]:
    """Return a section per selector: the recommended one, and then in the order of their best scores."""
    most = max(OPEN, MOST_FEATURES // max(1, len(fits)))
    standings = (recommendation.recommended, *recommendation.standings)
    ranked = [*(each.selector for each in standings), *fits]
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
        "summary": _summary(fit, recommendation.n_features),
        "measure": fit.measure,
        "has_p": any(row["p"] != markup.DASH for row in rows),
        "has_others": any(row["others"] for row in rows),
        "open": rows[:OPEN],
        "folded": rows[OPEN:],
        "missing": len(fit.features) - len(rows),
        "left_out": left_out,
        "n_left_out": f"{recommendation.n_features - len(fit.features):,}",
    }


def _summary(fit: FinalFit, n_features: int) -> str:
    """Return in one line what happened to all features."""
    kept = f"{len(fit.features):,} of {n_features:,} features"
    if fit.size:
        kept += f" (asked for {fit.size:,})"
    rest = [f"{count:,} {what}" for what, count in fit.counts.items() if what not in ("kept", "evicted")]
    evicted = fit.counts.get("evicted", 0)
    if evicted:
        rest.append(f"{evicted:,} kept first and evicted later")
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
