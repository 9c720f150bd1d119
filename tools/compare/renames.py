"""What was renamed between the old tree and the new one: the one place to list it.

Cases and reports use the old names.  The worker of the new tree translates calls by these tables, and the
comparison translates what it reports.  Three things need no entry: a class that moved to another module, an
attribute that is new, and ``ranked_``: where the new tree has it, it is compared with the order of the old
``selected_``, and ``selected_`` as a set.
"""

from __future__ import annotations

from typing import Any

#: Any class or exception, old name: new name.
RENAMED_CLASSES: dict[str, str] = {"Products": "CrossProducts", "LARSSelector": "LARS"}

#: Modules that are asked for by name, old: new, such as "streamsieve.summaries".
RENAMED_MODULES: dict[str, str] = {}

#: (class, old parameter): new parameter; the class "*" stands for all.  None: the parameter is gone, and what
#: it was given does not matter.
RENAMED_PARAMETERS: dict[tuple[str, str], str | None] = {
    ("FGM", "n_features"): "k",
    ("GDM", "n_features"): "k",
    ("InfFS", "n_features"): "k",
    ("InfFS", "alpha"): "mixing",
    ("LARSSelector", "n_features"): "k",
    ("MRMR", "n_features"): "k",
    ("Relief", "n_features"): "k",
    ("Relief", "sample"): "n_rows_sampled",
    ("ReliefF", "n_features"): "k",
    ("ReliefF", "k"): "n_neighbors",
    ("ReliefF", "sample"): "n_rows_sampled",
    ("RReliefF", "n_features"): "k",
    ("RReliefF", "k"): "n_neighbors",
    ("RReliefF", "sample"): "n_rows_sampled",
    ("SPEC", "n_features"): "k",
    ("SPFS", "n_features"): "k",
    ("SPFS", "step"): "method",
    ("StumpBoosting", "n_features"): "k",
    ("TraceRatio", "n_features"): "k",
    ("TraceRatio", "scaled"): "standardize",
    ("FSAClassifier", "n_features"): "k",
    ("FSAClassifier", "ridge"): "l2",
    ("FSARegressor", "n_features"): "k",
    ("FSARegressor", "ridge"): "l2",
    ("OnlineSubstitution", "budget"): "k",
    ("OnlineSubstitution", "step"): "step_size",
    ("KSG", "neighbours"): "n_neighbors",
    ("Screen", "threshold"): "min_zscore",
    ("Screen", "epsilon"): "max_rank_error",
    ("Bootstrap", "threshold"): "min_frequency",
    ("WinnowEFS", "threshold"): "theta",
    ("RJMCMC", "threshold"): "min_inclusion",
    ("Quantiles", "epsilon"): "max_rank_error",
    ("DOFS", "threshold"): "max_rank_correlation",
    ("DOFS", "epsilon"): "min_gain",
    ("DOFS", "criterion"): "reading",
    ("DOFS", "redundancy"): "redundancy_test",
    ("DOFS", "sample"): "sampler",
    ("DOFS", "penalty"): "l1",
    ("DOFS", "supervised"): "stages",
    ("OGFS", "epsilon"): "min_gain",
    ("OGFS", "penalty"): "l1",
    ("Grafting", "penalty"): "l1",
    ("Grafting", "standardise"): "standardize",
    ("StreamwiseIC", "criterion"): "information_criterion",
    ("SAOLA", "mode"): "variant",
    ("GroupSAOLA", "mode"): "variant",
    ("OSSFSDD", "mode"): "variant",
    ("TopK", "redundancy"): "redundancy_weight",
    ("OFS", "ridge"): "l2",
    ("BARDA", "ridge"): "l2",
    ("RunningAverages", "ridge"): "l2",
    ("FIRES", "penalty_ridge"): "l2",
    ("FSDS", "centre"): "center",
    ("OnlineFDR", "test"): "scope",
    ("AlphaInvesting", "p_value"): "test_statistic",
}

