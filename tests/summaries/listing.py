"""The most exact summary there is: all rows, as a list.  What holds rows back is compared with it."""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from streamsieve.exceptions import MergeError
from streamsieve.state import Array, Int, Part, Texts, register

KINDS_OF_ROWS = {
    "dense": np.ascontiguousarray,
    "dense F": np.asfortranarray,
    "dense float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
    "csr matrix": sp.csr_matrix,
    "csr float32": lambda X: sp.csr_array(X.astype(np.float32)),
}


@dataclass
class Row:
    """One row: its values as far as they go, its label, its weight, and whether it was sparse."""

    values: np.ndarray
    label: object
    weight: float
    sparse: bool

    def wide(self, n_features):
        """Values of all features: 0 where a sparse row ends, missing where a dense one does."""
        rest = np.full(n_features - len(self.values), 0.0 if self.sparse else np.nan)
        return np.concatenate([self.values, rest])


def rows_of(X, y, weight=None):
    """Return the rows of a batch that exist."""
    sparse = sp.issparse(X)
    dense = np.asarray(X.toarray() if sparse else X, np.float64)
    weight = np.ones(len(y)) if weight is None else weight
    return [
        Row(values.copy(), label, float(w), sparse)
        for values, label, w in zip(dense, np.asarray(y).tolist(), weight, strict=True)
        if w > 0
    ]


@dataclass
class Twin:
    """A stream as a list of rows: what any window or warm-up holds, seen slowly."""

    size: int = 10**9
    rows: list = field(default_factory=list)
    n_features: int = 0

    def update(self, X, y, weight=None):
        new = rows_of(X, y, weight)
        if new:
            self.n_features = max(self.n_features, X.shape[1])
        self.rows = (self.rows + new)[-self.size :]

    def merge(self, other):
        self.n_features = max(self.n_features, other.n_features)
        copies = [Row(r.values.copy(), r.label, r.weight, r.sparse) for r in other.rows]
        self.rows = (self.rows + copies)[-self.size :]

    def forget(self, columns):
        for row in self.rows:
            row.values = row.wide(self.n_features)
            row.values[columns] = np.nan

    def reindexed(self, columns, n_features):
        twin = Twin(self.size, [], n_features)
        for row in self.rows:
            values = np.full(n_features, 0.0 if row.sparse else np.nan)
            values[columns[: len(row.values)]] = row.values
            twin.rows.append(Row(values, row.label, row.weight, row.sparse))
        return twin

    def table(self):
        """Return X (as wide as all features), labels and weights of all rows."""
        X = np.array([row.wide(self.n_features) for row in self.rows]).reshape(-1, self.n_features)
        return X, np.array([row.label for row in self.rows]), np.array([row.weight for row in self.rows])


class _Listing(Twin, Part):
    """A summary that is a list of rows."""

    target = "classes"
    fields = {
        "note": Int(),
        "values": Array("f8", "rows", "features"),
        "widths": Array("i8", "rows", low=0),
        "weights": Array("f8", "rows"),
        "sparse": Array("?", "rows"),
        "labels": Texts("rows"),
    }

    def __init__(self, note=0):
        super().__init__()
        self.note = note

    @property
    def n_rows(self):
        return len(self.rows)

    @property
    def classes(self):
        return sorted({row.label for row in self.rows})

    @property
    def nbytes(self):
        return 1000 * len(self.rows)

    def merge(self, other):
        if type(other) is not type(self) or other.note != self.note:
            raise MergeError("lists of different notes")
        super().merge(other)

    def reindexed(self, columns, n_features):
        twin = type(self)(self.note)
        twin.rows, twin.n_features = super().reindexed(columns, n_features).rows, n_features
        return twin

    def _record(self):
        X = np.array([np.pad(r.values, (0, self.n_features - len(r.values))) for r in self.rows])
        return {
            "note": self.note,
            "values": X.reshape(len(self.rows), self.n_features),
            "widths": np.array([len(row.values) for row in self.rows], np.int64),
            "weights": np.array([row.weight for row in self.rows], np.float64),
            "sparse": np.array([row.sparse for row in self.rows], bool),
            "labels": [repr(row.label) for row in self.rows],
        }

    @classmethod
    def _rebuilt(cls, record):
        listing = cls(record["note"])
        values, words, sparse = record["values"], record["labels"], record["sparse"].tolist()
        listing.n_features = values.shape[1]
        columns = zip(values, words, record["widths"], record["weights"], sparse, strict=True)
        for row, word, width, weight, is_sparse in columns:
            label = word[1:-1] if word[0] in "'\"" else float(word) if "." in word else int(word)
            listing.rows.append(Row(row[:width].copy(), label, float(weight), is_sparse))
        return listing


