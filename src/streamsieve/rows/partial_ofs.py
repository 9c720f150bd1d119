"""Online feature selection from partially observed rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar, Self

from streamsieve._kernels.ofs import learn_partial_rows
from streamsieve.base import RowSelector
from streamsieve.base.seeded import Seeded
from streamsieve.protocols import FloatArray, RowBatch, Statistic, Task, Traits
from streamsieve.rows.linear.entries import RowEntries
from streamsieve.rows.linear.selector import LinearScores
from streamsieve.rows.linear.sparse_weights import SparseWeights
from streamsieve.state import Float, Int, Nested


class PartialOFS(Seeded, LinearScores, RowSelector):
    """Online feature selection with partial inputs (partial OFS): reads at most k values of each row.

    For rows whose values are costly to obtain.  In a fraction of the rows, k columns drawn at random are
    observed, otherwise those with a nonzero weight.  After a wrong prediction the weights take a step along
    the observed values, each divided by the probability of observing it; then they are projected to the
    radius, and all but the k largest are set to 0.

    Parameters
    ----------
    k : int or None, default=None
        Number of weights to keep and of values to observe per row, at least 1; the paper's B.  If None, 10,
        or all features if there are fewer.
    learning_rate : float, default=0.02
        Step size, in (0, 1e6].
    exploration : float, default=0.2
        Fraction of rows in which columns are drawn at random, in [1e-6, 1].
    radius : float, default=10.0
        Maximum norm of the weights, in (0, 1e6].
    random_state : int or None, default=0
        Seed of the draws, in [0, 2^32).  If None, a seed is drawn when a fit begins, and saved with the
        state.  The draws for a row depend only on the seed, the number of the row and the number of features.
    output : {"drop", "zero", "frozen"}, default="drop"
        What ``transform`` does with features that are not selected: "drop" them, set them to "zero", or drop
        those outside the selection of the first call ("frozen").
    ledger : {"all", "kept", "none"}, default="all"
        Whether to record which features entered and left the selected set, when, and with what score; "kept"
        is the same as "all".

    Attributes
    ----------
    coef_ : float64 array, one weight per feature, at most k of them not 0; positive where a feature is
        evidence for ``classes_[1]``
    scores_ : float64 array, the absolute weights
    selected_ : columns of the selected features, in column order
    ranked_ : columns of the nonzero weights, at most k, largest first
    observed_ : number of values observed so far, at most k per row
    classes_ : the labels seen, sorted
    mistakes_ : number of rows misclassified, or not classified at all, before they were learned
    ledger_ : which features entered and left the selected set, after how many rows, with what score

    Notes
    -----
    **Formula.** With labels -1 and 1, C the observed columns and ``x^ = x / P(column in C)`` on C and 0
    elsewhere: if ``y w'x <= 0`` over C, ``w <- w + learning_rate y x^``, projected to ``radius``, and all but
    the k largest are set to 0.

    **When it fails.** The estimate ``x^`` has a large variance if k is small relative to the number of
    features, so that many rows are needed; :class:`OFS` learns more from the same rows wherever all values
    are known anyway.

    With d features, exploration e and B = k, a value is observed with probability B/d e, plus 1 - e if its
    feature has a weight, so that ``x^`` is an unbiased estimate of the row.  While no feature has a weight,
    columns are drawn at random in every row (the paper does not specify this case), and the probability is
    B/d; dividing by B/d e, as in the paper's formula, would make such rows 1/e times too long.

    An explored value moves its weight by learning_rate * d / (k * exploration) times the value.  This must be
    small relative to the radius, or every such step erases what was learned before: with many features, lower
    the learning rate or raise the radius.  Only the ratio of the two matters.  For this reason the default is
    a tenth of that of :class:`OFS`.

    The result does not depend on the size of batches.  If features appear over time, d is the number known
    when a batch arrives.  Ties at the edge of the budget go to the first columns.

    References
    ----------
    Wang, Zhao, Hoi, Jin, Online Feature Selection and Its Applications, IEEE TKDE 26 (2014), algorithm 3.
    The radius is ours, the paper gives none.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.rows.partial_ofs import PartialOFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 8))
    >>> selector = PartialOFS(k=2).fit(X, X[:, 3] - X[:, 5] > 0)
    >>> selector.get_feature_names_out().tolist(), selector.observed_ <= 2 * 2000
    (['x3', 'x5'], True)
    """

    _traits: ClassVar[Traits] = Traits(
        tasks=frozenset({Task.BINARY}), draws_features=True, size_parameter="k"
    )

    _statistic = Statistic("weight")
    parameters = {
        "learning_rate": Float(0, 1e6, open_low=True),
        "exploration": Float(1e-6, 1),
        "radius": Float(0, 1e6, open_low=True),
    }
    fields = {"_model_": Nested(SparseWeights), "observed_": Int()}
    _empty_model = SparseWeights

    def __init__(
        self,
        k: int | None = None,
        *,
        learning_rate: float = 0.02,
        exploration: float = 0.2,
        radius: float = 10.0,
        random_state: int | None = 0,
        output: str = "drop",
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.learning_rate = learning_rate
        self.exploration = exploration
        self.radius = radius
        self.random_state = random_state
        self.output = output
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield the defaults, and the smallest budget with frequent exploration."""
        yield cls()
        yield cls(k=1, exploration=0.7, radius=1.0, random_state=1, output="zero")

    def _start(self, batch: RowBatch) -> None:
        super()._start(batch)
        self.observed_ = 0

    def _advance(self, entries: RowEntries, signs: FloatArray) -> int:
        columns, values = self._model_.with_room(self._k)
        kept, mistakes, observed = learn_partial_rows(
            entries.indptr, entries.indices, entries.data, signs, columns, values, len(self._model_.columns),
            self.n_features_in_, float(self.learning_rate), float(self.radius), float(self.exploration),
            self._seed, self.n_samples_seen_,
        )  # fmt: skip
        self._model_ = SparseWeights(columns[:kept], values[:kept])
        self.observed_ += int(observed)
        return int(mistakes)

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        if self.observed_ > self.n_samples_seen_ * self._most:
            yield f"{self.observed_} entries of {self.n_samples_seen_} rows were looked at"
