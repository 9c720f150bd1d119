"""Univariate screening: score every feature of a stream of rows, keep the best."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

import numpy as np

from streamsieve import criteria
from streamsieve._parameters import check_choice
from streamsieve._validation import TASKS
from streamsieve._values import refuse_non_finite
from streamsieve.base import RowSelector, WeightedRows
from streamsieve.base.choose import above_mean, best, significant
from streamsieve.base.selector import fitted_property
from streamsieve.criteria import Criterion, Needs
from streamsieve.criteria.criterion import serves, sorts_columns, summary_for, target_of
from streamsieve.exceptions import CapabilityError, ParameterError
from streamsieve.protocols import BoolArray, FloatArray, IntArray, RowBatch, Task, Traits
from streamsieve.rows.drift.drift_monitor import Drift, DriftMonitor
from streamsieve.state import Bool, Choice, Float, Int, Nested
from streamsieve.summaries.nesting import AnySummary, innermost

#: One instance of each built-in criterion; they are frozen and may be shared.
_BY_NAME: dict[str, Criterion] = {name: kind() for name, kind in criteria.by_name().items()}


class CriterionParameter:
    """A parameter that is the name of a criterion or a :class:`~streamsieve.criteria.Criterion`."""

    def check_value(self, name: str, value: Any) -> None:
        """Raise ``ParameterError`` unless the value is a criterion with legal parameters."""
        self.of(name, value).check_values()

    @staticmethod
    def of(name: str, value: Any) -> Criterion:
        """Return the criterion."""
        if isinstance(value, Criterion):
            return value
        if isinstance(value, str):
            return _BY_NAME[check_choice(name, value, _BY_NAME)]
        raise ParameterError(
            f"{name} must be a name ({', '.join(map(repr, _BY_NAME))}) or a streamsieve.criteria.Criterion, "
            f"which has needs, tasks and score(block); got {value!r}"
        )


class Screen(WeightedRows, RowSelector):
    """Keep the features with the best scores, from one pass over rows that never ends.

    Any criterion becomes a streaming selector: rows go into a small mergeable summary, scores come out
    of it whenever asked for, and are those of the whole data so far, or of the recent data.

    Parameters
    ----------
    criterion : str or criterion, default="f"
        "t" (two classes), "fisher", "f" (any number of classes), "correlation" (numeric target); over bins
        of the values "mutual_info", "chi2", "gini", "su"; by nearest neighbours "ksg", which always looks at
        a window; or an object from ``streamsieve.criteria``, such as ``MutualInfo(bins=10)``.
    k : int or None, default=None
        Keep the k best, k >= 1.  Without k, percentile, alpha and min_zscore: the 10 best, or all if fewer.
    percentile : float or None, default=None
        Keep this percentage of the features, 0 < percentile <= 100.
    alpha : float or None, default=None
        Keep features whose p-value is at most alpha, 0 < alpha < 1.
    correction : {"none", "bonferroni", "bh"}, default="none"
        With alpha: what alpha bounds. "none" the error of each test, "bonferroni" the probability of any
        false feature, "bh" (Benjamini-Hochberg) the false discovery rate.
    min_zscore : float or None, default=None
        Keep features whose score is above mean + min_zscore x standard deviation of the scores,
        any number; with k, at most the k best of them.  The selection may be empty.
    half_life : float or None, default=None
        Rows after which an observation weighs half, at least 1; None remembers all rows alike.
    window : int or None, default=None
        Score the last ``window`` rows only, at least 1.  The rows are kept: memory is that of
        window x features.  None is no window, except that "ksg" looks at the last 1000 rows.
    on_drift : {None, "reset", "reweigh"}, default=None
        What to do when features' relevance changes: "reset" makes these features start again, "reweigh" makes
        all that is remembered count less, by the share of the selection that moved (by half at most).
    drift_every : int, default=1000
        Number of rows of the blocks in which relevance is judged, at least 10.
    detector : {"page_hinkley", "adwin"}, default="page_hinkley"
        What decides that relevance has changed; "adwin" is river's, which must be installed, and cannot be
        used with very many features.
    task : {"auto", "classification", "regression"}, default="auto"
        What y is, where the criterion can do both ("mutual_info", "ksg").  "auto" takes fractional numbers
        for a numeric target and all else for labels.
    max_rank_error : float, default=1e-3
        For criteria over bins: the largest error of a rank, as a share of the rows; see
        :class:`streamsieve.summaries.Quantiles`.
    exact : bool, default=False
        For criteria over bins: keep all rows and sort their columns, instead of a summary.  Scores are then
        without any error, "gini" tries every threshold and not only those between bins, and a numeric target
        is cut where all rows say.  Memory is that of the rows.  Other criteria are exact anyway.
    hashed : int or None, default=None
        For dict rows and dataframes whose features come and go: share this many slots by hashing names, so
        that memory is bounded; ``collisions_`` counts the slots that features share.
    output : {"drop", "zero", "frozen"}, default="drop"
        What ``transform`` does with features that are not selected: "drop" them, set them to "zero" (constant
        width), or keep to the selection "frozen" at the first transform.
    review_every : int or None, default=None
        Number of rows between two updates of the ledger.  If None, changes are recorded when the selection
        or the ledger is accessed.
    ledger : {"all", "kept", "none"}, default="all"
        Whether to record which features entered and left the selection, when, and at what score.  "kept" is
        the same as "all", because only changes of the selected set are recorded.

    Attributes
    ----------
    scores_ : float64 array, one per feature; larger is better
    pvalues_ : float64 array, one per feature; not for "ksg"
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, best first
    summary_ : the summary behind the scores
    ledger_ : which features entered and left, after how many rows, at what score
    drift_ : list of (row, feature, before, after): changes of relevance that were noticed

    Notes
    -----
    Ties go to the feature that came first.  The result does not depend on how rows are cut into batches.
    With ``sample_weight``, weight k is the same as k copies of a row; p-values count rows that way too.
    Under a half-life, rows are counted by their information, (sum w)^2 / sum w^2.

    The mean and the standard deviation behind ``min_zscore`` are those of scores that measure something:
    features that say nothing at all (they are constant, or never came) are left out, however many there are,
    and so are those that separate the classes perfectly, which are always kept.  Of m features none can
    be more than sqrt(m - 1) deviations above the mean.

    Screens of the literature: counts of discrete values and their chi-squared or information (Katakis) are
    ``Screen(ChiSquare(discrete=True))``; sums of n log n and n^2 that grow, shrink and fade with the rows
    (Sovdat) are the same with ``MutualInfo`` or ``Gini`` and ``window`` or ``half_life``; a window with a
    dynamic threshold (Gomes) is ``min_zscore``, whose rule is ours, as the paper's is not known to us;
    neighbours in a window (Keller) are "ksg".

    References
    ----------
    Wang, Online and Offline Feature Screening and Applications, FSU thesis, 2021, chapter 3; there, faded
    means lack their faded count, and scores are computed per batch of rows, not per row.  Katakis, Tsoumakas
    and Vlahavas (2005), Gomes, Gaber, Sousa and Menasalvas (2013), Sovdat (2014), Keller, Mueller and Boehm
    (2015).

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> screen = ss.Screen("mutual_info", k=2)
    >>> for _ in range(5):
    ...     y = rng.integers(0, 2, 100)
    ...     X = rng.normal(size=(100, 6))
    ...     X[:, 4] += 2 * y
    ...     X[:, 1] *= 1 + 2 * y
    ...     screen = screen.partial_fit(X, y)
    >>> screen.ranked_, screen.get_feature_names_out()
    (array([4, 1]), array(['x1', 'x4'], dtype=object))
    """

    _buffers_rows: ClassVar[bool] = True
    _instead_of_k: ClassVar[str] = ", or percentile"

    parameters = {
        "criterion": CriterionParameter(),
        "percentile": Float(0, 100, open_low=True, optional=True),
        "alpha": Float(0, 1, open_low=True, open_high=True, optional=True),
        "correction": Choice("none", "bonferroni", "bh"),
        "min_zscore": Float(optional=True),
        "half_life": Float(1, optional=True),
        "window": Int(1, optional=True),
        "on_drift": Choice(None, "reset", "reweigh"),
        "drift_every": Int(10),
        "detector": Choice("page_hinkley", "adwin"),
        "task": Choice(*TASKS),
        "max_rank_error": Float(1e-6, 1, open_high=True),
        "exact": Bool(),
        "hashed": Int(1, 2**31 - 1, optional=True),
        "review_every": Int(1, optional=True),
    }
    fields = {
        "_regression_": Bool(),
        "_summary_": AnySummary(),
        "_monitor_": Nested(DriftMonitor, optional=True),
    }

    def __init__(
        self,
        criterion: str | Criterion = "f",
        *,
        k: int | None = None,
        percentile: float | None = None,
        alpha: float | None = None,
        correction: str = "none",
        min_zscore: float | None = None,
        half_life: float | None = None,
        window: int | None = None,
        on_drift: str | None = None,
        drift_every: int = 1000,
        detector: str = "page_hinkley",
        task: str = "auto",
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
        self.min_zscore = min_zscore
        self.half_life = half_life
        self.window = window
        self.on_drift = on_drift
        self.drift_every = drift_every
        self.detector = detector
        self.task = task
        self.max_rank_error = max_rank_error
        self.exact = exact
        self.hashed = hashed
        self.output = output
        self.review_every = review_every
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """One screen for every criterion, and the other ways of choosing, adapting and putting out."""
        for name in _BY_NAME:
            # neighbours score uninformative features 0: of a few features, the ten best depend on their order
            yield cls(name, percentile=20 if name == "ksg" else None)
        yield cls("mutual_info", task="regression")
        yield cls(criteria.MutualInfo(discrete=True))
        yield cls("f", alpha=0.1, correction="bh")
        yield cls("fisher", percentile=50, half_life=100)
        yield cls("gini", percentile=50, half_life=100)
        yield cls("mutual_info", percentile=50, window=120)
        yield cls("f", percentile=50, window=50, review_every=40)
        yield cls("mutual_info", min_zscore=0.5, window=120)
        yield cls(criteria.KSG(n_neighbors=3), percentile=20, window=100, task="regression")
        yield cls("chi2", percentile=50, on_drift="reset", drift_every=25)
        yield cls("mutual_info", percentile=50, on_drift="reweigh", drift_every=25)
        yield cls("f", output="zero")
        yield cls("gini", percentile=50, exact=True)
        yield cls("mutual_info", percentile=50, task="regression", exact=True)

    # ---------------------------------------------------------------- what the criterion can do

    @property
    def _criterion(self) -> Criterion:
        return CriterionParameter.of("criterion", self.criterion)

    @property
    def traits(self) -> Traits:
        """What the screen can do with its criterion."""
        known = isinstance(self.criterion, Criterion) or self.criterion in _BY_NAME
        needs = self._criterion.needs if known else None
        tasks = self._criterion.tasks if known else frozenset()
        if self.task == "regression":
            tasks &= {Task.REGRESSION}
        elif self.task == "classification":
            tasks -= {Task.REGRESSION}
        adapts = any(way is not None for way in (self.half_life, self.window, self.on_drift))
        return Traits(
            tasks=tasks, missing=True, text=needs is Needs.COUNTS and self.window is None, weights=True,
            merges=self.on_drift is None, forgets=adapts or needs is Needs.ROWS,
            size_parameter="k" if self.percentile is self.alpha is self.min_zscore is None else None,
            nested_sizes=True,
        )  # fmt: skip

    @property
    def _target(self) -> str:
        if hasattr(self, "_regression_"):
            return "numeric" if self._regression_ else "classes"
        criterion = self._criterion
        check_choice("task", self.task, TASKS)
        if target_of(criterion) == "numeric" or self.task == "regression":
            return "numeric"
        return "either" if self.task == "auto" and Task.REGRESSION in criterion.tasks else "classes"

    # ---------------------------------------------------------------- learning

    def _start(self, batch: RowBatch) -> None:
        y = batch.y
        fractional = y is not None and y.dtype.kind == "f" and not np.array_equal(y, np.floor(y))
        self._regression_ = self._target == "numeric" or (self._target == "either" and fractional)
        self._summary_ = self._new_summary()
        if self.on_drift is not None:
            self._monitor_ = DriftMonitor(self.drift_every, self.detector)

    def _new_summary(self) -> Any:
        return summary_for(
            self._criterion, target="numeric" if self._regression_ else "classes", half_life=self.half_life,
            window=self.window, max_rank_error=self.max_rank_error, exact=self.exact,
        )  # fmt: skip

    def _check_together(self) -> None:
        self._check_choice_of_features()
        self._check_adaptation()
        criterion = self._criterion
        if self.task != "auto" and not self.traits.tasks:
            kind = Task.REGRESSION if self.task == "regression" else Task.MULTICLASS
            able = [name for name, c in _BY_NAME.items() if kind in c.tasks]
            raise CapabilityError(
                f"criterion={criterion.name!r} is not made for task={self.task!r}; with "
                f"{'a numeric target' if kind is Task.REGRESSION else 'labels'} use {' or '.join(able)}"
            )
        for name in ("half_life", "window", "on_drift") if self.exact else ():
            if getattr(self, name) is not None:
                given = f"{name}={getattr(self, name)!r}"
                raise ParameterError(f"exact=True keeps all rows, and {given} forgets them: give one of them")

    def _check_choice_of_features(self) -> None:
        ways = {name: getattr(self, name) for name in ("k", "percentile", "alpha", "min_zscore")}
        given = [f"{name}={value!r}" for name, value in ways.items() if value is not None]
        if self.min_zscore is None and len(given) > 1:
            raise ParameterError(f"give one of k, percentile and alpha, not {' and '.join(given)}")
        if self.min_zscore is not None and (self.percentile is not None or self.alpha is not None):
            raise ParameterError(
                f"min_zscore goes with k or alone, not {' and '.join(given)}: give one of them"
            )
        if self.alpha is not None and not self._criterion.has_p_values:
            able = [name for name, c in _BY_NAME.items() if c.has_p_values]
            raise CapabilityError(
                f"criterion={self._criterion.name!r} has no p-values, so alpha has no meaning: use k or "
                f"percentile, or one of {', '.join(able)}"
            )
        if self.correction != "none" and self.alpha is None:
            raise ParameterError(
                f"correction={self.correction!r} corrects alpha, which was not given: give alpha"
            )

    def _check_adaptation(self) -> None:
        if self.half_life is not None and self.window is not None:
            raise ParameterError(
                f"half_life={self.half_life} forgets slowly, window={self.window} at once: give one of them"
            )
        if self.on_drift == "reweigh" and self.window is not None:
            raise ParameterError(
                "on_drift='reweigh' has no meaning with a window, whose rows all count alike: "
                "use 'reset', or half_life"
            )
        if self.on_drift is not None and not self._criterion.has_p_values:
            raise CapabilityError(
                f"on_drift={self.on_drift!r} watches p-values; criterion={self._criterion.name!r} has none: "
                "use window, which forgets by itself, or criterion='mutual_info'"
            )

    def _known_labels(self) -> Iterable[Any]:
        return () if self._regression_ else self._summary_.classes

    def _learn(self, batch: RowBatch) -> None:
        criterion = self._criterion
        if criterion.most_classes is not None and batch.y is not None and not self._regression_:
            criterion.check_classes({*self._summary_.classes, *np.unique(batch.y).tolist()})
        if self.on_drift is None and self.review_every is None:
            self._summary_.update(batch.X, batch.y, batch.weight)
        else:
            if batch.X.dtype != object:
                refuse_non_finite(batch.X, missing=True)  # before the first piece is learnt
            for piece, rows in self._pieces(batch):
                self._learn_piece(piece, rows)

    def _pieces(self, batch: RowBatch) -> Iterator[tuple[RowBatch, int]]:
        """Cut a batch where the selection or its drift is to be judged; yield the rows seen by then, too."""
        n, low = batch.X.shape[0], 0
        monitor: DriftMonitor | None = getattr(self, "_monitor_", None)
        while low < n:
            seen = self.n_samples_seen_ + low
            room = n - low if monitor is None else min(n - low, monitor.room)
            if self.review_every is not None:
                room = min(room, self.review_every - seen % self.review_every)
            part = slice(low, low + room)
            weight = None if batch.weight is None else batch.weight[part]
            yield RowBatch(batch.X[part], None if batch.y is None else batch.y[part], weight), seen + room
            low += room

    def _learn_piece(self, piece: RowBatch, rows: int) -> None:
        self._summary_.update(piece.X, piece.y, piece.weight)
        self._invalidate()
        if self.on_drift is not None:
            monitor = self._monitor_
            monitor.learn(piece.X, np.asarray(piece.y), piece.weight, self._new_block)
            if monitor.room == 0:
                self._adapt(monitor.judge(self._criterion))
        if self.review_every is not None and rows % self.review_every == 0:
            self._record_changes(self._select(), rows)

    def _new_block(self) -> Any:
        """Make the summary of one block of rows, for the drift monitor."""
        target = "numeric" if self._regression_ else "classes"
        return summary_for(self._criterion, target=target, max_rank_error=self.max_rank_error)

    def _adapt(self, moved: IntArray) -> None:
        """Forget, of some features or a little of all, what is no longer so."""
        if len(moved) == 0:
            return
        if self.on_drift == "reset":
            self._summary_.forget(moved)
        else:
            on_top = max(1, int(np.count_nonzero(self._choose())))
            self._summary_.fade(1.0 - min(0.5, len(moved) / on_top))
        self._invalidate()

    def _merge(self, other: Self, columns: IntArray | None = None) -> None:
        theirs = other._summary_
        if columns is not None:
            theirs = theirs.reindexed(columns, self.n_features_in_)
        self._summary_.merge(theirs)

    # ---------------------------------------------------------------- choosing

    @fitted_property
    def summary_(self) -> Any:
        """The summary behind the scores."""
        return self._summary_

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

    @fitted_property
    def drift_(self) -> list[Drift]:
        """Changes of relevance that were noticed, in order; empty without ``on_drift``."""
        return self._monitor_.events if self.on_drift is not None else []

    def _padded(self, values: FloatArray, worst: float) -> FloatArray:
        """Before the first row of positive weight the summary knows no features."""
        return np.pad(values, (0, self.n_features_in_ - len(values)), constant_values=worst)

    def _choose(self) -> BoolArray:
        if self.alpha is not None:
            return significant(self.pvalues_, self.alpha, self.correction)
        if self.min_zscore is not None:
            return above_mean(self.scores_, self.min_zscore, self._criterion.worst, self.k)
        if self.percentile is not None:
            return best(self.scores_, max(1, round(self.n_features_in_ * self.percentile / 100)))
        return best(self.scores_, self._k)

    # ---------------------------------------------------------------- saving

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        summary, criterion = self._summary_, self._criterion
        width = getattr(summary, "n_features", -1)
        if type(summary) is not type(self._new_summary()) or not serves(
            criterion, innermost(summary), exact=self.exact
        ):
            yield f"the summary does not serve criterion={criterion.name!r}"
        # rows of weight 0 bring names, but the summary never sees them
        elif width > self.n_features_in_:
            yield "the summary has more features than there are"
        elif hasattr(self, "_monitor_") is not (self.on_drift is not None):
            yield "the drift monitor is missing, or too many"
        elif self.on_drift and type(self._monitor_.block) not in (type(None), type(self._new_block())):
            yield "the drift monitor has a summary of another kind"
        elif (summary.half_life if hasattr(summary, "half_life") else self.half_life) != self.half_life:
            yield f"the summary has another half_life than {self.half_life}"
        else:
            yield from self._proven_features(width)
