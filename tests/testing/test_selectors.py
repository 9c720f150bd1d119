"""A selector that is wrong is refused, and the check says what to do."""

from dataclasses import dataclass, replace

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


def unchecked(self, block):
    """Offer as `Threshold`, and take anything that is not a number for 1."""
    threshold = self.threshold
    self.threshold = threshold if isinstance(threshold, float) else 1.0
    outcome = Threshold._offer(self, block)
    self.threshold = threshold
    return outcome


def dense(self, X):
    return X


def fewer(self):
    self.threshold = 1.0


def test_the_base_class_numbers_the_columns():
    check_selector(Threshold())


def changed(**entries):
    """Offer as `Threshold`, then replace entries of the outcome."""

    def offer(self, block):
        outcome = Threshold._offer(self, block)
        return outcome._replace(**{name: change(outcome) for name, change in entries.items()})

    return {"_offer": offer}


def clearing(self, block):
    outcome = Threshold._offer(self, block)
    block.X[:] = 0
    return outcome


BROKEN = {
    "_offer must return an Outcome; got None": {"_offer": lambda self, block: None},
    "one statistic per column; got shape .13,. for 14": changed(statistic=lambda out: out.statistic[1:]),
    "codes of streamsieve.decisions, .* uint8; got array.* True": changed(
        reason=lambda out: out.reason == RELEVANT
    ),
    "_offer changed the values": {"_offer": clearing},
    "_compose returned None": {"_begin": ss.ColumnSelector._begin, "_compose": lambda self, y, task: None},
    "in blocks of 1: other statistics in the ledger": changed(
        statistic=lambda out: out.statistic / len(out.statistic)
    ),
    "must return arrival numbers": {"_selected": lambda self: np.ones(self.n_features_in_, bool)},
    "the ledger keeps .* `_selected` must return": {"_selected": lambda self: self.kept_[1:]},
    "CSC blocks .* or say Traits.sparse=False.": {"values": dense},
    "threshold='no such value' was accepted: declare threshold in `parameters`": {
        "parameters": {},
        "_offer": unchecked,
    },
    "'kept_', which its fields do not declare": {"fields": {}, "kept_": None},
    "cannot begin .*has no `task`": {"__init__": fewer},
    "BrokenColumns is not registered, so ss.load.* decorate the class with streamsieve.state.register": {},
}


@pytest.mark.parametrize(("message", "members"), BROKEN.items(), ids=BROKEN)
def test_a_broken_selector_is_named(message, members):
    kind = type("BrokenColumns", (Threshold,), {"__module__": __name__, **members})
    for declared in {"fields", "parameters"} & members.keys():  # those of Threshold are inherited
        setattr(kind, declared, getattr(ss.ColumnSelector, declared))
    if members:
        state.register(kind)
    with pytest.raises(AssertionError, match=message):
        check_selector(kind())


@state.register
class Means(ss.RowSelector):
    """Keep the features whose mean is farthest from 0."""

    fields = {"sums_": state.Array("f8", "features", finite=True)}

    def __init__(self, k=None, *, output="drop", ledger="all"):
        self.k, self.output, self.ledger = k, output, ledger

    def _start(self, batch):
        self.sums_ = np.zeros(0)

    def _learn(self, batch):
        late = self.n_features_in_ - len(self.sums_)
        self.sums_ = np.pad(self.sums_, (0, late)) + self.values(batch).sum(axis=0)

    def values(self, batch):
        return np.asarray(batch.X.toarray() if sp.issparse(batch.X) else batch.X, float)

    def _scores(self):
        return abs(self.sums_)


def narrow(self, batch):
    self.sums_ = self.values(batch).sum(axis=0) + (self.sums_ if len(self.sums_) else 0)


def in_place(self, batch):
    if len(self.sums_) < self.n_features_in_:
        self.sums_ = np.pad(self.sums_, (0, self.n_features_in_ - len(self.sums_)))
    self.sums_ += self.values(batch).sum(axis=0)


def filling(self, batch):
    Means._learn(self, batch)
    if not sp.issparse(batch.X):
        batch.X[:] = 0


def remembering(self, batch):
    self.fits = getattr(self, "fits", 0) + 1
    self.sums_ = 1e6 * (self.fits - 1.0) * (np.arange(batch.X.shape[1]) == 5)


BROKEN_ROWS = {
    "refit": {"_start": remembering},
    "_scores must return an array; got": {"_scores": lambda self: self.sums_.tolist()},
    r"one number per feature, shape .14,.; got .1, 14.": {"_scores": lambda self: self.sums_[None]},
    "must return finite numbers": {"_scores": lambda self: self.sums_ * np.nan},
    "_learn changed the rows": {"_learn": filling},
    "_learn must take more features than before": {"_learn": narrow},
    "_scores must return an array of its own": {"_learn": in_place, "_scores": lambda self: self.sums_},
    r"has no _merge.other, columns.": {"_traits": Traits(merges=True)},
    "derive it from both streamsieve.base.WeightedRows": {"_traits": Traits(weights=True)},
    'write _target = "numeric"': {"_traits": Traits(tasks=frozenset({Task.REGRESSION}))},
    r"_traits = Traits.tasks=frozenset..Task.REGRESSION": {"_target": "numeric"},
    "an infinite value was accepted": {
        "_traits": Traits(missing=True),
        "values": lambda self, batch: np.nan_to_num(Means.values(self, batch), posinf=0.0),
    },
    "labels arrive as they are": {
        "_learn": lambda self, batch: Means._learn(self, replace(batch, X=batch.X * float(batch.y[0])))
    },
    "values that both hold exactly .compute in float64.": {
        "values": lambda self, batch: (
            Means.values(self, batch) * (1 + np.finfo(batch.X.dtype).eps * 1e6)
            if batch.X.dtype.kind == "f"
            else Means.values(self, batch)
        )
    },
}


def test_a_right_row_selector_passes():
    check_selector(Means())


@pytest.mark.parametrize(("message", "members"), BROKEN_ROWS.items(), ids=BROKEN_ROWS)
def test_a_broken_row_selector_is_named(message, members):
    kind = state.register(type("BrokenRows", (Means,), {"__module__": __name__, **members}))
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
    with pytest.raises(
        AssertionError, match="the summary raises where this must hold: .*TypeError: .NoneType"
    ):
        check_summary(type("Keeping", (Moments,), {"forget": None}))
