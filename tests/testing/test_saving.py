"""Parts of one's own are saved and loaded, or the error says what to do."""

from dataclasses import dataclass

import numpy as np
import pytest

import streamsieve as ss
from streamsieve import state
from streamsieve.columns.composition import Composition
from streamsieve.columns.redundancy import Candidates, Outcome, RedundancyRule
from streamsieve.criteria import Criterion, Needs
from streamsieve.exceptions import StateError
from streamsieve.independence import FisherZ
from streamsieve.protocols import CLASSIFICATION

rng = np.random.default_rng(0)
Y = rng.integers(0, 2, 80)
X = rng.normal(size=(80, 3)) + Y[:, None]


class First(RedundancyRule):
    """Keeps all candidates."""

    def __init__(self, n):
        self.n, self.kept = n, np.zeros(0, np.int64)

    features = property(lambda self: self.kept)

    def settle(self, candidates: Candidates):
        self.kept = np.r_[self.kept, candidates.feature]
        return Outcome(candidates.relevance.reason, candidates.relevance.statistic)


@state.register
class SavedFirst(First):
    fields = {"n": state.Int(size="rows"), "kept": state.Array("i8", "kept", low=0, order="rising")}


@state.register
class FieldlessFirst(First):
    pass


class FirstSelector(ss.ColumnSelector):
    rule = SavedFirst

    def __init__(self, *, task="auto", ledger="all", stop=None):
        self.task, self.ledger, self.stop = task, ledger, stop

    def _compose(self, y, task):
        return Composition(FisherZ(y, task, 0.05), self.rule(len(y)))


@state.register
class RegisteredSelector(FirstSelector):
    pass


class MeanGap(Criterion):
    name, tasks, needs = "mean_gap", CLASSIFICATION, Needs.MOMENTS

    def score(self, block):
        return np.ptp(block.mean, axis=0)


@dataclass(frozen=True)
class UnregisteredGap(MeanGap):
    pass


def test_load_finds_a_registered_selector(tmp_path):
    sieve = RegisteredSelector().fit(X, Y)
    sieve.save(tmp_path / "own.sieve")
    again = ss.load(tmp_path / "own.sieve")
    assert type(again) is RegisteredSelector
    assert again.selected_.tolist() == sieve.selected_.tolist() == [0, 1, 2]


def test_a_selector_that_is_not_registered_is_loaded_by_its_class(tmp_path):
    FirstSelector().fit(X, Y).save(tmp_path / "own.sieve")
    assert FirstSelector.load(tmp_path / "own.sieve").selected_.tolist() == [0, 1, 2]
    with pytest.raises(StateError, match="import its module first, and decorate the class with streamsieve"):
        ss.load(tmp_path / "own.sieve")


@pytest.mark.parametrize(
    ("rule", "message"),
    [(First, "decorate its class with streamsieve.st"), (FieldlessFirst, "declares no `fi")],
)
def test_a_rule_that_cannot_be_saved_says_what_to_do(rule, message):
    selector = type("Other", (FirstSelector,), {"rule": rule})().fit(X, Y)
    with pytest.raises(StateError, match=message):
        selector.to_bytes()


def test_a_criterion_that_cannot_be_saved_says_what_to_do():
    with pytest.raises(StateError, match="make its class a frozen dataclass and decorate it with stream"):
        ss.Screen(MeanGap()).fit(X, Y).to_bytes()
    with pytest.raises(StateError, match="not registered: decorate its class with"):
        ss.Screen(UnregisteredGap()).fit(X, Y).to_bytes()


def test_a_class_that_was_not_imported_is_named():
    data = RegisteredSelector().fit(X, Y)
    header, arrays = data._saved()
    kind = next(name for name in arrays if name.endswith("rule/$kind"))
    arrays[kind] = np.frombuffer(b"elsewhere.Rule", np.uint8)
    with pytest.raises(StateError, match="'elsewhere.Rule'; if it is your own, import its module first"):
        RegisteredSelector.from_bytes(state.to_bytes(header, arrays))
