"""A selector that is wrong is refused, and the check says what to do."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve import state
from streamsieve.decisions import IRRELEVANT, RELEVANT, Outcome
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import Task, Traits
from streamsieve.summaries import Moments
from streamsieve.testing import check_criterion, check_measure, check_selector, check_source, check_summary
from tests.columns.redundancy.test_contract import Pearson


@state.register
class Threshold(ss.ColumnSelector):
    """Keep columns whose variance exceeds a threshold; the outcome leaves its start to the base class."""

    parameters = {"threshold": state.Float(0)}
    fields = {"kept_": state.Array("i8", "kept", low=0, order="rising")}

    def __init__(self, threshold=1.0, *, task="auto", ledger="all", stop=None):
        self.threshold, self.task, self.ledger, self.stop = threshold, task, ledger, stop

    def _begin(self, y):
        self._check_parameters()
        self.kept_ = np.zeros(0, np.int64)

    def _offer(self, block):
        variance = self.values(block.X).var(axis=0)
        keep = variance > self.threshold
        self.kept_ = np.r_[self.kept_, self.n_features_in_ + np.flatnonzero(keep)]
        return Outcome(np.where(keep, RELEVANT, IRRELEVANT).astype(np.uint8), variance)

    def values(self, X):
        return X.toarray() if hasattr(X, "toarray") else X

    def _selected(self):
        return self.kept_


def begun(self, y):
    self.kept_ = np.zeros(0, np.int64)


def dense(self, X):
    return X


def fewer(self):
    self.threshold = 1.0


def test_the_base_class_numbers_the_columns():
    check_selector(Threshold())


BROKEN = {
    "CSC blocks .* or say Traits.sparse=False.": {"values": dense},
    "call self._check_parameters": {"_begin": begun},
    "'kept_', which its fields do not declare": {"fields": {}, "kept_": None},
    "fails in check_.* has no `task`": {"__init__": fewer},
    "Broken is not registered, so ss.load.* decorate the class with streamsieve.state.register": {},
}


@pytest.mark.parametrize(("message", "members"), BROKEN.items(), ids=BROKEN)
def test_a_broken_selector_is_named(message, members):
    kind = type("Broken", (Threshold,), {"__module__": __name__, **members})
    if "fields" in members:
        kind.fields = ss.ColumnSelector.fields
    with pytest.raises(AssertionError, match=message):
        check_selector(kind())


def test_a_selector_that_takes_no_sparse_blocks_says_so():
    members = {"__module__": __name__, "_traits": Traits(sparse=False), "values": dense}
    selector = state.register(type("Dense", (Threshold,), members))()
    check_selector(selector)
    X, y = sp.csc_array(np.eye(6)), np.arange(6) % 2
    with pytest.raises(TypeError, match=r"Dense takes dense arrays only.*toarray"):
        selector.fit(X, y)
    with pytest.raises(TypeError, match=r"Dense takes dense arrays only.*toarray"):
        selector.begin(y).offer(X)


def test_a_column_selector_without_its_parameters_is_named():
    with pytest.raises(TypeError, match="Bare has no `task`: a ColumnSelector stores the par"):
        type("Bare", (Threshold,), {"__init__": fewer})().begin(np.arange(9) % 2)


@pytest.mark.parametrize(
    ("check", "kind"),
    [(check_selector, ss.SAOLA), (check_criterion, ss.criteria.Fisher), (check_measure, Pearson)],
)
def test_a_class_instead_of_an_object_is_named(check, kind):
    with pytest.raises(AssertionError, match=rf"{kind.__name__}\(\)"):
        check(kind)
    with pytest.raises(AssertionError, match="takes a source, not the class"):
        check_source(ss.ArraySource)
    with pytest.raises(AssertionError, match="takes what makes an empty summary"):
        check_summary(Moments())


def test_a_parameter_must_be_an_object_not_a_class():
    for selector in (ss.SAOLA(measure=Pearson), ss.TopK(measure=Pearson), ss.FastOSFS(test=Pearson)):
        with pytest.raises(ParameterError, match=r"got the class Pearson: make an object of it"):
            selector.begin(np.arange(9) % 2)
    with pytest.raises(ParameterError, match=r"'fisher_z', .*, or an object with `dependence\(x, z\)`; got"):
        ss.SAOLA(measure="pearson").begin(np.arange(9) % 2)


def test_foreign_errors_of_a_measure_are_named():
    @state.register
    class Unsaved(Pearson):
        pass

    with pytest.raises(AssertionError, match="is registered: to be saved, it must be a dataclass"):
        check_measure(Unsaved())
    wrong = type("Wrong", (Pearson,), {"dependence": lambda self, x: 0.0})
    with pytest.raises(AssertionError, match=r"dependence\(x, z\) fails \(TypeError"):
        check_measure(wrong())

    @dataclass(frozen=True)
    class Fine(Pearson):
        tasks = frozenset({Task.BINARY, Task.REGRESSION})

    check_measure(Fine())


def test_a_summary_without_forget_is_named():
    with pytest.raises(AssertionError, match="the summary fails where forgetting is missing"):
        check_summary(type("Keeping", (Moments,), {"forget": None}))
