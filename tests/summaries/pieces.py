"""Random streams of numbers, text and missing values in every form, and the comparison with the slow twin."""

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from streamsieve.summaries.contingency import Category
from tests.reference.contingency import OTHER, Row, contingency, effective_rows

HALF_LIVES = (None, 1.0, 3.0, 100.0, 1e5)
KINDS = ("numbers", "text", "mixed")
DENSE = {
    "C": lambda X: numeric(X),
    "F": lambda X: np.asfortranarray(numeric(X)),
    "float32": lambda X: numeric(X).astype(np.float32),
    "strided": lambda X: np.repeat(numeric(X), 2, axis=1)[:, ::2],
    "object": lambda X: X,
}
SPARSE = {
    "csr_array": lambda X: sp.csr_array(numeric(X)),
    "csr_matrix": lambda X: sp.csr_matrix(numeric(X)),
    "csr float32": lambda X: sp.csr_array(numeric(X).astype(np.float32)),
    "csr with zeros": lambda X: stored_zeros(numeric(X)),
}
FORMS = DENSE | SPARSE
#: Numbers that float32 holds exactly.
NUMBERS = [0, 0, 0.0, -0.0, 1, 1.0, 2, 3, -1, -2.5, 1e6, 2**-30, True]
TEXTS = ["", "a", "b", "B", "ümlaut", "1", "0", "other", "nan", "\ud800", "a" * 50]


def numeric(X):
    return np.array([[math.nan if v is None else v for v in row] for row in X], np.float64).reshape(X.shape)


def stored_zeros(X):
    """Store every value, zeros too."""
    n, p = X.shape
    return sp.csr_array((X.ravel(), np.tile(np.arange(p), n), np.arange(n + 1) * p), shape=(n, p))


@dataclass
class Piece:
    """Some rows of a stream in one form."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    form: str

    def rows(self):
        weight = np.ones(len(self.y)) if self.weight is None else self.weight
        labels, sparse = self.y.tolist(), self.form in SPARSE
        return [
            Row(cells.tolist(), label, float(w), sparse)
            for cells, label, w in zip(self.X, labels, weight, strict=True)
        ]

    def batch(self):
        return FORMS[self.form](self.X), self.y, self.weight

    def __len__(self):
        return len(self.y)

    def __getitem__(self, part):
        return Piece(
            self.X[part], self.y[part], None if self.weight is None else self.weight[part], self.form
        )


def random_piece(rng, n, p, kind="numbers", weights=None, forms=tuple(FORMS), labels=(0, 1, 2)):
    pool = {"numbers": NUMBERS, "text": TEXTS, "mixed": NUMBERS + TEXTS}[kind]
    pool = [pool[i] for i in rng.permutation(len(pool))[: rng.integers(1, len(pool) + 1)]]
    X = np.empty((n, p), object)
    missing = rng.choice([0, 0, 0.2, 0.7])
    for i in range(n):
        for j in range(p):
            value = pool[rng.integers(len(pool))]
            X[i, j] = rng.choice([None, math.nan]) if rng.random() < missing else value
    y = rng.choice(np.array(labels), n)
    weights = rng.choice(["none", "whole", "fraction"]) if weights is None else weights
    w = None if weights == "none" else rng.integers(0, 4, n) * (1.0 if weights == "whole" else 0.1)
    form = rng.choice(forms) if kind == "numbers" else "object"
    return Piece(X, y, w, str(form))


def random_pieces(rng, kind="numbers", n_pieces=None, width=None, **how):
    """Make a stream in pieces of different forms, and of different widths if none is given."""
    n_pieces = int(rng.integers(1, 5)) if n_pieces is None else n_pieces
    how["weights"] = how.get("weights") or rng.choice(["none", "whole", "fraction"])
    return [
        random_piece(
            rng,
            int(rng.integers(0, 8)),
            width or int(rng.integers(1, 4)),
            str(rng.choice(["numbers", kind])),
            **how,
        )
        for _ in range(n_pieces)
    ]


def feed(summary, *pieces):
    for piece in pieces:
        summary.update(*piece.batch())
    return summary


def rows_of(pieces):
    return [row for piece in pieces for row in piece.rows()]


def width_of(pieces):
    there = [p.X.shape[1] for p in pieces if len(p) and (p.weight is None or p.weight.any())]
    return max(there, default=0)


def counted(summary):
    """Return {(feature, label, value): count}, without zeros."""
    found = {}
    for feature in range(summary.n_features):
        levels, counts = summary.categories(feature), summary.counts(feature)
        assert counts.shape == (len(summary.classes), len(levels))
        assert (counts.sum(axis=0) > 0).all()
        for level, column in zip(levels, counts.T, strict=True):
            value = OTHER if level is Category.OTHER else level
            for label, count in zip(summary.classes, column.tolist(), strict=True):
                if count:
                    assert (feature, label, value) not in found
                    found[feature, label, value] = count
    return found


def is_whole(pieces):
    return all(p.weight is None or np.array_equal(p.weight, np.floor(p.weight)) for p in pieces)


def check(summary, pieces, half_life=None, cap=256, tolerance=1e-11):
    """Compare a summary with the twin over the whole stream."""
    rows, p = rows_of(pieces), width_of(pieces)
    twin = contingency(rows, p, half_life, cap)
    assert summary.n_features == p
    assert summary.n_rows == sum(row.weight > 0 for row in rows)
    assert sorted(summary.classes) == sorted({row.label for row in rows if row.weight > 0})
    found = counted(summary)
    if half_life is None and is_whole(pieces):
        assert found == twin
    else:
        total = sum(twin.values())
        factor = sum(found.values()) / total if half_life and total else 1.0
        assert not {key for key, count in found.items() if count > tolerance * factor * total} - twin.keys()
        for key, count in twin.items():
            assert abs(found.get(key, 0.0) / factor - count) <= tolerance * total
    overflow = [any(key == (j, row.label, OTHER) for row in rows for key in twin) for j in range(p)]
    assert summary.overflowed.tolist() == overflow
    check_tables(summary, effective_rows(rows, p, half_life))


def check_tables(summary, n):
    blocks = list(summary.tables(5))
    assert sum(len(block.n) for block in blocks) == summary.n_features
    feature = 0
    for block in blocks:
        assert block.counts.shape[:2] == (len(block.n), len(summary.classes))
        for table, rows in zip(block.counts, block.n, strict=True):
            levels, counts = summary.categories(feature), summary.counts(feature)
            assert not table[:, len(levels) :].any()
            filled = table[:, : len(levels)]
            assert block.ordered == (not any(isinstance(level, str) for level in levels))
            if block.ordered:
                assert np.array_equal(filled, counts)
                assert levels == sorted(levels)
            else:
                assert sorted(map(tuple, filled.T)) == sorted(map(tuple, counts.T))
            np.testing.assert_allclose(rows, n[feature], rtol=1e-9, atol=1e-9)
            feature += 1
