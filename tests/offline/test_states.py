"""What an offline selector chose comes back from a file whole, and damaged states are refused."""

import os

import numpy as np
import pytest

from streamsieve import registry, state
from streamsieve.testing._data import sample_for
from streamsieve.testing.states import fuzz

MUTANTS = int(os.environ.get("MUTANTS", "100"))
SELECTORS = [cls for cls in registry.selectors().values() if registry.axis(cls) == "offline"]
VARIANTS = [variant for cls in SELECTORS for variant in cls.variants()]


@pytest.mark.parametrize("selector", VARIANTS, ids=repr)
def test_a_state_comes_back_and_damage_is_refused(selector):
    X, y, _ = sample_for(selector)
    header, arrays = selector.fit(X, y)._saved()

    def load(damaged):
        return type(selector).from_bytes(state.to_bytes(header, damaged))

    def use(again):
        again.get_support()
        list(again.ledger_)
        type(selector).from_bytes(again.to_bytes())

    again = load(arrays)
    only_shown = {"_library", "_target_text", "_positive_class"}
    assert again.__dict__.keys() == selector.__dict__.keys() - only_shown
    assert np.array_equal(again.ranked_, selector.ranked_)
    assert repr(list(again.ledger_)) == repr(list(selector.ledger_))
    refused, _, findings = fuzz(repr(selector), arrays, load, use, MUTANTS, np.random.default_rng(0))
    assert not findings
    assert refused > MUTANTS / 2
