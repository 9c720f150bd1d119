"""Criteria over tables: identities, what must not change a score, and tables without information."""

import dataclasses

import numpy as np
import pytest
import scipy.stats

from streamsieve.criteria import ChiSquare, Fisher, Gini, MutualInfo, SymmetricUncertainty
from streamsieve.exceptions import ParameterError
from streamsieve.state import decode, encode
from streamsieve.summaries import Moments
from tests.criteria.random_tables import TABLE_CRITERIA, block, random_block

each = pytest.mark.parametrize("name", TABLE_CRITERIA)
WORST = {"mutual_info": 0.0, "chi2": 0.0, "gini": -1.0, "su": 0.0}


def scored(name, tables):
    return TABLE_CRITERIA[name].score(tables), TABLE_CRITERIA[name].p_value(tables)


def test_a_feature_determines_itself():
    rng = np.random.default_rng(0)
    for levels in (2, 3, 9):
        masses = rng.random(levels) + 0.01
        table = block(np.diag(masses), 100)
        assert MutualInfo().score(table)[0] == pytest.approx(scipy.stats.entropy(masses), rel=1e-14)
        assert SymmetricUncertainty().score(table)[0] == pytest.approx(1, rel=1e-14)
        assert SymmetricUncertainty().score(table)[0] <= 1
        assert ChiSquare().score(table)[0] == pytest.approx(100 * (levels - 1), rel=1e-12)
    assert Gini().score(block(np.diag([3.0, 5.0])))[0] == 0


def test_scores_lie_where_they_must():
    rng = np.random.default_rng(2)
    for _ in range(200):
        tables = random_block(rng)
        classes, bins = tables.counts.sum(axis=2), tables.counts.sum(axis=1)
        information = MutualInfo().score(tables)
        for margin in (classes, bins):
            present = margin.sum(axis=1) > 0
            most = scipy.stats.entropy(margin[present], axis=1)
            assert np.all(information[present] <= most + 1e-12)
        assert np.all(information >= 0)
        assert np.all(MutualInfo(bias_correction="miller_madow").score(tables) <= information)
        su = SymmetricUncertainty().score(tables)
        assert np.all((su >= 0) & (su <= 1))
        gini = Gini().score(tables)
        assert np.all((gini >= -1) & (gini <= 0))
        p = MutualInfo().p_value(tables)
        assert np.all((p >= 0) & (p <= 1))


def test_independent_tables_score_almost_exactly_0_however_large():
    rng = np.random.default_rng(3)
    counts = np.einsum("fc,fb->fcb", rng.random((500, 4)), rng.random((500, 6)))
    tables = block(counts, 1e15)
    assert np.all(MutualInfo().score(tables) < 1e-29)
    assert np.all(SymmetricUncertainty().score(tables) < 1e-29)
    for name in TABLE_CRITERIA:
        assert np.all(TABLE_CRITERIA[name].p_value(tables) > 0.999)
    whole = block(counts.sum(axis=2, keepdims=True), 1e15)
    np.testing.assert_allclose(Gini().score(tables), Gini().score(whole), rtol=1e-12)


def test_a_dependence_far_below_rounding_of_entropies_is_measured():
    d = 1e-9  # chi-squared = n (2 d)^2, and 2 n I is that for weak dependence
    table = block([[0.25 + d / 2, 0.25 - d / 2], [0.25 - d / 2, 0.25 + d / 2]], 1e18)
    assert ChiSquare().score(table)[0] == pytest.approx(1e18 * (2 * d) ** 2, rel=1e-5)
    assert 2e18 * MutualInfo().score(table)[0] == pytest.approx(1e18 * (2 * d) ** 2, rel=1e-5)


def test_weak_dependence_chi2_is_about_2_n_information():
    rng = np.random.default_rng(4)
    counts = rng.poisson(10_000, (50, 3, 5))
    tables = block(counts)
    np.testing.assert_allclose(
        ChiSquare().score(tables), 2 * tables.n * MutualInfo().score(tables), rtol=0.05
    )


def test_thresholds_respect_the_order_of_bins():
    near, far = [[5.0, 5.0, 0.0], [0.0, 0.0, 5.0]], [[5.0, 0.0, 5.0], [0.0, 5.0, 0.0]]
    ordered = Gini().score(block([near, far]))
    assert ordered[0] == 0
    assert ordered[1] < -0.3
    assert Gini().score(block([near, far], ordered=False)).tolist() == [0, 0]


def with_empty(tables, rng):
    counts = np.insert(tables.counts, rng.integers(0, tables.counts.shape[2] + 1, 3), 0, axis=2)
    return tables._replace(counts=np.insert(counts, rng.integers(0, counts.shape[1] + 1, 2), 0, axis=1))


CHANGES = {
    "feature and class exchanged": lambda t, rng: t._replace(counts=t.counts.transpose(0, 2, 1)),
    "classes permuted": lambda t, rng: t._replace(counts=t.counts[:, rng.permutation(t.counts.shape[1])]),
    "bins permuted": lambda t, rng: t._replace(counts=t.counts[:, :, rng.permutation(t.counts.shape[2])]),
    "bins reversed": lambda t, rng: t._replace(counts=t.counts[:, :, ::-1]),
    "empty bins and classes": with_empty,
}


