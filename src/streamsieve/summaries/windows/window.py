"""A sliding window over any summary: only the last rows count."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._parameters import check_number
from streamsieve.exceptions import MergeError
from streamsieve.protocols import FloatArray, IntArray, Matrix, Subtracts
from streamsieve.state import Nested, register
from streamsieve.summaries.class_totals import FREQUENCY
from streamsieve.summaries.nesting import AnySummary, check_empty, same_state, takes_missing
from streamsieve.summaries.windows.row_pieces import Piece, present
from streamsieve.summaries.windows.row_store import HeldRows, RowStore

LARGEST = 2**62


@register
class Window(HeldRows):
    """Sliding window: any summary over the last ``size`` rows of a stream.

    Parameters
    ----------
    inner : summary
        An empty one; :meth:`current` is a summary of the same kind, of the rows in the window.
    size : int
        Rows in the window, at least 1.  Rows of weight 0 do not exist and take no place.

    Notes
    -----
    The rows themselves are kept: memory is O(size x width), at most twice that while a block of rows is
    partly gone.  Sparse rows are 0 in features that came later, dense rows are missing there.

    A summary with exact sums and ``remove(X, y, weight)`` follows: new rows are added, old ones removed.
    Sums of floats do not subtract (1e9 + 0.1 - 1e9 gives 0.10000002), so every other summary, and any summary
    once weights are fractions, is recomputed from the rows on access and kept until the next row comes.  One
    that follows is recomputed whenever all its first rows have left, so that old labels and values do not
    take memory indefinitely, and when a feature gets more values than it counts.

    Either way the answer depends on the rows in the window, never on the batches they came in.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.summaries import Moments, Window
    >>> window = Window(Moments(), size=2)
    >>> window.update(np.array([[1.0], [2.0], [4.0]]), np.array([0, 0, 0]))
    >>> window.n_rows, window.current().block(0, 1).mean
    (2, array([[3.]]))
    """

    fields = {"inner": AnySummary(), "_rows": Nested(RowStore)}

    def __init__(self, inner: Any, *, size: int) -> None:
        check_empty("a window", inner, ("classes", "numeric"))
        check_number("size", size, low=1, high=LARGEST, integer=True)
        #: The empty summary to start from.
        self.inner = inner.copy()
        self._rows = RowStore(int(size))
        # the summary of the rows if computed, whether it can be updated, and when it is recomputed
        self._current: Any = None
        self._follows = False
        self._last = 0

    @property
    def target(self) -> str:  # type: ignore[override]
        """What ``update`` takes for ``y``, "classes" or "numeric": as the summary inside."""
        return str(self.inner.target)

    @property
    def size(self) -> int:
        """Rows in a full window."""
        return int(self._rows.size or 0)

    @property
    def classes(self) -> list[Any]:
        """Labels of the rows in the window, sorted; of a numeric target, those of the summary inside."""
        return super().classes if self.target == "classes" else list(self.current().classes)

    @property
    def nbytes(self) -> int:
        """Memory used, in bytes: the rows, and the summary if it has been computed."""
        return self._rows.nbytes + (0 if self._current is None else int(self._current.nbytes))

    def current(self) -> Any:
        """Return the summary of the rows in the window, which must not be changed or kept."""
        if self._current is None:
            summary = self.inner.copy()
            self._rows.replay(summary)
            self._current = summary
            self._follows = self._subtracts()
            self._last = self._rows.seen + self.size
        return self._current

    @property
    def missing(self) -> bool:
        """Whether missing values are taken."""
        return takes_missing(self.inner)

    def update(self, X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None = None) -> None:
        """Add rows, all of them or (on an error) none; the oldest rows leave a full window."""
        piece = present(X, y, weight, self.target, missing=self.missing)
        if piece.n_rows == 0:
            return
        self._rows.check(piece, missing=self.missing)
        if self.n_rows == 0:
            self.current()
        if self._current is not None and self._follows and self._alike(piece):
            self._current = self._followed(piece)
        else:
            self._current = None
        self._rows.append(piece)
        if self._current is not None and (self._rows.seen >= self._last or _overflowed(self._current)):
            self._current = None
            self.current()

    def _followed(self, piece: Piece) -> Any:
        """Return the summary after adding new rows and removing old ones."""
        if piece.n_rows >= self.size:
            summary = self.inner.copy()
            piece = piece.part(piece.n_rows - self.size, piece.n_rows)
            old: list[Piece] = []
        else:
            summary = self._current
            old = list(self._rows.oldest(self._rows.leaving(piece.n_rows)))
        n_features = max(self.n_features, piece.X.shape[1])
        wide = piece.widened(n_features)
        summary.update(wide.X, wide.y, wide.weight)  # if this is refused, nothing has changed yet
        for gone in old:
            wide = gone.widened(n_features)
            summary.remove(wide.X, wide.y, wide.weight)
        return summary

    def _subtracts(self) -> bool:
        """Whether rows can be removed exactly from the summary of the current rows."""
        pieces = list(self._rows.pieces())
        return (
            isinstance(self.inner, Subtracts)
            and getattr(self.inner, "half_life", None) is None
            and getattr(self.inner, "weight_kind", FREQUENCY) == FREQUENCY
            and not self._rows.forgets
            and all(_is_whole(piece) for piece in pieces)
            and len({sp.issparse(piece.X) for piece in pieces}) < 2
            and not _overflowed(self._current)
        )

    def _alike(self, piece: Piece) -> bool:
        """Whether the current summary can be updated by these rows.

        Late features have different values in dense and sparse rows, and a summary only stores which came
        first: with both kinds it is recomputed.
        """
        return _is_whole(piece) and (self.n_rows == 0 or self._rows.sparse == sp.issparse(piece.X))

    def merge(self, other: Self) -> None:
        """Merge another window, as if its rows had been added after these."""
        if (
            not isinstance(other, Window)
            or other.size != self.size
            or not same_state(self.inner, other.inner)
        ):
            raise MergeError(
                f"only windows of equal size over equal summaries merge: {self._name()} here, "
                f"{other._name() if isinstance(other, Window) else type(other).__name__} there"
            )
        self._append(other)

    def _name(self) -> str:
        return f"{type(self.inner).__name__} over {self.size} rows"

    def _widen(self, n_features: int) -> None:
        if n_features > self.n_features:
            super()._widen(n_features)
            self._current = None

    def forget(self, columns: IntArray) -> None:
        """Treat the rows in the window as missing for some features."""
        super().forget(columns)
        self._current = None

    def reindexed(self, columns: IntArray, n_features: int) -> Self:
        """Return a copy with feature i at ``columns[i]``, among ``n_features`` features."""
        return self._of(self.inner, self._rows.reindexed(columns, n_features))

    @classmethod
    def _of(cls, inner: Any, rows: RowStore) -> Self:
        window = cls(inner, size=rows.size or 0)
        window._rows = rows
        return window

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        return cls._of(record["inner"], record["_rows"])  # the summary of the rows is computed on access


def _is_whole(piece: Piece) -> bool:
    """Whether all weights are whole numbers."""
    return piece.weight is None or bool(np.all(piece.weight == np.floor(piece.weight)))


def _overflowed(summary: Any) -> bool:
    """Whether some values are counted as "other"; which ones depends on the order of rows."""
    return bool(np.any(getattr(summary, "overflowed", False)))