#: (class, old parameter, old value): new value; the class "*" stands for all.
RENAMED_VALUES: dict[tuple[str, str, Any], Any] = {
    ("SAOLA", "mode", "two_phase"): "corrected",
    ("GroupSAOLA", "mode", "live"): "corrected",
    ("GroupSAOLA", "mode", "literal"): "paper",
    ("OSSFSDD", "mode", "text"): "paper",
    ("DOFS", "supervised", True): "all",
    ("DOFS", "supervised", False): "unsupervised",
    ("DOFS", "supervised", "dpp_only"): "draw",
    ("RunningAverages", "model", "olsth"): "ols_threshold",
    ("RunningAverages", "model", "oelnet"): "elastic_net",
    ("RunningAverages", "model", "oadalasso"): "adaptive_lasso",
    ("RunningAverages", "model", "omcp"): "mcp",
    ("RunningAverages", "model", "olasso"): "lasso",
    ("RunningAverages", "model", "ofsa"): "fsa",
}

#: Methods, functions and properties that are called: (class, old): new; the class "*" stands for all.
RENAMED_METHODS: dict[tuple[str, str], str] = {
    ("*", "renumbered"): "reindexed",
    ("*", "levels"): "categories",
}

#: Learnt attributes, and the fields of a ledger line (class "Decision"): old: new, or (class, old): new.
RENAMED_ATTRIBUTES: dict[str | tuple[str, str], str] = {
    "n_rows_seen_": "n_samples_seen_",
    "n_rows_": "n_samples_seen_",
    ("TwoWay", "n_rows_"): "n_samples_held_",
    ("FIRES", "weights_"): "normalized_scores_",
    ("FIRES", "mean_"): "coef_",
    ("BlockBagging", "weights_"): "member_weights_",
    ("SuperLearner", "weights_"): "member_weights_",
}

#: Words in the ledger: (field, old word): new word, such as ("reason", "outscored"): "weaker".
RENAMED_WORDS: dict[tuple[str, str], str] = {}

#: Learnt attributes that the new tree does without: old name, or (class, old name).
DROPPED: set[str | tuple[str, str]] = {("Bootstrap", "frequencies_")}

#: Learnt attributes that speak for the second of ``classes_``, of selectors that had the negative label first
#: in the old tree.  ``classes_`` is sorted now, and where this exchanges the two, these change their signs.
SIGNED: dict[str, str] = {
    "OFS": "coef_",
    "PartialOFS": "coef_",
    "SOFS": "coef_",
    "WinnowEFS": "coef_",
    "FIRES": "mean_",
}


def class_name(old: str) -> str:
    """Return the new name of a class."""
    return RENAMED_CLASSES.get(old, old)


def module_name(old: str) -> str:
    """Return the new name of a module."""
    return RENAMED_MODULES.get(old, old)


def method_name(cls: str, old: str) -> str:
    """Return the new name of a method of a class, which has its old name here."""
    return RENAMED_METHODS.get((cls, old), RENAMED_METHODS.get(("*", old), old))


def parameters(cls: str, old: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a class, which has its old name here, as the new tree takes them."""
    new = {}
    for name, value in old.items():
        renamed = RENAMED_PARAMETERS.get((cls, name), RENAMED_PARAMETERS.get(("*", name), name))
        if renamed is not None:
            new[renamed] = _value(cls, name, value)
    return new


def _value(cls: str, name: str, value: Any) -> Any:
    for key in ((cls, name, value), ("*", name, value)) if _is_plain(value) else ():
        for (of, parameter, old), new in RENAMED_VALUES.items():
            # True == 1, but they are two values
            if (of, parameter, old) == key and type(old) is type(value):
                return new
    return value


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def attribute_name(cls: str, old: str) -> str:
    """Return the new name of an attribute of a class, which has its old name here."""
    return RENAMED_ATTRIBUTES.get((cls, old), RENAMED_ATTRIBUTES.get(old, old))


def with_sorted_classes(cls: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the old attributes of a class as they are when its classes are sorted."""
    classes = attributes.get("classes_", {}).get("values", []) if cls in SIGNED else []
    if classes == sorted(classes):
        return attributes
    signed = attributes[SIGNED[cls]]
    return attributes | {
        "classes_": {**attributes["classes_"], "values": sorted(classes)},
        SIGNED[cls]: {**signed, "values": [0.0 - value for value in signed["values"]]},
    }


def is_dropped(cls: str, old: str) -> bool:
    """Whether the new tree does without an attribute."""
    return old in DROPPED or (cls, old) in DROPPED


def old_word(field: str, new: str) -> str:
    """Return the old word for what stands in a field of a ledger line."""
    for (of, old), word in RENAMED_WORDS.items():
        if of == field and word == new:
            return old
    return new
