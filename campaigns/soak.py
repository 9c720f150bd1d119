"""Memory over long streams: what a selector remembers does not grow with the rows that it has seen."""

from __future__ import annotations

import ctypes
import gc
import os
import time
import warnings
from collections.abc import Iterator
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from campaigns.outcome import Outcome
from campaigns.subjects import fit_all, name_of, subjects
from streamsieve.base import ColumnSelector, RowSelector
from streamsieve.protocols import ColumnBlock
from streamsieve.testing._data import sample_for

GOAL = (
    "while a stream grows fourfold, resident memory (at the end without what was freed) grows by at most "
    "4 MB and twice the state, and the state by at most itself and 4 MB (of each replica of a bootstrap), "
    "beside what is meant to grow: rows that an exact criterion keeps, columns that a selector over columns "
    "keeps (16 bytes per row, 8 per pair of coefficients), and a ledger (review_every), whose lines take at "
    "most 200 bytes"
)
PATIENCE = 120.0
#: Seconds of computation for warming up; factor by which the stream then grows.
WARM, TIMES = 0.7, 4
ROWS, BATCHES, BLOCK = 200, 160, 64
#: Bytes: of a selector (a sketch may begin a level), of a line of the ledger, and of a row that is kept.
GROWTH, LINE, ROW = 4 * 2**20, 200, 400
#: Bytes of a value of a kept column (the column and what is derived from it), and of a pair of coefficients.
VALUE, PAIR = 16, 8


class Case(NamedTuple):
    """A selector with a long stream."""

    subject: int
    ledger: str | None

    def __str__(self) -> str:
        return f"{name_of(subjects()[self.subject])}, ledger {self.ledger}"


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield selectors over rows, and selectors over columns with and without a ledger, in random order."""
    numbers = {
        kind: [i for i, s in enumerate(subjects()) if isinstance(s, kind)]
        for kind in (RowSelector, ColumnSelector)
    }
    while True:
        rows, columns = (rng.permutation(numbers[kind]).tolist() for kind in (RowSelector, ColumnSelector))
        for k, subject in enumerate(rows):
            yield Case(subject, None)
            yield Case(columns[k % len(columns)], ("none", "kept", "all")[k % 3])


def prepare() -> None:
    """Load kernels before the first case: a case has a time limit, a compiler has not."""
    fit_all()


def attempt(case: Case) -> Outcome:
    """Let a selector learn for some seconds, and compare its memory with that after the warm-up."""
    subject = clone(subjects()[case.subject])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(subject, RowSelector):
            steps = _learning(subject)
        else:
            steps = _offering(subject.set_params(ledger=case.ledger))
        early = next(steps)
        subject.to_bytes(), subject.get_support()  # loads whatever these need
        until = time.process_time() + WARM
        while time.process_time() < until:
            early += next(steps)
        lines, size, columns = _lines(subject), len(subject.to_bytes()), _columns(subject)
        before, seen = _resident(), 0
        while seen < (TIMES - 1) * early:
            seen += next(steps)
        more, saved = _lines(subject) - lines, len(subject.to_bytes()) - size
        grown, kept = _resident(trimmed=True) - before, max(0, _columns(subject) - columns)
    copies = subject.get_params(deep=False).get("replicas", 1)  # a bootstrap holds several selectors
    meant = GROWTH * copies + LINE * more + (ROW * seen if _keeps_rows(subject) else 0) + kept
    text = (
        f"{early:,} and {seen:,} more, memory {grown:+,} bytes, {more:,} lines of the ledger, "
        f"state {size:,} {saved:+,} bytes, {kept:,} of kept columns"
    )
    held = saved <= meant + size and grown <= meant + 2 * (size + saved)
    return Outcome("held" if held else "lost", text, amount=seen)


def _learning(selector: Any) -> Iterator[int]:
    data = sample_for(selector, n=ROWS * BATCHES)
    for k in cycle(range(BATCHES)):
        rows = slice(k * ROWS, (k + 1) * ROWS)
        selector.partial_fit(data.X[rows], data.y[rows])
        yield ROWS


def _offering(selector: Any) -> Iterator[int]:
    X, y, _ = sample_for(selector, n=ROWS, p=BLOCK)
    rng = np.random.default_rng(0)
    selector.begin(y)
    while True:
        X[:, 3:] = rng.normal(size=(ROWS, BLOCK - 3))
        selector.offer(ColumnBlock(np.abs(X) if selector.traits.non_negative else X))
        yield BLOCK


def _resident(*, trimmed: bool = False) -> int:
    """Return the resident memory; ``trimmed`` is without what was freed and the C library has kept.

    It may keep as much as the largest array that was ever freed: a state that was written, or a matrix of
    which a solver made a copy.  What it had at the beginning is used again, and is no growth.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if trimmed else None  # the GNU C library's
    if trim is not None:
        trim(0)
    with open("/proc/self/statm") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _lines(selector: Any) -> int:
    return len(selector.ledger_)


def _columns(selector: Any) -> int:
    """Return the bytes that the columns of a selector over columns take, with the pairs of coefficients."""
    if isinstance(selector, RowSelector):
        return 0
    kept = int(np.sum(selector.get_support()))
    outputs = np.atleast_2d(getattr(selector, "coef_", 0.0)).shape[0]
    return kept * ROWS * VALUE + PAIR * (kept * outputs) ** 2


def _keeps_rows(selector: Any) -> bool:
    """Whether a selector is meant to keep all rows."""
    parameters = selector.get_params(deep=False)
    return bool(parameters.get("exact")) and parameters.get("window") is None
