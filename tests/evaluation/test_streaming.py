"""The streaming protocol: what selectors keep at every look, as if they had been asked by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsClassifier

import streamsieve as ss
from streamsieve.evaluation import Report, streaming_protocol
from streamsieve.evaluation.engine.scaling import Scaler
from streamsieve.evaluation.protocols.streaming import _looks
from streamsieve.exceptions import ParameterError, StateError, TargetError
from tests.real_data import load_real

NUMBERS = ("selector", "learner", "order", "fold", "columns", "n_selected", "score")


def data(n=120, p=30, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, p)) * 3 + 5
    X[:, ::7] += 3 * y[:, None]
    return X, y


def numbers(report):
    return list(zip(*(report.table[name].tolist() for name in NUMBERS), strict=True))


def test_every_look_is_what_a_fresh_selector_keeps_of_the_columns_so_far():
    X, y = data()
    train, test = np.flatnonzero(np.arange(120) % 3 > 0), np.flatnonzero(np.arange(120) % 3 == 0)
    report = streaming_protocol(
        X, y, ["saola", "f", "none"], "nearest", checkpoints=[7, 20], orders=None, split=(train, test)
    )
    assert report.table.unique("columns") == [7, 20, 30]
    scaler = Scaler(X[train])
    A, B = scaler(X[train]), scaler(X[test])
    columns = (report.table[name].tolist() for name in ("selector", "columns", "n_selected", "score"))
    for selector, look, size, score in zip(*columns, strict=True):
        kept = np.arange(look)
        if selector != "none":
            made = ss.SAOLA() if selector == "saola" else ss.Screen("f", k=min(10, look))
            kept = np.sort(made.fit(A[:, :look], y[train]).selected_)
            assert sorted(report.selections(selector, columns=look)[0].tolist()) == kept.tolist()
        assert size == len(kept)
        expected = KNeighborsClassifier(1).fit(A[:, kept], y[train]).score(B[:, kept], y[test])
        assert score == expected
    assert len(report.selections("saola")) == 1, "what was kept in the end"


def test_orders_change_what_comes_and_selections_name_columns_of_the_data():
    X, y = data()
    report = streaming_protocol(X, y, "saola", "nb", checkpoints=3, orders=4, split=0.25)
    assert len(report.selections("saola")) == 4
    assert all(set(chosen.tolist()) & set(range(0, 30, 7)) for chosen in report.selections("saola"))
    firsts = report.extras["selections"].where(columns=10)["features"].tolist()
    assert len(set(firsts)) > 1


def test_the_numbers_depend_neither_on_processes_nor_on_resuming(tmp_path):
    X, y = data(60, 12)
    given = X, y, ["saola", "alpha_investing", "random"], ["tree"]
    options = {"checkpoints": 3, "orders": 2, "split": 3, "metric": "auc"}
    once = streaming_protocol(*given, **options)
    folder = tmp_path / "run"
    streaming_protocol(*given, **options, folder=folder)
    path = folder / "cells.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[::2]))
    assert numbers(once) == numbers(streaming_protocol(*given, **options, folder=folder, resume=True))
    assert numbers(once) == numbers(Report.load(folder))
    assert once.table.unique("fold") == [0, 1, 2]
    with pytest.raises(StateError, match="orders was 2 and is 3 now"):
        streaming_protocol(*given, **{**options, "orders": 3}, folder=folder, resume=True)


def test_dense_and_sparse_are_the_same():
    X, y = data(60, 12)
    X = np.where(np.abs(X - 5) > 2, X, 0)
    dense, sparse = (
        streaming_protocol(wrap(X), y, ["saola", "mutual_info"], "tree", checkpoints=2, orders=2, scale=False)
        for wrap in (np.asarray, sp.csr_array)
    )
    assert numbers(dense) == numbers(sparse)


def test_a_selector_that_stopped_is_left_alone_and_one_that_keeps_nothing_guesses():
    X, y = data()
    methods = {"few": ss.SAOLA(stop=ss.Stop(max_features=1)), "none of it": ss.SAOLA(alpha=1e-30)}
    report = streaming_protocol(X, y, methods, "nb", checkpoints=5, orders=2)
    assert report.table.where(selector="few")["n_selected"].max() == 1
    nothing = report.table.where(selector="none of it")
    assert nothing["n_selected"].max() == 0
    np.testing.assert_allclose(nothing["score"], 0.5)


def test_a_numeric_target_is_explained():
    X, _ = data()
    report = streaming_protocol(X, X[:, 0] + X[:, 5], "alpha_investing", "ridge", orders=None, split=0.3)
    assert report.metric == "r2"
    assert report.table["score"][-1] > 0.9
    assert "streaming" in str(report)


def test_looks_end_with_all_columns():
    assert _looks(3, 10) == [3, 7, 10]
    assert _looks(100, 4) == [1, 2, 3, 4]
    assert _looks([2, 2, 99], 10) == [2, 10]


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"split": 1.5}, "split must be a share of rows between 0 and 1"),
        ({"split": ([0, 1], [1, 2])}, "tests on rows that it trains on"),
        ({"split": ([0, 1], [500])}, "rows by their numbers, 0 to 119"),
        ({"orders": 0}, "orders must be a whole number at least 1"),
        ({"checkpoints": 0}, "checkpoints must be a whole number at least 1"),
        ({"checkpoints": [1.5]}, "checkpoints must be a whole number at least 1"),
    ],
)
def test_bad_input_is_named(changes, match):
    with pytest.raises(ParameterError, match=match):
        streaming_protocol(*data(), "saola", "nb", **changes)


def test_a_class_with_too_few_rows_is_named():
    X, y = data()
    y[:3] = 2
    with pytest.raises(TargetError, match="class 2 has 3 rows, fewer than folds=5"):
        streaming_protocol(X, y, "saola", "nb", split=5)


def test_published_accuracy_of_saola_on_dexter():
    """Table IV of the SAOLA paper: 21 features, 1-NN on raw features right in .76 of the validation rows."""
    X, y = load_real("dexter")
    report = streaming_protocol(
        X, y, {"saola": ss.SAOLA(alpha=0.01)}, "nearest", checkpoints=1, orders=None, scale=False,
        split=(np.arange(300), np.arange(300, 600)),
    )  # fmt: skip
    assert report.table["n_selected"].tolist() == [21]
    assert report.table["score"][0] == pytest.approx(0.76, abs=1e-9)
