"""Recommendation of a selector and learner, with tests of the differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Any

import numpy as np
from scipy import stats

from streamsieve._parameters import check_number
from streamsieve._text import shown
from streamsieve.evaluation.candidates.stream_learners import BASELINES
from streamsieve.evaluation.reports.curves import peaks
from streamsieve.evaluation.reports.report import Report
from streamsieve.evaluation.reports.table import Table
from streamsieve.evaluation.reports.wording import metric_label, sentence_of
from streamsieve.evaluation.significance import holm, paired_t, table_of_groups
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import FloatArray, IntArray

#: What repetitions of a protocol are called in its table, and the columns of its seconds.
REPETITIONS = {"screening": ("run", "fold"), "streaming": ("order", "fold"), "prequential": ()}
SELECT_SECONDS = {"screening": "select_seconds", "streaming": "seconds", "prequential": "select_seconds"}
#: Combinations that a page in a notebook lists.
LISTED = 10
#: Tests are idle if only differences of more standard deviations over folds than this can be significant.
NO_POWER = 5.0
#: Of a stream of rows, what counts over all of it, and whether more is better.
WHOLE_STREAM = {"fading_accuracy": ("accuracy", True), "fading_r2": ("mae", False)}


@dataclass(frozen=True)
class Standing:
    """One selector and learner at its best size."""

    selector: str
    learner: str
    size: int  #: number of features asked for; 0 where the selector decides itself
    features: float  #: kept on average
    mean: float  #: of the score, over all repetitions
    std: float  #: likewise, of a sample
    n: int  #: repetitions that have a score
    select_seconds: float  #: median time of one selection
    learn_seconds: float  #: median time of learning and predicting once
    complete: bool  #: whether no repetition failed
    keeps_all: bool  #: whether nothing is selected: all features are kept
    p_value: float = math.nan  #: corrected paired t-test against the best; NaN if there was none
    adjusted: float = math.nan  #: the same after Holm, over all comparisons with the best
    within: bool = False  #: whether the mean is at most one standard error of the best below it
    tiers: tuple[int, int] = (0, 0)  #: first and last group of equals, from 1; zeros if not tested

    @property
    def name(self) -> str:
        """Selector and learner."""
        return f"{self.selector} + {self.learner}"


@dataclass(frozen=True, repr=False)
class Recommendation:
    """Recommended selector and learner of a comparison, with tests of the differences.

    Attributes
    ----------
    sentence : the recommendation, in a few short sentences
    recommended : what it recommends: the best, or, where others are as good, the smallest of these
    best : the highest mean score
    standings : all selectors and learners, best first; those that failed somewhere come last
    metric : what the scores are
    higher_is_better : whether a high score is good
    alpha : level of the tests
    test_over_train : ratio that tests were corrected with; NaN where nothing was tested
    n_features : features there were
    """

    sentence: str
    recommended: Standing
    best: Standing
    standings: tuple[Standing, ...]
    metric: str
    higher_is_better: bool
    alpha: float
    test_over_train: float
    n_features: int

    @property
    def tested(self) -> bool:
        """Whether there were repetitions to test differences with."""
        return not math.isnan(self.test_over_train)

    @property
    def underpowered(self) -> bool:
        """Whether even a difference of 5 times its own spread between folds would not be significant."""
        others = sum(not math.isnan(each.adjusted) for each in self.standings)
        if not self.tested or not others or self.best.n < 2:
            return False
        critical = float(stats.t.isf(self.alpha / others / 2, self.best.n - 1))
        return critical * math.sqrt(1 / self.best.n + self.test_over_train) > NO_POWER

    def interval(self, each: Standing) -> tuple[float, float]:
        """Return the confidence interval of a mean score, corrected as the tests are; NaN without tests."""
        if not self.tested or each.n < 2:
            return math.nan, math.nan
        reach = float(stats.t.isf(self.alpha / 2, each.n - 1)) * each.std
        reach *= math.sqrt(1 / each.n + self.test_over_train)
        return each.mean - reach, each.mean + reach

    @property
    def next(self) -> Standing | None:
        """The second best."""
        return self.standings[1] if len(self.standings) > 1 else None

    @property
    def all_features(self) -> Standing | None:
        """The best without any selection; None if that was not tried."""
        return next((each for each in self.standings if each.keeps_all), None)

    def beats(self, other: Standing) -> bool:
        """Whether the best is significantly better than another."""
        return other.adjusted < self.alpha  # NaN is not

    def of(self, selector: str) -> Standing | None:
        """Return a selector with its best learner; None if it has no score."""
        return next((each for each in self.standings if each.selector == selector), None)

    def table(self) -> Table:
        """Return the standings as a table."""
        rows = [asdict(each) for each in self.standings]
        for row in rows:
            row["first_tier"], row["last_tier"] = row.pop("tiers")
        return Table({name: [row[name] for row in rows] for name in rows[0]})

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "recommendation": self.sentence,
            "recommended": asdict(self.recommended),
            "best": asdict(self.best),
            "interval": [None if math.isnan(end) else end for end in self.interval(self.recommended)],
            "metric": self.metric,
            "alpha": self.alpha,
            "combinations": [asdict(each) for each in self.standings],
        }

    def __str__(self) -> str:
        return self.sentence

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the sentences and the best combinations, for notebooks."""
        rows = "".join(
            f"<tr><td>{escape(shown(each.name))}</td><td>{each.mean:.3f}</td><td>{each.features:.4g}</td></tr>"
            for each in self.standings[:LISTED]
        )
        head = f"<tr><th>selector + learner</th><th>{metric_label(self.metric)}</th><th>features</th></tr>"
        return f"<p>{escape(shown(self.sentence))}</p><table>{head}{rows}</table>"


