"""What the number beside a feature is, in the words of the field."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from streamsieve.protocols import Decision, Reason

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
    "lars": "absolute coefficient",
    "two_way": "strength",
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
#: Methods that give a correlation without its sign.
_UNSIGNED = ("osfs", "fast_osfs", "hitonpc", "iamb", "inter_iamb")
#: Numbers whose sign says which of two classes goes with larger values of the feature.
_SIGNED = ("correlation", "t", "z", "gradient", "coefficient")
#: Methods that compare a column with the one that makes it redundant, ...
_PAIRWISE = ("saola", "group_saola", "ogfs", "ossfsdd")
#: ... and those that test it and the target given others.
_CONDITIONAL = ("osfs", "fast_osfs")
#: The parameters that name the test, measure or criterion.
_PARAMETERS = ("test", "measure", "criterion", "scheme")


def effect_name(selector: Any, types: Collection[str] = ()) -> str:
    """Return what the statistic or score of features is; ``types`` are those of the features shown."""
    parameters = selector.get_params(deep=False)
    method = type(selector).method_name()
    if parameters.get("column_selector") is not None:  # columns are decided by another selector
        return effect_name(parameters["column_selector"], types)
    asked = next((parameters[name] for name in _PARAMETERS if name in parameters), None)
    if parameters.get("test_statistic") == "likelihood_ratio":
        word = "z"
    elif parameters.get("scope") == "conditional":
        word = "t"
    elif asked is not None and not isinstance(asked, str):  # an object of the user's own
        word = _unknown(selector)
    elif asked in _BY_TEST:
        word = _BY_TEST[asked]
    elif asked == "auto" and types:
        word = _by_type(selector, method, {*types})
    elif method == "screen" and asked == "auto":
        word = "correlation" if _task(selector) == "regression" else "F"
    else:
        word = _by_method(selector, method)
    return word


def decision_effect(selector: Any, decision: Decision) -> str:
    """Return what the statistic of one decision is: ``partial correlation``, ``correlation with class 1``.

    What follows "with" is what the number relates the feature to: the column that made it redundant, or the
    class that goes with larger values of the feature where the statistic is positive.
    """
    if decision.reason in (Reason.ENTERED_TOP, Reason.LEFT_TOP):
        return effect_name(selector.get_params(deep=False).get("row_screen") or selector)
    if decision.reason is Reason.NOT_SAMPLED:
        return "sampling probability"
    word, decider = effect_name(selector, [decision.type] if decision.type else ()), _decider(selector)
    if decision.by and decision.reason in (Reason.REDUNDANT, Reason.COLLINEAR, Reason.SPOUSE):
        types = {decision.type, *map(selector.ledger_.type_of or _no_type, decision.by)} - {None}
        given = {
            **dict.fromkeys(_CONDITIONAL, _conditional(selector, word, types)),
            **dict.fromkeys(_PAIRWISE, f"{_between(word, types)} with {decision.by[0]}"),
            "dofs": f"redundancy with {decision.by[0]}",
        }
        if decider in given:
            return given[decider]
    positive = getattr(selector, "_positive_class", "")
    signed = positive and word in _SIGNED and decider not in _UNSIGNED
    return f"{word} with {positive}" if signed else word


def _decider(selector: Any) -> str:
    """Return the method that decides on columns: another one, where a selector leaves it to that."""
    inner = selector.get_params(deep=False).get("column_selector")
    method: str = type(selector if inner is None else inner).method_name()
    return "saola" if method == "two_way" else method


def _no_type(_: str) -> None:
    """Return the type of a column where the selector knows none."""


def _conditional(selector: Any, word: str, types: set[Any]) -> str:
    """Return what a test given others reports, where the one given nothing reports ``word``."""
    if selector.get_params(deep=False).get("test") == "auto" and types - {"numeric"}:
        return "partial association" if "numeric" in types else word
    correlations = ("absolute correlation", "eta", "multiple correlation")
    return f"partial {word.removeprefix('absolute ')}" if word in correlations else word


def _between(word: str, types: set[Any]) -> str:
    """Return what compares two columns, where ``word`` compares one and the target."""
    if types - {"numeric", "binary"}:
        return "strength"
    return "correlation" if word in ("correlation", "eta", "strength") else word


def _unknown(selector: Any) -> str:
    return "statistic" if hasattr(selector, "offer") else "score"


def _by_method(selector: Any, method: str) -> str:
    if method in _CORRELATION:
        return _of_numbers(selector)
    return _BY_METHOD.get(method) or _unknown(selector)


def _task(selector: Any) -> str:
    return str(getattr(selector, "task_", ""))


def _of_numbers(selector: Any) -> str:
    if _task(selector) == "multiclass":
        return "eta"
    return "absolute correlation" if type(selector).method_name() in _UNSIGNED else "correlation"


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
