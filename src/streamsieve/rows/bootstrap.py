"""How often would a selector choose a feature, had other rows come?"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from streamsieve._parameters import check_number
from streamsieve.exceptions import CapabilityError, ParameterError, StateError
from streamsieve.protocols import BoolArray, FloatArray, IntArray, RowBatch, Traits
from streamsieve.rows._ranked import RankedSelector
from streamsieve.rows._replicas import Replicas
from streamsieve.rows.screen import Screen

MOST_REPLICAS = 10_000
#: Rows that nobody lives to see.
LAST_ROW = 2**62


class Bootstrap(RankedSelector):
    """Keep the features that a selector chooses again and again, whichever rows happen to come.

    Replicas of the selector learn the stream side by side.  Each counts every row 0, 1, 2, ... times, as lots
    decide (Poisson with mean 1), which is what drawing rows with replacement comes to in a stream.  A
    feature's score is the share of the replicas that select it.

    Parameters
    ----------
    selector : selector or None, default=None
        A selector over rows that takes weights, such as ``Screen`` or ``RunningAverages``, with the number of
        features it is to choose; it is copied.  None: ``Screen("f")``.
    replicas : int, default=20
        How many, 2 <= replicas <= 10,000.  Time and memory are those of ``replicas + 1`` selectors.
    threshold : float, default=0.6
        Keep features that at least this share of the replicas selects, 0 < threshold <= 1.
    k : int or None, default=None
        Keep the k most frequent of these at most, k >= 1; among equals those that score best on all rows.
    random_state : int, default=0
        Seed of the lots, 0 <= random_state < 2^63.
    first_row : int, default=0
        Number of the first row.  A row's lots depend on its number alone: give parts of one stream the
        numbers they have there, and their merge is the result of one pass over it.
    output : {"drop", "zero", "frozen"}, default="drop"
        What ``transform`` does as the best features change: "drop" the others, "zero" them so that the
        width stays, or keep to the selection "frozen" at the first transform.
    ledger : {"all", "none"}, default="all"
        Whether to remember which features entered and left the selection, when, and at what frequency.

    Attributes
    ----------
    frequencies_, scores_ : float64 array, one a feature: the share of the replicas that select it
    selected_ : columns of the selected features, the most frequent first
    stability_ : float, at most 1: how much the replicas' selections agree beyond chance (Nogueira et al.)
    expected_false_ : float: bound on the expected number of false features among those of a frequency of at
        least ``threshold``; infinite for a threshold of at most 0.5
    selector_ : the selector after all rows, each counted once
    ledger_ : which features entered and left, after how many rows, at what frequency

    Notes
    -----
    The lots are a function of (seed, row, replica), computed when needed (Philox), so batches of any size, a
    saved and resumed stream and merged parts give the same result.  Parts that were all numbered from 0
    merge to a valid bootstrap too, though not to that of one pass.

    With M replicas, d features, frequencies p and the mean number c of features selected, stability is
    1 - [M / (M - 1) mean p (1 - p)] / [c / d (1 - c / d)], and 1 where all or none are selected by all.  The
    bound on false features is c^2 / ((2 threshold - 1) d).  It is proved for selections from random halves
    of the rows and noise features that are exchangeable; a bootstrap is as random as halves are, so here it
    is a guide.

    A row drawn 0 times takes no time: under a half-life or a window, replicas look back over 1.6 times as
    many rows of the stream as the selector does.  ``sample_weight`` is not taken, because copies of a row
    would draw their own lots.

    References
    ----------
    Oza and Russell, Online bagging and boosting, AISTATS 2001.
    Meinshausen and Buehlmann, Stability selection, Journal of the Royal Statistical Society B 72, 2010.
    Nogueira, Sechidis and Brown, On the stability of feature selection algorithms, Journal of Machine
    Learning Research 18, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.rows import Screen
    >>> from streamsieve.rows.bootstrap import Bootstrap
    >>> rng = np.random.default_rng(0)
    >>> bootstrap = Bootstrap(Screen("f", k=3))
    >>> for _ in range(5):
    ...     y = rng.integers(0, 2, 100)
    ...     X = rng.normal(size=(100, 30))
    ...     X[:, 4] += y
    ...     X[:, 7] -= y
    ...     bootstrap = bootstrap.partial_fit(X, y)
    >>> bootstrap.get_feature_names_out(), len(bootstrap.selector_.selected_)
    (array(['x4', 'x7'], dtype=object), 3)
    >>> bootstrap.frequencies_[[4, 7]]
    array([1., 1.])
    """

    _places: ClassVar[frozenset[str]] = frozenset({"first_row"})

    def __init__(
        self,
        selector: RankedSelector | None = None,
        *,
        replicas: int = 20,
        threshold: float = 0.6,
        k: int | None = None,
        random_state: int = 0,
        first_row: int = 0,
        output: str = "drop",
        ledger: str = "all",
    ) -> None:
        self.selector = selector
        self.replicas = replicas
        self.threshold = threshold
        self.k = k
        self.random_state = random_state
        self.first_row = first_row
        self.output = output
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """One around a screen of every kind: means, bins, numeric targets, fading."""
        yield cls(replicas=6)
        yield cls(Screen("mutual_info", percentile=50), replicas=4, k=1)
        yield cls(Screen("correlation", percentile=50, half_life=100), replicas=4, output="zero")

    # ---------------------------------------------------------------- what the selector can do

    @property
    def _inner(self) -> RankedSelector:
        """The selector to copy."""
        if self.selector is None:
            return Screen("f")
        if not isinstance(self.selector, RankedSelector):
            raise ParameterError(
                "selector must be a selector over rows, such as Screen('f', k=10), or None; "
                f"got {self.selector!r}"
            )
        if not self.selector.traits.weights:
            raise CapabilityError(
                f"selector={self.selector!r} takes no weights, so rows cannot be drawn for it: use Screen or "
                "RunningAverages"
            )
        return self.selector

    @property
    def traits(self) -> Traits:
        """What the selector can do, weights excepted."""
        inner = Screen("f") if self.selector is None else self.selector
        known = inner.traits if isinstance(inner, RankedSelector) else Traits()
        return replace(known, weights=False, size_parameter=None, nested_sizes=False)  # frequencies decide

    @property
    def _target(self) -> str | None:
        fitted: Replicas | None = getattr(self, "_replicas_", None)
        return (self._inner if fitted is None else fitted.original)._target  # noqa: SLF001 - one's own kind

    @property
    def _slots(self) -> int | None:
        return self._inner._slots  # noqa: SLF001

    @property
    def _buffers_rows(self) -> bool:  # type: ignore[override]  # it depends on the selector
        return self._inner._buffers_rows  # noqa: SLF001

    def _known_labels(self) -> Iterable[Any]:
        return self._replicas_.original._known_labels()  # noqa: SLF001

    # ---------------------------------------------------------------- learning

    def _start(self, batch: RowBatch) -> None:
        self._check_for_width(batch.X.shape[1])
        self._start_ranking()
        self._next_row_ = int(self.first_row)
        self._replicas_ = Replicas.begin(self._inner, self.replicas, self, batch)

    def _check_for_width(self, n_features: int) -> None:
        check_number("replicas", self.replicas, low=2, high=MOST_REPLICAS, integer=True)
        check_number("threshold", self.threshold, low=0, high=1, open_low=True)
        self._check_k(n_features)
        check_number("random_state", self.random_state, low=0, high=2**63 - 1, integer=True)
        check_number("first_row", self.first_row, low=0, high=LAST_ROW, integer=True)

    def _learn(self, batch: RowBatch) -> None:
        self._replicas_.learn(batch, int(self.random_state), self._next_row_, self)
        self._next_row_ += batch.X.shape[0]
        self._cache_.clear()

    def _merge(self, other: Self, columns: IntArray | None = None) -> None:
        self._replicas_.merge(other._replicas_, columns, self)
        self._next_row_ = max(self._next_row_, other._next_row_)
        self._cache_.clear()

    # ---------------------------------------------------------------- choosing

    def _members(self, asked: str) -> Replicas:
        if not hasattr(self, "_replicas_"):
            raise AttributeError(f"{asked} is there after fit or partial_fit")
        self._flush_buffer()
        self._replicas_.follow(self)
        return self._replicas_

    @property
    def selector_(self) -> RankedSelector:
        """The selector after all rows, each counted once."""
        return self._members("selector_").original

    @property
    def scores_(self) -> FloatArray:
        """The share of the replicas that select a feature."""
        members = self._members("scores_")
        if "frequencies" not in self._cache_:
            counts = np.zeros(self.n_features_in_)
            for selection in members.selections():
                counts += selection
            frequencies = counts / self.replicas
            frequencies.setflags(write=False)  # shared with whoever asks next
            self._cache_["frequencies"] = frequencies
        cached: FloatArray = self._cache_["frequencies"]
        return cached

    @property
    def frequencies_(self) -> FloatArray:
        """The share of the replicas that select a feature."""
        return self.scores_

    @property
    def stability_(self) -> float:
        """How much the replicas' selections agree: 1 if they are equal, about 0 if they are random."""
        p, m = self.scores_, self.replicas
        share = float(p.mean())  # of the features, selected by a replica in the mean
        if share in (0.0, 1.0):
            return 1.0
        return 1.0 - m / (m - 1) * float(np.mean(p * (1 - p))) / (share * (1 - share))

    @property
    def expected_false_(self) -> float:
        """Bound on the expected number of false features of a frequency of at least ``threshold``."""
        frequencies = self.scores_
        if self.threshold <= 0.5:
            return math.inf
        return float(frequencies.sum()) ** 2 / ((2 * self.threshold - 1) * len(frequencies))

    def _order(self) -> IntArray:
        """Columns, the most frequent first; among equals the best, and then the first."""
        return np.lexsort((-self._members("selected_").original.scores_, -self.scores_))

    @property
    def selected_(self) -> IntArray:
        """Columns of the selected features, the most frequent first."""
        mask, order = self._support(), self._order()
        return order[mask[order]]

    def _choose(self) -> BoolArray:
        mask: BoolArray = self.scores_ >= self.threshold
        if self.k is not None:
            order = self._order()
            mask[order[mask[order]][self.k :]] = False
        return mask

    # ---------------------------------------------------------------- saving

    def _restored(self) -> None:
        super()._restored()
        self._check_for_width(self.n_features_in_)
        if type(self._next_row_) is not int or not self.first_row <= self._next_row_ <= 2 * LAST_ROW:
            raise StateError(f"the state claims row {self._next_row_} to be the next one")
        if not isinstance(self._replicas_, Replicas):
            raise StateError("the state lacks its replicas")
        self._replicas_.revive(self._inner, self.replicas, self)
