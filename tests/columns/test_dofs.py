"""DOFS decides as its slow twin does, draws what it should, and keeps its laws."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve._kernels import dofs as kernels
from streamsieve.columns.dofs import DOFS, KERNELS, SAMPLERS
from streamsieve.columns.groups.class_separability import scatters
from streamsieve.columns.groups.dpp import Factor, Sampler, Similarity, uniform_draws
from streamsieve.exceptions import ParameterError, TargetError
from tests.columns.streams import columns, lines, reloaded
from tests.real_data import load_real
from tests.reference import dofs as twin
from tests.reference.dofs import probabilities


def unit(X):
    Z = (X - X.mean(axis=0)).T
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


def conditional(L, kept):
    """Similarities of all but the first items given these, by the other formula."""
    free = np.r_[np.zeros(kept), np.ones(len(L) - kept)]
    return np.linalg.inv(np.linalg.inv(L + np.diag(free))[kept:, kept:]) - np.eye(len(L) - kept)


def test_variances_between_and_within_classes_are_those_of_the_twin():
    rng = np.random.default_rng(3)
    y = rng.permutation(np.repeat(np.arange(3), [12, 20, 28]))
    Z = unit(rng.exponential(size=(60, 4)) + y[:, None])
    given = SimpleNamespace(Z=Z, y=y, labels=range(3), n=60)
    for scatter in ("moments", "moments_literal", "pairwise", "labels_literal"):
        wanted = np.transpose([twin.scatters(given, j, scatter) for j in range(4)])
        np.testing.assert_allclose(scatters(scatter, Z, y), wanted, rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kept", [0, 2])
def test_sets_are_drawn_as_often_as_their_determinants_say(kernel, kept):
    rng = np.random.default_rng(2)
    Z = unit(rng.normal(size=(20, kept + 4)) + rng.normal(size=(20, 1)))
    similarity, every = Similarity(kernel, 1.0), np.arange(kept + 4)
    L = similarity(Z, every, every)
    M = conditional(L, kept)
    wanted = probabilities(M)
    factor = Factor()
    factor.rebuild(L[:kept, :kept])
    K = M @ np.linalg.inv(M + np.eye(4))
    drawn = Sampler("dpp", 0.0, 0).draw(factor, L[kept:, :kept], L[kept:, kept:], np.arange(4))
    np.testing.assert_allclose(drawn.probability, np.diag(K), atol=1e-12)
    draws = 20_000
    found = Counter(tuple(np.flatnonzero(kernels.sample(K, rng.random(4), 0.0))) for _ in range(draws))
    for i in range(4):
        assert sum(p for Y, p in wanted.items() if i in Y) == pytest.approx(K[i, i], abs=1e-12)
        often = sum(n for Y, n in found.items() if i in Y) / draws
        assert abs(often - K[i, i]) < 5 * np.sqrt(0.25 / draws)
    for Y, p in wanted.items():
        assert abs(found[Y] / draws - p) < 5 * np.sqrt(p * (1 - p) / draws) + 1e-9, Y


def test_a_factor_that_grew_is_that_of_all():
    rng = np.random.default_rng(3)
    Z = unit(rng.normal(size=(30, 50)))
    L = Similarity("rbf", 1.0)(Z, np.arange(50), np.arange(50))
    grown, whole = Factor(), Factor()
    whole.rebuild(L)
    for low in range(0, 50, 7):
        part = slice(low, low + 7)
        rows = grown.reduce(np.ascontiguousarray(L[part, :low]))
        grown.append(rows, L[part, part] - rows @ rows.T)
    assert grown.size == whole.size == 50
    np.testing.assert_allclose(grown._rows[:50, :50], np.linalg.cholesky(L), atol=1e-12)
    np.testing.assert_allclose(whole._rows[:50, :50], np.linalg.cholesky(L), atol=1e-12)


@pytest.mark.parametrize("sample", SAMPLERS)
def test_copies_are_never_drawn_together_nor_after_each_other(sample):
    rng = np.random.default_rng(4)
    y = np.arange(60) % 2
    x = rng.normal(size=60)
    drawn = 0
    for seed in range(40):
        sieve = DOFS("draw", sampler=sample, truncation=0.0, random_state=seed).begin(y)
        sieve.offer_group(np.c_[x, 5 * x + 1, rng.normal(size=60), x])
        first = set(sieve.selected_.tolist()) & {0, 1, 3}
        assert len(first) <= 1
        sieve.offer_group(np.c_[3 * x - 1])
        assert len(set(sieve.selected_.tolist()) & {0, 1, 3, 4}) <= 1
        if first:
            assert sieve.ledger_[-1].reason == "not sampled"
            assert sieve.ledger_[-1].statistic == pytest.approx(0, abs=1e-9)
        drawn += len(first)
    assert drawn > 10


def test_draws_are_uniform_and_belong_to_their_columns():
    some = uniform_draws(5, np.arange(100_000))
    assert np.all((some >= 0) & (some < 1))
    assert np.abs(np.histogram(some, 20, (0, 1))[0] / 5000 - 1).max() < 0.08
    assert abs(np.corrcoef(some[:-1], some[1:])[0, 1]) < 0.02
    assert abs(np.corrcoef(some, uniform_draws(6, np.arange(100_000)))[0, 1]) < 0.02
    assert np.array_equal(some[70:80], uniform_draws(5, np.arange(70, 80)))


def test_without_a_model_and_separability_the_target_does_not_matter():
    rng = np.random.default_rng(5)
    X = columns(rng, rng.integers(0, 2, 60), 80, far=False)
    one, two = (
        DOFS("unsupervised", max_rank_correlation=0.5, l1=0).fit(X, y)
        for y in (rng.integers(0, 2, 60), rng.normal(size=60))
    )
    assert one.selected_.tolist() == two.selected_.tolist()
    assert [d.by for d in one.ledger_] == [d.by for d in two.ledger_]
    assert one.ledger_.counts()["redundant"] > 0


def test_the_literal_wilcoxon_rule_takes_independent_columns_for_redundant():
    """It asks whether two columns lie at the same place, not whether they depend on each other."""
    rng = np.random.default_rng(6)
    y = np.arange(100) % 2
    X = rng.normal(size=(100, 30))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    literal = {"redundancy_test": "wilcoxon_literal", "alpha": 0.01, "l1": 0, "sampler": "greedy"}
    centered = DOFS("unsupervised", **literal).fit(X, y)
    assert centered.selected_.tolist() == [0]
    apart = DOFS("unsupervised", **literal).fit(X + np.arange(30), y)
    assert len(apart.selected_) == 30
    sound = DOFS("unsupervised", sampler="greedy", l1=0).fit(X, y)
    assert len(sound.selected_) == 30


def test_more_columns_than_slots():
    rng = np.random.default_rng(8)
    y = np.arange(200) % 2
    sieve = DOFS("draw", gamma=5.0).fit(rng.normal(size=(200, 300)), y)
    assert 100 < len(sieve.selected_) < 200
    assert sieve.ledger_.counts().keys() == {"kept", "not sampled"}


def toy():
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    return rng.normal(size=(100, 12)) + y[:, None] * (np.arange(12) % 3 == 0), y


def rbf(A, B):
    return np.exp(-np.mean((A[:, :, None] - B[:, None, :]) ** 2, axis=0))


def absolute(A, B):
    return np.abs(A.T @ B) / len(A)


def test_a_function_may_say_how_similar_columns_are():
    X, y = toy()
    expected = DOFS(group_size=4).fit(X, y)
    assert lines(DOFS(kernel=rbf, group_size=4).fit(X, y)) == lines(expected)


def test_a_kernel_that_is_not_positive_is_refused_and_nothing_changes():
    rng = np.random.default_rng(11)
    Q = np.linalg.qr(np.c_[np.ones(40), rng.normal(size=(40, 3))])[0][:, 1:]
    around = np.array([[1, 0, 0], [0.6, 0.8, 0], [-0.6, 0.8, 0], [0.0, 0.8, 0.6]]).T
    X, y = Q @ around, np.arange(40) % 2
    assert np.linalg.eigvalsh(np.abs(np.corrcoef(X.T)))[0] < -0.01
    sieve = DOFS("draw", kernel=absolute, sampler="greedy", truncation=0.0, group_size=1).begin(y)
    sieve.offer(X[:, 0], names="first")
    before = lines_by_name(sieve)
    with pytest.raises(ParameterError, match="positive matrix, but its least eigenvalue is -"):
        sieve.offer_group(X[:, 1:], names=["a", "b", "c"])
    assert lines_by_name(sieve) == before
    assert sieve.n_features_in_ == 1
    sieve.set_params(kernel="rbf")
    sieve.offer_group(X[:, 1:], names=["a", "b", "c"])  # neither names nor the group were taken
    assert sieve.n_features_in_ == 4
    whole = DOFS("draw", kernel=absolute, sampler="greedy", truncation=0.0, group_size=4)
    with pytest.raises(ParameterError, match="positive matrix"):
        whole.fit(X, y)


def lines_by_name(sieve):
    return [(d.feature, d.event, d.reason, d.by) for d in sieve.ledger_]


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (lambda A, B: np.ones(3), "numbers of shape"),
        (lambda A, B: np.full((A.shape[1], B.shape[1]), "a"), "numbers of shape"),
        (lambda A, B: np.full((A.shape[1], B.shape[1]), np.nan), "NaN or infinity"),
        (lambda A, B: np.arange(A.shape[1])[:, None] + np.zeros(B.shape[1]), "symmetric"),
        (lambda A, B: -np.eye(A.shape[1], B.shape[1]), "positive matrix"),
    ],
)
def test_what_a_kernel_returns_is_looked_at(kernel, text):
    with pytest.raises(ParameterError, match=text):
        DOFS(kernel=kernel, group_size=4).fit(*toy())


def test_a_kernel_is_not_saved():
    X, y = toy()
    sieve = DOFS(kernel=rbf, group_size=4).begin(y)
    sieve.offer(X[:, :4])
    again = reloaded(sieve)
    assert again.selected_.tolist() == sieve.selected_.tolist()
    with pytest.raises(ParameterError, match=r"not saved .* set_params\(kernel=...\) again"):
        again.offer(X[:, 4:])
    again.set_params(kernel=rbf).offer(X[:, 4:])
    sieve.offer(X[:, 4:])
    assert lines(again) == lines(sieve)


def test_class_separability_needs_classes():
    X, y = toy()
    with pytest.raises(TargetError, match="stages='unsupervised'"):
        DOFS().fit(X, y + 0.5 * X[:, 0])
    assert len(DOFS("unsupervised", l1=0.01).fit(X, y + 0.5 * X[:, 0]).selected_) > 0


def test_a_column_that_leaves_is_taken_out_of_the_factor(monkeypatch):
    rng = np.random.default_rng(12)
    y = rng.integers(0, 3, 60)
    sieve = DOFS().begin(y)
    sieve.offer(rng.normal(size=(60, 40)) + 0.4 * y[:, None])
    monkeypatch.delattr(Factor, "rebuild")
    sieve.offer(rng.normal(size=(60, 40)) + y[:, None] * np.linspace(0.5, 2, 40))
    assert sum(decision.event == "evicted" for decision in sieve.ledger_) > 2
    store = sieve._process_.store
    L = Similarity("rbf", 1.0)(store.slots["columns"], store.kept, store.kept)
    np.testing.assert_allclose(store._factor.rows, np.linalg.cholesky(L), atol=1e-12)


def test_leukemia_in_groups_of_ten():
    X, y = load_real("leukemia_golub_raw")
    sieve = DOFS().fit(X, y)
    assert 15 < len(sieve.selected_) < 80
    rank = np.argsort(np.argsort(X[:, sieve.selected_], axis=0), axis=0)
    shared = np.abs(np.corrcoef(rank.T)) - np.eye(rank.shape[1])
    assert shared.max() < 0.95  # diverse, up to how ties are ranked
    dense, sparse = (DOFS("unsupervised").fit(form(X[:, :1000]), y) for form in (np.asarray, sp.csc_array))
    assert lines(sparse) == lines(dense)


def test_another_kernel_holds_from_the_next_group_on():
    """As after saving and loading, where similarities are computed again."""
    rng = np.random.default_rng(9)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 30)) + 0.6 * y[:, None] * rng.random(30)
    sieve = DOFS("draw", group_size=5, random_state=1).begin(y)
    sieve.offer(X[:, :15])
    sieve.set_params(gamma=0.05)
    again = reloaded(sieve)
    for each in (sieve, again):
        each.offer(X[:, 15:])
    assert lines(sieve) == lines(again)
