"""The vocabulary: what streams, what is decided, and what each part promises.

Read this file and the tree of folders, and you know the architecture:

* a :class:`RowSource` yields :class:`RowBatch`, a :class:`ColumnSource` yields :class:`ColumnBlock`;
* a row selector feeds batches to a :class:`Summary` and asks a :class:`Criterion` for scores;
* a column selector answers every block with :class:`Decision` s, which its ledger remembers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

#: A matrix behind the border of validation: a float32 or float64 ndarray, or CSR (rows) / CSC (columns) of
#: such values.  SciPy has no common type for its sparse containers, so this is a name, not a check.
Matrix: TypeAlias = Any
FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
#: What :meth:`Summary.state` returns and a ``.sieve`` file holds.
Arrays: TypeAlias = dict[str, npt.NDArray[Any]]
#: Where a source stands after a batch; JSON, so that it can live inside a checkpoint.
Position: TypeAlias = dict[str, int]


# ------------------------------------------------------------------------------------ what arrives


@dataclass(frozen=True, slots=True)
class RowBatch:
    """Some rows of a stream: features, target, optional weights and names."""

    X: Matrix
    y: npt.NDArray[Any] | None = None
    weight: FloatArray | None = None
    names: Sequence[str] | None = None
    position: Position = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ColumnBlock:
    """Some columns of a stream, all over the same rows; ``seconds`` is what each took to compute."""

    X: Matrix
    names: Sequence[str] | None = None
    position: Position = field(default_factory=dict)
    seconds: FloatArray | None = None


# ------------------------------------------------------------------------------------ what is decided


class Event(StrEnum):
    """What happened to a feature."""

    KEPT = "kept"
    REJECTED = "rejected"
    EVICTED = "evicted"


class Reason(StrEnum):
    """Why it happened.  New reasons go to the end: state files hold their positions."""

    RELEVANT = "relevant"
    CONSTANT = "constant"
    IRRELEVANT = "irrelevant"
    REDUNDANT = "redundant"
    COLLINEAR = "collinear"
    EXACT_FIT = "model fits exactly"
    UNRELIABLE = "unreliable test"
    STOPPED = "stopped"
    ENTERED_TOP = "entered the top set"
    LEFT_TOP = "left the top set"
    OUTSCORED = "outscored"
    NOT_SAMPLED = "not sampled"


class Decision(NamedTuple):
    """One line of a ledger.

    ``step`` counts what had arrived when the decision fell: the arrival number of the column that
    caused it, or the number of rows seen.  ``by`` names the features that made this one redundant.
    """

    step: int
    feature: str
    event: Event
    reason: Reason
    statistic: float
    p_value: float
    by: tuple[str, ...] = ()

    def __str__(self) -> str:
        given = f" given {{{', '.join(self.by)}}}" if self.by else ""
        p = "" if math.isnan(self.p_value) else f", p {self.p_value:.2g}"
        return f"{self.feature}: {self.event}, {self.reason}{given} (statistic {self.statistic:.4g}{p})"


# ------------------------------------------------------------------------------------ what parts promise


class Task(StrEnum):
    """Kinds of target."""

    BINARY = "binary"
    MULTICLASS = "multiclass"
    REGRESSION = "regression"


CLASSIFICATION = frozenset({Task.BINARY, Task.MULTICLASS})
ANY_TASK = CLASSIFICATION | {Task.REGRESSION}


@dataclass(frozen=True, kw_only=True)
class Traits:
    """What a selector can do; contract checks, tables and error messages read it.

    Attributes
    ----------
    tasks : the kinds of target it has a meaning for.
    sparse : takes CSR / CSC without making it dense.
    missing : takes NaN as a missing value.
    text : takes text as categories.
    weights : takes ``sample_weight``; weight k is the same as k copies of the row.
    merges : two states of two parts of a stream combine into the state of the whole.
    any_chunking : the size of batches or blocks never changes the result.
    forgets : rows count less as time goes by, so that their order matters.
    non_negative : refuses negative values.
    draws_features : looks at features drawn at random, so that their order and number matter.
    """

    tasks: frozenset[Task] = ANY_TASK
    sparse: bool = True
    missing: bool = False
    text: bool = False
    weights: bool = False
    merges: bool = False
    any_chunking: bool = True
    forgets: bool = False
    non_negative: bool = False
    draws_features: bool = False


@runtime_checkable
class Stateful(Protocol):
    """Something that turns into named arrays and back, bit for bit."""

    def state(self) -> Arrays:
        """Return everything there is to know, as arrays."""
        ...

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild; refuse arrays that do not fit together with ``StateError``."""
        ...


class Summary(Stateful, Protocol):
    """What is remembered of a stream of rows; mergeable.

    Laws, tested for every summary: ``merge`` equals ``update`` on the concatenation; states round-trip
    bit for bit; labels and features may appear late.
    """

    #: "classes" or "numeric": what ``update`` takes for ``y``.
    target: ClassVar[str]

    def update(self, X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None = None) -> None:
        """Take a batch of rows into account, wholly or (on an error) not at all."""
        ...

    def merge(self, other: Self) -> None:
        """Become the summary of this stream followed by the other's."""
        ...

    @property
    def n_rows(self) -> int:
        """Rows seen."""
        ...

    @property
    def n_features(self) -> int:
        """Features seen."""
        ...

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        ...


class Criterion(Protocol):
    """A formula over a summary: one score a feature, larger is better, never NaN."""

    name: ClassVar[str]
    tasks: ClassVar[frozenset[Task]]
    summary_type: ClassVar[type[Any]]
    has_p_values: ClassVar[bool]

    def __call__(self, summary: Any) -> FloatArray:
        """Score every feature; a degenerate column scores worst."""
        ...

    def p_values(self, summary: Any) -> FloatArray:
        """Probability of such a score under independence."""
        ...


class RowSource(Protocol):
    """Rows, in batches.  The batch size never changes the content."""

    @property
    def names(self) -> Sequence[str] | None:
        """Names of the features, if they have any."""
        ...

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, if that is known."""
        ...

    def identity(self) -> dict[str, Any]:
        """Return what makes this stream this stream, as JSON; a checkpoint keeps it."""
        ...

    def check_identity(self, known: Mapping[str, Any]) -> None:
        """Refuse (``SourceError``) to go on with a stream that is not the one of an earlier identity.

        A stream may have grown at its end since; nothing that was read may have changed or gone.
        """
        ...

    def rows(self, batch_size: int = ..., start: Position | None = None) -> Iterator[RowBatch]:
        """Yield batches from the beginning, or from just after ``start``."""
        ...


class ColumnSource(Protocol):
    """Columns, in blocks, with the target they are judged by."""

    n_columns: int | None

    @property
    def y(self) -> npt.NDArray[Any] | None:
        """The target, whole: the rows are fixed."""
        ...

    def columns(self, block_size: int = ..., start: Position | None = None) -> Iterator[ColumnBlock]:
        """Yield blocks from the beginning, or from just after ``start``.

        A position holds at least ``column``, the number of columns before it, and that alone will do.
        """
        ...


class Learner(Protocol):
    """A model that follows a selection: scikit-learn's ``partial_fit`` and ``predict``."""

    def partial_fit(self, X: Matrix, y: npt.NDArray[Any]) -> Self:
        """Learn a batch."""
        ...

    def predict(self, X: Matrix) -> npt.NDArray[Any]:
        """Predict a batch."""
        ...
