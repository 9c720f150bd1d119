"""What OSFS and Fast-OSFS ask of the columns they keep: measure a block, settle it, in one call each.

The search for a Markov blanket is one and the same for every test of independence.  What a test needs to
know about kept columns differs (correlations, or codes row by row), so each test brings its own store.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray, Stateful

if TYPE_CHECKING:
    from streamsieve.protocols import Matrix

#: Columns that a set which makes another column redundant may have.
LARGEST_SET = 3

#: From statistics and their degrees of freedom to p-values; freedom <= 0 (no test was possible) gives 1.
PValueGiven = Callable[[FloatArray, IntArray], FloatArray]


class Measured(NamedTuple):
    """How every column of a block stands to the target, on its own."""

    #: Codes of the ledger: relevant, irrelevant, constant, or unreliable test.
    reason: npt.NDArray[np.uint8]
    #: Statistic of the test given nothing; finite, 0 for a constant column.
    statistic: FloatArray
    #: Degrees of freedom of that test, as the p-value needs them; may be a broadcast scalar.
    freedom: IntArray
    #: Whatever the store wants to have at hand in `settle`, such as means and lengths, or codes.
    columns: Any


class Settled(NamedTuple):
    """What became of some candidates, and of the kept columns they met."""

    #: A row for each candidate: RELEVANT if it was kept (also if a later one evicted it), else why it was
    #: not: REDUNDANT, COLLINEAR or UNRELIABLE.
    reason: npt.NDArray[np.uint8]
    #: Statistic and degrees of freedom of the test that decided; of a kept candidate they are not read.
    statistic: FloatArray
    freedom: IntArray
    #: (candidates, 3): arrival numbers of the set that made it redundant, in order, -1 where it is smaller.
    by: IntArray
    #: Arrival numbers of the columns evicted, in order of the events, and of the newcomers that were offered
    #: at that moment.
    evicted: IntArray
    evicted_at: IntArray
    evicted_reason: npt.NDArray[np.uint8]
    evicted_statistic: FloatArray
    evicted_freedom: IntArray
    #: (evicted, 3): the set that made it redundant; the newcomer is its last member.
    evicted_by: IntArray


class BlanketStore(Stateful, Protocol):
    """Kept columns, bound to the target, that decide by one test of independence.

    The rules, for every store:

    * sets have 1 to ``max_conditioning`` members; they are searched by size, then by order of arrival, and
      the first that makes a column independent of the target decides;
    * with ``newcomer_first`` (Fast-OSFS) a relevant newcomer is tried against the kept columns; if it stays,
      each older one, in order of arrival, is tried against the sets that contain the newcomer and otherwise
      members that are left.  Without (OSFS) the older ones are tried first, and the newcomer against what
      is left.  Sets without the newcomer were tried before: no older column has to see them again;
    * a column that is a function of the set is redundant, whatever the test says;
    * a test without enough rows counts as independence (reason UNRELIABLE), or, with
      ``unreliable="skip"``, its set is passed over.

    The selector's ``_store`` shows how stores are made; ``skip`` there is ``unreliable == "skip"``.
    """

    #: Number of rows.
    n: int

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns kept, in order."""
        ...

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        ...

    def relevance(self, X: Matrix) -> Measured:
        """Test every column of a block against the target, given nothing; changes nothing."""
        ...

    def settle(
        self, X: Matrix, start: int, chosen: IntArray, measured: Measured, *, newcomer_first: bool
    ) -> Settled:
        """Let the chosen columns of a block compete with the kept ones, in order.

        ``start`` is the arrival number of the block's first column, ``chosen`` the positions in it of
        the relevant ones, ``measured`` what `relevance` said about the block.
        """
        ...

    def irrelevant_one(self, x: FloatArray) -> tuple[float, float] | None:
        """Return (statistic, p-value) of a single column if it is plainly irrelevant, else None.

        ``x`` may hold NaN or be constant; then the answer must be None.
        """
        ...

    def p_value_of(self) -> PValueGiven:
        """Return the function that gives p-values to statistics; it must not keep the columns alive."""
        ...
