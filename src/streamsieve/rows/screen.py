"""Univariate screening: score every feature of a stream of rows, keep the best."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from streamsieve import criteria
from streamsieve._parameters import check_choice
from streamsieve._validation import TASKS
from streamsieve.base import RowSelector
from streamsieve.base.fitted import fitted_property
from streamsieve.column_types import ColumnTypes
from streamsieve.criteria import Criterion, Needs
from streamsieve.criteria.criterion import (
    AUTO,
    CriterionParameter,
    named_criteria,
    serves,
    sorts_columns,
    target_of,
)
from streamsieve.criteria.tables import TableCriterion
from streamsieve.exceptions import CapabilityError, ParameterError
from streamsieve.protocols import ANY_TASK, FloatArray, IntArray, RowBatch, Task, Traits
from streamsieve.rows.choice_of_features import ChoiceOfFeatures
from streamsieve.rows.drift.adaptation import DriftAdaptation
from streamsieve.rows.drift.drift_monitor import DriftMonitor
from streamsieve.rows.summarized import SummarizedRows
from streamsieve.rows.typed_rows import GUESSED, TypedRows
from streamsieve.state import Bool, Choice, Float, Int
from streamsieve.summaries.nesting import AnySummary, innermost


class Screen(ChoiceOfFeatures, DriftAdaptation, TypedRows, SummarizedRows, RowSelector):
    """Univariate screening of streaming rows: keep the features with the best scores, in one pass.

    Any criterion becomes a streaming selector: rows go into a small mergeable summary, and the scores of all
    data so far, or of the recent data, are computed from it on access.

    Parameters
    ----------
    criterion : str or criterion, default="auto"
        "auto" is "f" for classes and "correlation" for a numeric target; where columns have levels (see
        ``types``), these are scored by their tables, and all columns on the scale of a correlation.
        By name: "t" (two classes), "fisher", "f" (any number of classes), "correlation" (numeric target);
        over bins of the values "mutual_info", "chi2", "gini", "su"; by nearest neighbors "ksg", which always
        looks at a window; or an object from ``streamsieve.criteria``, such as ``MutualInfo(bins=10)``.
    k : int or None, default=None
        Keep the k best, k >= 1.  Without k, percentile, alpha and min_zscore: the 10 best, or all if fewer.
    percentile : float or None, default=None
        Keep this percentage of the features, 0 < percentile <= 100.
    alpha : float or None, default=None
        Keep features whose p-value is at most alpha, 0 < alpha < 1.
    correction : {"none", "bonferroni", "bh"}, default="none"
        With alpha: what alpha bounds. "none" the error of each test, "bonferroni" the probability of any
        false feature, "bh" (Benjamini-Hochberg) the false discovery rate.
    looks : {"once", "any"}, default="once"
        With alpha: how often the selection is read.  "once": alpha holds for a selection that is read once,
        after a number of rows chosen in advance.  "any": it holds for all selections together, read at any
        time (alpha spending).
    min_zscore : float or None, default=None
        Keep features whose score is above mean + min_zscore x standard deviation of the scores,
        any number; with k, at most the k best of them.  The selection may be empty.
    half_life : float or None, default=None
        Rows after which an observation weighs half, at least 1; None remembers all rows alike.
    window : int or None, default=None
        Score the last ``window`` rows only, at least 1.  The rows are kept: memory is that of
        window x features.  None is no window, except that "ksg" looks at the last 1000 rows.
    on_drift : {None, "reset", "reweigh"}, default=None
        When features' relevance changes, "reset" makes these start again; "reweigh" makes all that is
        remembered count less, by the share of the selection that moved (by half at most).
    drift_every : int or None, default=None
        Number of rows of the blocks in which relevance is judged, at least 10.  If None, 100 for "glr" and
        1000 for the other detectors.
    detector : {"glr", "page_hinkley", "adwin"}, default="glr"
        Test for a change of relevance.  "glr" has one false alarm in 100,000 rows at most, in expectation;
        the others notice strong changes only, unless blocks are large.  "adwin" needs river, and is slow
        with very many features.
    task : {"auto", "classification", "regression"}, default="auto"
        What y is, where the criterion can do both ("auto", "mutual_info", "ksg").  "auto" decides by the
        first batch: text, bool and up to 20 different whole numbers are classes, fractional numbers are
        numeric; more whole numbers are numeric with a ``TargetWarning``, or refused if 10 rows or more share
        a value on average.
    types : dict of str to str, str or None, default=None
        Types of columns by name, as ``{"zip": "nominal"}``, or one type for all: "numeric", "ordinal",
        "nominal" or "binary".  Levels of nominal and ordinal columns are counted, not cut into bins, by
        "auto" and the criteria over bins.  If None, text and categories of a dataframe are nominal and every
        number is a quantity; "auto" also guesses from the first batch, see docs/column_types.md.
    max_rank_error : float, default=1e-3
        For criteria over bins: the largest error of a rank, as a share of the rows; see
        :class:`streamsieve.summaries.Quantiles`.
    exact : bool, default=False
        For criteria over bins: keep all rows and sort their columns.  Scores then have no error, "gini" tries
        every threshold, and a numeric target is cut at its quantiles.  Other criteria are exact anyway.
    hashed : int or None, default=None
        For dict rows and dataframes whose features come and go: the number of slots that names are hashed
        into, which bounds memory; ``collisions_`` counts the slots that features share.
    output : {"drop", "zero", "frozen"}, default="drop"
        "drop" features that are not selected, set them to "zero", or keep the selection of the first output.
    review_every : int or None, default=None
        Number of rows between updates of the ledger.  If None, it is updated when the selection is accessed.
    ledger : {"all", "kept", "none"}, default="all"
        Record which features entered and left, when, and at what score; "kept" is the same as "all".

    Attributes
    ----------
    scores_ : float64 array, one per feature; larger is better
    pvalues_ : float64 array, one per feature; not for "ksg"
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, best first
    summary_ : the summary behind the scores
    column_types_ : types of the columns by name, where any column has levels or types were declared
    ledger_ : which features entered and left, after how many rows, at what score
    drift_ : list of (row, feature, before, after): changes of relevance that were noticed

    Notes
    -----
    **Formula.** The score of feature j is that of the criterion over its own column: ``s_j = criterion(x_j,
    y)`` over all rows so far, or over rows weighted by ``2^(-age / half_life)``. The card of each criterion
    has its formula. Kept are the k largest, or those with ``p_j <= alpha`` after the correction.

    **When it fails.** Features are judged one by one: copies of a good feature are all kept, and features
    that are informative only jointly (XOR) are not. After a drift all rows count alike unless ``half_life``,
    ``window`` or ``on_drift`` is given.

    Ties go to the feature that came first.  The result does not depend on how rows are cut into batches.
    With ``sample_weight``, weight k is the same as k copies of a row; p-values count rows that way too.
    Under a half-life, rows are counted by their information, (sum w)^2 / sum w^2.

    p-values assume independent rows.  Those of "f", "fisher" and "correlation" are exact if the feature (or
    the target) is normal.  With a rare class and a skewed or heavy-tailed feature they and those of "t" are
    too small: lognormal features and a class of 1 % among 1,000 rows give p <= 0.0001 in 0.6 % ("f") and 2 %
    ("t") of the cases.  Those over bins hold there.  Weights that are no counts, such as inverse
    probabilities, make p-values too small: exponential ones give p <= 0.05 in 16 % ("f") and 33 % ("chi2").

    Reading ``selected_`` again and again and acting on the first discovery multiplies errors: of 100
    uninformative features with "bonferroni" and alpha 0.05, some are selected at one of 100 readings in
    56 % of the streams.  With ``looks="any"`` the selection is revised after 64 rows, then four times while
    the rows double; each look of the d-th doubling tests at level alpha / (4 d (d + 1)), and the sum is
    alpha.  By the union bound, "bonferroni" then bounds the probability that a false feature is ever
    selected, "none" the same for each feature, and "bh" the expected largest false discovery proportion.
    ``scores_`` and ``pvalues_`` are those of all rows, ``selected_`` that of the last look.  Such screens do
    not merge, and do not go with ``on_drift``.

    Constant and absent features are left out of the mean and the standard deviation behind ``min_zscore``,
    and so are features that separate the classes perfectly, which are always kept.  Of m features none can
    be more than sqrt(m - 1) deviations above the mean.

    Screens of the literature: counts of discrete values and their chi-squared or information (Katakis) are
    ``Screen(ChiSquare(discrete=True))``; sums of n log n and n^2 that fade (Sovdat) are the same with
    ``MutualInfo`` or ``Gini`` and ``window`` or ``half_life``; a window with a dynamic threshold (Gomes) is
    ``min_zscore``, whose rule is ours; neighbors in a window (Keller) are "ksg".

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
        self.hashed = hashed
        self.output = output
        self.review_every = review_every
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """One screen for every criterion, and the other ways of choosing, adapting and putting out."""
        yield cls()
        for name in named_criteria():
            # neighbours score uninformative features 0: of a few features, the ten best depend on their order
            yield cls(name, percentile=20 if name == "ksg" else None)
        yield cls("mutual_info", task="regression")
        yield cls(criteria.MutualInfo(discrete=True))
        yield cls("f", alpha=0.1, correction="bh")
        yield cls("f", alpha=0.1, correction="bonferroni", looks="any")
        yield cls("fisher", percentile=50, half_life=100)
        yield cls("gini", percentile=50, half_life=100)
        yield cls("mutual_info", percentile=50, window=120)
        yield cls("f", percentile=50, window=50, review_every=40)
        yield cls("mutual_info", min_zscore=0.5, window=120)
        yield cls(criteria.KSG(n_neighbors=3), percentile=20, window=100, task="regression")
        yield cls("chi2", percentile=50, on_drift="reset", drift_every=25)
        yield cls("mutual_info", percentile=50, on_drift="reweigh", drift_every=25)
        yield cls("f", output="zero")
        yield cls("su", percentile=50, types="ordinal")
        yield cls("gini", percentile=50, exact=True)
        yield cls("mutual_info", percentile=50, task="regression", exact=True)

    @property
    def _plain_criterion(self) -> Criterion:
        """The criterion of quantities."""
        if self.criterion == AUTO:
            numeric = getattr(self, "_regression_", self.task == "regression")
            return named_criteria()["correlation" if numeric else "f"]
        return CriterionParameter.of("criterion", self.criterion)

    @property
    def traits(self) -> Traits:
        """What the screen can do with its criterion."""
        known = isinstance(self.criterion, Criterion) or self.criterion in (AUTO, *named_criteria())
        plain = self._plain_criterion if known else None
        needs, tasks = (None, frozenset()) if plain is None else (plain.needs, plain.tasks)
        counts = self.criterion == AUTO or isinstance(plain, TableCriterion)
        if self.criterion == AUTO:
            tasks = ANY_TASK
        if self.task == "regression":
            tasks &= {Task.REGRESSION}
        elif self.task == "classification":
            tasks -= {Task.REGRESSION}
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
        )  # fmt: skip

    def _check_together(self) -> None:
        self._check_choice_of_features()
        if any(way is not None for way in (self.half_life, self.window, self.on_drift)):
            self._check_adaptation()
        criterion = self._plain_criterion
        if self.task != "auto" and not self.traits.tasks:
            kind = Task.REGRESSION if self.task == "regression" else Task.MULTICLASS
            able = [name for name, c in named_criteria().items() if kind in c.tasks]
            raise CapabilityError(
                f"criterion={criterion.name!r} is not made for task={self.task!r}; with "
                f"{'a numeric target' if kind is Task.REGRESSION else 'labels'} use {' or '.join(able)}"
            )
        for name in ("half_life", "window", "on_drift") if self.exact else ():
            if getattr(self, name) is not None:
                given = f"{name}={getattr(self, name)!r}"
                raise ParameterError(f"exact=True keeps all rows, and {given} forgets them: give one of them")

    def _learn(self, batch: RowBatch) -> None:
        criterion = self._criterion
        X = self._checked_cells(batch.X)
        if X is not batch.X:
            batch = replace(batch, X=X)
        if criterion.most_classes is not None and batch.y is not None and not self._regression_:
            criterion.check_classes({*self._summary_.classes, *np.unique(batch.y).tolist()})
        if self.on_drift is None and self.review_every is None and self.looks == "once":
            self._summary_.update(batch.X, batch.y, batch.weight)
        else:
            self._learn_pieces(batch)

    def _merge(self, other: Self, columns: IntArray | None = None) -> None:
        if not self._regression_:
            self._criterion.check_classes({*self._summary_.classes, *other._summary_.classes})
        super()._merge(other, columns)

    def _merge_rows(self, others: Sequence[Self]) -> None:
        if not self._regression_:
            labels = (each._summary_.classes for each in (self, *others))
            self._criterion.check_classes({label for each in labels for label in each})
        super()._merge_rows(others)

    def _scores(self) -> FloatArray:
        criterion, inner = self._criterion, innermost(self._summary_)
        exact = self.exact and sorts_columns(criterion)
        return self._padded(criterion.exact(inner) if exact else criterion(inner), criterion.worst)

    @fitted_property
    def pvalues_(self) -> FloatArray:
        """One p-value per feature."""
        criterion = self._criterion
        if not criterion.has_p_values:
            raise AttributeError(f"criterion={criterion.name!r} has no p-values: there are scores_ only")
        return self._padded(criterion.p_values(innermost(self._summary_)), 1.0)

    def _padded(self, values: FloatArray, worst: float) -> FloatArray:
        """Before the first row of positive weight the summary knows no features."""
        return np.pad(values, (0, self.n_features_in_ - len(values)), constant_values=worst)

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        summary, criterion = self._summary_, self._criterion
        width = getattr(summary, "n_features", -1)
        if type(summary) is not type(self._new_summary()) or not serves(
            criterion, innermost(summary), exact=self.exact
        ):
            yield f"the summary does not serve criterion={criterion.name!r}"
        # rows of weight 0 bring names, but the summary never sees them
        elif max(width, getattr(innermost(summary), "n_features", -1)) > self.n_features_in_:
            yield "the summary has more features than there are"
        elif (summary.half_life if hasattr(summary, "half_life") else self.half_life) != self.half_life:
            yield f"the summary has another half_life than {self.half_life}"
        elif self._spends_ is not (self.looks == "any"):
            yield f"the selection was not made with looks={self.looks!r}"
        else:
            yield from self._proven_features(width)
