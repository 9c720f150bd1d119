"""Univariate screening: score every feature of a stream of rows, keep the best."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from streamsieve._parameters import check_choice
from streamsieve._validation import TASKS
from streamsieve.base import RowSelector
from streamsieve.base.fitted import fitted_property
from streamsieve.column_types import ColumnTypes
from streamsieve.criteria import KSG, Criterion, MutualInfo, Needs
from streamsieve.criteria.criterion import (
    AUTO,
    CriterionParameter,
    named_criteria,
    serves,
    sorts_columns,
    target_of,
)
from streamsieve.criteria.tables import TableCriterion
from streamsieve.exceptions import CapabilityError
from streamsieve.protocols import ANY_TASK, FloatArray, IntArray, RowBatch, Statistic, Task, Traits
from streamsieve.rows.choice_of_features import ChoiceOfFeatures
from streamsieve.rows.drift.adaptation import DriftAdaptation
from streamsieve.rows.drift.drift_monitor import DriftMonitor
from streamsieve.rows.summarized import SummarizedRows
from streamsieve.rows.typed_rows import GUESSED, TypedRows
from streamsieve.state import Bool, Choice, Float, Int
from streamsieve.summaries.class_totals import FREQUENCY, WEIGHT_KINDS
from streamsieve.summaries.nesting import AnySummary, innermost


class Screen(ChoiceOfFeatures, DriftAdaptation, TypedRows, SummarizedRows, RowSelector):
    """Univariate screening of streaming rows: keep the features with the best scores, in one pass.

    Rows go into a small mergeable summary; the criterion's scores of all data so far, or of the recent data,
    are computed from it on access.

    Parameters
    ----------
    criterion : str or criterion, default="auto"
        "auto" is "f" for classes and "correlation" for a numeric target; where columns have levels (see
        ``types``), these are scored by their tables, and all columns on the scale of a correlation.
        By name (all: ``streamsieve.registry.criteria()``): "t" (two classes), "fisher", "f" (any number of
        classes), "correlation" (numeric target); over bins "mutual_info", "chi2", "gini", "su"; by nearest
        neighbors "ksg", always over a window.  Or an object, as ``streamsieve.criteria.MutualInfo(bins=10)``.
    k : int or None, default=None
        Number of features to keep, at least 1; fewer if the others are constant.  If k, percentile, alpha and
        min_zscore are all None, 10.
    percentile : float or None, default=None
        Percentage of features to keep, in (0, 100].
    alpha : float or None, default=None
        Keep features whose p-value is at most alpha, in (0, 1).  Which criteria have valid p-values for
        which data is in Notes.
    correction : {"none", "bonferroni", "bh"}, default="none"
        With alpha: which error rate alpha bounds: the type I error of each test ("none"), the family-wise
        error rate ("bonferroni"), or the false discovery rate ("bh", Benjamini-Hochberg, for p-values that
        are independent or positively dependent).
    looks : {"once", "any"}, default="once"
        With alpha: how often the selection is read.  "once": alpha holds for one reading, after a number of
        rows chosen in advance.  "any": it holds for all readings together, at any time (alpha spending), if
        the criterion's p-values are valid far below alpha, see Notes.
    min_zscore : float or None, default=None
        Keep features whose score exceeds mean + min_zscore x standard deviation of the scores; with k, at
        most the k best of them.  The selection may be empty.
    half_life : float or None, default=None
        Number of rows after which the weight of an observation is halved, at least 1.  If None, all rows
        count alike.
    window : int or None, default=None
        Number of recent rows to score, at least 1.  These rows are stored: memory is that of window x
        features.  If None, all rows are scored, except that "ksg" uses the last 1000.
    on_drift : {None, "reset", "reweigh"}, default=None
        What to do when the relevance of features changes: "reset" restarts these features; "reweigh" reduces
        the weight of all past rows, by the fraction of the selection that changed (at most by half).
    drift_every : int or None, default=None
        Number of rows per block in which relevance is measured, at least 10.  If None, 100 for "glr" and
        1000 for the other detectors.
    detector : {"glr", "page_hinkley", "adwin"}, default="glr"
        Test for a change of relevance.  "glr" has at most one expected false alarm in 100,000 rows; the
        others detect only strong changes, unless blocks are large.  "adwin" needs river, and is slow.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of target, for criteria that support both ("auto", "mutual_info", "ksg"). "auto" decides by the
        first batch: text, bool and up to 20 distinct whole numbers are classes, fractional numbers are
        numeric; more distinct whole numbers are numeric with a ``TargetWarning``, or an error if there are 10
        or more rows per value on average.
    types : dict of str to str, str or None, default=None
        Types of columns by name, as ``{"zip": "nominal"}``, or one type for all: "numeric", "ordinal",
        "nominal" or "binary".  Levels of nominal and ordinal columns are counted, not cut into bins, by
        "auto" and the criteria over bins.  If None, text and categories of a dataframe are nominal and every
        number is a quantity; "auto" also guesses from the first batch, see docs/column_types.md.
    max_rank_error : float, default=1e-3
        For criteria over bins: bound on the rank error, as a fraction of the rows; see
        :class:`streamsieve.summaries.Quantiles`.
    exact : bool, default=False
        For criteria over bins: whether to store all rows and sort their columns, for exact scores.  "gini"
        then tries every threshold, and a numeric target is cut at its quantiles.
    weight_kind : {"frequency", "importance"}, default="frequency"
        "frequency": ``sample_weight`` k is equivalent to k copies of a row. "importance": weights of single
        observations, such as inverse probabilities or functions of age; p-values then use the effective
        number of rows, (sum w)^2 / sum w^2.
    hashed : int or None, default=None
        For dict rows and dataframes with changing features: number of slots that names are hashed into, which
        bounds memory; ``collisions_`` counts the slots shared by several features.
    output : {"drop", "zero", "frozen"}, default="drop"
        What ``transform`` does with features that are not selected: "drop" them, set them to "zero", or drop
        those outside the selection of the first call ("frozen").
    review_every : int or None, default=None
        Number of rows between updates of the ledger.  If None, it is updated when the selection is accessed.
    ledger : {"all", "kept", "none"}, default="all"
        Whether to record which features entered and left the selected set; "kept" is the same as "all".

    Attributes
    ----------
    scores_ : float64 array, one per feature; larger is better
    pvalues_ : float64 array, one per feature; not for "ksg"
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, best first
    summary_ : the summary behind the scores
    column_types_ : types of the columns by name, where any column has levels or types were declared
    ledger_ : which features entered and left the selected set, after how many rows, with what score
    drift_ : list of (row, feature, before, after): detected changes of relevance

    Notes
    -----
    **Formula.** The score of feature j is that of the criterion over its own column: ``s_j = criterion(x_j,
    y)`` over all rows so far, or over rows weighted by ``2^(-age / half_life)``. The card of each criterion
    has its formula. Kept are the k largest, or those with ``p_j <= alpha`` after the correction.

    **When it fails.** Features are scored one by one: all copies of a good feature are kept, and features
    that are informative only jointly (XOR) are not.  Rows from before a drift count fully unless
    ``half_life``, ``window`` or ``on_drift`` is given.

    Ties go to the first feature.  The result does not depend on the size of batches.  Under a half-life,
    p-values use the effective number of rows.  Importance weights ``2^((t - now) / h)`` give what
    ``half_life=h`` gives, whatever the order of rows.

    p-values assume independent rows.  What ``alpha`` bounds, with any ``correction`` and ``looks``, holds as
    far as the p-values of the criterion do:

    ======================= ============================ =================================================
    criterion               p-values hold for            p-values are too small for
    ======================= ============================ =================================================
    "f", "fisher"           normal features; two         a rare class and a skewed, heavy-tailed or
                            balanced classes             discrete feature
    "t"                     the same, with equal or      the same
                            unequal variances
    "correlation"           normal feature or target     feature and target both skewed or heavy-tailed
    over bins               independence of any kind     no family of the calibration study
    ======================= ============================ =================================================

    Means and variances do not show that a feature is skewed, so that nothing warns: where classes are rare,
    take "chi2" or "mutual_info".  Lognormal features and a class of 1 % among 1,000 rows give p <= 0.0001 in
    0.7 % ("f") and 2 % ("t") of the cases (docs/evidence/calibration.md).  The error grows as the level
    falls: of 200 counts with many zeros, a class of 5 % and ``looks="any"`` with "bonferroni" and alpha 0.05,
    "f" selects some in 81 % of the streams, "chi2" in 0.5 % (docs/evidence/promises.md).  Frequency weights
    that are not counts make p-values too small: exponential ones give p <= 0.05 in 16 % ("f") and 33 %
    ("chi2").

    Reading ``selected_`` repeatedly and acting on the first discovery inflates the error rate: of 100
    uninformative features with "bonferroni" and alpha 0.05, some are selected at one of 100 readings in
    55 % of the streams.  With ``looks="any"`` the selection is revised after 64 rows, then four times while
    the rows double; each look of the d-th doubling tests at level alpha / (4 d (d + 1)), and the sum is
    alpha. By the union bound, and as far as p-values hold, "bonferroni" then bounds the probability that a
    false feature is ever selected, "none" the same for each feature, and "bh" the expected largest false
    discovery proportion.  ``scores_`` and ``pvalues_`` are those of all rows, ``selected_`` that of the last
    look. Such screens do not merge, and cannot be combined with ``on_drift``.

    Constant and absent features are not selected, unless no score says anything or by "gini", and are left
    out of the mean and the standard deviation behind ``min_zscore``, and so are features that separate the
    classes perfectly, which are always kept.  No score of m can exceed the mean by sqrt(m - 1) deviations.

    Screens of the literature: chi-squared of counts (Katakis) is ``Screen(ChiSquare(discrete=True))``; fading
    sums of n log n and n^2 (Sovdat) are ``MutualInfo`` or ``Gini`` with ``window`` or ``half_life``; a
    dynamic threshold (Gomes) is ``min_zscore``, whose rule is ours; neighbors in a window (Keller) are "ksg".

    References
    ----------
    Wang, Online and Offline Feature Screening and Applications, FSU thesis, 2021, chapter 3; there, faded
    means lack their faded count, and scores are computed per batch, not per row.  Katakis, Tsoumakas and
    Vlahavas (2005), Gomes, Gaber, Sousa and Menasalvas (2013), Sovdat (2014), Keller et al. (2015).

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> screen = ss.Screen("mutual_info", k=2)
    >>> for _ in range(5):
    ...     y = rng.integers(0, 2, 100)
    ...     X = rng.normal(size=(100, 6))
    ...     X[:, 4] += 2 * y
    ...     screen = screen.partial_fit(X * (1 + 2 * np.outer(y, np.arange(6) == 1)), y)
    >>> screen.ranked_, screen.get_feature_names_out()
    (array([4, 1]), array(['x1', 'x4'], dtype=object))
    """

    _buffers_rows: ClassVar[bool] = True

    parameters = {
        "criterion": CriterionParameter(AUTO),
        "half_life": Float(1, optional=True),
        "window": Int(1, optional=True),
        "task": Choice(*TASKS),
        "max_rank_error": Float(1e-6, 1, open_high=True),
        "exact": Bool(),
        "weight_kind": Choice(*WEIGHT_KINDS),
        "hashed": Int(1, 2**31 - 1, optional=True),
    }
    fields = {"_regression_": Bool(), "_spends_": Bool(), "_summary_": AnySummary()}

    def __init__(
        self,
        criterion: str | Criterion = AUTO,
        *,
        k: int | None = None,
        percentile: float | None = None,
        alpha: float | None = None,
        correction: str = "none",
        looks: str = "once",
        min_zscore: float | None = None,
        half_life: float | None = None,
        window: int | None = None,
        on_drift: str | None = None,
        drift_every: int | None = None,
        detector: str = "glr",
        task: str = "auto",
        types: ColumnTypes = None,
        max_rank_error: float = 1e-3,
        exact: bool = False,
        weight_kind: str = FREQUENCY,
        hashed: int | None = None,
        output: str = "drop",
        review_every: int | None = None,
        ledger: str = "all",
    ) -> None:
        self.criterion = criterion
        self.k = k
        self.percentile = percentile
        self.alpha = alpha
        self.correction = correction
        self.looks = looks
        self.min_zscore = min_zscore
        self.half_life = half_life
        self.window = window
        self.on_drift = on_drift
        self.drift_every = drift_every
        self.detector = detector
        self.task = task
        self.types = types
        self.max_rank_error = max_rank_error
        self.exact = exact
        self.weight_kind = weight_kind
        self.hashed = hashed
        self.output = output
        self.review_every = review_every
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield a screen for every criterion, and the other selection rules, adaptations and outputs."""
        yield cls()
        for name in named_criteria():
            # "ksg" scores uninformative features 0: the ten best of a few would depend on their order
            yield cls(name, percentile=20 if name == "ksg" else None)
        yield cls("mutual_info", task="regression")
        yield cls(MutualInfo(discrete=True))
        yield cls("f", alpha=0.1, correction="bh")
        yield cls("f", alpha=0.1, correction="bonferroni", looks="any")
        yield cls("fisher", percentile=50, half_life=100)
        yield cls("gini", percentile=50, half_life=100)
        yield cls("mutual_info", percentile=50, window=120)
        yield cls("f", percentile=50, window=50, review_every=40)
        yield cls("mutual_info", min_zscore=0.5, window=120)
        yield cls(KSG(n_neighbors=3), percentile=20, window=100, task="regression")
        yield cls("chi2", percentile=50, on_drift="reset", drift_every=25)
        yield cls("mutual_info", percentile=50, on_drift="reweigh", drift_every=25)
        yield cls("f", output="zero")
        yield cls("su", percentile=50, types="ordinal")
        yield cls("gini", percentile=50, exact=True)
        yield cls("mutual_info", percentile=50, task="regression", exact=True)

    @property
    def _has_numeric_target(self) -> bool:
        return bool(getattr(self, "_regression_", self.task == "regression"))

    @property
    def _statistic(self) -> Statistic:
        return Statistic("correlation" if self._has_numeric_target else "F")

    @property
    def _plain_criterion(self) -> Criterion:
        """The criterion for columns that are quantities."""
        if self.criterion == AUTO:
            return named_criteria()["correlation" if self._has_numeric_target else "f"]
        return CriterionParameter.of("criterion", self.criterion)

    @property
    def traits(self) -> Traits:
        """Capabilities of the screen with its criterion."""
        known = isinstance(self.criterion, Criterion) or self.criterion in (AUTO, *named_criteria())
        plain = self._plain_criterion if known else None
        needs, tasks = (None, frozenset()) if plain is None else (plain.needs, plain.tasks)
        counts = self.criterion == AUTO or isinstance(plain, TableCriterion)
        tasks = ANY_TASK if self.criterion == AUTO else tasks
        if self.task in ("regression", "classification"):
            tasks = frozenset(t for t in tasks if (t is Task.REGRESSION) is (self.task == "regression"))
        adapts = any(way is not None for way in (self.half_life, self.window, self.on_drift))
        return Traits(
            tasks=tasks, missing=True, text=counts and self.window is None, weights=True,
            merges=self.on_drift is None and self.looks == "once", forgets=adapts or needs is Needs.ROWS,
            late_features=self.types in (None, GUESSED),
            size_parameter="k" if self.percentile is self.alpha is self.min_zscore is None else None,
            nested_sizes=True,
        )  # fmt: skip

    @property
    def _target(self) -> str:
        if hasattr(self, "_regression_"):
            return "numeric" if self._regression_ else "classes"
        criterion = self._plain_criterion
        check_choice("task", self.task, TASKS)
        if target_of(criterion) == "numeric" or self.task == "regression":
            return "numeric"
        both = Task.REGRESSION in criterion.tasks or self.criterion == AUTO
        return "auto" if self.task == "auto" and both else "classes"

    # ---------------------------------------------------------------- learning

    def _start(self, batch: RowBatch) -> None:
        self._spends_ = self.looks == "any"
        self._regression_ = self._takes_numbers(batch)
        self._settle_types(batch.X)
        self._summary_ = self._new_summary()
        if self.on_drift is not None:
            self._monitor_ = DriftMonitor(self.drift_every, self.detector, self._k)

    def _new_summary(self) -> Any:
        return self._criterion.new_summary(
            target="numeric" if self._regression_ else "classes", half_life=self.half_life,
            window=self.window, max_rank_error=self.max_rank_error, exact=self.exact,
            weight_kind=self.weight_kind,
        )  # fmt: skip

    def _check_together(self) -> None:
        self._check_choice_of_features()
        if self.exact or any(way is not None for way in (self.half_life, self.window, self.on_drift)):
            self._check_adaptation()
        criterion = self._plain_criterion
        if self.task != "auto" and not self.traits.tasks:
            kind = Task.REGRESSION if self.task == "regression" else Task.MULTICLASS
            able = [name for name, c in named_criteria().items() if kind in c.tasks]
            raise CapabilityError(
                f"criterion={criterion.name!r} is not made for task={self.task!r}; with "
                f"{'a numeric target' if kind is Task.REGRESSION else 'labels'} use {' or '.join(able)}"
            )

    def _learn(self, batch: RowBatch) -> None:
        criterion, batch = self._criterion, replace(batch, X=self._checked_cells(batch.X))
        self._question_weights(batch.weight)
        if criterion.most_classes is not None and batch.y is not None and not self._regression_:
            criterion.check_classes({*self._summary_.classes, *np.unique(batch.y).tolist()})
        if self.on_drift is None and self.review_every is None and self.looks == "once":
            self._summary_.update(batch.X, batch.y, batch.weight)
        else:
            self._learn_pieces(batch)

    def _merge(self, other: Self, columns: IntArray | None = None) -> None:
        self._check_classes_with(other)
        super()._merge(other, columns)

    def _merge_rows(self, others: Sequence[Self]) -> None:
        self._check_classes_with(*others)
        super()._merge_rows(others)

    def _check_classes_with(self, *others: Self) -> None:
        """Refuse to merge screens that have more classes together than the criterion can compare."""
        if not self._regression_:
            labels = (each._summary_.classes for each in (self, *others))
            self._criterion.check_classes({label for each in labels for label in each})

    def _scores(self) -> FloatArray:
        criterion, summary = self._criterion, innermost(self._summary_)
        score = criterion.exact if self.exact and sorts_columns(criterion) else criterion
        return self._padded(score(summary), criterion.worst)

    @fitted_property
    def pvalues_(self) -> FloatArray:
        """One p-value per feature."""
        criterion = self._criterion
        if not criterion.has_p_values:
            raise AttributeError(f"criterion={criterion.name!r} has no p-values: use scores_")
        return self._padded(criterion.p_values(innermost(self._summary_)), 1.0)

    def _padded(self, values: FloatArray, worst: float) -> FloatArray:
        """Pad values for features without rows of positive weight, which the summary does not have yet."""
        return np.pad(values, (0, self.n_features_in_ - len(values)), constant_values=worst)

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        summary, criterion = self._summary_, self._criterion
        width, inner = getattr(summary, "n_features", -1), innermost(summary)
        if type(summary) is not type(self._new_summary()) or not serves(criterion, inner, exact=self.exact):
            yield f"the summary does not serve criterion={criterion.name!r}"
        # rows of weight 0 have feature names, but are not added to the summary
        elif max(width, getattr(inner, "n_features", -1)) > self.n_features_in_:
            yield "the summary has more features than there are"
        elif getattr(summary, "half_life", self.half_life) != self.half_life:
            yield f"the summary has another half_life than {self.half_life}"
        elif getattr(inner, "weight_kind", self.weight_kind) != self.weight_kind:
            yield f"the summary has another weight_kind than {self.weight_kind}"
        elif self._spends_ is not (self.looks == "any"):
            yield f"the selection was not made with looks={self.looks!r}"
        else:
            yield from self._proven_features(width)
