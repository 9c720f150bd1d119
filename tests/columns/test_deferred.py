"""Deferred decisions are appended, changed anywhere, and released from the front."""

import numpy as np

from streamsieve.columns.deferred import DeferredDecisions, leaves, outcome_of
from streamsieve.decisions import KEPT
from streamsieve.protocols import Reason
from tests.helpers.tier import cases


def rows(decisions):
    names = ("reason", "statistic", "by", "p_value")
    return list(zip(*(getattr(decisions, name).tolist() for name in names), strict=True))


def test_a_random_history_equals_plain_lists():
    rng = np.random.default_rng(0)
    deferred, plain, start = DeferredDecisions(), [], 0
    for _ in range(cases(300)):
        m = int(rng.integers(0, 9))
        reason, statistic, p_value = rng.integers(0, 5, m).astype(np.uint8), rng.random(m), rng.random(m)
        deferred.append(reason, statistic, p_value)
        new = zip(reason.tolist(), statistic.tolist(), [-1] * m, p_value.tolist(), strict=True)
        plain += new
        if plain:
            feature = start + int(rng.integers(len(plain)))
            deferred.change(feature, KEPT, 0.5, start, 0.25)
            plain[feature - start] = (KEPT, 0.5, start, 0.25)
        done = int(rng.integers(len(plain) + 1))
        deferred.settled = start + done
        deferred = DeferredDecisions.from_state(deferred.state())
        deferred.settled = start + done
        released = deferred.release()
        assert (released.start, released.end) == (start, start + done)
        assert rows(released) == plain[:done]
        plain, start = plain[done:], start + done
        assert rows(deferred) == rows(deferred.copy()) == plain
        assert (deferred.start, len(deferred)) == (start, len(plain))


def test_a_column_that_leaves_is_released_with_the_column_at_which_it_does():
    deferred = DeferredDecisions(10)
    deferred.append(np.zeros(5, np.uint8), np.zeros(5))
    deferred.evictions += [leaves(13, 2, 0.9, -1), leaves(11, 4, 0.7, 11)]
    assert deferred.named.tolist() == [2, 4, 10, 11, 12, 13, 14]
    deferred.settled = 12
    assert [e[:4] for e in deferred.release().evictions] == [leaves(11, 4, 0.7, 11)[:4]]
    deferred.evictions.append(leaves(12, 3, 0.6, 12))
    deferred.settled = 15
    decided = outcome_of(deferred.release(), None)
    assert [(e.step, e.feature, e.reason, e.by) for e in decided.evictions] == [
        (12, 3, Reason.REDUNDANT, (12,)),
        (13, 2, Reason.IRRELEVANT, ()),
    ]
    assert deferred.evictions == []
    deferred.resume(20)
    assert (deferred.start, deferred.end) == (20, 20)
