"""A recommendation in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from streamsieve.evaluation.candidates.stream_learners import BASELINES

if TYPE_CHECKING:
    from streamsieve.evaluation.reports.recommendation import Recommendation, Standing

#: What people call the scores.
METRICS = {
    "auc": "AUC",
    "r2": "R²",
    "f1": "F1",
    "mae": "mean absolute error",
    "rmse": "root mean squared error",
}
#: Scores that cannot be above 1 or below 0.
BOUNDED = ("auc", "accuracy", "f1", "balanced_accuracy", "average_precision")


def metric_label(metric: str) -> str:
    """Return what people call a score."""
    return METRICS.get(metric, metric.replace("_", " "))


def count_text(number: float) -> str:
    """Return a mean number of things: whole, or with a decimal where it matters."""
    return f"{number:,.0f}" if number >= 100 or number == round(number) else f"{number:,.1f}"


def p_short(p: float) -> str:
    """Return a p-value in two digits, or that it is tiny."""
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def sentence_of(made: Recommendation) -> str:
    """Return the recommendation in short sentences: what to use, and what is known about the rest."""
    if made.next is None:
        return f"Only {_called(made.best)} was tried: {_score(made, made.best)}."
    if not made.tested:
        return f"{_untested(made, made.next)}."
    if made.recommended.features < 1:
        return _nothing_kept(made)
    return " ".join(text for text in (_lead(made), _difference(made, made.next), _against_all(made)) if text)


def _called(each: Standing) -> str:
    """Return what a combination is called in a sentence."""
    return f"{'all features' if each.keeps_all else each.selector} with {each.learner}"


def _lead(made: Recommendation) -> str:
    use = made.recommended
    if not use.keeps_all:
        return f"Use {_called(use)}: {_score(made, use)}."
    what = f"all {made.n_features:,} features" if made.n_features != 1 else "the only feature"
    return f"Keep {what}, with {use.learner}: {_interval(made, use)}."


def _nothing_kept(made: Recommendation) -> str:
    best, use = made.best, made.recommended
    if all(each.features < 1 for each in made.standings):
        known = f"{_called(best)}: {_interval(made, best)}"
        return f"No selector kept a feature, so nothing is known about them ({known})."
    kept = "kept nothing" if use.features == 0 else f"kept {use.features:.1f} features on average"
    lead = (
        f"No combination is significantly better than {_called(use)}, which {kept}: {_interval(made, use)}."
    )
    return lead if best is use else f"{lead} The best was {_called(best)}: {_score(made, best)}."


def _difference(made: Recommendation, second: Standing) -> str:
    """Return what is known about the difference to the best, or to the next."""
    best, use = made.best, made.recommended
    if made.beats(second):
        return (
            f"It is significantly better than the next, {_called(second)} ({_mean(second)}, "
            f"p {p_short(second.adjusted)})."
        )
    if made.underpowered and best.mean != second.mean:
        score = "" if use is best else f"The best score was {_mean(best)} ({_called(best)}). "
        return (
            f"{score}{best.n} folds are too few to show a difference: repeat with more runs "
            "(runs=5, --runs 5)."
        )
    if use is not best:
        return (
            f"The best score was {_mean(best)} ({_called(best)}, {_features(made, best)}); the difference is "
            "not significant."
        )
    if best.mean == second.mean:
        return f"The score of {_called(second)} was the same."
    return f"The difference to the next, {_called(second)} ({_mean(second)}), is not significant."


def _against_all(made: Recommendation) -> str:
    """Return what is to be said about keeping all features, unless it has been said."""
    plain = made.all_features
    if plain is None:
        return "Keeping all features was not tried."
    compared = made.beats(plain) or (made.recommended is made.best and not made.underpowered)
    if plain in (made.recommended, made.best) or (plain is made.next and compared):
        return ""
    if not plain.complete:
        return "Keeping all features failed in some folds."
    known = f"all {made.n_features:,} features" if made.n_features else "all features"
    if made.underpowered:  # few folds may agree by chance
        return f"With {known} the score was {_mean(plain)}."
    if made.beats(plain):
        return (
            f"The best selection beats {known} significantly ({_mean(plain)}, p {p_short(plain.adjusted)})."
        )
    return f"Selecting gives no significant gain over {known} ({_mean(plain)})."


def _untested(made: Recommendation, second: Standing) -> str:
    best = made.best
    why = "nothing was repeated, so no difference is tested"
    if best.n > 1:
        why = "the others failed in some parts, so no difference is tested"
    lead = f"{_called(best)} did best: {_score(made, best)}"
    if best.mean == second.mean:
        lead = f"{_called(best)} and {_called(second)} did equally well: {_score(made, best)}"
    if best.learner in BASELINES:
        lead = f"Nothing beats {best.learner}, which looks at no feature: {_score(made, best)}"
    rest = "" if best.mean == second.mean else f"; next is {_called(second)} ({_mean(second)})"
    plain = made.all_features
    if plain is None:
        rest += "; keeping all features was not tried"
    elif plain is not best and plain is not second:
        rest += f"; with all features, {plain.learner} reached {_mean(plain)}"
    return f"{lead}{rest}; {why}"


def _mean(each: Standing) -> str:
    return f"{each.mean:.3f}"


def _interval(made: Recommendation, each: Standing) -> str:
    """Return a score with its confidence interval, or with its deviation where nothing was tested."""
    score = f"{metric_label(made.metric)} {each.mean:.3f}"
    low, high = made.interval(each)
    if math.isnan(low):
        return score if math.isnan(each.std) else f"{score} ± {each.std:.3f}"
    if made.metric in BOUNDED:
        low, high = max(low, 0.0), min(high, 1.0)
    elif made.metric == "r2":  # bounded above only
        high = min(high, 1.0)
    elif not made.higher_is_better:  # no error is negative
        low = max(low, 0.0)
    return f"{score} ({1 - made.alpha:.0%} interval {low:.3f} to {high:.3f})"


def _score(made: Recommendation, each: Standing) -> str:
    """Return score and number of features."""
    kept = "" if each.learner in BASELINES else f", {_features(made, each)}"
    return _interval(made, each) + kept


def _features(made: Recommendation, each: Standing) -> str:
    if each.keeps_all:
        return f"all {made.n_features:,} features" if made.n_features != 1 else "the only feature"
    if not made.n_features:
        return f"{count_text(each.features)} feature{'s' * (each.features != 1)}"
    return f"{count_text(each.features)} of {made.n_features:,} feature{'s' * (made.n_features != 1)}"
