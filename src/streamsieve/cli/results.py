"""A fitted selector as tables: kept features by strength, counts, remarks, and one sentence on a feature."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from streamsieve._parameters import did_you_mean
from streamsieve.base import ColumnSelector, OfflineSelector
from streamsieve.cli.output import say_table
from streamsieve.exceptions import ParameterError

#: P-values below this are shown as smaller than it: a float cannot hold them precisely.
SMALLEST_P = 1e-300
#: What the number of a feature is, by the test or measure that gives it, by method, and by criterion.
_BY_TEST = {
    "su": "symmetric uncertainty",
    "mutual_info": "mutual information",
    "g2": "G2",
    "chi2": "chi2",
    "t": "t",
    "f": "F",
    "fisher": "Fisher score",
    "gini": "Gini gain",
    "correlation": "correlation",
    "ksg": "mutual information",
}
_BY_METHOD = {
    "alpha_investing": "t",
    "information_investing": "bits saved",
    "streamwise_ic": "gain in 2 log L",
    "grafting": "gradient",
    "online_substitution": "coefficient",
    "interaction_scan": "G2",
    "fires": "weight",
    "ofs": "weight",
    "barda": "weight",
    "sofs": "weight",
    "lars": "coefficient",
    "relief": "Relief weight",
    "relief_f": "ReliefF weight",
    "r_relief_f": "RReliefF weight",
    "fcbf": "symmetric uncertainty",
    "mrmr": "relevance",
    "bootstrap": "frequency",
}
_CORRELATION = (
    "osfs",
    "fast_osfs",
    "saola",
    "top_k",
    "online_fdr",
    "group_saola",
    "dofs",
    "ogfs",
    "ossfsdd",
    "hitonpc",
)


def effect_name(selector: Any) -> str:
    """Return what the statistic or score of a feature is, in the words of the field."""
    parameters = selector.get_params(deep=False)
    method = type(selector).method_name()
    asked = next((parameters[name] for name in ("test", "measure", "criterion") if name in parameters), None)
    if parameters.get("test_statistic") == "likelihood_ratio":
        return "z"
    if parameters.get("scope") == "conditional":
        return "t"
    if isinstance(asked, str) and asked in _BY_TEST:
        return _BY_TEST[asked]
    if asked == "auto" and {*getattr(selector, "column_types_", {}).values()} - {"numeric"}:
        return "statistic"  # of several tests, by the types of the columns
    if method in _CORRELATION:
        return "eta" if str(getattr(selector, "task_", "")) == "multiclass" else "correlation"
    return _BY_METHOD.get(method, "statistic" if isinstance(selector, ColumnSelector) else "score")


def kept_features(selector: Any) -> list[dict[str, Any]]:
    """Return the kept features, the strongest first, as rows for a table."""
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
    """Print features as a table."""
    columns = kept[0] if kept else {}
    shown = {
        "statistic": effect, "score": effect, "p_value": "p-value", "adjusted": "held-out p-value, adjusted"
    }  # fmt: skip
    rows = ([_cell(name, value) for name, value in row.items()] for row in kept)
    say_table({shown.get(name, name): "left" if name == "feature" else "right" for name in columns}, rows)


def _cell(name: str, value: Any) -> str:
    if name in ("p_value", "adjusted") and value < SMALLEST_P:
        return f"<{SMALLEST_P:g}"
    return value if isinstance(value, str) else "" if math.isnan(value) else f"{value:.4g}"


def sign_note(kept: list[dict[str, Any]], effect: str, selector: Any, source: Any) -> list[str]:
    """Say which class a positive number speaks for, where numbers have signs and classes are two."""
    signed = any(row.get("statistic", 0.0) < 0 for row in kept)
    if not signed or str(getattr(selector, "task_", "")) != "binary":
        return []
    low, high = np.unique(source.y).tolist()
    return [f"{effect} > 0: larger values go with {high}, < 0: with {low}"]


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
    if getattr(selector, "stopped_", None):
        remarks.append(f"stopped early: {selector.stopped_}")
    return remarks


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
    return f"nothing was kept: no feature passed{seen}; {larger}--method top_k keeps the k best in any case"


def explained(selector: Any, feature: str) -> str:
    """Return one sentence on a feature."""
    ranked = not isinstance(selector, (ColumnSelector, OfflineSelector))
    known = feature_names(selector) if ranked else [d.feature for d in selector.ledger_]
    if feature not in known:
        raise ParameterError(f"there is no feature {feature!r}{did_you_mean(feature, known)}")
    if not ranked:
        return str(selector.ledger_.why(feature))
    j = known.index(feature)
    rank = int((selector.scores_ > selector.scores_[j]).sum()) + 1
    status = "kept" if selector.get_support()[j] else "not kept"
    return f"{feature}: {status}, rank {rank} of {len(known)}, score {selector.scores_[j]:.4g}"
