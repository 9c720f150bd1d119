"""What the number beside a feature is, in the words of the field."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from streamsieve.base import ColumnSelector

#: By the test, measure or criterion that gives it, ...
_BY_TEST = {
    "su": "symmetric uncertainty",
    "mutual_info": "mutual information",
    "basis": "multiple correlation",
    "g2": "G2",
    "chi2": "chi2",
    "t": "t",
    "f": "F",
    "fisher": "Fisher score",
    "gini": "-Gini impurity",
    "correlation": "correlation",
    "ksg": "mutual information",
    "mid": "mutual information",
    "miq": "mutual information",
    "fcd": "F",
    "fcq": "F",
}
#: ... and by the method.
_BY_METHOD = {
    "alpha_investing": "t",
    "information_investing": "bits saved",
    "streamwise_ic": "gain in 2 log L",
    "grafting": "gradient",
    "online_substitution": "coefficient",
    "interaction_scan": "G2",
    "fires": "weight",
    "ofs": "weight",
    "partial_ofs": "weight",
    "mission": "weight",
    "winnow_efs": "weight",
    "barda": "saliency",
    "sofs": "confidence",
    "velocity_screen": "mutual information",
    "lars": "coefficient",
    "relief": "Relief weight",
    "relief_f": "ReliefF weight",
    "r_relief_f": "RReliefF weight",
    "fcbf": "symmetric uncertainty",
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
    "iamb",
    "inter_iamb",
)
#: Methods whose "auto" reports the statistic of the test; others put all types on the scale of a correlation.
_OWN_STATISTICS = ("osfs", "fast_osfs")
#: The parameters that name the test, measure or criterion.
_PARAMETERS = ("test", "measure", "criterion", "scheme")


def effect_name(selector: Any, types: Collection[str] = ()) -> str:
    """Return what the statistic or score of features is; ``types`` are those of the features shown."""
    parameters = selector.get_params(deep=False)
    method = type(selector).method_name()
    asked = next((parameters[name] for name in _PARAMETERS if name in parameters), None)
    if parameters.get("test_statistic") == "likelihood_ratio":
        return "z"
    if parameters.get("scope") == "conditional":
        return "t"
    if isinstance(asked, str) and asked in _BY_TEST:
        return _BY_TEST[asked]
    if asked == "auto" and types:
        return _by_type(selector, method, {*types})
    if method == "screen" and asked == "auto":
        return "correlation" if _task(selector) == "regression" else "F"
    return _by_method(selector, method)


def _by_method(selector: Any, method: str) -> str:
    if method in _CORRELATION:
        return _of_numbers(selector)
    return _BY_METHOD.get(method, "statistic" if isinstance(selector, ColumnSelector) else "score")


def _task(selector: Any) -> str:
    return str(getattr(selector, "task_", ""))


def _of_numbers(selector: Any) -> str:
    return "eta" if _task(selector) == "multiclass" else "correlation"


def _by_type(selector: Any, method: str, types: set[str]) -> str:
    """Return the one word for features of some types, or "statistic" where each type has its own."""
    if _task(selector) == "regression":
        levels, of_levels = types & {"nominal"}, "eta"
    else:
        levels, of_levels = types & {"binary", "ordinal", "nominal"}, "G2"
    if method == "hitonpc":  # one test for all features, whichever are shown
        every = {*selector.column_types_.values()}
        if of_levels == "G2" and "numeric" not in every:
            return "G2"
        return (
            "strength"
            if every - {"numeric", "binary", "ordinal" if of_levels == "eta" else ""}
            else (_of_numbers(selector))
        )
    if method in _OWN_STATISTICS:
        return "statistic" if levels and levels != types else of_levels if levels else _of_numbers(selector)
    return "strength" if levels - {"binary"} else _of_numbers(selector)


def effect_note(selector: Any, effect: str, types: Collection[str]) -> list[str]:
    """Say what a word means that is not one of the field."""
    if effect == "strength":
        return ["strength: on the scale of a correlation, sqrt(1 - exp(-2 I)) of the mutual information I"]
    if effect == "statistic" and len({*types}) > 1:
        regression = _task(selector) == "regression"
        of_levels = "eta for nominal" if regression else "G2 for binary, ordinal and nominal"
        return [f"statistic: {of_levels} columns, {_of_numbers(selector)} for the others"]
    return []
