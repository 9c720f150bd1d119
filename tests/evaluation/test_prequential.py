"""Test, then train: equal to its slow twin row by row, and to river."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.linear_model import SGDClassifier
from sklearn.tree import DecisionTreeClassifier

import streamsieve as ss
from streamsieve.evaluation import ProtocolError, prequential
from streamsieve.evaluation.measures.fading import FadingClasses, FadingNumbers
from streamsieve.evaluation.measures.memory import array_bytes
from streamsieve.exceptions import CapabilityError, ParameterError, SourceError, StateError, TargetError
from tests.helpers.streams import Rows
from tests.helpers.tier import cases
from tests.reference.prequential import fading, fading_numbers, followed

NUMBERS = ("selector", "learner", "rows", "n_selected", "n_changed", "accuracy", "fading_accuracy", "kappa")


def stream(n=400, p=6, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(n, p)) + np.arange(p)
    X[: n // 2, 1] += 2 * y[: n // 2]
    X[n // 2 :, 4] += 2 * y[n // 2 :]
    return ss.open(X, target=y), X, y


def numbers(report):
    return [tuple(row) for row in zip(*(report.table[name].tolist() for name in NUMBERS), strict=True)]


class Nearest(BaseEstimator):
    """Knows the mean of the rows of each class: sums are exact enough to compare."""

    def partial_fit(self, X, y, classes=None):
        if not hasattr(self, "sums"):
            self.sums = {c: (np.zeros(np.shape(X)[1]), 0) for c in (0, 1)}
        for row, label in zip(np.asarray(X), y, strict=True):
            total, n = self.sums[int(label)]
            self.sums[int(label)] = total + row, n + 1
        return self

    def predict(self, X):
        means = [total / max(n, 1) for total, n in self.sums.values()]
        apart = [np.sum((np.asarray(X) - mean) ** 2, axis=1) for mean in means]
        return (apart[0] > apart[1]).astype(int)

    def fit(self, X, y):
        return self.partial_fit(X, y)

    learn = partial_fit


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40),
    st.floats(0.5, 100),
    st.integers(1, 7),
    st.integers(0, 2),
)
def test_fading_is_that_of_the_twin_for_any_batches(pairs, half_life, size, before):
    y, said = (np.array(values) for values in zip(*pairs, strict=True))
    measure = FadingClasses(3, half_life)
    measure.follow(np.array([before]))
    for low in range(0, len(y), size):
        measure.update(y[low : low + size], said[low : low + size])
    expected = fading(y.tolist(), said.tolist(), half_life, before)
    for name, value in measure.measures().items():
        if abs(expected[name]) < 1e6:  # agreement by chance is 1 but for rounding
            assert value == pytest.approx(expected[name], rel=1e-6, abs=1e-6, nan_ok=True)


@settings(max_examples=cases(80))
@given(st.integers(2, 40), st.floats(0.5, 100), st.integers(1, 7), st.integers(0, 10**6))
def test_fading_errors_are_those_of_the_twin(n, half_life, size, seed):
    rng = np.random.default_rng(seed)
    y = rng.normal(1000, 1, n)
    said = y + rng.normal(size=n)
    measure = FadingNumbers(half_life)
    measure.follow(y)
    for low in range(0, n, size):
        measure.update(y[low : low + size], said[low : low + size])
    expected = fading_numbers(y.tolist(), said.tolist(), half_life)
    for name, value in measure.measures().items():
        assert value == pytest.approx(expected[name], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("batch", [1, 7, 50])
@pytest.mark.parametrize("seed", range(3))
def test_the_whole_loop_is_that_of_the_twin(batch, seed):
    source, X, y = stream(150, seed=seed)

    def select(rows, labels):
        labels = np.array(labels)
        if len(set(labels.tolist())) < 2:
            return range(2)  # no scores: the first ones
        return ss.Screen("fisher", k=2).fit(np.array(rows), labels).ranked_.tolist()

    pieces = [(X[low : low + batch], y[low : low + batch]) for low in range(0, 150, batch)]
    expected = followed(pieces, 40, Nearest(), select)
    report = prequential(
        source, {"s": ss.Screen("fisher", k=2)}, {"n": Nearest()}, batch_size=batch, every=1000, half_life=40,
        scale=False,
    )  # fmt: skip
    for name, value in expected.items():
        assert report.table[name][-1] == pytest.approx(value, rel=1e-9)
    assert report.table["score"][-1] == report.table["fading_accuracy"][-1]


def test_row_by_row_it_is_river():
    pytest.importorskip("river", reason="river needs a newer SciPy")
    from river import linear_model, metrics, optim
    from river.naive_bayes import GaussianNB

    source, X, y = stream(200)
    model, metric = GaussianNB(), metrics.Accuracy()
    for row, label in zip(X, y.tolist(), strict=True):
        x = {f"x{j}": value for j, value in enumerate(row.tolist())}
        said = model.predict_one(x)
        if said is not None:
            metric.update(label, said)
        model.learn_one(x, label)
    learners = {"nb": GaussianNB(), "linear": linear_model.LogisticRegression(optim.SGD(0.1))}
    report = prequential(source, None, learners, batch_size=1, scale=False)
    assert report.table["accuracy"][0] == pytest.approx(metric.get())
    assert report.table["accuracy"][1] > 0.5


def test_looks_do_not_change_what_is_learned():
    source, _, _ = stream()
    often, once = (
        prequential(source, "f", "sgd", batch_size=50, every=every, half_life=100) for every in (100, 10_000)
    )
    assert often.table["rows"].tolist() == [100, 200, 300, 400]
    assert once.table["rows"].tolist() == [400]
    assert often.table["score"][-1] == once.table["score"][-1]


def test_following_a_change_beats_staying_and_drift_is_marked():
    stream_ = ss.DriftingStream(n_rows=12_000, n_features=40, n_relevant=4, shift_every=500, seed=1)
    screen = ss.Screen("f", k=4, half_life=1_000)
    following, staying = (
        prequential(stream_, {"s": screen}, "sgd", batch_size=400, every=4_000, follow=follow)
        for follow in ("zero", "frozen")
    )
    assert following.table["score"][-1] > staying.table["score"][-1] + 0.03
    assert following.table["n_changed"].tolist()[0] == 4
    assert following.table["n_changed"][-1] > 0
    watching = ss.Screen("f", k=4, on_drift="reset", drift_every=250)
    marked = prequential(stream_, {"s": watching}, "majority", batch_size=400)
    assert marked.extras["drift"].n_rows > 0
    assert set(marked.extras["drift"]["row"] % 250) == {0}


def test_dense_and_sparse_are_the_same_where_nothing_is_scaled():
    _, X, y = stream(200)
    X = np.where(X > 2, X, 0)
    dense, sparse = (
        prequential(ss.open(wrap(X), target=y), ["f", "none"], ["nb", "sgd"], scale=False, batch_size=20)
        for wrap in (np.asarray, sp.csr_array)
    )
    for name in NUMBERS:
        if dense.table[name].dtype.kind == "f":
            np.testing.assert_allclose(dense.table[name], sparse.table[name], atol=1e-9)
        else:
            assert dense.table[name].tolist() == sparse.table[name].tolist()


def test_the_numbers_depend_neither_on_processes_nor_on_resuming(tmp_path):
    source, _, _ = stream()
    given = source, ["f", "none", "mission"], ["sgd", "majority"]
    once = prequential(*given)
    prequential(*given, folder=tmp_path)
    path = tmp_path / "cells.jsonl"
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[1])
    assert numbers(once) == numbers(prequential(*given, folder=tmp_path, resume=True))
    with pytest.raises(StateError, match=r"half_life was 1000\.0 and is 10\.0 now"):
        prequential(*given, half_life=10.0, folder=tmp_path, resume=True)


def test_baselines_say_what_they_should():
    y = np.array([0, 1, 1, 1, 0, 0, 1, 1])
    source = ss.open(np.zeros((8, 2)), target=y)
    report = prequential(source, None, ["majority", "no_change"], batch_size=1)
    by = dict(zip(report.table["learner"], report.table["accuracy"], strict=True))
    # the first class on a tie, which there is after two rows and after six
    assert by["majority"] == pytest.approx(np.mean(np.array([0, 0, 1, 1, 1, 0, 1]) == y[1:]))
    assert by["no_change"] == pytest.approx(np.mean(y[:-1] == y[1:]))
    assert abs(report.table.where(learner="no_change")["kappa_temporal"][0]) < 1e-9


def test_a_numeric_target_is_followed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    source = ss.open(X, target=3 * X[:, 2] + rng.normal(size=600) / 10)
    report = prequential(source, "correlation", ["sgd", "mean", "no_change"], batch_size=20)
    by = dict(zip(report.table["learner"], report.table["score"], strict=True))
    assert by["sgd"] > 0.7
    assert by["mean"] < 0.1
    assert report.metric == "fading_r2"


def test_time_and_memory_are_noted():
    source, _, _ = stream()
    report = prequential(source, "f", "sgd")
    assert np.all(report.table["select_seconds"] > 0)
    assert np.all(report.table["learn_seconds"] > 0)
    assert np.all(report.table["selector_bytes"] >= 6 * 8)
    assert np.all(report.table["learner_bytes"] >= 6 * 8)
    assert array_bytes({"a": [np.zeros(3)], "b": (np.zeros(2),)}) == 40
    shared = np.zeros(4)
    assert array_bytes([shared, shared]) == 32, "once"


def test_labels_are_looked_for_in_the_stream_unless_they_are_named():
    _, X, y = stream(100)
    labels = np.array(["no", "yes"])[y]
    source = Rows(X, labels)
    prequential(source, None, "majority")
    assert source.reads == 2
    prequential(source, None, "majority", classes=["yes", "no"])
    assert source.reads == 3
    with pytest.raises(ProtocolError, match="label 'yes' turned up, which is not among"):
        prequential(source, None, "majority", classes=["maybe", "no"])


class Breaks(SGDClassifier):
    """Breaks at the third batch."""

    def partial_fit(self, X, y, classes=None):
        self.calls = getattr(self, "calls", 0) + 1
        if self.calls == 3:
            raise RuntimeError("broken")
        return super().partial_fit(X, y, classes)


def test_a_learner_that_breaks_is_left_behind_and_the_others_go_on():
    source, _, _ = stream()
    report = prequential(source, "f", {"bad": Breaks(), "good": "sgd"}, every=200, errors="report")
    assert report.table.where(learner="good").n_rows == 2
    assert report.table.where(learner="bad").n_rows == 1
    assert str(report.failures[0]) == "selector=f, learner bad, learning: RuntimeError: broken"


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"learners": "tree"}, CapabilityError, "'tree'.*has no partial_fit.*majority, no_change"),
        ({"learners": DecisionTreeClassifier()}, CapabilityError, "has no partial_fit"),
        ({"selectors": "saola"}, CapabilityError, "'saola'.*does not learn from rows that stream in"),
        ({"batch_size": 0}, ParameterError, "batch_size must be"),
        ({"half_life": 0}, ParameterError, "half_life must be"),
        ({"follow": "drop"}, ParameterError, "follow must be one of"),
        ({"classes": [1]}, ParameterError, "two labels at least"),
        ({"source": np.zeros((3, 2))}, SourceError, "needs a source of rows, got ndarray"),
        ({"source": Rows(np.zeros((0, 2)), np.zeros(0))}, SourceError, "no rows"),
        ({"source": Rows(np.zeros((4, 2)), None)}, SourceError, "no target"),
        ({"source": Rows(np.zeros((4, 2)), np.zeros(4))}, TargetError, "one class only"),
    ],
)
def test_bad_input_is_named(changes, error, match):
    arguments = {"source": stream()[0], "selectors": "f", "learners": "sgd"} | changes
    with pytest.raises(error, match=match):
        prequential(**arguments)
