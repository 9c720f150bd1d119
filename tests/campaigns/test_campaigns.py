"""A short, seeded slice of every campaign; and a campaign that does find a defect."""

import importlib.util
import os
import signal
import time

import numpy as np
import pytest

from campaigns import isolated
from campaigns.__main__ import NAMES, run
from campaigns.outcome import Outcome
from streamsieve.running import resume

pytestmark = pytest.mark.full

#: Cases of a slice; the others have as many as they can try in the time.
CASES = {"kill": 2, "signals": 8, "soak": 2}
SECONDS = 5


@pytest.mark.parametrize("name", NAMES)
def test_a_slice_of_a_campaign_finds_nothing(name):
    if importlib.util.find_spec(f"campaigns.{name}") is None:
        pytest.skip(f"there is no campaign {name}")
    # on a busy machine a slice with a number of cases takes the time it needs
    minutes = 10 if name in CASES else SECONDS / 60
    tally = run(name, seed=0, minutes=minutes, cases=CASES.get(name))
    assert tally.reached, (tally.line(), tally.failures[:5])
    assert tally.amount > 0


def test_a_campaign_finds_rows_that_are_lost(monkeypatch):
    """Planted: a resumed run goes on at the right place, with a selector that has learnt nothing."""
    monkeypatch.setattr(resume, "restore", lambda *_: None)
    tally = run("kill", seed=0, minutes=10, cases=2)  # one over rows, one over columns
    assert tally.counts == {"lost": 1, "held": 1}
    assert not tally.reached


def test_a_case_that_waits_has_more_patience_than_one_that_computes():
    def attempt(case):
        if case == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        while case == "computes":
            pass
        time.sleep(1.5)
        return Outcome("held")

    cases = ["waits", "dies", "computes"]
    found = isolated.outcomes(cases, attempt, patience=0.5, deadline=np.inf)
    assert [outcome.kind for _, outcome in found] == ["held", "crashed", "hung"]
