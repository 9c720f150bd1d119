"""What the number beside a feature is, in the words of the field."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from streamsieve.protocols import Decision, Reason, Statistic

#: By the test, measure, criterion or scheme that gives it.
_BY_PARAMETER = {
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
#: The parameters that name one.
_PARAMETERS = ("test", "measure", "criterion", "scheme")
#: Numbers whose sign says which of two classes goes with larger values of the feature.
_SIGNED = ("correlation", "t", "z", "gradient", "coefficient")


def effect_name(selector: Any, types: Collection[str] = ()) -> str:
    """Return what the statistic or score of features is; ``types`` are those of the features shown."""
    selector = selector._decider  # noqa: SLF001 - what a class declares
    known, parameters = _known(selector), selector.get_params(deep=False)
    asked = next((parameters[name] for name in _PARAMETERS if name in parameters), None)
    if not known.by_parameter:
        return known.name
    if asked is not None and not isinstance(asked, str):  # an object of the user's own
        return _unknown(selector)
    if asked in _BY_PARAMETER:
        return _BY_PARAMETER[asked]
    if asked == "auto" and types:
        return _by_type(selector, {*types})
    if known.name.endswith("correlation"):
        return _of_numbers(selector)
    return known.name or _unknown(selector)


def decision_effect(selector: Any, decision: Decision) -> str:
    """Return what the statistic of one decision is: ``partial correlation``, ``correlation with class 1``.

    What follows "with" is what the number relates the feature to: the column that made it redundant, or the
    class that goes with larger values of the feature where the statistic is positive.
    """
    if decision.reason in (Reason.ENTERED_TOP, Reason.LEFT_TOP):
        return effect_name(getattr(selector, "row_screen", None) or selector)
    if decision.reason is Reason.NOT_SAMPLED:
        return "sampling probability"
    word = effect_name(selector, [decision.type] if decision.type else ())
    decider = selector._decider  # noqa: SLF001 - what a class declares
    redundancy = _known(decider).redundancy
    if redundancy and decision.by and decision.reason in (Reason.REDUNDANT, Reason.COLLINEAR, Reason.SPOUSE):
        types = {decision.type, *map(selector.ledger_.type_of or _no_type, decision.by)} - {None}
        if redundancy == "partial":
            return _partial(decider, word, types)
        return f"{_between(word, types) if redundancy == 'between' else redundancy} with {decision.by[0]}"
    positive = getattr(selector, "_positive_class", "")
    return f"{word} with {positive}" if positive and word in _SIGNED else word


def effect_note(selector: Any, effect: str, types: Collection[str]) -> list[str]:
    """Say what a word means that is not one of the field."""
    if effect == "strength":
        return ["strength: on the scale of a correlation, sqrt(1 - exp(-2 I)) of the mutual information I"]
    if effect == "statistic" and len({*types}) > 1:
        regression = _task(selector) == "regression"
        of_levels = "eta for nominal" if regression else "G2 for binary, ordinal and nominal"
        return [f"statistic: {of_levels} columns, {_of_numbers(selector)} for the others"]
    return []


def _known(selector: Any) -> Statistic:
    statistic: Statistic = selector._statistic  # noqa: SLF001 - what a class declares
    return statistic


def _no_type(_: str) -> None:
    """Return the type of a column where the selector knows none."""


def _unknown(selector: Any) -> str:
    return "statistic" if hasattr(selector, "offer") else "score"


def _task(selector: Any) -> str:
    return str(getattr(selector, "task_", ""))


def _of_numbers(selector: Any) -> str:
    """Return what the statistic of numbers is, of a method for which that is a correlation."""
    if _task(selector) == "multiclass":
        return "eta"
    return "absolute correlation" if _known(selector).name.startswith("absolute") else "correlation"


def _partial(selector: Any, word: str, types: set[Any]) -> str:
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


def _by_type(selector: Any, types: set[str]) -> str:
    """Return the one word for features of some types, or "statistic" where each type has its own."""
    if _task(selector) == "regression":
        levels, of_levels = types & {"nominal"}, "eta"
    else:
        levels, of_levels = types & {"binary", "ordinal", "nominal"}, "G2"
    with_types = _known(selector).with_types
    if with_types == "one test":  # for all features, whichever are shown
        every = {*selector.column_types_.values()}
        if of_levels == "G2" and "numeric" not in every:
            return "G2"
        as_numbers = {"numeric", "binary", "ordinal" if of_levels == "eta" else ""}
        return "strength" if every - as_numbers else _of_numbers(selector)
    if with_types == "own":
        return "statistic" if levels and levels != types else of_levels if levels else _of_numbers(selector)
    return "strength" if levels - {"binary"} else _of_numbers(selector)