def recommend(report: Report, *, alpha: float = 0.05) -> Recommendation:
    """Recommend a selector and a learner, and test the differences to the others.

    The best is compared with every other combination, each at its best size, by a paired t-test over all
    folds of all runs, corrected for the training rows that folds share (Nadeau and Bengio), with Holm's
    adjustment for multiple testing.  If the next one is not significantly different from the best, the
    recommendation is the combination with the fewest features within one standard error of the best (ties go
    to the better one).

    Parameters
    ----------
    report : of ``screening_protocol``, ``streaming_protocol`` (when all columns have come) or ``prequential``
        (over the whole stream: one pass has no repetitions, so nothing is tested there)
    alpha : float, default=0.05
        Significance level of the tests, in (0, 1).

    Notes
    -----
    Best sizes, and the best combination, are chosen by the scores that are then compared, so p-values are
    somewhat too small.  A selector evaluated at many sizes has an advantage over keeping all features, which
    has one size: on noise its best size exceeds the score of all features by chance.

    References
    ----------
    Nadeau and Bengio, Inference for the generalization error, Machine Learning 52, 2003.
    Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, 2009, section 7.10 (the rule of one
    standard error).

    Examples
    --------
    >>> from streamsieve import datasets
    >>> from streamsieve.evaluation import screening_protocol, recommend
    >>> data = datasets.load("wine")
    >>> report = screening_protocol(data.X, data.y, ["none", "f"], ["nb"], sizes=[1], runs=2, folds=5)
    >>> print(recommend(report))
    Keep all 13 features, with nb: AUC ... It is significantly better than the next, f with nb (...).
    """
    check_number("alpha", alpha, low=0, high=1, open_low=True, open_high=True)
    if report.protocol not in REPETITIONS:
        known = ", ".join(REPETITIONS)
        raise ParameterError(f"a recommendation needs a report of {known}; got one of {report.protocol}")
    standings, values, metric, higher = _standings(report)
    if not standings:
        first = f": {report.failures[0]}" if report.failures else ""
        raise ParameterError(f"the report has no score, so there is nothing to say{first}")
    order = sorted(
        range(len(standings)),
        key=lambda i: (not standings[i].complete, -standings[i].mean if higher else standings[i].mean),
    )
    standings, values = [standings[i] for i in order], values[order]
    complete = sum(each.complete for each in standings)
    ratio = _test_over_train(report) if complete > 1 or len(standings) == 1 else math.nan
    if not math.isnan(ratio) and complete > 1:
        signed = values[:complete] if higher else -values[:complete]
        standings[:complete] = _tested(standings[:complete], signed, alpha, ratio)
    best, features = standings[0], report.n_features
    made = Recommendation("", best, best, tuple(standings), metric, higher, float(alpha), ratio, features)
    made = replace(made, recommended=_recommended(made))
    return replace(made, sentence=sentence_of(made))


def _standings(report: Report) -> tuple[list[Standing], FloatArray, str, bool]:
    """Return all combinations that have a score, before any test, and their scores by repetition.

    The last two say what the score is, and whether more is better.
    """
    table, score, metric = report.table, "score", report.metric
    higher = report.higher_is_better
    if report.protocol == "screening":
        top = peaks(report)
        best = zip(*(top[name].tolist() for name in ("selector", "learner", "size")), strict=True)
        groups = table.groups(["selector", "learner", "size"])
        at = {(selector, learner, size): groups[selector, learner, size] for selector, learner, size in best}
    else:
        along = "columns" if report.protocol == "streaming" else "rows"
        last = np.flatnonzero(table[along] == table[along].max(initial=0))
        end = table.take(last).groups(["selector", "learner"])
        at = {(*pair, 0): last[rows] for pair, rows in end.items()}
    if report.protocol == "prequential":
        score, higher = WHOLE_STREAM[metric]
        metric = score
        at = _without_copies(at)
    known = {key: rows for key, rows in at.items() if not np.all(np.isnan(table[score][rows]))}
    places = _places(table, REPETITIONS[report.protocol])
    values = np.full((len(known), places.max(initial=0) + 1), np.nan)
    for i, rows in enumerate(known.values()):
        values[i, places[rows]] = table[score][rows]
    # R2 has no value in a repetition where all targets are the same
    values = values[:, ~np.all(np.isnan(values), axis=0)]
    standings = [
        _standing(report, key, rows, own) for (key, rows), own in zip(known.items(), values, strict=True)
    ]
    return standings, values, metric, higher


