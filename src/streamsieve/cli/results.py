"""A fitted selector as tables: kept features by strength, counts, remarks, and one sentence on a feature."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import islice
from typing import Any

import numpy as np

from streamsieve._parameters import did_you_mean
from streamsieve._text import shortened
from streamsieve._validation import whole_labels
from streamsieve.base import ColumnSelector, OfflineSelector
from streamsieve.base.effects import effect_name
from streamsieve.base.showing import types_of
from streamsieve.cli.output import say_table
from streamsieve.exceptions import ParameterError

#: P-values below this are shown as smaller than it: a float cannot hold them precisely.
SMALLEST_P = 1e-300


def types_line(types: Mapping[str, str]) -> list[str]:
    """Say which columns are taken for levels, given types by name; nothing if all are numeric."""
    if not {*types.values()} - {"numeric"}:
        return []
    parts = []
    for kind in ("nominal", "ordinal", "binary", "numeric"):
        names = [name for name, found in types.items() if found == kind]
        some = ", ".join(map(shortened, names[:5]))
        few = f" ({some}{', ...' * (len(names) > 5)})" if kind != "numeric" else ""
        parts += [f"{len(names):,} {kind}{few}"] if names else []
    return [f"types: {', '.join(parts)}"]


def kept_features(selector: Any) -> list[dict[str, Any]]:
    """Return the kept features, the strongest first, as rows for a table; with types, where they matter."""
    types = types_of(selector)
    rows = _features(selector)
    if not types:
        return rows
    return [{"feature": row["feature"], "type": types[row["feature"]], **row} for row in rows]


def _features(selector: Any) -> list[dict[str, Any]]:
    nothing = float("nan")
    if isinstance(selector, ColumnSelector):
        decisions = {d.feature: d for d in selector.ledger_.kept()}
        rows = []
        for name in selector.get_feature_names_out().tolist():
            found = decisions.get(name)  # with ledger=none there is no record
            numbers = (nothing, nothing) if found is None else (found.statistic, found.p_value)
            rows.append({"feature": name, "statistic": numbers[0], "p_value": numbers[1]})
        return sorted(rows, key=_strength)
    names = feature_names(selector)
    if isinstance(selector, OfflineSelector):
        known = {d.feature: d.statistic for d in selector.ledger_.kept()}
        return [
            {"feature": names[j], "score": known.get(names[j], nothing)} for j in selector.ranked_.tolist()
        ]
    scores, p_values = selector.scores_, getattr(selector, "pvalues_", None)
    return [
        {"feature": names[j], "score": float(scores[j])}
        | ({} if p_values is None else {"p_value": float(p_values[j])})
        for j in selector.ranked_.tolist()
    ]


def confirmed_features(selector: ColumnSelector) -> list[dict[str, Any]]:
    """Return the kept features with their tests on the rows that ``--holdout`` kept from selection."""
    table = selector.confirm()
    tests = {
        name: {"adjusted": adjusted, "confirmed": "yes" if sure else "no"}
        for name, adjusted, sure in zip(table["feature"], table["adjusted"], table["confirmed"], strict=True)
    }
    return [row | tests[row["feature"]] for row in kept_features(selector)]


def _strength(row: dict[str, Any]) -> tuple[float, float]:
    """Return what sorts features, the strongest first: p-values, which compare across tests, then effects."""
    p, effect = row["p_value"], row["statistic"]
    return (math.inf if math.isnan(p) else p, math.inf if math.isnan(effect) else -abs(effect))


def feature_names(selector: Any) -> list[str]:
    """Return the names of all features of a selector over rows, given or made up."""
    known = getattr(selector, "feature_names_in_", None)
    return [f"x{j}" for j in range(selector.n_features_in_)] if known is None else [str(n) for n in known]


def counts_of(selector: Any, kept: int) -> dict[str, int]:
    """Return how many features were offered, are kept now, were rejected, and were kept for a while."""
    counts = {"offered": int(selector.n_features_in_), "kept": kept}
    if isinstance(selector, ColumnSelector) and getattr(selector, "ledger", "all") == "all":
        evicted = selector.ledger_.counts().get("evicted", 0)
        counts |= {"rejected": max(counts["offered"] - kept - evicted, 0), "evicted": evicted}
    else:
        counts["rejected"] = counts["offered"] - kept
    return counts


def say_features(kept: list[dict[str, Any]], effect: str) -> None:
    """Print features as a table; of none, nothing."""
    if not kept:
        return
    columns = kept[0]
    shown = {
        "statistic": effect, "score": effect, "p_value": "p-value", "adjusted": "held-out p-value, adjusted"
    }  # fmt: skip
    rows = ([_cell(name, value) for name, value in row.items()] for row in kept)
    sides = {name: "left" if name in ("feature", "type") else "right" for name in columns}
    say_table({shown.get(name, name): side for name, side in sides.items()}, rows)


def _cell(name: str, value: Any) -> str:
    if name in ("p_value", "adjusted") and value < SMALLEST_P:
        return f"<{SMALLEST_P:g}"
    return value if isinstance(value, str) else "" if math.isnan(value) else f"{value:.4g}"


def sign_note(kept: list[dict[str, Any]], effect: str, selector: Any, source: Any) -> list[str]:
    """Say which class a positive number speaks for, where numbers have signs and classes are two."""
    signed = any(row.get("statistic", 0.0) < 0 for row in kept)
    if effect in ("correlation", "t"):  # all kept may be positive
        signed |= any(each.statistic < 0 for each in islice(getattr(selector, "ledger_", ()), 1000))
    if not signed or str(getattr(selector, "task_", "")) != "binary":
        return []
    low, high = whole_labels(np.unique(source.y)).tolist()
    return [f"{effect} > 0: larger values go with {high}, < 0: with {low}"]


def p_value_note(kept: list[dict[str, Any]], effect: str, selector: Any) -> list[str]:
    """Say what p-values are where they do not follow the correlations beside them."""
    parameters = selector.get_params(deep=False)
    confirms = parameters.get("p_value") in ("auto", "confirmed") and parameters.get("missing") != "omit"
    confirms &= effect.endswith(("correlation", "eta", "statistic"))
    sizes = [abs(row.get("statistic", math.nan)) for row in kept if row.get("type", "numeric") == "numeric"]
    if not confirms or sizes == sorted(sizes, reverse=True):
        return []
    return ["p-values: of t, or larger ones of normal scores or permutations where data are skewed"]


def remarks_on(selector: Any) -> list[str]:
    """Return what else there is to say about a run."""
    remarks = []
    moved = getattr(selector, "drift_", [])
    if moved:
        names = feature_names(selector)
        latest = ", ".join(dict.fromkeys(names[drift.feature] for drift in moved[:-4:-1]))
        remarks.append(f"{len(moved)} changes of relevance, the latest of {latest}")
    rule, alpha = (getattr(selector, name, None) for name in ("fdr", "alpha"))
    if rule is not None:
        rate = "family-wise error rate" if rule == "alpha_spending" else "false discovery rate"
        remarks.append(
            f"{selector.n_found_:,} columns found at a {rate} of {alpha:g} ({rule}), {selector.n_kept_:,} of "
            "them kept; the rate is about those found"
        )
    if rule is None and alpha is not None and isinstance(selector, ColumnSelector):
        remarks += _by_chance(selector.n_features_in_, alpha, selector.n_kept_)
    if getattr(selector, "stopped_", None):
        remarks.append(f"stopped early: {selector.stopped_}")
    return remarks


def _by_chance(offered: int, alpha: float, kept: int) -> list[str]:
    """Say so where most of the kept features may be false discoveries."""
    expected = offered * alpha
    if kept == 0 or expected < max(1, kept / 2):
        return []
    what = f"of {offered:,} irrelevant columns about {expected:,.0f} would pass a test at alpha {alpha:g}"
    return [f"note: {what} by chance: --goal fdr bounds the false discovery rate"]


def nothing_kept(selector: Any) -> str:
    """Say how far the best feature was from being kept, and what to try."""
    best, feature = math.inf, ""
    for decision in selector.ledger_ if isinstance(selector, ColumnSelector) else ():
        if decision.p_value < best:
            best, feature = decision.p_value, decision.feature
    p_values = getattr(selector, "pvalues_", None)
    if p_values is not None and np.any(np.isfinite(p_values)):
        j = int(np.nanargmin(p_values))
        best, feature = float(p_values[j]), feature_names(selector)[j]
    seen = f"; the smallest p-value is {best:.2g} ({feature})" if feature else ""
    alpha = selector.get_params(deep=False).get("alpha")
    larger = "" if alpha is None else f"a larger alpha (now {alpha:g}) keeps more, and "
    best_k = "--method top_k --param alpha=None keeps the k best in any case"
    return f"nothing was kept: no feature passed{seen}; {larger}{best_k}"


def explained(selector: Any, feature: str) -> str:
    """Return one sentence on a feature."""
    ranked = not isinstance(selector, (ColumnSelector, OfflineSelector))
    known = feature_names(selector) if ranked else [d.feature for d in selector.ledger_]
    if feature not in known:
        raise ParameterError(f"there is no feature {feature!r}{did_you_mean(feature, known)}")
    if not ranked:
        return str(selector.ledger_.why(feature))
    kind = types_of(selector).get(feature, "numeric")
    of_type = "" if kind == "numeric" else f" ({kind})"
    j = known.index(feature)
    rank = int((selector.scores_ > selector.scores_[j]).sum()) + 1
    status = "kept" if selector.get_support()[j] else "not kept"
    effect = effect_name(selector, [kind] if of_type else ())
    return f"{feature}{of_type}: {status}, rank {rank} of {len(known)}, {effect} {selector.scores_[j]:.4g}"
