"""Detection of changes in the relevance of features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_choice, check_number
from streamsieve.criteria.criterion import Criterion
from streamsieve.exceptions import CapabilityError, InputError, StateError
from streamsieve.protocols import Arrays, BoolArray, FloatArray, IntArray, Matrix
from streamsieve.rows.drift.page_hinkley import PageHinkley
from streamsieve.rows.drift.relevance_changes import Changes, RelevanceChanges
from streamsieve.state import Array, Field, Int, Nested, Part, register
from streamsieve.summaries.nesting import AnySummary, innermost

DETECTORS = ("glr", "page_hinkley", "adwin")
#: Default number of rows per block, by detector.
EVERY = {"glr": 100, "page_hinkley": 1000, "adwin": 1000}
#: Number of latest blocks whose mean is reported as a feature's new relevance; no detector is faster.
LATEST = 3
MOST_ROWS = 2**62
#: Bound on sums of relevance indices, each at most 1, in a state.
MOST_EVIDENCE = 1e300


class Drift(NamedTuple):
    """A feature whose relevance has changed."""

    #: Number of rows seen when the change was detected.
    row: int
    feature: int
    #: Mean relevance before the change; for the unit see ``DriftMonitor``.
    before: float
    #: Mean relevance after the change.
    after: float


#: Fields of a list of drifts in a state; see :func:`packed_events`.
EVENT_FIELDS: dict[str, Field] = {
    "events": Array("i8", "drifts", 2, low=0),
    "event_means": Array("f8", "drifts", 2, finite=True),
}


@register
class DriftMonitor(Part):
    """Detects features that become relevant, or cease to be relevant.

    The stream is cut into consecutive blocks of rows.  At the end of a block the p-value of every feature is
    computed over this block alone.  A detector follows the p-values of each feature; after an alarm, the
    history of that feature starts again.

    Parameters
    ----------
    every : int or None, default=None
        Rows of a block, at least 2.  Rows of weight 0 do not count.  If None, 100 for "glr" and 1000 for the
        others.
    detector : {"glr", "page_hinkley", "adwin"}, default="glr"
        "glr": generalized likelihood ratio tests over normal scores, of every feature and of the most
        relevant ones together.  "page_hinkley": a two-sided Page-Hinkley test for each feature, and "adwin":
        river's ADWIN for each, both over the relevance index ``min(1, -log10(p) / 10)``.  ADWIN needs
        ``pip install streamsieve[river]``, and a monitor with it cannot be saved.
    k : int, default=10
        Number of features that "glr" watches together.

    Attributes
    ----------
    events : list of Drift, in the order they were noticed.  ``before`` and ``after`` are the mean normal
        scores on both sides of the change point with "glr", and otherwise the mean relevance index since the
        last alarm and in the latest three blocks

    Notes
    -----
    **"glr"** expects at most one false alarm in 100,000 rows, by the union bound, for any number of features
    and any ``every``, where blocks are independent and their normal scores have a variance of at most 1;
    see :class:`~streamsieve.rows.drift.relevance_changes.RelevanceChanges`.  A change of a feature's mean
    score by d, after a blocks, is noticed after about b blocks, where ``d sqrt(a b / (a + b))`` is the
    threshold: 4.9 for 20 features and blocks of 100 rows.  If all of k relevant features change at once, d is
    sqrt(k) times as large and the threshold is 4.1.  A feature of correlation r has a mean score of about
    ``r sqrt(every)``, and one without relevance 0.8.  ``python -m studies monitors`` measures both.

    **"page_hinkley" and "adwin"** have parameters chosen by simulation, for blocks of 1000 rows and features
    that are noise (mean index 0.04) or relevant at a mean index of s.  Of 1000 features of each kind over 200
    blocks the Page-Hinkley test gave no false alarm at s = 0.04, 0.3, 0.5 and 0.7, and ADWIN 2 at s = 0.7.
    The median number of blocks until a change between noise and s = 1, 0.7 or 0.5 is noticed is 2, 4 and 7
    for the Page-Hinkley test, and 4, 7 and 11 for ADWIN; s = 0.3 needs 100 blocks of history.  A change soon
    after the start or the last alarm may pass for the mean itself: after 10 blocks, the Page-Hinkley test
    noticed 69 % of those from 0.5 to noise within 40 blocks, and all of those from 0.7.  Over smaller blocks
    p-values are larger, and both miss all but the strongest changes.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.criteria import AnovaF
    >>> from streamsieve.rows.drift.drift_monitor import DriftMonitor
    >>> from streamsieve.summaries import Moments
    >>> rng = np.random.default_rng(0)
    >>> monitor = DriftMonitor(every=500)
    >>> for block in range(20):
    ...     y = rng.integers(0, 2, 500)
    ...     X = rng.normal(size=(500, 3))
    ...     X[:, 0 if block < 10 else 2] += y  # feature 0 is relevant at first, then feature 2
    ...     monitor.learn(X, y, None, Moments)
    ...     _ = monitor.judge(AnovaF())
    >>> [(d.row, d.feature, round(d.before, 2), round(d.after, 2)) for d in monitor.events]
    [(6000, 0, 8.0, 1.02), (6000, 2, 0.52, 8.0)]
    """

    fields = {
        "every": Int(2, MOST_ROWS),
        "_n_rows": Int(),
        "_filled": Int(),
        "_test": Nested(RelevanceChanges, PageHinkley),
        "block": AnySummary(optional=True),
        "_blocks": Array("i8", "signals", low=0),
        "_sums": Array("f8", "signals", low=-MOST_EVIDENCE, high=MOST_EVIDENCE),
        "_latest": Array("f8", LATEST, "signals", low=-MOST_EVIDENCE, high=MOST_EVIDENCE),
        **EVENT_FIELDS,
    }

    def __init__(self, every: int | None = None, detector: str = "glr", k: int = 10) -> None:
        check_choice("detector", detector, DETECTORS)
        every = EVERY[detector] if every is None else every
        check_number("every", every, low=2, high=MOST_ROWS, integer=True)
        self.every = int(every)
        self.events: list[Drift] = []
        self._test: RelevanceChanges | PageHinkley | _Adwins
        if detector == "glr":
            self._test = RelevanceChanges(self.every, k)
        else:
            self._test = PageHinkley() if detector == "page_hinkley" else _Adwins()
        self.block: Any = None
        self._filled = 0
        self._n_rows = 0
        # since a feature's last alarm: number of blocks, sum of its relevance indices, and the latest indices
        self._blocks = np.zeros(0, np.int64)
        self._sums = np.zeros(0)
        self._latest = np.zeros((LATEST, 0))

    @property
    def room(self) -> int:
        """Number of rows of positive weight missing until the block is complete."""
        return self.every - self._filled

    @property
    def n_rows(self) -> int:
        """Number of rows seen, except those of weight 0."""
        return self._n_rows

    @property
    def n_features(self) -> int:
        """Number of features monitored."""
        return len(self._sums)

    def learn(
        self, X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None, make_summary: Callable[[], Any]
    ) -> None:
        """Add rows to the current block, all of them or (on an error) none.

        Parameters
        ----------
        X, y, weight : as for ``update`` of the summary; at most ``room`` rows
        make_summary : function that returns an empty summary
        """
        n = X.shape[0] if weight is None else int(np.count_nonzero(weight))
        if n > self.room:
            raise InputError(f"got {n} rows, but {self.room} complete the block: cut the batch there")
        if n == 0:
            return
        block = make_summary() if self.block is None else self.block
        block.update(X, y, weight)
        self.block = block
        self._filled += n
        self._n_rows += n

    def judge(self, criterion: Criterion) -> IntArray:
        """Return the features whose relevance has changed, and start the next block.

        Parameters
        ----------
        criterion : a criterion over the summaries of the blocks; the block must be complete
        """
        if self.room:
            raise InputError(
                f"the block has {self._filled} of {self.every} rows: judge it when it is complete"
            )
        test = self._test
        relevance = (
            criterion.normal_score if isinstance(test, RelevanceChanges) else criterion.relevance_index
        )
        parts = [relevance(part) for part in criterion.blocks(innermost(self.block))]
        values = np.concatenate([np.zeros(0), *parts])
        self.grow(len(values))
        # features absent from this block have no relevance in it
        values = np.pad(values, (0, self.n_features - len(values)))
        self.block, self._filled = None, 0
        self._blocks += 1
        self._sums += values
        self._latest = np.vstack([self._latest[1:], values])
        changes = test.update(values) if isinstance(test, RelevanceChanges) else self._latest_changes(values)
        drifted = changes.features
        for j, *means in zip(*(column.tolist() for column in changes), strict=True):
            self.events.append(Drift(self._n_rows, j, *means))
        self._blocks[drifted], self._sums[drifted], self._latest[:, drifted] = 0, 0.0, 0.0
        return drifted

    def _latest_changes(self, index: FloatArray) -> Changes:
        """Return the alarms of a detector that does not estimate the time of a change."""
        drifted = np.flatnonzero(self._test.update(index))
        n, total = self._blocks[drifted], self._sums[drifted]
        latest = self._latest[:, drifted].sum(axis=0)
        return Changes(drifted, (total - latest) / np.maximum(n - LATEST, 1), latest / np.clip(n, 1, LATEST))

    def grow(self, n_features: int) -> None:
        """Add features, to be monitored from the current block on."""
        extra = n_features - self.n_features
        if extra > 0:
            self._test.grow(n_features)
            self._blocks, self._sums = np.pad(self._blocks, (0, extra)), np.pad(self._sums, (0, extra))
            self._latest = np.pad(self._latest, ((0, 0), (0, extra)))

    def _record(self) -> Mapping[str, Any]:
        if isinstance(self._test, _Adwins):
            raise StateError(
                "detector='adwin' cannot be saved, because river does not expose its windows: "
                "use detector='glr'"
            )
        return {
            **{name: getattr(self, name) for name in self.fields if name not in EVENT_FIELDS},
            **packed_events(self.events),
        }

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        events = unpacked_events(record)
        monitor = super()._rebuilt(record)
        monitor.events = events
        return monitor

    def _consistent(self) -> Iterator[str]:
        if self._filled > min(self.every, self._n_rows) or (self.block is None) is not (self._filled == 0):
            yield f"{self._filled} rows in a block of {self.every}, of {self._n_rows} in all"
        if any(drift.row > self._n_rows or drift.feature >= self.n_features for drift in self.events):
            yield "an alarm is of a later row or an unknown feature"
        if self._test.n_signals != self.n_features:
            yield f"the detector watches {self._test.n_signals} features, not {self.n_features}"
        if isinstance(self._test, RelevanceChanges) and self._test.every != self.every:
            yield f"the detector is made for blocks of {self._test.every} rows, not {self.every}"


def packed_events(events: list[Drift]) -> Arrays:
    """Return drifts as two arrays."""
    return {
        "events": np.array([drift[:2] for drift in events], np.int64).reshape(-1, 2),
        "event_means": np.array([drift[2:] for drift in events], np.float64).reshape(-1, 2),
    }


def unpacked_events(record: dict[str, Any]) -> list[Drift]:
    """Undo :func:`packed_events`, and take the arrays out of the record."""
    both = record.pop("events").tolist(), record.pop("event_means").tolist()
    return [Drift(*which, *means) for which, means in zip(*both, strict=True)]


class _Adwins:
    """River's ADWIN, one per feature.

    Its bound is made for thousands of values and is wide for the few dozen blocks there are here: with
    river's delta of 0.002 a change from an index of 0.5 to noise goes unnoticed for nearly 40 blocks.  With a
    delta of 0.5 it is about as rarely wrong as the Page-Hinkley test; figures at :class:`DriftMonitor`.
    """

    def __init__(self) -> None:
        try:
            from river.drift import ADWIN  # noqa: PLC0415 - an extra, needed for this detector only
        except ImportError as error:
            raise CapabilityError(
                "detector='adwin' is river's: pip install streamsieve[river], or use detector='glr'"
            ) from error
        self._make: Any = ADWIN
        self._tests: list[Any] = []

    @property
    def n_signals(self) -> int:
        return len(self._tests)

    def grow(self, n_signals: int) -> None:
        parameters = {"delta": 0.5, "clock": 1, "grace_period": 5, "min_window_length": 1}
        self._tests += [self._make(**parameters) for _ in range(n_signals - len(self._tests))]

    def update(self, x: FloatArray) -> BoolArray:
        for test, value in zip(self._tests, x.tolist(), strict=True):
            test.update(value)  # restarts by itself after an alarm
        return np.array([test.drift_detected for test in self._tests], bool)
