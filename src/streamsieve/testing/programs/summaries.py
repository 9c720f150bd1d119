"""Programs of operations on a summary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from streamsieve.exceptions import InputError, MergeError
from streamsieve.protocols import Fades, FloatArray, Subtracts
from streamsieve.summaries.nesting import innermost
from streamsieve.testing._summary_rows import FORMS, Make, P, Read, known, same, same_bits
from streamsieve.testing.programs.program import Program, Rng


@dataclass
class Rows:
    """Rows of a twin: values, target and weights."""

    X: FloatArray
    y: npt.NDArray[Any]
    weight: FloatArray

    def joined(self, other: Rows) -> Rows:
        """Return these rows followed by others."""
        pairs = ((self.X, other.X), (self.y, other.y), (self.weight, other.weight))
        return Rows(*(np.concatenate(pair) for pair in pairs))

    def some(self, chosen: npt.NDArray[np.bool_]) -> Rows:
        """Return the chosen rows."""
        return Rows(self.X[chosen], self.y[chosen], self.weight[chosen])

    def learned(self, summary: Any, form: str, how: str = "update") -> Any:
        """Update a summary with the rows, or remove them; return it."""
        weight = None if np.all(self.weight == 1) else self.weight
        getattr(summary, how)(FORMS[form](self.X), self.y, weight)
        return summary


class SummaryProgram(Program):
    """Operations on a summary; its twin is the list of rows that it should hold.

    Parameters
    ----------
    make : returns an empty summary
    read : returns what a summary knows, as in :func:`~streamsieve.testing.check_summary`
    form : "dense" or "sparse" rows
    """

    operations: ClassVar[tuple[str, ...]] = (
        "update",
        "merge",
        "save",
        "fade",
        "remove",
        "reindex",
        "forget",
        "refused",
    )

    def __init__(self, make: Make, read: Read | None = None, form: str = "dense") -> None:
        self.make, self.form = make, form
        self.read: Read = known if read is None else read
        self.width = P
        first = self._rows(np.random.default_rng(0), 3)
        self.subject = first.learned(make(), form)
        #: Rows, factors by which all before them fade, and twins of summaries that were merged.
        self.history: list[Rows | float | SummaryProgram] = [first]

    def applicable(self) -> list[str]:
        """Return the operations that this summary has."""
        lasting = getattr(innermost(self.subject), "half_life", None) is None
        able = {
            "fade": isinstance(self.subject, Fades),
            "remove": isinstance(self.subject, Subtracts) and lasting,
            "forget": self._takes_missing(),
        }
        return [name for name in self.operations if able.get(name, True)]

    def update(self, rng: Rng) -> None:
        """Learn some rows, or none; perhaps weighted, or with a label that is new."""
        rows = self._rows(rng, int(rng.integers(0, 40)))
        rows.learned(self.subject, self.form)
        self._hold(rows)

    def merge(self, rng: Rng) -> None:
        """Merge a summary that was faded, saved and loaded itself."""
        other = SummaryProgram(self.make, self.read, self.form)
        other.move(np.arange(P), self.width)
        names = [name for name in self.applicable() if name in ("update", "save", "fade")]
        for _ in range(rng.integers(5)):
            getattr(other, names[rng.integers(len(names))])(rng)
        state = self.subject.state()
        try:
            self.subject.merge(other.subject)
        except MergeError:  # such as numeric targets that were cut at other places
            same_bits(state, self.subject.state(), "a refused merge left a trace")
            return
        first, *rest = other.history
        if isinstance(first, Rows) and not rest:  # nothing but rows
            self._hold(first)
        else:
            self.history.append(other)

    def save(self, rng: Rng) -> None:  # noqa: ARG002 - nothing is drawn
        """Write a state, and go on with what is read back."""
        state = self.subject.state()
        again = type(self.subject).from_state(state)
        same_bits(state, again.state(), "a state changes when it is read back")
        self.subject = again

    def fade(self, rng: Rng) -> None:
        """Let all rows so far weigh less."""
        factor = float(rng.choice([0.25, 0.5, 0.75]))
        self.subject.fade(factor)
        self.history.append(factor)

    def remove(self, rng: Rng) -> None:
        """Remove some of the rows, unless some of them have faded: removing is exact for whole weights."""
        rows = self.history[-1]
        if isinstance(rows, Rows) and len(self.history) == 1:
            some = rng.random(len(rows.y)) < rng.random()
            some[np.unique(rows.y, return_index=True)[1]] = False  # a label that was seen stays known
            rows.some(some).learned(self.subject, self.form, "remove")
            self.history[-1] = rows.some(~some)

    def reindex(self, rng: Rng) -> None:
        """Move the features; sparse rows also get a new one."""
        wider = self.width + int(self.form == "sparse" and self.width < P + 3)
        self.move(rng.permutation(wider)[: self.width], wider)

    def forget(self, rng: Rng) -> None:
        """Let one feature count as missing in all rows so far."""
        column = int(rng.integers(self.width))
        self.subject.forget(np.array([column]))
        for rows in self.all_rows():
            rows.X[:, column] = np.nan

    def refused(self, rng: Rng) -> None:
        """Try to learn an infinite value, which must leave no trace."""
        rows = self._rows(rng, 4)
        rows.X[-1, 0], rows.weight = np.inf, np.ones(4)
        state = self.subject.state()
        try:
            rows.learned(self.subject, self.form)
        except InputError:
            same_bits(state, self.subject.state(), "refused rows left a trace")
        else:
            raise AssertionError("an infinite value was accepted")

    def check(self) -> None:
        """Compare with an empty summary that is updated with all rows at once."""
        expected = self.expected()
        assert self.subject.n_rows == expected.n_rows, (
            f"n_rows is {self.subject.n_rows}, and {expected.n_rows} for the same rows at once"
        )
        same(
            self.read(expected),
            self.read(self.subject),
            "the summary differs from that of the same rows at once",
        )

    def expected(self) -> Any:
        """Return the summary of the history."""
        summary = self.make()
        for event in self.history:
            if isinstance(event, Rows):
                event.learned(summary, self.form)
            elif isinstance(event, float):
                summary.fade(event)
            else:
                summary.merge(event.expected())
        return summary

    def _takes_missing(self) -> bool:
        rows = self._rows(np.random.default_rng(0), 3)
        rows.X[:] = np.nan
        try:
            rows.learned(self.make(), self.form)
        except InputError:
            return False
        return True

    def _hold(self, rows: Rows) -> None:
        """Let the twin hold those rows that exist."""
        rows = rows.some(rows.weight > 0)
        last = self.history[-1]
        if isinstance(last, Rows):
            self.history[-1] = last.joined(rows)
        else:
            self.history.append(rows)

    def all_rows(self) -> Iterator[Rows]:
        """Yield the rows of the history, those of merged summaries included."""
        for event in self.history:
            if isinstance(event, Rows):
                yield event
            elif not isinstance(event, float):
                yield from event.all_rows()

    def move(self, columns: npt.NDArray[np.int64], width: int) -> None:
        """Put feature i at ``columns[i]``, among ``width`` features."""
        self.subject = self.subject.reindexed(columns, width)
        for rows in self.all_rows():
            X = np.zeros((len(rows.y), width))
            X[:, columns] = rows.X
            rows.X = X
        self.width = width

    def _rows(self, rng: Rng, n: int) -> Rows:
        """Return rows of which the first three have labels 0, 1 and 2, so that labels come in that order."""
        label = np.concatenate([np.arange(3), rng.integers(0, rng.integers(1, 5), n)])[:n]
        X = rng.integers(-2, 4, (n, self.width)).astype(np.float64)
        X[:, 0] += label
        weight = rng.integers(0, 3, n) if n > 3 and rng.random() < 0.5 else np.ones(n)
        y = label if self.make().target == "classes" else label + 0.5 * rng.integers(0, 9, n)
        return Rows(X, y, weight.astype(np.float64))
