"""A numeric target for summaries over classes: its bins of equal frequency are the classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve._cuts import classes_by_cuts, equal_frequency_cuts
from streamsieve._parameters import check_number
from streamsieve._values import LIMIT
from streamsieve.exceptions import CapabilityError, MergeError, ParameterError
from streamsieve.protocols import Fades, FloatArray, IntArray, Matrix
from streamsieve.state import Array, Int, Nested, Part, register
from streamsieve.summaries.nesting import AnySummary, check_empty, same_state, takes_missing
from streamsieve.summaries.windows.row_pieces import Piece, present, weights_of
from streamsieve.summaries.windows.row_store import RowStore

MOST_BINS = 1000
LONGEST = 2**31


@register
class TargetBins(Part):
    """Discretize a numeric target into equal-frequency classes, for any summary per class.

    The first ``warm_up`` rows are stored.  Then their targets are cut into bins, the cuts are frozen, and
    these and all later rows are passed to the inner summary with the bin of their target as class.  Until
    then the summary is that of the rows so far with cuts from these rows, which equals the offline one.

    Parameters
    ----------
    inner : summary
        An empty one, over classes.
    bins : int, default=5
        Number of classes, 2 to 1000.
    warm_up : int, default=1024
        Rows of positive weight that determine the cuts, at least ``bins``.
    cuts : float64 array of bins - 1 numbers or None, default=None
        Where to cut, if that is known; then no row is kept back.  They must not fall.  A target belongs to
        class i if i cuts lie below it.

    Notes
    -----
    Cut i is the smallest target whose cumulative weight reaches i * d, where d is the total weight over the
    number of bins, rounded down (to at least 1) if all weights are whole numbers.  Equal targets share a
    class, and classes may be empty.  The warm-up ends exactly at row ``warm_up``, whatever the batches.

    Memory: that of the summary, and O(warm_up x width) until the cuts are known.  Where two parts of a stream
    merge and only the later one knows its cuts, they hold for the whole.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.summaries import Moments, TargetBins
    >>> binned = TargetBins(Moments(), bins=2, warm_up=4)
    >>> binned.update(np.array([[1.0], [2.0], [3.0], [4.0], [9.0]]), np.array([0.1, 0.2, 7.0, 8.0, 9.0]))
    >>> binned.cuts, binned.classes
    (array([0.2]), [0, 1])
    >>> binned.current().block(0, 1).mean
    array([[1.5       ],
           [5.33333333]])
    """

    target: ClassVar[str] = "numeric"

    fields = {
        "bins": Int(2, MOST_BINS),
        "warm_up": Int(2, LONGEST),
        "inner": AnySummary(),
        "_rows": Nested(RowStore),
        "_cuts": Array("f8", "cuts", low=-LIMIT, high=np.inf, order="sorted", optional=True),
        "_current": AnySummary(optional=True),
    }

    def __init__(
        self, inner: Any, *, bins: int = 5, warm_up: int = 1024, cuts: npt.ArrayLike | None = None
    ) -> None:
        check_empty("bins of a target", inner, ("classes",))
        check_number("bins", bins, low=2, high=MOST_BINS, integer=True)
        check_number("warm_up", warm_up, low=bins, high=LONGEST, integer=True)
        #: The empty summary to start from.
        self.inner = inner.copy()
        self.bins, self.warm_up = int(bins), int(warm_up)
        self._cuts = None if cuts is None else _checked(cuts, self.bins)
        self._rows = RowStore()
        #: The summary by frozen cuts; by those of the rows so far, or None if it is not known, before.
        self._current: Any = None if self._cuts is None else inner.copy()

    @property
    def missing(self) -> bool:
        """Whether missing values are taken."""
        return takes_missing(self.inner)

    @property
    def cuts(self) -> FloatArray | None:
        """Cuts of the target; None as long as they may change."""
        return None if self._cuts is None else self._cuts.copy()

    @property
    def classes(self) -> list[Any]:
        """Bins of the target that have occurred."""
        return sorted(self.current().classes)

    @property
    def n_rows(self) -> int:
        """Number of rows seen, except those of weight 0."""
        return self._rows.n_rows if self._cuts is None else int(self._current.n_rows)

    @property
    def n_features(self) -> int:
        """Number of features seen."""
        return self._rows.n_features if self._cuts is None else int(self._current.n_features)

    @property
    def nbytes(self) -> int:
        """Memory used, in bytes."""
        return self._rows.nbytes + (0 if self._current is None else int(self._current.nbytes))

    def current(self) -> Any:
        """Return the summary by bins of the target, which must not be changed or kept."""
        if self._current is None:
            self._current = self._of_rows(self._provisional_cuts())
        return self._current

    def _provisional_cuts(self) -> FloatArray:
        return equal_frequency_cuts(self._rows.labels(), self.bins, self._rows.weights())

    def update(self, X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None = None) -> None:
        """Add rows, all of them or (on an error) none."""
        piece = present(X, y, weight, self.target, missing=self.missing)
        if piece.n_rows == 0:
            return
        if self._cuts is not None:
            self._current.update(piece.X, classes_by_cuts(piece.y, self._cuts), piece.weight)
            return
        self._rows.check(piece, missing=self.missing)
        if self._rows.n_rows + piece.n_rows < self.warm_up:
            self._rows.append(piece)
            self._current = None
        else:
            self._freeze(piece)

    def _freeze(self, piece: Piece) -> None:
        """Determine the cuts by the stored rows and the first new ones, and pass all rows on."""
        last = piece.part(0, self.warm_up - self._rows.n_rows)
        weight = np.concatenate([self._rows.weights(), weights_of(last)])
        cuts = equal_frequency_cuts(np.concatenate([self._rows.labels(), last.y]), self.bins, weight)
        width = max(self._rows.n_features, piece.X.shape[1])
        summary = self._of_rows(cuts, width)
        wide = piece.widened(width)
        summary.update(wide.X, classes_by_cuts(wide.y, cuts), wide.weight)
        self._settle(cuts, summary)

    def _of_rows(self, cuts: FloatArray, n_features: int = 0) -> Any:
        """Return the summary of the stored rows, by these cuts."""
        summary = self.inner.copy()
        self._rows.replay(summary, lambda y: classes_by_cuts(y, cuts), n_features)
        return summary

    def fade(self, factor: float) -> None:
        """Multiply the weight of all rows so far by ``factor``, 0 < factor <= 1; this ends a warm-up."""
        if not isinstance(self.inner, Fades):
            raise CapabilityError(f"the rows of {type(self.inner).__name__} cannot fade: it has no `fade`")
        if self._cuts is None and self._rows.n_rows:
            cuts = self._provisional_cuts()
            self._settle(cuts, self._of_rows(cuts))
        if self._cuts is not None:
            self._current.fade(factor)

    def _settle(self, cuts: FloatArray, summary: Any) -> None:
        self._cuts, self._current, self._rows = cuts, summary, RowStore()

    def merge(self, other: Self) -> None:
        """Merge another summary, as if its rows had been added after these."""
        self._check_like(other)
        if other is self:
            self.merge(other.copy())
        elif other._cuts is None:
            twin = self.copy()  # a piece may be refused after others were accepted
            for piece in other._rows.explicit():
                twin.update(piece.X, piece.y, piece.weight)
            self.__dict__.update(vars(twin))
        else:
            self._merge_summary(other._cuts, other._current)

    def _merge_summary(self, cuts: FloatArray, summary: Any) -> None:
        """Adopt the cuts and the summary of a later part."""
        if self._cuts is None:
            mine = self._of_rows(cuts)
            mine.merge(summary)
            self._settle(cuts.copy(), mine)
        elif np.array_equal(self._cuts, cuts):
            self._current.merge(summary)
        else:
            raise MergeError(
                "the targets of the two parts were cut at different places, so that their classes differ "
                f"({_shown(self._cuts)} here, {_shown(cuts)} there): give both the same cuts"
            )

    def _check_like(self, other: Any) -> None:
        if not isinstance(other, TargetBins):
            raise MergeError(
                f"bins of a target only merge with bins of a target, not with a {type(other).__name__}"
            )
        for name in ("bins", "warm_up"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise MergeError(f"{name} is {mine} here and {theirs} there: only equal ones merge")
        if not same_state(self.inner, other.inner):
            raise MergeError(
                "the summaries inside were made with different parameters: only equal ones merge"
            )

    def forget(self, columns: IntArray) -> None:
        """Treat all rows so far as missing for some features."""
        if self._cuts is None:
            self._rows.forget(columns)
            self._current = None
        else:
            self._current.forget(columns)

    def reindexed(self, columns: IntArray, n_features: int) -> Self:
        """Return a copy with feature i at ``columns[i]``, among ``n_features`` features."""
        twin: Self = self.copy()
        if self._cuts is None:
            twin._rows = self._rows.reindexed(columns, n_features)
        else:
            twin._current = self._current.reindexed(columns, n_features)
        return twin

    def _record(self) -> Mapping[str, Any]:
        """The summary by provisional cuts follows from the rows."""
        return {**super()._record(), "_current": None if self._cuts is None else self._current}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        binned = cls(record["inner"], bins=record["bins"], warm_up=record["warm_up"])
        binned.__dict__.update(record)
        return binned

    def _consistent(self) -> Iterator[str]:
        yield from self._rows.unlike(self.target, window=False)
        if self._cuts is None:
            if self._current is not None or self._rows.n_rows >= self.warm_up:
                yield "rows are held back though the target has been cut"
        elif len(self._cuts) != self.bins - 1 or self._rows.n_rows:
            yield f"{len(self._cuts)} cuts and {self._rows.n_rows} rows do not go with {self.bins} bins"
        elif type(self._current) is not type(self.inner):
            yield "the summary is not of the class it was made with"


def _checked(cuts: npt.ArrayLike, bins: int) -> FloatArray:
    try:
        array = np.array(cuts, np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"cuts must be numbers; got {cuts!r}") from error
    if array.shape != (bins - 1,):
        raise ParameterError(f"{bins} bins want {bins - 1} cuts; got an array of shape {array.shape}")
    if not np.all(np.isfinite(array)) or np.any(np.diff(array) < 0):
        raise ParameterError(f"cuts must be finite numbers that do not fall; got {_shown(array)}")
    return array


def _shown(cuts: FloatArray) -> str:
    return "[" + ", ".join(f"{cut:.6g}" for cut in cuts[:6]) + (", ...]" if len(cuts) > 6 else "]")
