"""OGFS decides as its slow twin does, whatever the blocks, and keeps its laws."""

from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Lasso

import streamsieve as ss
from streamsieve.columns.ogfs import OGFS
from streamsieve.exceptions import ParameterError, SchemaError
from tests.columns.streams import FORMS, TASKS, columns, equal_twin, lines, offered, rows, target
from tests.helpers.tier import cases
from tests.real_data import load_real
from tests.reference.ogfs import ogfs


def random_parameters(rng):
    return {
        "min_gain": float(rng.choice([0.0, 0.001, 0.1])),
        "alpha": float(rng.choice([0.05, 0.3])),
        "l1": float(rng.choice([0.05, 0.15, 0.5])),
    }


def slices(p, size):
    return [*range(size, p, size), p]


def kept_by_group(sieve):
    return {group: kept.tolist() for group, kept in sieve.groups_.items()}


# ------------------------------------------------------------------------------------ equal to the twin


@pytest.mark.parametrize("task", TASKS)
def test_random_streams_in_mixed_blocks_equal_the_twin(task):
    """Blocks never fit the groups, and the last group is mostly left open."""
    rng = np.random.default_rng(0)
    seen = Counter()
    for case in range(cases(70)):
        y = target(rng, task, rows(rng, task))
        X = columns(rng, y, int(rng.integers(1, 20)), far=case % 3 == 0)
        parameters = random_parameters(rng)
        size = int(rng.choice([1, 2, 3, 5, 30]))
        *twin, groups = ogfs(X, y, task, slices(X.shape[1], size), **parameters)
        sieve = offered(OGFS(group_size=size, **parameters).begin(y), X, rng, tuple(FORMS))
        what = (case, size, parameters)
        equal_twin(sieve, twin, what=what)
        assert kept_by_group(sieve) == groups, what
        assert sieve.n_groups_ == len(groups)
        assert sieve.n_open_ == X.shape[1] % size
        seen.update((line.event, line.reason) for line in twin[1])
    assert {("kept", "relevant"), ("rejected", "constant"), ("rejected", "irrelevant")} <= set(seen)
    assert min(seen["rejected", "redundant"], seen["evicted", "redundant"]) >= cases(10), seen


def test_groups_of_any_size_offered_whole_equal_the_twin():
    rng = np.random.default_rng(1)
    for case in range(cases(30)):
        task = TASKS[case % 3]
        y = target(rng, task, 30)
        X = columns(rng, y, 20, far=False)
        ends = sorted({20, *rng.integers(1, 20, 5).tolist()})
        parameters = random_parameters(rng)
        *twin, groups = ogfs(X, y, task, ends, **parameters)
        whole = OGFS(group_size=3, **parameters).begin(y)
        decided = []
        for low, high in zip([0, *ends], ends, strict=False):
            form = (np.ascontiguousarray, np.asfortranarray, sp.csc_array)[int(rng.integers(3))]
            decided += whole.offer_group(form(X[:, low:high]))
        equal_twin(whole, twin, what=(case, parameters))
        assert [d[:4] for d in decided] == [d[:4] for d in whole.ledger_]
        labels = np.repeat([f"g{k}" for k in range(len(ends))], np.diff([0, *ends]))
        labelled = OGFS(**parameters).fit(X, y, groups=labels)
        equal_twin(labelled, twin, what=(case, parameters))
        assert kept_by_group(labelled) == {f"g{k}": kept for k, kept in groups.items()}


# ------------------------------------------------------------------------------------ laws


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def scores(X, y):
    """Variance between classes over that within them, column by column."""
    Z, high = standardised(X), y == 1
    means = np.array([Z[~high].mean(axis=0), Z[high].mean(axis=0)])
    between = (1 - high.mean()) * means[0] ** 2 + high.mean() * means[1] ** 2
    return between / (1 - between)


def test_sorted_from_best_to_worst_one_column_is_accepted_and_nearly_all_the_other_way():
    """A ratio of sums grows if and only if the new ratio is above it: the mediant."""
    rng = np.random.default_rng(2)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 50)) + y[:, None] * rng.random(50)
    order = np.argsort(scores(X, y))
    sieve = OGFS(min_gain=0, alpha=1e-9, l1=1e-6, group_size=50)
    assert sieve.fit(X[:, order[::-1]], y).selected_.tolist() == [0]
    assert len(sieve.fit(X[:, order], y).selected_) == 50


def test_a_group_that_is_accepted_whole_meets_the_lasso():
    rng = np.random.default_rng(3)
    found = 0
    for penalty in (0.02, 0.1, 0.3):
        y = rng.integers(0, 2, 60)
        X = rng.normal(size=(60, 12)) + y[:, None] * rng.random(12)
        X = X[:, np.argsort(scores(X, y))]
        model = Lasso(penalty, tol=1e-12, max_iter=100_000).fit(standardised(X), (y - y.mean()) / y.std())
        sieve = OGFS(min_gain=0, l1=penalty, group_size=12).fit(X, y)
        assert sieve.selected_.tolist() == np.flatnonzero(model.coef_).tolist()
        found += len(sieve.selected_)
    assert found > 10


