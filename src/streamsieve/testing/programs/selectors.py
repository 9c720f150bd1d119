"""Programs of operations on a selector over rows or columns."""

from __future__ import annotations

import copy
import pickle
import tempfile
import warnings
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from streamsieve.base import ColumnSelector, RowSelector
from streamsieve.exceptions import CapabilityError, InputError
from streamsieve.protocols import FloatArray
from streamsieve.testing._data import assert_same, decisions, fresh, sample, sample_for, task_for
from streamsieve.testing.programs.program import Program, Rng


class SelectorProgram(Program):
    """Operations that must not change a selector; its twin is spared them."""

    operations: ClassVar[tuple[str, ...]] = ("learn", "learn", "save", "copied", "read", "refused")

    def __init__(self, selector: Any) -> None:
        self.traits = selector.traits
        self.subject, self.twin = fresh(selector), fresh(selector)
        #: Features or rows that were used up.
        self.place = 0

    @abstractmethod
    def learn(self, rng: Rng) -> None:
        """Let subject and twin learn the next part of the data."""

    @abstractmethod
    def refused(self, rng: Rng) -> None:
        """Try to learn an infinite value, which must leave no trace."""

    def save(self, rng: Rng) -> None:
        """Go on with what was saved and loaded, by a file or by bytes."""
        kind = type(self.subject)
        if rng.integers(2):
            self.subject = kind.from_bytes(self.subject.to_bytes())
            return
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "program.sieve"
            self.subject.save(path)
            self.subject = kind.load(path)

    def copied(self, rng: Rng) -> None:
        """Go on with a pickled or a deep copy."""
        by_pickle = rng.integers(2)
        self.subject = pickle.loads(pickle.dumps(self.subject)) if by_pickle else copy.deepcopy(self.subject)  # noqa: S301 - its own bytes

    def read(self, rng: Rng) -> None:  # noqa: ARG002 - nothing is drawn
        """Read what was learned."""
        for name in ("selected_", "ranked_", "scores_", "ledger_"):
            getattr(self.subject, name, None)
        self.subject.get_support()
        repr(self.subject)

    def check(self) -> None:
        """Compare with the twin."""
        assert_same(self.twin, self.subject, "the selector and its twin")
        assert decisions(self.subject) == decisions(self.twin), "the ledgers differ"


def _refuses(call: Callable[[], object]) -> None:
    try:
        call()
    except InputError:
        return
    raise AssertionError("an infinite value was accepted")


class RowProgram(SelectorProgram):
    """Operations on a selector over rows.

    Parameters
    ----------
    selector : an instance; it is cloned
    """

    operations: ClassVar[tuple[str, ...]] = (*SelectorProgram.operations, "merge", "transform")

    def __init__(self, selector: Any) -> None:
        super().__init__(selector)
        self.data = sample_for(selector, n=600)
        for one in (self.subject, self.twin):
            self._next(one, 24)
        self.place = 24

    def applicable(self) -> list[str]:
        """Return the operations that this selector has."""
        return [name for name in self.operations if name != "merge" or self.traits.merges]

    def learn(self, rng: Rng) -> None:
        """Learn some rows, dense or sparse, perhaps weighted."""
        n, sparse = int(rng.integers(1, 30)), self.traits.sparse and bool(rng.integers(2))
        weight = rng.integers(0, 3, n).astype(float) if self.traits.weights and rng.integers(2) else None
        for one in (self.subject, self.twin):
            self._next(one, n, sparse=sparse, weight=weight)
        self.place += n

    def merge(self, rng: Rng) -> None:
        """Merge a selector that has learned the next rows, and was perhaps saved."""
        n = int(rng.integers(24, 40))
        other = self._next(fresh(self.subject), n)
        self.twin.merge(copy.deepcopy(other))
        self.subject.merge(type(other).from_bytes(other.to_bytes()) if rng.integers(2) else other)
        self.place += n

    def transform(self, rng: Rng) -> None:  # noqa: ARG002 - nothing is drawn
        """Transform rows."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "No features were selected")
            self.subject.transform(self.data.X[:5])

    def refused(self, rng: Rng) -> None:  # noqa: ARG002 - nothing is drawn
        """Try to learn an infinite value, which must leave no trace."""
        X = self.data.X[:8].copy()
        X[-1, 0] = np.inf
        _refuses(lambda: self.subject.partial_fit(X, self.data.y[:8]))

    def _next(self, one: Any, n: int, *, sparse: bool = False, weight: FloatArray | None = None) -> Any:
        at = np.arange(self.place, self.place + n) % len(self.data.y)
        X = sp.csr_array(self.data.X[at]) if sparse else self.data.X[at]
        weights = {} if weight is None else {"sample_weight": weight}
        return one.partial_fit(X, self.data.y[at], **weights)


class ColumnProgram(SelectorProgram):
    """Operations on a selector over columns.

    Parameters
    ----------
    selector : an instance; it is cloned
    """

    operations: ClassVar[tuple[str, ...]] = (*SelectorProgram.operations, "measure")

    def __init__(self, selector: Any) -> None:
        super().__init__(selector)
        self.data = sample(task_for(selector), p=14)
        for one in (self.subject, self.twin):
            one.begin(self.data.y)
            one.offer(self.data.X[:, :4])

    def applicable(self) -> list[str]:
        """Return the operations that this selector has."""
        try:
            self.subject.measure_block(self.data.X[:, :1])
        except CapabilityError:
            return [name for name in self.operations if name != "measure"]
        return list(self.operations)

    def learn(self, rng: Rng) -> None:
        """Offer some columns, dense or sparse, together or one by one."""
        X = self._columns(rng)
        if rng.integers(2):
            for j in range(X.shape[1]):
                self.subject.offer(X[:, j])
        else:
            self.subject.offer(sp.csc_array(X) if self.traits.sparse and rng.integers(2) else X)
        self.twin.offer(X)

    def measure(self, rng: Rng) -> None:
        """Offer columns that a copy of the selector has measured."""
        X = self._columns(rng)
        self.subject.offer(pickle.loads(pickle.dumps(self.subject)).measure_block(X))  # noqa: S301 - its own bytes
        self.twin.offer(X)

    def refused(self, rng: Rng) -> None:  # noqa: ARG002 - nothing is drawn
        """Try to learn an infinite value, which must leave no trace."""
        _refuses(lambda: self.subject.offer(np.full((len(self.data.y), 2), np.inf)))

    def _columns(self, rng: Rng) -> FloatArray:
        """Return columns that lie between the target, those of the sample, and noise."""
        n, m = len(self.data.y), int(rng.integers(1, 9))
        X = self.data.X[:, rng.integers(0, self.data.X.shape[1], m)] * rng.integers(0, 2, m)
        return np.round(8 * (X + rng.choice([0.0, 0.3, 3.0], m) * rng.normal(size=(n, m)))) / 8


def program_for(selector: Any) -> Program | None:
    """Return a program over a selector; None for one that sees its data at once."""
    for base, kind in ((RowSelector, RowProgram), (ColumnSelector, ColumnProgram)):
        if isinstance(selector, base):
            return kind(selector)
    return None
