"""A recommendation in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from streamsieve.evaluation.candidates.stream_learners import BASELINES

if TYPE_CHECKING:
    from streamsieve.evaluation.reports.recommendation import Recommendation, Standing

#: What people call the scores.
METRICS = {"auc": "AUC", "accuracy": "accuracy", "r2": "R²", "mae": "mean absolute error"}


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
    """Return the recommendation: what to use, and what is known about the difference to the rest."""
    if made.next is None:
        return f"Only {made.best.name} was tried: {_score(made, made.best)}."
    if not made.tested:
        return f"{_untested(made, made.next)}."
    use = made.recommended
    if use.features < 1:
        lead = _nothing_kept(made)
    elif made.beats(made.next):
        lead = _clear(made, made.next)
    else:
        lead = _level(made)
    return f"{lead}{_against_all(made)}."


def _nothing_kept(made: Recommendation) -> str:
    best, use = made.best, made.recommended
    if all(each.features < 1 for each in made.standings):
        known = f"{best.name}: {_spread(made, best)}"
        return f"No selector kept a feature, so nothing is known about them ({known})"
    kept = "kept nothing" if use.features == 0 else f"kept {use.features:.1f} features on average"
    lead = f"No combination is significantly better than {use.name}, which {kept} ({_spread(made, use)})"
    return lead if best is use else f"{lead}; the best was {best.name} ({_score(made, best)})"


def _clear(made: Recommendation, second: Standing) -> str:
    best = made.best
    lead = f"Use {best.name}: {_score(made, best)}"
    if best.keeps_all:
        lead = f"Keep all {made.n_features:,} features, with {best.learner}: {_spread(made, best)}"
    return (
        f"{lead}, significantly better than the next, {second.name} ({_mean(second)}, "
        f"p {p_short(second.adjusted)})"
    )


def _level(made: Recommendation) -> str:
    best, use = made.best, made.recommended
    alike = sum(not made.beats(each) for each in made.standings if each.complete and each is not best)
    others = f"{alike} other{'s' * (alike != 1)}"
    lead = (
        f"No significant difference between the best, {best.name} ({_score(made, best)}), and {others} of "
        f"{len(made.standings)}: "
    )
    if use is not best:
        return (
            f"{lead}use {use.name}, which takes the fewest features of those that are within one standard "
            f"error of it at their best size ({_score(made, use)})"
        )
    if best.keeps_all:
        return f"{lead}keep all features, as no selection comes within one standard error of it"
    return f"{lead}use it, as nothing within one standard error of it takes fewer features"


def _against_all(made: Recommendation) -> str:
    """Return what is to be said about keeping all features."""
    plain = made.all_features
    if plain is None:
        return "; keeping all features was not tried"
    if made.best is plain:
        return "" if made.recommended is plain else "; selecting does not beat keeping all features"
    known = f"({plain.name}, {_mean(plain)}, p {p_short(plain.adjusted)})"
    if not plain.complete:
        return "; keeping all features failed in some folds"
    if made.beats(plain):
        return "" if plain is made.next else f"; selecting beats keeping all features {known}"
    return f"; selecting does not beat keeping all features significantly {known}"


def _untested(made: Recommendation, second: Standing) -> str:
    best = made.best
    why = "nothing was repeated, so no difference is tested"
    if best.n > 1:
        why = "the others failed in some parts, so no difference is tested"
    lead = f"{best.name} did best: {_score(made, best)}"
    if best.mean == second.mean:
        lead = f"{best.name} and {second.name} did equally well: {_score(made, best)}"
    if best.learner in BASELINES:
        lead = f"Nothing beats {best.learner}, which looks at no feature: {_score(made, best)}"
    rest = "" if best.mean == second.mean else f"; next is {second.name} ({_mean(second)})"
    plain = made.all_features
    if plain is None:
        rest += "; keeping all features was not tried"
    elif plain is not best and plain is not second:
        rest += f"; with all features, {plain.learner} reached {_mean(plain)}"
    return f"{lead}{rest}; {why}"


def _mean(each: Standing) -> str:
    return f"{each.mean:.3f}"


def _spread(made: Recommendation, each: Standing) -> str:
    spread = "" if math.isnan(each.std) else f" ± {each.std:.3f}"
    return f"{metric_label(made.metric)} {each.mean:.3f}{spread}"


def _score(made: Recommendation, each: Standing) -> str:
    """Return score and number of features."""
    kept = "" if each.learner in BASELINES else f" with {_features(made, each)}"
    return _spread(made, each) + kept


def _features(made: Recommendation, each: Standing) -> str:
    if each.keeps_all:
        return f"all {made.n_features:,} features"
    of = f" of {made.n_features:,}" if made.n_features else ""
    return f"{count_text(each.features)}{of} features"