def test_after_every_group_the_model_is_at_its_optimum():
    """A kept column's product with the residual is the penalty, times the sign of its weight."""
    rng = np.random.default_rng(4)
    for task in TASKS:
        y = target(rng, task, 60)
        X = rng.normal(size=(60, 60)) + rng.random(60) * y[:, None]
        sieve = OGFS(min_gain=0, l1=0.05, group_size=4).begin(y)
        for low in range(0, 60, 4):
            sieve.offer(X[:, low : low + 4])
            groups = sieve._process_.store
            Z, W = (groups.slots[name][groups.kept] for name in ("columns", "weights"))
            rest = Z @ (groups.test.basis - Z.T @ W)
            lengths = np.linalg.norm(W, axis=1, keepdims=True)
            assert np.all(lengths > 0)
            np.testing.assert_allclose(rest, 0.05 * W / lengths, atol=1e-8)
            assert np.array_equal(groups.kept_gram().shape, (len(Z), len(Z)))
            np.testing.assert_allclose(groups.kept_gram(), Z @ Z.T, atol=1e-12)
        assert len(sieve.selected_) > 2


def test_a_copy_of_a_kept_column_is_redundant():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 80)
    x = y + rng.normal(size=80)
    sieve = OGFS(group_size=1).fit(np.c_[x, -3 * x, x], y)
    assert sieve.selected_.tolist() == [0]
    assert [(d.reason, d.by) for d in sieve.ledger_][1:] == [("redundant", ("x0",))] * 2


def test_groups_of_one_by_any_road_are_the_same():
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 40)
    X = columns(rng, y, 20, far=False)
    expected = OGFS(l1=0.05, group_size=None).fit(X, y)
    single = OGFS(l1=0.05).begin(y)
    for j in range(20):
        single.offer_group(X[:, j])
    labelled = OGFS(l1=0.05).fit(X, y, groups=range(20))
    for other in (single, labelled, OGFS(l1=0.05, group_size=1).fit(X, y)):
        assert lines(other) == lines(expected)
        assert kept_by_group(other) == kept_by_group(expected)
    assert len(expected.selected_) > 1


def test_units_do_not_matter():
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, 60)
    X = columns(rng, y, 30, far=False)
    expected = lines(OGFS(l1=0.05).fit(X, y))
    assert lines(OGFS(l1=0.05).fit(X * 2.0 ** rng.integers(-40, 40, 30) + 3, y)) == expected


def test_more_columns_than_slots():
    rng = np.random.default_rng(8)
    Q = np.linalg.qr(np.c_[np.ones(100), rng.normal(size=(100, 70))])[0][:, 1:]
    y = Q.sum(axis=1) + 0.01
    sieve = OGFS(l1=0.01, min_gain=0, group_size=1).fit(Q, y)
    assert sieve.selected_.tolist() == list(range(70))
    assert sieve.ledger_.counts() == {"kept": 70}


def test_a_run_saved_anywhere_inside_a_group_goes_on_as_before(tmp_path):
    rng = np.random.default_rng(9)
    for task in TASKS:
        y = target(rng, task, 60)
        X = columns(rng, y, 30, far=False)
        parameters = {"l1": 0.05, "group_size": 7}
        whole = OGFS(**parameters).fit(X, y)
        for half in (1, 6, 7, 12, 29):
            first = OGFS(**parameters).begin(y)
            first.offer(X[:, :half])
            first.save(tmp_path / "half.sieve")
            resumed = OGFS.load(tmp_path / "half.sieve")
            assert resumed.selected_.tolist() == first.selected_.tolist()
            resumed.offer(X[:, half:])
            assert lines(resumed) == lines(whole)


def test_a_stop_closes_the_open_group():
    rng = np.random.default_rng(10)
    y = rng.integers(0, 2, 80)
    X = y[:, None] + 2 * rng.normal(size=(80, 20))
    expected = lines(OGFS(group_size=5).fit(X[:, :8], y))
    sieve = OGFS(group_size=5, stop=ss.Stop(max_offers=8)).fit(X, y)
    assert sieve.stopped_ == "max_offers=8"
    assert sieve.n_open_ == 0
    assert lines(sieve)[: len(expected)] == expected


# ------------------------------------------------------------------------------------ what is refused


def toy():
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    return rng.normal(size=(100, 12)) + y[:, None] * (np.arange(12) % 3 == 0), y


@pytest.mark.parametrize(
    "parameters",
    [{"min_gain": -0.1}, {"alpha": 0}, {"alpha": 1}, {"l1": 0}, {"l1": np.inf}, {"group_size": 0}],
    ids=str,
)
def test_bad_parameters_are_refused_by_name(parameters):
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        OGFS(**parameters).fit(*toy())


def test_a_refused_group_leaves_its_label_free():
    X, y = toy()
    sieve = OGFS().begin(y)
    sieve.offer_group(X[:, :3], group="first")
    with pytest.raises(SchemaError, match="came twice"):
        sieve.offer_group(X[:, 3:], group="first")
    with pytest.raises(ValueError, match="NaN"):
        sieve.offer_group(X[:, 3:] * np.nan, group="second")
    sieve.offer_group(X[:, 3:], group="second")
    assert set(sieve.groups_) <= {"first", "second"}


# ------------------------------------------------------------------------------------ real data


def test_leukemia_in_groups_of_ten():
    X, y = load_real("leukemia_golub_raw")
    sieve = OGFS().fit(X, y)
    assert 10 < len(sieve.selected_) < 40
    accepted = X[:, sieve.selected_]
    model = Lasso(0.15, tol=1e-10, max_iter=100_000).fit(standardised(accepted), (y - y.mean()) / y.std())
    assert np.all(model.coef_ != 0)
    sparse = OGFS().fit(sp.csc_array(X), y)
    assert lines(sparse) == lines(sieve)
