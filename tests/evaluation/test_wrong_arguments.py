"""Whatever is given wrongly is refused in one sentence, before anything is computed or written."""

import os
from functools import partial

import numpy as np
import pytest
from river import forest, linear_model
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression, Ridge

import streamsieve as ss
from streamsieve.evaluation import (
    Report,
    online_offline,
    prequential,
    recovery,
    screening_protocol,
    streaming_protocol,
)
from streamsieve.evaluation.measures.stability import jaccard, stability
from streamsieve.evaluation.significance import friedman, signed_rank, table_of_groups
from streamsieve.exceptions import (
    CapabilityError,
    InputError,
    ParameterError,
    ProtocolError,
    SchemaError,
    SourceError,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 8))
Y = (X[:, 0] + 0.5 * RNG.normal(size=60) > 0).astype(int)
SOURCE = ss.open(X, target=Y)
follow = partial(prequential, SOURCE, "f")
NUMERIC = {"y": X[:, 1], "selectors": None}


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        ({"sizes": 3}, ParameterError, "sizes are numbers of features"),
        ({"sizes": []}, ParameterError, "sizes is empty"),
        ({"n_jobs": 0}, ParameterError, "n_jobs=0"),
        ({"n_jobs": 1.5}, ParameterError, "n_jobs"),
        ({"progress": True}, ParameterError, "progress is a function"),
        ({"folder": 3}, ParameterError, "folder is a path"),
        ({"names": list("aabcdefg")}, SchemaError, "'a' more than once"),
        ({"names": "abcdefgh"}, ParameterError, "names is a list"),
        ({"selectors": PCA()}, CapabilityError, "PCA does not say which features it keeps"),
        ({"learners": Ridge(), "metric": "accuracy"}, CapabilityError, "Ridge predicts numbers"),
        (NUMERIC | {"learners": LogisticRegression()}, CapabilityError, "predicts classes"),
        (NUMERIC | {"learners": "ridge", "folds": 60}, ParameterError, "R2 of a single"),
    ],
)
def test_screening(wrong, error, text, tmp_path):
    given = {"y": Y, "selectors": "f", "learners": "nb", "folder": tmp_path / "run"} | wrong
    with pytest.raises(error, match=text):
        screening_protocol(X, **given)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: streaming_protocol(X, Y, "f", "nb", checkpoints=2.5), ParameterError, "checkpoints are"),
        (lambda: follow([]), ParameterError, "learners is empty"),
        (lambda: follow("sgd", classes=[0, 1], task="regression"), ParameterError, "labels"),
        (lambda: follow("sgd", classes=3), ParameterError, "two labels at least"),
        (
            lambda: follow(linear_model.LinearRegression()),
            CapabilityError,
            "not made for a target of classes",
        ),
        (lambda: recovery(X, "f"), SourceError, "expected a source"),
        (lambda: recovery(SOURCE, "f", truth=[0, 500]), ProtocolError, "truth names column 500"),
        (lambda: online_offline(X, "f"), SourceError, "expected a source"),
        (lambda: online_offline(SOURCE, "f", offline="gini"), ParameterError, "offline is selectors by name"),
        (lambda: online_offline(SOURCE, "saola"), CapabilityError, "one over columns"),
        (lambda: friedman([["a", "b"]], ["x", "y"]), InputError, "scores must be numbers"),
        (lambda: friedman([[1, 2]], None), ParameterError, "list of names"),
        (lambda: signed_rank(["a"], ["b"]), InputError, "paired values must be numbers"),
        (lambda: table_of_groups([[1, 2], [2, 3]], [1, 2]), ParameterError, "a name is text"),
        (lambda: jaccard([["a"]]), InputError, "whole numbers"),
        (lambda: stability(5, 5), InputError, "lists of columns"),
        (lambda: stability([1, 2], 5), InputError, "whole numbers"),
    ],
)
def test_others(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_everything_random_has_a_seed():
    """Also that of a forest inside a selector, and of river's learners."""
    selector = SelectFromModel(RandomForestClassifier(5), max_features=3)
    first, second = (
        screening_protocol(X, Y, {"forest": selector}, "nb", sizes=[3], runs=1, folds=3) for _ in range(2)
    )
    chosen = [[each.tolist() for each in report.selections("forest")] for report in (first, second)]
    assert chosen[0] == chosen[1]
    followed = [prequential(SOURCE, None, forest.ARFClassifier(n_models=3), batch_size=10) for _ in range(2)]
    np.testing.assert_array_equal(*(report.table["score"] for report in followed))


class Counts:
    """A learner of river's kind without ``clone``: says how many rows it has learnt."""

    def __init__(self):
        self.n = 0

    def learn_one(self, _x, _y):
        self.n += 1

    def predict_one(self, _x):
        return self.n >= 60  # never, if it is fresh


def test_a_learner_without_clone_is_fresh_for_every_selector():
    report = prequential(SOURCE, ["none", "f"], {"counts": Counts()}, batch_size=10)
    by = {name: report.table.where(selector=name)["accuracy"].tolist() for name in ("none", "f")}
    assert by["none"] == by["f"]


def test_a_frozen_selection_is_reported_as_it_is_used():
    stream = ss.DriftingStream(n_rows=3_000, n_features=10, n_relevant=3, shift_every=300)
    screens = {"s": ss.Screen("f", k=3, half_life=200)}
    report = prequential(stream, screens, "sgd", follow="frozen")
    assert len({tuple(each.tolist()) for each in report.selections("s")}) == 1
    assert report.table["n_changed"].tolist()[1:] == [0, 0]


def test_stability_over_time_knows_the_number_of_features():
    stream = ss.DriftingStream(n_rows=3_000, n_features=10, n_relevant=3, shift_every=300)
    report = prequential(stream, {"s": ss.Screen("f", k=3, half_life=200)}, "sgd")
    assert report.n_features == 10
    assert stability(report.selections("s"), report.n_features).n_runs == 3


def test_a_mask_as_truth_is_read_as_a_mask():
    stream = ss.DriftingStream(n_rows=1_000, n_features=10, n_relevant=3)
    report = recovery(stream, {"s": ss.Screen("f", k=3)}, truth=lambda _row: np.arange(10) < 4)
    assert report.table["n_relevant"].tolist() == [4]


def test_a_source_that_cannot_prove_itself_is_not_resumed(tmp_path):
    class Bare:
        n_rows = 60
        rows = SOURCE.rows

    assert prequential(Bare(), "f", "sgd").table.n_rows
    with pytest.raises(SourceError, match="has no identity"):
        prequential(Bare(), "f", "sgd", folder=tmp_path / "run")


def test_long_selections_are_read_again(tmp_path):
    wide = RNG.normal(size=(20, 30_000))
    report = screening_protocol(
        wide, Y[:20], "random", "nb", sizes=[30_000], runs=1, folds=2, folder=tmp_path
    )
    assert len(Report.load(tmp_path).selections("random")[0]) == len(report.selections("random")[0]) == 30_000


def test_held_out_rows_leave_some_of_each_class():
    y = np.array([0] * 57 + [1] * 3)
    report = streaming_protocol(X, y, "none", "nb", split=0.9, orders=2, checkpoints=1)
    assert not report.failures


class Dies(ss.Screen):
    """Takes its process with it."""

    def fit(self, X, y=None, sample_weight=None):
        os._exit(3)


@pytest.mark.full
def test_a_process_that_dies_is_reported_in_a_sentence(tmp_path):
    with pytest.raises(ProtocolError, match="a process of the run could not do its part"):
        screening_protocol(
            X, Y, {"dies": Dies("f")}, "nb", sizes=[2], runs=1, folds=2, n_jobs=2, folder=tmp_path
        )
