"""Stability selection: how often a selector keeps a feature over bootstrap replicas of a stream."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from streamsieve._kernels.poisson import poisson_weights
from streamsieve.base import RowSelector
from streamsieve.base.fitted import fitted_property
from streamsieve.base.seeded import Seeded
from streamsieve.exceptions import CapabilityError, ParameterError, StateError
from streamsieve.protocols import BoolArray, FloatArray, IntArray, RowBatch, Statistic, Traits
from streamsieve.rows.screen import Screen
from streamsieve.state import Float, Int, ListOf, Nested, untouched_on_error
from streamsieve.state.registry import registered

#: Maximum row number.
LAST_ROW = 2**62
#: Attributes that the members share with the bootstrap.
SHARED = ("n_features_in_", "n_samples_seen_", "_fixed_", "_names_in_", "_vocabulary_")
#: Parameters of replicas, whose ledgers are never read.
QUIET = {"ledger": "none", "review_every": None}
#: Replicas whose weights are drawn together.
GROUP = 4


class Members(ListOf):
    """Field for a list of fitted row selectors of registered classes."""

    def __init__(self) -> None:
        self.item, self.size = Member(), "members"


class Member(Nested):
    """Field for a fitted row selector of any registered class except a bootstrap."""

    def __init__(self) -> None:
        """Take no classes: those registered are looked up on access."""

    @property
    def kinds(self) -> dict[str, type[RowSelector]]:  # type: ignore[override]
        """The classes allowed."""
        known = registered().items()
        return {name: kind for name, kind in known if issubclass(kind, RowSelector) and kind is not Bootstrap}


class Bootstrap(Seeded, RowSelector):
    """Stability selection by online bootstrap: features that a selector keeps in most replicas of the stream.

    Replicas of the selector learn the stream in parallel.  Each gives every row a weight drawn from a Poisson
    distribution of mean 1 (online bagging).  The score of a feature is the fraction of replicas that select
    it.

    Parameters
    ----------
    selector : selector or None, default=None
        A row selector that supports sample weights, such as ``Screen`` or ``RunningAverages``, with its own
        number of features; it is cloned.  If None, ``Screen("f")``.
    replicas : int, default=20
        Number of replicas, in [2, 10000].  Time and memory are those of ``replicas + 1`` selectors.
    min_frequency : float, default=0.6
        Minimum fraction of replicas that must select a feature, in (0, 1].
    k : int or None, default=None
        Maximum number of features to keep, at least 1: the most frequent ones, ties broken by the score on
        all rows.
    random_state : int or None, default=0
        Seed of the draws, in [0, 2^32).  If None, a seed is drawn when a fit begins, and saved with the
        state.
    first_row : int, default=0
        Number of the first row.  The weights of a row depend only on its number: if the parts of a stream are
        numbered as in the whole, their merge equals one pass over it.
    output : {"drop", "zero", "frozen"}, default="drop"
        What ``transform`` does with features that are not selected: "drop" them, set them to "zero", or drop
        those outside the selection of the first call ("frozen").
    ledger : {"all", "kept", "none"}, default="all"
        Whether to record which features entered and left the selected set, when, and with what frequency;
        "kept" is the same as "all".

    Attributes
    ----------
    scores_ : float64 array, one per feature: the fraction of the replicas that select it
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, the most frequent first
    stability_ : float, at most 1: agreement of the replicas' selections, 0 as expected by chance (Nogueira et
        al.)
    expected_false_ : float: bound on the expected number of false discoveries among the features with a
        frequency of at least ``min_frequency``; infinite for a ``min_frequency`` of at most 0.5
    selector_ : the selector after all rows, each counted once
    ledger_ : which features entered and left the selected set, after how many rows, with what frequency

    Notes
    -----
    **Formula.** With M replicas, the score of feature j is ``(1 / M) sum over m of [j is selected by replica
    m]``; row i counts ``Poisson(1)`` times in each replica.

    **When it fails.** It has the limits of the inner selector: a feature that this selector cannot detect is
    selected in no replica. Copies of one informative feature share their frequency, so that each may fall
    below ``min_frequency``.

    The draws are a function of (seed, row, replica), computed when needed (Philox), so batches of any size, a
    saved and resumed stream and merged parts give the same result.  Parts that were all numbered from 0
    merge to a valid bootstrap too, though not to that of one pass.

    With M replicas, d features, frequencies p and the mean number c of features selected, stability is 1 - [M
    / (M - 1) mean p (1 - p)] / [c / d (1 - c / d)], and 1 where all or none are selected by all.  The bound
    on false features is c^2 / ((2 min_frequency - 1) d).  It is proved for random halves of the rows and
    exchangeable noise features; for the bootstrap, whose variability is that of halves, it is only a guide.

    Rows of weight 0 do not advance time: under a half-life or a window, replicas look back over 1.6 times as
    many rows of the stream as the selector does.  ``sample_weight`` is not supported, because copies of a row
    would need separate draws.

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
    >>> bootstrap.scores_[[4, 7]]
    array([1., 1.])
    """

    _merge_exempt: ClassVar[frozenset[str]] = frozenset({"first_row"})

    _statistic = Statistic("frequency")
    parameters = {
        "replicas": Int(2, 10_000),
        "min_frequency": Float(0, 1, open_low=True),
        "first_row": Int(0, LAST_ROW),
    }
    fields = {"_next_row_": Int(0, LAST_ROW + 2**61), "_members_": Members()}

    def __init__(
        self,
        selector: RowSelector | None = None,
        *,
        replicas: int = 20,
        min_frequency: float = 0.6,
        k: int | None = None,
        random_state: int | None = 0,
        first_row: int = 0,
        output: str = "drop",
        ledger: str = "all",
    ) -> None:
        self.selector = selector
        self.replicas = replicas
        self.min_frequency = min_frequency
        self.k = k
        self.random_state = random_state
        self.first_row = first_row
        self.output = output
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield bootstraps of screens of every kind: means, bins, numeric targets, fading."""
        yield cls(replicas=6)
        yield cls(Screen("mutual_info", percentile=50), replicas=4, k=1)
        yield cls(Screen("correlation", percentile=50, half_life=100), replicas=4, output="zero")

    # ---------------------------------------------------------------- what the selector can do

    @property
    def _inner(self) -> RowSelector:
        """The selector to clone."""
        if self.selector is None:
            return Screen("f")
        if not isinstance(self.selector, RowSelector):
            raise ParameterError(
                "selector must be a selector over rows, such as Screen('f', k=10), or None; "
                f"got {self.selector!r}"
            )
        if not self.selector.traits.weights:
            raise CapabilityError(
                f"selector={self.selector!r} does not support sample weights, which the bootstrap needs: use "
                "Screen or RunningAverages"
            )
        if getattr(self.selector, "weight_kind", "frequency") != "frequency":
            raise CapabilityError(
                "the draws of a bootstrap are numbers of copies: leave out weight_kind in its selector"
            )
        return self.selector

    @property
    def traits(self) -> Traits:
        """Capabilities of the inner selector, except weights."""
        inner = Screen("f") if self.selector is None else self.selector
        known = inner.traits if isinstance(inner, RowSelector) else Traits()
        return replace(known, weights=False, size_parameter=None, nested_sizes=False)  # frequencies decide

    @property
    def _target(self) -> str | None:
        return (self._members_[0] if hasattr(self, "_members_") else self._inner)._target  # noqa: SLF001

    @property
    def _slots(self) -> int | None:
        return self._inner._slots  # noqa: SLF001

    @property
    def _buffers_rows(self) -> bool:  # type: ignore[override]  # it depends on the selector
        return self._inner._buffers_rows  # noqa: SLF001

    @property
    def _learns_numbers(self) -> bool:
        return self._members_[0]._learns_numbers  # noqa: SLF001

    def _known_labels(self) -> Iterable[Any]:
        return self._members_[0]._known_labels()  # noqa: SLF001

    # ---------------------------------------------------------------- learning

    def _copies(self) -> list[RowSelector]:
        """Return unfitted copies of the selector: the original, then the replicas, which need no ledger."""
        selector = self._inner
        quiet = {name: value for name, value in QUIET.items() if name in selector.get_params(deep=False)}
        replicas = (clone(selector).set_params(**quiet) for _ in range(self.replicas))
        return [clone(selector), *replicas]

    def _share(self) -> None:
        """Update the features and the number of rows of all members."""
        shared = {name: self.__dict__[name] for name in SHARED if name in self.__dict__}
        for member in self._members_:
            member.__dict__.update(shared)

    def _check_together(self) -> None:
        self._inner._check_parameters()  # noqa: SLF001

    def _start(self, batch: RowBatch) -> None:
        self._next_row_ = int(self.first_row)
        self._members_ = self._copies()
        self._share()
        for member in self._members_:
            member._begin(batch)  # noqa: SLF001 - validation is done

    def _learn(self, batch: RowBatch) -> None:
        # The original learns first.  Replicas see a subset of its rows, labels and values, so it has already
        # refused anything they would refuse, and a batch is learned by all or by none.
        original, *replicas = self._members_
        n = batch.X.shape[0]
        with untouched_on_error(*self._members_):
            self._share()
            original._learn_rows(batch)  # noqa: SLF001
            for low in range(0, len(replicas), GROUP):
                weights = poisson_weights(self._seed, self._next_row_, n, low // GROUP)
                # the last group may have fewer replicas
                for member, weight in zip(replicas[low : low + GROUP], weights, strict=False):
                    member._learn_rows(RowBatch(batch.X, batch.y, weight))  # noqa: SLF001
        self._next_row_ += n

    def _merge(self, other: Self, columns: IntArray | None = None) -> None:
        self._share()
        for mine, theirs in zip(self._members_, other._members_, strict=True):
            mine._merge(theirs, columns)  # noqa: SLF001
            mine._invalidate()  # noqa: SLF001
        self._next_row_ = max(self._next_row_, other._next_row_)

    def _refresh(self) -> None:
        super()._refresh()
        self._share()

    # ---------------------------------------------------------------- choosing

    @fitted_property
    def selector_(self) -> RowSelector:
        """The selector after all rows, each counted once."""
        return self._members_[0]

    def _scores(self) -> FloatArray:
        counts = np.zeros(self.n_features_in_)
        for replica in self._members_[1:]:
            counts += replica._support()  # noqa: SLF001
        return counts / self.replicas

    @fitted_property
    def stability_(self) -> float:
        """Agreement of the replicas' selections: 1 if they are equal, about 0 if they are random."""
        p, m = self.scores_, self.replicas
        mean = float(p.mean())  # fraction of the features that a replica selects on average
        if mean in (0.0, 1.0):
            return 1.0
        return 1.0 - m / (m - 1) * float(np.mean(p * (1 - p))) / (mean * (1 - mean))

    @fitted_property
    def expected_false_(self) -> float:
        """Bound on the expected number of false discoveries at ``min_frequency``: only a guide, see Notes."""
        frequencies = self.scores_
        if self.min_frequency <= 0.5:
            return math.inf
        return float(frequencies.sum()) ** 2 / ((2 * self.min_frequency - 1) * len(frequencies))

    def _ranked(self, features: IntArray) -> IntArray:
        return np.lexsort((-self._members_[0].scores_[features], -self.scores_[features]))

    def _choose(self) -> BoolArray:
        mask: BoolArray = self.scores_ >= self.min_frequency
        if self.k is not None:
            often = np.flatnonzero(mask)
            mask[often[self._ranked(often)[self.k :]]] = False
        return mask

    # ---------------------------------------------------------------- saving

    def _record(self) -> Mapping[str, Any]:
        record = dict(super()._record())
        self._share()
        record["_members_"] = [*map(_without_names, self._members_)]
        return record

    def _restored(self) -> None:
        super()._restored()
        if any(member.n_features_in_ != self.n_features_in_ for member in self._members_):
            raise StateError("the state's members have another number of features")
        self._share()

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        if self._next_row_ < self.first_row:
            yield f"row {self._next_row_} is to be the next one"
        found, wanted = (
            [(type(member), member._encoded_parameters()) for member in members]  # noqa: SLF001
            for members in (self._members_, self._copies())
        )
        if found != wanted:
            yield "the members are not copies of the selector"


def _without_names(member: RowSelector) -> RowSelector:
    """Return the same member without names, which are saved once, with the bootstrap."""
    bare = copy(member)
    for name in ("_names_in_", "_vocabulary_"):
        bare.__dict__.pop(name, None)
    bare.__dict__["_fixed_"] = True
    return bare