def _standing(report: Report, key: tuple[str, str, int], rows: IntArray, values: FloatArray) -> Standing:
    selector, learner, size = key
    table = report.table.take(rows)
    known = values[~np.isnan(values)]
    return Standing(
        selector,
        learner,
        size,
        features=0.0 if learner in BASELINES else float(table["n_selected"].mean()),
        mean=float(known.mean()),
        std=float(known.std(ddof=1)) if len(known) > 1 else math.nan,
        n=len(known),
        select_seconds=_median(table[SELECT_SECONDS[report.protocol]]),
        learn_seconds=_median(table["learn_seconds"]),
        complete=len(known) == len(values),
        keeps_all=report.keeps_all(selector),
    )


def _places(table: Table, repeated: Sequence[str]) -> IntArray:
    """Return the repetition of every row of a table, as a number."""
    if not repeated or not table.n_rows:
        return np.zeros(table.n_rows, np.int64)
    keys = np.column_stack([table[name] for name in repeated])
    places: IntArray = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
    return places


def _without_copies(at: Mapping[tuple[str, str, int], IntArray]) -> dict[tuple[str, str, int], IntArray]:
    """Leave out baselines that look at no feature, but for the first: they are the same for all selectors."""
    seen: set[str] = set()
    found = {}
    for (selector, learner, size), rows in at.items():
        if learner in BASELINES:
            if learner in seen:
                continue
            seen.add(learner)
            selector = "no features"  # noqa: PLW2901 - whichever it came with, it did not look
        found[selector, learner, size] = rows
    return found


def _median(values: Any) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else math.nan


def _test_over_train(report: Report) -> float:
    """Return rows tested over rows trained on; NaN where there are no repetitions."""
    settings = report.settings
    if report.protocol == "screening":
        pooled = settings.get("auc") == "pooled" and settings["runs"] < 2
        folds = settings["folds"]
        if settings.get("split") == "time":  # one part is tested after one, two, three, ... parts
            return math.nan if pooled else float(np.mean(1.0 / np.arange(1, folds + 1)))
        return math.nan if pooled else 1.0 / (folds - 1)
    if report.protocol == "prequential":
        return math.nan
    split = settings["split"]
    if isinstance(split, int):
        return 1.0 / (split - 1)
    if (settings["orders"] or 1) < 2 or not isinstance(split, float):
        return math.nan  # one look at one set of rows, or the same rows again and again
    return split / (1.0 - split)


def _tested(standings: Sequence[Standing], values: FloatArray, alpha: float, ratio: float) -> list[Standing]:
    """Return standings, best first, with what tests against the best say."""
    against = [paired_t(values[0], other, test_over_train=ratio) for other in values[1:]]
    adjusted = holm([test.p_value for test in against]).tolist()
    groups = table_of_groups(
        values, [(each.selector, each.learner) for each in standings], alpha=alpha, test_over_train=ratio
    )
    tiers: dict[Any, tuple[int, int]] = {}
    for place, name in enumerate(groups.names):
        member = [t for t, (first, last) in enumerate(groups.groups, 1) if first <= place <= last]
        tiers[name] = (member[0], member[-1])
    # of the mean of folds that share training rows, as in the tests
    error = standings[0].std * math.sqrt(1 / values.shape[1] + ratio)
    numbers = [(math.nan, math.nan, True)] + [
        (test.p_value, p, bool(abs(standings[0].mean - each.mean) <= error))
        for test, p, each in zip(against, adjusted, standings[1:], strict=True)
    ]
    return [
        replace(each, p_value=p, adjusted=q, within=within, tiers=tiers[each.selector, each.learner])
        for each, (p, q, within) in zip(standings, numbers, strict=True)
    ]


def _recommended(made: Recommendation) -> Standing:
    """Return the best, unless others are as good: then the smallest of these, and of equals the best."""
    second = made.next
    if not made.tested or second is None or made.beats(second):
        return made.best
    equals = [each for each in made.standings if each.within and not made.beats(each)]
    sign = -1 if made.higher_is_better else 1
    return min(equals or [made.best], key=lambda each: (each.features, sign * each.mean))
