"""Store of raw rows in order of arrival, for windows and warm-up phases.

Rows are cut into pieces at fixed row numbers and at changes of their form, never where a batch happened to
end.  So whatever is computed from the pieces is the same to the last bit however the rows came in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._validation import mixed_labels
from streamsieve.exceptions import SchemaError
from streamsieve.protocols import FloatArray, IntArray, Matrix
from streamsieve.state import Array, Int, ListOf, Part
from streamsieve.state.tree import UNPROVEN
from streamsieve.summaries.arrays import checked_columns, checked_places
from streamsieve.summaries.windows.row_pieces import WIDEST, Piece, RowRun, copied, joined, weights_of

#: Rows of a piece, at most.  Long enough that a piece costs what its values cost.
BLOCK = 1024


class RowStore(Part):
    """The last rows of a stream, raw.

    ``size`` is the number of rows to keep, None for all.  A forgotten feature counts as missing in all rows
    so far; these are left as they are, and a summary they are fed to forgets at the same row.
    """

    fields = {
        "size": Int(1, optional=True),
        "seen": Int(),
        "n_features": Int(0, WIDEST),
        "_since": Array("i8", "forgotten", low=0, optional=True),
        "_runs": ListOf(RowRun, size="runs"),
    }

    def __init__(self, size: int | None = None) -> None:
        self.size = size
        self.n_rows = 0
        self.n_features = 0
        #: Rows that ever came; a row's number is their number before it.
        self.seen = 0
        # A piece that has partly left is kept whole: at most one block more than the rows asked for.
        self._block = BLOCK if size is None else min(BLOCK, size)
        self._pieces: deque[Piece] = deque()
        self._gone = 0  # rows of the first piece that have left
        self._open = 0  # pieces at the end that will become one
        self._since: IntArray | None = None  # first row that counts, per feature

    @property
    def nbytes(self) -> int:
        """Memory used, in bytes."""
        since = 0 if self._since is None else self._since.nbytes
        return since + sum(piece.nbytes for piece in self._pieces)

    @property
    def first(self) -> int:
        """Number of the oldest row held."""
        return self.seen - self.n_rows

    @property
    def forgets(self) -> bool:
        """Whether some feature is forgotten in some of the rows."""
        return self._since is not None and bool(np.any(self._since > self.first))

    @property
    def sparse(self) -> bool:
        """Whether the newest rows are sparse."""
        return bool(self._pieces) and sp.issparse(self._pieces[-1].X)

    def pieces(self) -> Iterator[Piece]:
        """Yield the rows, as wide as they came."""
        self._join()
        return self._as_they_are()

    def _as_they_are(self) -> Iterator[Piece]:
        for number, piece in enumerate(self._pieces):
            yield piece.part(0 if number else self._gone, piece.n_rows)

    def labels(self) -> npt.NDArray[Any]:
        """Return the targets of all rows."""
        parts = [piece.y for piece in self._as_they_are()]
        return np.concatenate(parts) if parts else np.zeros(0)

    def weights(self) -> FloatArray:
        """Return the weights of all rows."""
        return np.concatenate([np.zeros(0), *(weights_of(piece) for piece in self._as_they_are())])

    def check(self, piece: Piece, *, missing: bool = True) -> None:
        """Refuse labels of another kind than those held; without ``missing``, dense rows of another width."""
        if self._pieces and piece.n_rows:
            width = piece.X.shape[1]
            if not missing and width != self.n_features and not (self.sparse and sp.issparse(piece.X)):
                raise SchemaError(
                    f"the rows have {width} features, those held {self.n_features}: the others would be "
                    "missing, but the summary inside takes no missing values; give all rows all features"
                )
            known, new = self._pieces[-1].y, piece.y
            if (known.dtype.kind == "U") != (new.dtype.kind == "U"):
                raise mixed_labels(known[-1].item(), new[0].item())

    def append(self, piece: Piece) -> None:
        """Take copies of checked rows; the oldest leave where there are too many."""
        n = piece.n_rows
        if n == 0:
            return
        self.widen(piece.X.shape[1])
        self.drop(self.leaving(n))
        low = 0 if self.size is None else max(0, n - self.size)
        self.seen += low
        while low < n:
            high = min(n, low + self._block - self.seen % self._block)
            self._push(copied(piece.part(low, high)))
            low = high

    def leaving(self, n: int) -> int:
        """Return how many of the rows held leave when n more come."""
        return 0 if self.size is None else min(self.n_rows, max(0, self.n_rows + n - self.size))

    def widen(self, n_features: int) -> None:
        """Make room for late features."""
        if n_features > self.n_features:
            if self._since is not None:
                self._since = np.pad(self._since, (0, n_features - self.n_features))
            self.n_features = n_features

    def _push(self, piece: Piece) -> None:
        if self._open and self._pieces[-1].form != piece.form:
            self._join()
            self._open = 0
        self._pieces.append(piece)
        self._open += 1
        self.n_rows += piece.n_rows
        self.seen += piece.n_rows
        if self.seen % self._block == 0:
            self._join()
            self._open = 0

    def _join(self) -> None:
        """Make one piece of those that are open."""
        if self._open > 1:
            parts = [self._pieces.pop() for _ in range(self._open)][::-1]
            self._pieces.append(joined(parts))
            self._open = 1

    def drop(self, n: int) -> None:
        """Let the n oldest rows leave."""
        self.n_rows -= n
        self._gone += n
        while self._pieces and self._gone >= self._pieces[0].n_rows:
            self._gone -= self._pieces.popleft().n_rows
        self._open = min(self._open, len(self._pieces))

    def oldest(self, n: int) -> Iterator[Piece]:
        """Yield the n oldest rows, as wide as all features."""
        for piece in self._as_they_are():
            if n <= 0:
                return
            yield piece.part(0, min(n, piece.n_rows)).widened(self.n_features)
            n -= piece.n_rows

    def replay(
        self,
        summary: Any,
        label: Callable[[npt.NDArray[Any]], npt.NDArray[Any]] | None = None,
        n_features: int = 0,
    ) -> None:
        """Feed all rows to a summary, as wide as all features, forgetting where it was forgotten."""
        for piece, forgotten in self._steps():
            if piece.n_rows:
                wide = piece.widened(max(n_features, self.n_features))
                summary.update(wide.X, wide.y if label is None else label(wide.y), wide.weight)
            if len(forgotten):
                summary.forget(forgotten)

    def explicit(self) -> Iterator[Piece]:
        """Yield the rows with missing values where features were forgotten."""
        row = self.first
        for piece, _ in self._steps():
            if piece.n_rows:
                wide = piece
                if self._since is not None:
                    columns = np.flatnonzero(self._since > row)
                    wide = piece.widened(self.n_features if len(columns) else 0).without(columns)
                yield wide
            row += piece.n_rows

    def _steps(self) -> Iterator[tuple[Piece, IntArray]]:
        """Yield the rows cut where features were forgotten, each piece with those forgotten after it."""
        nothing = np.zeros(0, np.int64)
        since = nothing if self._since is None else self._since
        points = np.unique(since[since > self.first]).tolist()
        row = self.first
        for piece in self.pieces():
            low, end = 0, row + piece.n_rows
            while points and points[0] <= end:
                point = points.pop(0)
                yield piece.part(low, point - row), np.flatnonzero(since == point)
                low = point - row
            if low < piece.n_rows:
                yield piece.part(low, piece.n_rows), nothing
            row = end

    def forget(self, columns: IntArray) -> None:
        """Let all rows held count as missing for some features."""
        columns = checked_columns(columns, self.n_features)
        if self._since is None:
            self._since = np.zeros(self.n_features, np.int64)
        self._since[columns] = self.seen

    def reindexed(self, columns: IntArray, n_features: int) -> Self:
        """Return the same rows with feature i moved to columns[i]; the others are 0 or missing."""
        columns = checked_places(columns, self.n_features, n_features)
        since = None
        if self._since is not None:
            since = np.zeros(n_features, np.int64)
            since[columns] = self._since
        pieces = [piece.reindexed(columns, n_features) for piece in self.pieces()]
        return self._of(pieces, self.size, self.seen, n_features, since)

    @classmethod
    def _of(
        cls, pieces: list[Piece], size: int | None, seen: int, n_features: int, since: IntArray | None
    ) -> Self:
        """Return the last rows of a stream of ``seen`` rows."""
        rows = cls(size)
        rows.seen = seen - sum(piece.n_rows for piece in pieces)
        for piece in pieces:
            rows.append(piece)
        rows.widen(n_features)
        rows._since = since
        return rows

    def _record(self) -> Mapping[str, Any]:
        """Rows of one form are one run."""
        runs: list[list[Piece]] = []
        pieces = list(self.pieces())
        if _is_unproven(pieces, self.n_features):
            pieces[-1] = pieces[-1].widened(self.n_features)
        for piece in pieces:
            if runs and runs[-1][0].form == piece.form:
                runs[-1].append(piece)
            else:
                runs.append([piece])
        facts = {name: getattr(self, name) for name in ("size", "seen", "n_features", "_since")}
        return facts | {"_runs": [RowRun.of(joined(run)) for run in runs]}

    @classmethod
    def _misfits(cls, record: Mapping[str, Any]) -> Iterator[str]:
        size, seen, n_features, since = (record[name] for name in ("size", "seen", "n_features", "_since"))
        pieces = [run.piece() for run in record["_runs"]]
        held = sum(piece.n_rows for piece in pieces)
        if held > (seen if size is None else min(seen, size)):
            yield f"it holds {held} rows of {seen}, more than there may be"
        if _is_unproven(pieces, n_features):
            yield f"it claims {n_features:,} features, but its dense rows have fewer"
        if any(piece.X.shape[1] > n_features for piece in pieces) or (
            since is not None and (len(since) != n_features or since.max(initial=0) > seen)
        ):
            yield f"its rows do not fit {n_features} features and {seen} rows"

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        facts = (record[name] for name in ("size", "seen", "n_features", "_since"))
        return cls._of([run.piece() for run in record["_runs"]], *facts)

    def _consistent(self) -> Iterator[str]:
        if len({piece.y.dtype.kind == "U" for piece in self._pieces}) > 1:
            yield "some rows have text as labels, others numbers"

    def unlike(self, target: str, *, window: bool) -> Iterator[str]:
        """Yield why these rows, read from a state, are not what their owner holds."""
        if (self.size is None) is window:
            yield "a window needs a size, and rows that are all kept have none"
        if target == "numeric" and any(piece.y.dtype != np.float64 for piece in self._pieces):
            yield "a numeric target has rows with labels"


def _is_unproven(pieces: list[Piece], n_features: int) -> bool:
    """Whether rows are dense, and narrower than the features claimed."""
    widest: int = max(
        (n_features if sp.issparse(piece.X) else piece.X.shape[1] for piece in pieces), default=n_features
    )
    return n_features > max(UNPROVEN, widest)


class HeldRows(Part, ABC):
    """Base of summaries that store raw rows in ``_rows`` and compute results on access."""

    target: str
    #: Whether only the last rows are held.
    _bounded: ClassVar[bool] = True
    _rows: RowStore

    @property
    def n_rows(self) -> int:
        """Rows held."""
        return self._rows.n_rows

    @property
    def n_features(self) -> int:
        """Features seen, by rows that have left too."""
        return self._rows.n_features

    @property
    def classes(self) -> list[Any]:
        """Labels of the rows held, sorted; none if the target is numeric."""
        return [] if self.target == "numeric" else list(np.unique(self._rows.labels()).tolist())

    @property
    def nbytes(self) -> int:
        """Memory used, in bytes."""
        return self._rows.nbytes

    @abstractmethod
    def update(self, X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None = None) -> None:
        """Add rows, all of them or (on an error) none."""

    def _append(self, other: Self) -> None:
        """Take on the other's rows, as the next ones."""
        twin: Self = self.copy()  # a piece may be refused when others were taken
        for piece in other._rows.explicit():
            twin.update(piece.X, piece.y, piece.weight)
        twin._widen(other.n_features)
        self.__dict__.update(vars(twin))

    def _widen(self, n_features: int) -> None:
        self._rows.widen(n_features)

    def forget(self, columns: IntArray) -> None:
        """Let the rows held count as missing for some features."""
        self._rows.forget(columns)

    def _consistent(self) -> Iterator[str]:
        yield from self._rows.unlike(self.target, window=self._bounded)
