"""What sets Fast-OSFS and OSFS apart, and the search they share with any store of columns."""

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.columns._blanket import Measured, Settled
from streamsieve.columns.fast_osfs import FastOSFS
from streamsieve.columns.osfs import OSFS
from streamsieve.protocols import Reason
from streamsieve.verdicts import REASON_CODE
from tests.columns.streams import lines

CLASSES = pytest.mark.parametrize("cls", [OSFS, FastOSFS], ids=lambda cls: cls.__name__)


def with_correlations(R, n=100):
    """Return vectors over n rows whose correlations are exactly those of R."""
    Z = np.random.default_rng(0).normal(size=(n, len(R)))
    return np.linalg.qr(Z - Z.mean(axis=0))[0] @ np.linalg.cholesky(R).T


#: The target and two columns that resemble each other more than it.
RIVALS = np.array([[1.0, 0.7, 0.65], [0.7, 1.0, 0.93], [0.65, 0.93, 1.0]])


def test_of_two_that_say_the_same_fast_osfs_keeps_the_earlier_and_osfs_the_later():
    y, a, b = with_correlations(RIVALS, 30).T
    X = np.column_stack([a, b])
    fast, slow = FastOSFS(alpha=0.0001).fit(X, y), OSFS(alpha=0.0001).fit(X, y)
    assert lines(fast) == [(0, "kept", "relevant", ()), (1, "rejected", "redundant", (0,))]
    assert lines(slow) == [
        (0, "kept", "relevant", ()), (0, "evicted", "redundant", (1,)), (1, "kept", "relevant", ()),
    ]  # fmt: skip


def sum_of_two(n=400):
    """Return a target, its two parents, and a column that knows the target through them alone."""
    Z = np.random.default_rng(1).normal(size=(n, 4))
    a, b, e, f = np.linalg.qr(Z - Z.mean(axis=0))[0].T
    return a + b + 0.5 * e, a, b, a + b + 0.5 * f


def test_a_rejected_newcomer_evicts_nobody_in_fast_osfs_but_may_in_osfs():
    y, a, b, s = sum_of_two()
    rng = np.random.default_rng(2)
    copy = a + 0.02 * rng.normal(size=len(a)) * a.std()
    X = np.column_stack([s, a, b, copy])
    fast = FastOSFS(alpha=0.001).fit(X, y)
    assert fast.selected_.tolist() == [1, 2]
    assert [line for line in lines(fast) if line[0] == 3] == [(3, "rejected", "redundant", (1,))]
    slow = OSFS(alpha=0.001).fit(X, y)
    evicted_by_copy = [line for line in lines(slow) if line[1] == "evicted" and line[3][-1:] == (3,)]
    assert evicted_by_copy == [(1, "evicted", "redundant", (3,))]


def test_the_ledger_names_the_smallest_and_then_the_earliest_set():
    y, a, b, s = sum_of_two()
    other = a + b + 0.3 * a.std() * np.random.default_rng(3).normal(size=len(a))
    sieve = FastOSFS(alpha=0.001).fit(np.column_stack([a, b, other, s]), y)
    assert lines(sieve)[2:] == [(2, "rejected", "redundant", (0, 1)), (3, "rejected", "redundant", (0, 1))]
    verdict = sieve.ledger_.why("x3")
    assert verdict.by == ("x0", "x1")
    assert verdict.p_value > 0.001


# ------------------------------------------------------------------------------------ any store


class Script:
    """A store that plays a script: which columns are relevant, and what becomes of them."""

    n = 4

    def __init__(self):
        self.features = np.zeros(0, np.int64)
        self.asked = []

    def relevance(self, X):
        """Whole numbers in the first row are codes of reasons."""
        reason = X[0].astype(np.uint8)
        return Measured(reason, X[1].copy(), np.broadcast_to(np.int64(7), len(reason)), "a note")

    def settle(self, X, start, chosen, measured, *, newcomer_first):
        self.asked.append((start, chosen.tolist(), measured.columns, newcomer_first))
        m = len(chosen)
        verdict = X[2, chosen].astype(np.uint8)
        by = np.full((m, 3), -1)
        by[verdict != KEPT, :2] = [0, 1]
        self.features = np.append(self.features, start + chosen[verdict == KEPT])
        last = start + chosen[-1:]
        codes = np.array([REDUNDANT], np.uint8)
        gone = np.array([[0, last[0], -1]])
        return Settled(
            verdict, np.full(m, 0.5), np.full(m, 5), by,
            np.array([0]), last, codes, np.array([0.25]), np.array([4]), gone,
        )  # fmt: skip

    def irrelevant_one(self, x):
        return (0.125, 0.75) if x[0] == IRRELEVANT else None

    def p_value_of(self):
        return lambda statistic, freedom: statistic / freedom

    def state(self):
        return {}

    @classmethod
    def from_state(cls, arrays):
        return cls()