@each
@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_no_score(name, change):
    if name == "gini" and change == "feature and class exchanged":
        return
    rng = np.random.default_rng(6)
    for _ in range(50):
        tables = random_block(rng)
        if change == "bins permuted":  # thresholds between bins depend on their order
            tables = tables._replace(ordered=tables.ordered and name != "gini")
        for straight, other in zip(
            scored(name, tables), scored(name, CHANGES[change](tables, rng)), strict=True
        ):
            np.testing.assert_allclose(straight, other, rtol=1e-9, atol=1e-14)


@each
@pytest.mark.parametrize("factor", [2.0**-900, 1e-30, 1 / 3, 1e30, 2.0**900])
def test_only_shares_of_the_mass_matter(name, factor):
    counts = np.random.default_rng(9).integers(0, 20, (160, 3, 5)) * 1.0
    scaled = block(counts * factor, counts.sum(axis=(1, 2)))
    for straight, other in zip(scored(name, block(counts)), scored(name, scaled), strict=True):
        np.testing.assert_allclose(straight, other, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("name", ["mutual_info", "su", "gini"])
def test_splitting_a_bin_in_proportion_adds_no_information(name):
    rng = np.random.default_rng(11)
    counts = rng.integers(1, 20, (40, 3, 4)) * 1.0
    finer = np.repeat(counts / 2, 2, axis=2)
    if name != "su":  # whose share goes down, as the entropy of the feature goes up
        np.testing.assert_allclose(scored(name, block(finer))[0], scored(name, block(counts))[0], rtol=1e-11)
    assert np.all(scored(name, block(finer))[1] >= scored(name, block(counts))[1])


@each
def test_a_block_is_the_sum_of_its_pieces_and_left_as_it_was(name):
    rng = np.random.default_rng(12)
    tables = random_block(rng, features=30)
    before = tables.counts.copy(), tables.n.copy()
    tables.counts.setflags(write=False)
    tables.n.setflags(write=False)
    scores, p = scored(name, tables)
    for low in range(0, 30, 7):
        part = slice(low, low + 7)
        piece = tables._replace(counts=tables.counts[part], n=tables.n[part])
        assert np.array_equal(scored(name, piece)[0], scores[part])
        assert np.array_equal(scored(name, piece)[1], p[part])
    assert np.array_equal(tables.counts, before[0])
    assert np.array_equal(tables.n, before[1])


NOTHING = {
    "nothing": np.zeros((2, 5)),
    "no classes": np.zeros((0, 5)),
    "no bins": np.zeros((2, 0)),
    "one row": [[0, 0, 1.0], [0, 0, 0]],
    "one class": [[3, 4, 5, 6.0], [0, 0, 0, 0]],
    "one class, of one": [[3, 4, 5, 6.0]],
    "one class, in fractions": [[0.1, 0.2, 0.3], [0, 0, 0]],
}
CONSTANT = {
    "constant": [[0, 7.0, 0], [0, 5, 0]],
    "constant, one bin": [[7.0], [5]],
    "constant, in fractions": [[0, 0, 0.1], [0, 0, 0.7], [0, 0, 0.3]],
    "two rows, constant": [[1.0, 0], [1, 0]],
    "constant, with rounding of sums": [[0, 0.1, 0], [0, 0.7, 1e-16]],
}
OTHER = {
    "two rows": [[1.0, 0], [0, 1]],
    "almost nothing": np.eye(3) * 5e-324,
    "a huge mass": np.eye(3) * 1e300,
    "far apart": [[1e-300, 0], [0, 1.0]],
    "too far apart": [[5e-324, 5e-324], [1e300, 1.0]],
    "rare cells of rare levels": [[1e-200, 0, 0], [0, 1, 1]],
}


@each
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("kind", NOTHING)
def test_a_table_without_two_classes_scores_worst(name, ordered, kind):
    tables = block(NOTHING[kind], ordered=ordered)
    scores, p = scored(name, tables)
    assert (scores.tolist(), p.tolist()) == ([WORST[name]], [1.0])
    assert TABLE_CRITERIA[name].relevance_index(tables).tolist() == [0.0]
    assert TABLE_CRITERIA[name].worst == WORST[name]


@each
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("kind", CONSTANT)
def test_a_constant_feature_scores_worst(name, ordered, kind):
    counts = np.array(CONSTANT[kind], np.float64)
    scores, p = scored(name, block(counts, ordered=ordered))
    share = counts.sum(axis=1) / counts.sum()
    wanted = -(1 - (share**2).sum()) if name == "gini" else 0
    assert scores[0] == pytest.approx(wanted, rel=1e-14)
    assert p.tolist() == [1.0]
    if name == "gini":  # no split of the same rows is worse
        spread = np.random.default_rng(0).dirichlet(np.ones(5), len(counts)) * counts.sum(axis=1)[:, None]
        assert scores[0] <= scored(name, block(spread, ordered=ordered))[0][0]


@each
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("n", [0.0, 1e-3, 1.0, 1e15])
@pytest.mark.parametrize("kind", {**NOTHING, **CONSTANT, **OTHER})
def test_every_table_has_a_finite_score_and_a_probability(name, ordered, n, kind):
    tables = block({**NOTHING, **CONSTANT, **OTHER}[kind], n, ordered=ordered)
    scores, p = scored(name, tables)
    assert np.all(np.isfinite(scores) & (scores >= WORST[name]))
    assert np.all((p >= 0) & (p <= 1))
    index = TABLE_CRITERIA[name].relevance_index(tables)
    assert np.all((index >= 0) & (index <= 1))
    if name == "mutual_info":
        corrected = MutualInfo(bias_correction="miller_madow").score(tables)
        assert np.all(np.isfinite(corrected) & (corrected >= 0))


@each
def test_no_feature_at_all(name):
    for shape in ((0, 2, 5), (0, 0, 0)):
        scores, p = scored(name, block(np.zeros(shape)))
        index = TABLE_CRITERIA[name].relevance_index(block(np.zeros(shape)))
        assert scores.shape == p.shape == index.shape == (0,)


@each
@pytest.mark.parametrize(
    ("alive", "ghost"),
    [
        ([[20.0, 10, 5], [5, 10, 20]], [1e-9, 1e-9, 1e-9]),
        ([[20.0, 10, 5, 0], [5, 10, 20, 0]], [0, 0, 0, 1e-9]),  # Pearson's term of this cell alone is n
    ],
    ids=["among the others", "with a bin of its own"],
)
def test_a_class_that_faded_away_costs_no_power(name, alive, ghost):
    scores, p = scored(name, block([[*alive, ghost]], 70))
    wanted, p_wanted = scored(name, block([alive], 70))
    assert scores[0] == pytest.approx(wanted[0], rel=1e-7)
    assert p[0] == pytest.approx(p_wanted[0], rel=1e-6)


@each
def test_rare_levels_count_whatever_the_unit_of_weights(name):
    counts = np.array([[99_000.0, 10], [990, 0]])
    scores, _ = scored(name, block(counts, 100_000))
    small, _ = scored(name, block(counts / counts.sum(), 1.0))
    factor = 1e-5 if name == "chi2" else 1.0
    assert small[0] == pytest.approx(scores[0] * factor, rel=1e-9)


@pytest.mark.parametrize("rows", [10, 1_000_000, 10_000_000_000])
def test_one_row_is_a_level(rows):
    table = np.array([[rows, 0.0], [rows, 1.0]])
    assert ChiSquare().score(block(table))[0] == pytest.approx(
        scipy.stats.chi2_contingency(table, correction=False).statistic, rel=1e-6
    )


def test_the_relevance_index_grows_from_0_to_1_as_p_values_shrink():
    table = np.array([[30.0, 20], [20, 30]])
    previous = 0.0
    for factor in (1, 2, 4, 8):
        tables = block(table * factor)
        for name, criterion in TABLE_CRITERIA.items():
            wanted = -np.log10(criterion.p_value(tables)) / 10
            np.testing.assert_allclose(criterion.relevance_index(tables), wanted, rtol=1e-12, err_msg=name)
        assert previous < wanted[0] < 1
        previous = wanted[0]
    for factor in (100, 1e6):
        tables = block(table * factor)
        assert {c.relevance_index(tables)[0] for c in TABLE_CRITERIA.values()} == {1.0}
    assert MutualInfo().p_value(tables)[0] == 0  # and of a p-value of 0 there is no logarithm


def test_moments_have_a_relevance_index_too():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 3))
    X[:, 0] += 5 * y
    X[:, 2] = 1.0
    moments = Moments()
    moments.update(X, y)
    index = Fisher().relevance_index(moments.block(0, 3))
    assert index[0] == 1
    assert 0 < index[1] < 0.5
    assert index[2] == 0


@each
@pytest.mark.parametrize("bins", [1, 0, -3, 2.5, "5", None, True])
def test_bins_out_of_range_are_refused_by_name(name, bins):
    criterion = dataclasses.replace(TABLE_CRITERIA[name], bins=bins)
    with pytest.raises(ParameterError, match="bins must be a whole number at least 2; got"):
        criterion.new_summary()
    with pytest.raises(ParameterError, match="bins must be a whole number at least 2; got"):
        criterion(TABLE_CRITERIA[name].new_summary())


def test_other_parameters_out_of_range_are_refused_by_name():
    with pytest.raises(
        ParameterError, match="bias_correction must be one of 'none', 'miller_madow'; got 'miller"
    ):
        MutualInfo(bias_correction="miller").new_summary()
    with pytest.raises(ParameterError, match="discrete must be one of True, False; got 'yes'"):
        Gini(discrete="yes").new_summary()


@each
def test_a_criterion_is_saved_with_its_parameters(name):
    criterion = dataclasses.replace(TABLE_CRITERIA[name], bins=7, discrete=True)
    assert decode(encode("criterion", criterion)) == criterion
    assert dataclasses.is_dataclass(criterion)
    assert hash(criterion) == hash(decode(encode("criterion", criterion)))
