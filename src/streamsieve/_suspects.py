"""Columns to question: identifiers, leaks, totals, codes of missing values and of categories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.stats import rankdata

from streamsieve._frames import as_frame, is_frame
from streamsieve.column_types import ORDINAL, guessed_types
from streamsieve.protocols import IntArray

#: Rows below which nothing is suspicious, and rows that are looked at, spread evenly.
FEWEST, MOST_ROWS = 20, 5000
#: Rows of a first look at every column, and the rank correlation from which on there is a second one.
GLANCE, NOTICED = 128, 0.6
#: Columns after which the rest is not looked at: a note is not worth a second pass over a million.
MOST_COLUMNS = 20_000
#: Columns that are looked at together.
BLOCK = 1024
#: AUC, or correlation, of a column that gives the target away.
LEAK = 0.999
#: Rows of a class below which nothing is said of it.
RAREST = 5
#: Numbers that often mean a missing value: refused, not known, not asked.
FAMILIES = (
    *(
        tuple(sign * (number - less) for less in range(3))
        for sign in (1.0, -1.0)
        for number in (9, 99, 999, 9999, 99999)
    ),
    *((number,) for number in (99.9, 999.9)),
)
#: Different targets up to which they are counted while rows stream by.
MOST_LABELS = 1000


@dataclass
class Suspects:
    """Identifiers, leaks and possible codes among the columns seen so far, by name.

    ``marks`` are columns where a number may mean a missing value; in those of ``meant`` it may be a value.
    """

    identifiers: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    leaks: dict[str, str] = field(default_factory=dict)
    marks: dict[float, list[str]] = field(default_factory=dict)
    meant: dict[float, list[str]] = field(default_factory=dict)
    incomplete: set[str] = field(default_factory=set)
    #: Values in the last row that are the sum of all others, by column, and that of the target.
    totals: dict[str, float] = field(default_factory=dict)
    target_total: float | None = None
    seen: int = 0
    #: Whether to look for codes, too, of categories and of missing values.
    codes_too: bool = True

    def look(self, X: Any, y: npt.NDArray[Any] | None, names: list[str] | None) -> None:
        """Look at some columns, of all rows or of a first batch of them."""
        n, width = X.shape
        if sp.issparse(X) or n < FEWEST or self.seen >= MOST_COLUMNS:
            return
        known = names or [f"x{self.seen + j}" for j in range(width)]
        self.seen += width
        rows = np.unique(np.linspace(0, n - 1, min(n, MOST_ROWS)).astype(int))
        self.identifiers += [
            known[j] for j in _whole(X, rows[:: max(1, len(rows) // GLANCE)]) if _is_id(X[rows, j])
        ]
        self.totals |= {known[j]: total for j, total in _totals(X, rows)}
        if self.codes_too:
            self._look_for_codes(np.asarray(X[rows], np.float64), known)
        if y is None or len(np.unique(y)) < 2:
            return
        numeric = _is_numeric(y)
        if numeric:
            self.target_total = next((total for _, total in _totals(y[:, None], rows)), None)
        labels = y if numeric else np.unique(y, return_inverse=True)[1]
        few = rows[:: max(1, len(rows) // GLANCE)]
        if not numeric:  # rare classes are seen, too
            of_each = _of_each(labels)
            few, rows = of_each if len(of_each) else few, np.union1d(rows, of_each)
        for j in _noticed(X[few], labels[few], numeric=numeric):
            how = _leak(X[rows, j], labels[rows], numeric=numeric)
            if how:
                self.leaks[known[j]] = how

    def look_at_table(self, X: Any, y: npt.NDArray[Any], kept: Sequence[str], places: IntArray) -> None:
        """Look at some columns of a whole table, by name and place: those that hold numbers."""
        rows = np.unique(np.linspace(0, len(y) - 1, min(len(y), MOST_ROWS)).astype(int))
        if is_frame(X):
            frame = as_frame(X)
            kinds = list(frame.schema.items())
            placed = zip(kept, (kinds[j] for j in places), strict=True)
            numbers = [(own, name) for own, (name, kind) in placed if kind.is_numeric()]
            kept = [own for own, _ in numbers]
            X = frame[rows.tolist(), [name for _, name in numbers]].to_numpy()
        else:
            X = (np.asarray(X) if isinstance(X, list) else X)[:, places]
            X = X if sp.issparse(X) else X[rows]
        if not sp.issparse(X) and X.dtype.kind in "fiu":
            for low in range(0, X.shape[1], BLOCK):
                self.look(X[:, low : low + BLOCK], y[rows], list(kept[low : low + BLOCK]))

    def _look_for_codes(self, some: npt.NDArray[Any], known: list[str]) -> None:
        for j, mark in _marks(some):
            self.marks.setdefault(mark, []).append(known[j])
        for mark, columns in self.marks.items():
            there = (known[j] for j in np.flatnonzero(np.any(some == mark, axis=0)))
            self.meant.setdefault(mark, []).extend(name for name in there if name not in columns)
        levels = guessed_types(some) == ORDINAL
        self.codes += [known[j] for j in np.flatnonzero(levels) if known[j] not in self.identifiers]

    def look_for_missing(self, X: Any, names: list[str] | None) -> None:
        """Take notice of the columns with missing values among some rows or columns."""
        if not sp.issparse(X) and names:
            with np.errstate(over="ignore", invalid="ignore"):
                self.incomplete |= {names[j] for j in np.flatnonzero(np.isnan(X.sum(axis=0)))}


class Watched:
    """A source whose columns are looked at on their way; everything else is the source's own.

    ``labels`` counts the targets of the rows that were streamed, up to a number of different ones, and
    ``extremes`` are their smallest and largest.
    """

    def __init__(self, source: Any, suspects: Suspects) -> None:
        self._source, self._suspects = source, suspects
        self.labels = Counter[Any]()
        self.extremes: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def rows(self, batch_size: int = 4096, start: Any = None) -> Iterator[Any]:
        """Yield the rows; the first batch is looked at."""
        for number, batch in enumerate(self._source.rows(batch_size, start)):
            if number == 0:
                self._suspects.look(batch.X, batch.y, batch.names)
            self._suspects.look_for_missing(batch.X, batch.names)
            if batch.y is not None and len(self.labels) <= MOST_LABELS:
                self.labels.update(
                    dict(zip(*(a.tolist() for a in np.unique(batch.y, return_counts=True)), strict=True))
                )
            if batch.y is not None and batch.y.dtype.kind in "fiu":
                self.extremes = [min([*self.extremes, batch.y.min()]), max([*self.extremes, batch.y.max()])]
            yield batch

    def columns(self, block_size: int = 1024, start: Any = None) -> Iterator[Any]:
        """Yield the columns, each looked at."""
        for block in self._source.columns(block_size, start):
            self._suspects.look(block.X, self._source.y, block.names)
            self._suspects.look_for_missing(block.X, block.names)
            yield block


def _is_numeric(y: npt.NDArray[Any]) -> bool:
    return y.dtype.kind in "fiu" and len(np.unique(y)) > 20


def _whole(X: npt.NDArray[Any], rows: npt.NDArray[Any]) -> list[int]:
    """Return columns of whole numbers, as far as some rows show."""
    some = X[rows]
    return list(np.flatnonzero(np.all(some == np.floor(some), axis=0) & (np.ptp(some, axis=0) > 1)))


def _marks(X: npt.NDArray[Any]) -> Iterator[tuple[int, float]]:
    """Yield columns whose smallest or largest number may mean a missing value: it is apart, and repeated."""
    for extreme in (np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)):  # of the values that are not NaN
        for j in np.flatnonzero(np.isin(extreme, [number for family in FAMILIES for number in family])):
            known = X[~np.isnan(X[:, j]), j]
            marks = next(family for family in FAMILIES if extreme[j] in family)
            others = known[~np.isin(known, marks)]
            for mark in marks:
                apart = np.abs(others - mark).min() > np.ptp(others) if len(others) else False
                if apart and (known == mark).sum() > 1 and np.ptp(others) > 0:
                    yield int(j), mark


def _totals(X: npt.NDArray[Any], rows: npt.NDArray[Any]) -> Iterator[tuple[int, float]]:
    """Yield columns whose last value is the sum of all others, as in a row of totals, and that value."""
    with np.errstate(all="ignore"):
        largest = np.fmax.reduce(np.abs(X[rows[:: max(1, len(rows) // GLANCE)][:-1]]), axis=0)
        for j in np.flatnonzero(np.abs(X[-1]) > largest):
            total = np.nansum(X[:-1, j], dtype=np.float64)
            if np.isclose(total, X[-1, j], rtol=1e-6, atol=0):
                yield int(j), float(X[-1, j])


def _is_id(x: npt.NDArray[Any]) -> bool:
    if np.any(x != np.floor(x)):
        return False
    steps = np.diff(x)
    ordered = bool(np.all(steps >= 0) or np.all(steps <= 0)) and len(np.unique(x)) > 20
    return ordered or len(np.unique(x)) == len(x)


def _of_each(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return some rows of each class, spread evenly; of many classes, of none.

    Of a frequent class there are at most four times as many as of the rarest, or its ranks would hide those.
    """
    counts = np.bincount(labels)
    if len(counts) > GLANCE:
        return np.empty(0, np.intp)
    ordered, ends = np.argsort(labels, kind="stable"), np.cumsum(counts)
    most = max(min(GLANCE // len(counts), 4 * counts.min()), 8)
    places = [np.linspace(e - n, e - 1, min(n, most)) for n, e in zip(counts, ends, strict=True)]
    return np.sort(ordered[np.concatenate(places).astype(int)])


def _noticed(X: npt.NDArray[Any], labels: npt.NDArray[Any], *, numeric: bool) -> list[int]:
    """Return columns whose ranks go with the target in a few rows; classes have no order."""
    ranks = np.argsort(np.argsort(X, axis=0), axis=0).astype(float)
    ranks -= ranks.mean(axis=0)
    if numeric:
        basis = rankdata(labels)[:, None]
        basis -= basis.mean()
    else:
        basis = (labels[:, None] == np.unique(labels)).astype(float)
    size = np.sqrt((basis**2).sum(axis=0))
    shares = (((basis / np.where(size > 0, size, 1)).T @ ranks) ** 2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return list(np.flatnonzero(shares / (ranks**2).sum(axis=0) >= NOTICED**2))


def _leak(x: npt.NDArray[Any], labels: npt.NDArray[Any], *, numeric: bool) -> str:
    """Return how a column gives the target away, or nothing."""
    there = np.isfinite(x)
    x, labels = x[there], labels[there]
    if len(x) < FEWEST or np.ptp(x) == 0:
        return ""
    if numeric:
        r = abs(float(np.corrcoef(x, labels)[0, 1]))
        return f"correlation {r:.4f}" if r >= LEAK else ""
    classes = len(np.unique(labels))
    if classes == 2:
        ones = labels == labels.max()
        if min(ones.sum(), (~ones).sum()) < RAREST:  # they are separated by chance
            return ""
        auc = (rankdata(x)[ones].sum() - ones.sum() * (ones.sum() + 1) / 2) / (ones.sum() * (~ones).sum())
        auc = max(auc, 1 - auc)
        return f"AUC {auc:.4f}" if auc >= LEAK else ""
    changes = np.count_nonzero(np.diff(labels[np.argsort(x, kind="stable")]))
    return "its order is that of the classes" if changes <= classes - 1 + (1 - LEAK) * len(x) else ""