KEPT, IRRELEVANT, REDUNDANT, UNRELIABLE = (
    REASON_CODE[r] for r in (Reason.RELEVANT, Reason.IRRELEVANT, Reason.REDUNDANT, Reason.UNRELIABLE)
)

#: Reason on its own, statistic on its own, and verdict in competition, of six columns.
SCRIPT = np.array([
    [KEPT, IRRELEVANT, KEPT, UNRELIABLE, KEPT, KEPT],
    [0.9, 0.1, 0.8, 0.2, 0.7, 0.6],
    [KEPT, 0, REDUNDANT, 0, UNRELIABLE, KEPT],
    [1, 2, 3, 4, 5, 6],
])  # fmt: skip


def scripted(cls, **parameters):
    class Scripted(cls):
        def _store(self, y, task):
            return Script()

    return Scripted(**parameters).begin([0, 1, 0, 1])


@CLASSES
def test_what_a_store_decides_is_what_the_ledger_says(cls):
    sieve = scripted(cls)
    sieve.offer(SCRIPT[:, :2], names=["a", "b"])
    sieve.offer(SCRIPT[:, 2:], names=["c", "d", "e", "f"])
    first = cls is FastOSFS
    assert sieve._kept_.asked == [(0, [0], "a note", first), (2, [0, 2, 3], "a note", first)]
    told = [(d.step, d.feature, str(d.event), str(d.reason), d.statistic, d.by) for d in sieve.ledger_]
    assert told == [
        (0, "a", "evicted", "redundant", 0.25, ("a", "a")),
        (0, "a", "kept", "relevant", 0.9, ()),
        (1, "b", "rejected", "irrelevant", 0.1, ()),
        (2, "c", "rejected", "redundant", 0.5, ("a", "b")),
        (3, "d", "rejected", "unreliable test", 0.2, ()),
        (4, "e", "rejected", "unreliable test", 0.5, ("a", "b")),
        (5, "a", "evicted", "redundant", 0.25, ("a", "f")),
        (5, "f", "kept", "relevant", 0.6, ()),
    ]
    # the statistic over its own degrees of freedom, whichever test decided
    p_values = [0.25 / 4, 0.9 / 7, 0.1 / 7, 0.5 / 5, 0.2 / 7, 0.5 / 5, 0.25 / 4, 0.6 / 7]
    assert [d.p_value for d in sieve.ledger_] == p_values
    assert sieve.selected_.tolist() == [0, 5]


@CLASSES
def test_a_block_without_relevant_columns_is_not_settled(cls):
    sieve = scripted(cls)
    sieve.offer(SCRIPT[:, 1:2])
    assert sieve._kept_.asked == []


@CLASSES
def test_a_single_irrelevant_column_is_answered_at_once(cls):
    sieve = scripted(cls)
    (decision,) = sieve.offer(SCRIPT[:, 1].copy())
    assert (decision.statistic, decision.p_value) == (0.125, 0.75)
    assert decision.reason is Reason.IRRELEVANT
    (decision,) = sieve.offer(SCRIPT[:, 3].copy())  # not for the quick answer
    assert decision.reason is Reason.UNRELIABLE


@CLASSES
def test_pieces_of_a_block_before_a_stop_keep_their_p_values(cls):
    sieve = scripted(cls, stop=ss.Stop(max_offers=4))
    sieve.offer(SCRIPT)
    verdicts = [d for d in sieve.ledger_ if d.event != "evicted"]
    assert [d.p_value for d in verdicts][:4] == [0.9 / 7, 0.1 / 7, 0.5 / 5, 0.2 / 7]
    assert [str(d.reason) for d in verdicts][4:] == ["stopped", "stopped"]