@register
class Listing(_Listing):
    """A list of rows with labels."""


@register
class NumericListing(_Listing):
    """A list of rows with numbers."""

    target = "numeric"


@register
class Tally(_Listing):
    """A list that can take rows back: the first one that is equal."""

    removed = 0
    half_life = None

    def remove(self, X, y, weight=None):
        type(self).removed += len(y)
        for gone in rows_of(X, y, weight):
            key = _key(gone, self.n_features)
            place = next(i for i, row in enumerate(self.rows) if _key(row, self.n_features) == key)
            del self.rows[place]


def _key(row, n_features):
    return row.wide(n_features).tobytes(), row.label, row.weight


def assert_same_rows(got, wanted, *, ordered=True):
    """Compare a list of rows with a twin, NaN and all."""
    assert got.n_rows == len(wanted.rows)
    if not wanted.rows:
        return
    assert got.n_features == wanted.n_features
    (X, y, w), (A, b, v) = got.table(), wanted.table()
    if not ordered:
        one, two = (np.lexsort((labels, weights, *np.nan_to_num(Z, nan=1e50).T)) for Z, labels, weights in
                    ((X, y, w), (A, b, v)))  # fmt: skip
        X, y, w, A, b, v = X[one], y[one], w[one], A[two], b[two], v[two]
    np.testing.assert_array_equal(X, A)
    np.testing.assert_array_equal(w, v)
    assert y.tolist() == b.tolist()


@dataclass
class Segment:
    """Rows of one form, which may be cut into batches anywhere."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    form: str

    def batch(self, low, high):
        weight = None if self.weight is None else self.weight[low:high]
        return KINDS_OF_ROWS[self.form](self.X[low:high]), self.y[low:high], weight

    def batches(self, rng, longest):
        """Cut into batches of random lengths."""
        low = 0
        while low < len(self.y):
            high = low + int(rng.integers(1, longest + 1))
            yield self.batch(low, min(high, len(self.y)))
            low = high


def random_segments(rng, target="classes", *, forms=tuple(KINDS_OF_ROWS), weights=("none", "whole", "part")):
    """Return segments of random forms, widths and weights, that follow each other in one stream."""
    labels = [np.array([0, 1, 2]), np.array(["no", "yes", "perhaps"]), np.array([0.0, 3.0])][rng.integers(3)]
    mixed = rng.random() < 0.5
    form, width = rng.choice(forms), int(rng.integers(1, 5))
    segments = []
    for _ in range(int(rng.integers(1, 5))):
        n = int(rng.integers(1, 9))
        if mixed:
            form = rng.choice(forms)
        width += int(rng.integers(-1, 2)) if width > 1 else int(rng.integers(0, 2))
        X = rng.integers(-2, 3, (n, width)).astype(float)
        X[rng.random((n, width)) < rng.choice([0, 0.3])] = np.nan
        kind = rng.choice(weights)
        w = None if kind == "none" else rng.integers(0, 4, n).astype(float)
        if kind == "part":
            w = w * rng.random(n)
        y = rng.choice(labels, n) if target == "classes" else rng.integers(-3, 4, n) / 2
        segments.append(Segment(X, y, w, form))
    return segments


def fed_together(rng, segments, *summaries, longest=6):
    """Feed batches of random lengths to all summaries; yield after each."""
    for segment in segments:
        for batch in segment.batches(rng, longest):
            for summary in summaries:
                summary.update(*batch)
            yield batch
