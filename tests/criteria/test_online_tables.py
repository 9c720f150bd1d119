"""From rows to scores: summaries of a stream, in any form and cut, score as offline."""

import dataclasses

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import mutual_info_score
from sklearn.tree import DecisionTreeClassifier

from streamsieve.criteria import ChiSquare, Gini, MutualInfo, SymmetricUncertainty
from streamsieve.criteria.criterion import serves
from streamsieve.summaries import Contingency, Moments, Quantiles
from tests.criteria.random_tables import TABLE_CRITERIA, TABLE_TWINS
from tests.criteria.scoring import scored, summarized
from tests.helpers.tier import cases
from tests.reference import mutual_info, quantiles, saola
from tests.summaries.streams import FORMS, feed, random_stream

each = pytest.mark.parametrize("name", TABLE_CRITERIA)


@settings(max_examples=cases(200))
@given(
    st.lists(st.integers(-4, 4), min_size=1, max_size=40),
    st.integers(2, 8),
    st.sampled_from(["ones", "whole", "fractions"]),
    st.integers(0, 2**32 - 1),
)
def test_bins_by_mass_below_are_bins_by_cuts(values, bins, kind, seed):
    rng = np.random.default_rng(seed)
    n = len(values)
    masses = {"ones": np.ones(n), "whole": rng.integers(1, 5, n), "fractions": rng.random(n)}[kind].tolist()
    size = quantiles.bin_size(sum(masses), bins, kind != "fractions")
    inside = quantiles.bins_of(values, masses, size, bins)
    cuts = quantiles.cuts_of(values, masses, size, bins)
    assert inside == [sum(cut < v for cut in cuts) for v in values]
    for cut in cuts:
        assert quantiles.rank(cut, values, masses) >= min(size, sum(masses)) * (1 - 1e-9)
    if kind == "ones" and n >= bins:
        assert inside == saola.cut(np.array(values), bins).tolist()


def test_ranks_count_up_to_a_value_or_below_it():
    values, masses = [3.0, 1.0, np.nan, 3.0], [1.0, 2.0, 4.0, 8.0]
    assert quantiles.rank(3, values, masses) == 11
    assert quantiles.rank(3, values, masses, strict=True) == 2
    assert quantiles.rank(3, values) == 3


def online(criterion, pieces, forms, half_life):
    """Return scores and p-values after the pieces, each in its form."""
    summary = criterion.new_summary(half_life=half_life)
    for piece, form in zip(pieces, forms, strict=True):
        feed(summary, piece, form)
    return criterion(summary), criterion.p_values(summary)


@each
@pytest.mark.parametrize("half_life", [None, 1.0, 7.0, 200.0])
@pytest.mark.parametrize(
    "forms", [["C", "F", "float32", "strided"], ["csr_array", "csr float32"], ["C", "csr_array"]]
)
def test_scores_of_a_stream_in_pieces_are_those_of_its_offline_bins(name, half_life, forms):
    rng = np.random.default_rng(len(forms))
    informative = 0
    for _ in range(12):
        stream = random_stream(rng, "classes", n=int(rng.integers(5, 120)))
        bins = int(rng.choice([2, 3, 5, 10, 30]))
        pieces = stream.cut(rng, int(rng.integers(1, 6)))
        criterion = dataclasses.replace(TABLE_CRITERIA[name], bins=bins)
        scores, p = online(criterion, pieces, rng.choice(forms, len(pieces)), half_life)
        twin = TABLE_TWINS[name]
        wanted = twin.score(stream.X, stream.y, stream.weight, half_life, bins)
        np.testing.assert_allclose(scores, wanted, rtol=1e-6 if name == "su" else 1e-9, atol=1e-12)
        p_wanted = twin.p_value(stream.X, stream.y, stream.weight, half_life, bins)
        np.testing.assert_allclose(p, p_wanted, rtol=1e-8, atol=1e-12)
        informative += np.count_nonzero(p_wanted < 1)
    # with a half-life of one row there are three rows in all, and nothing to test
    assert informative > 5 or half_life == 1


@each
@pytest.mark.parametrize("form", ["C", "csr_array"])
@pytest.mark.parametrize("half_life", [None, 10.0])
def test_merged_summaries_score_as_one(name, form, half_life):
    rng = np.random.default_rng(5)
    for _ in range(10):
        stream = random_stream(rng, "classes", n=60, p=4)
        left, right = (summarized(TABLE_CRITERIA[name], s.X, s.y, s.weight, half_life, form)
                       for s in (stream[:25], stream[25:]))  # fmt: skip
        left.merge(right)
        whole = summarized(TABLE_CRITERIA[name], stream.X, stream.y, stream.weight, half_life, form)
        for ask in (TABLE_CRITERIA[name], TABLE_CRITERIA[name].p_values):
            np.testing.assert_allclose(ask(left), ask(whole), rtol=1e-7, atol=1e-12)


@each
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_whole_weights_are_copies_of_rows(name, form):
    rng = np.random.default_rng(6)
    stream = random_stream(rng, "classes", n=80, p=5)
    weight = rng.integers(0, 4, 80)
    copies = np.repeat(np.arange(80), weight)
    weighted = scored(TABLE_CRITERIA[name], stream.X, stream.y, weight.astype(float), form=form)
    repeated = scored(TABLE_CRITERIA[name], stream.X[copies], stream.y[copies], form=form)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-10, atol=1e-13)


@each
def test_more_features_than_fit_in_a_piece(name):
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(30, 9000)).astype(np.float32), np.arange(30) % 2
    scores, p = scored(TABLE_CRITERIA[name], X, y)
    assert len(list(TABLE_CRITERIA[name].blocks(summarized(TABLE_CRITERIA[name], X, y)))) > 2
    some = rng.choice(9000, 50)
    assert np.array_equal(scored(TABLE_CRITERIA[name], X[:, some], y), (scores[some], p[some]))


def test_information_is_scikit_learns_over_the_same_bins():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 3, 500)
    X = rng.normal(size=(500, 6)) + np.outer(y, [0, 0, 0.2, 0.5, 1, 2])
    codes = np.array([saola.cut(x, 5) for x in X.T]).T
    wanted = mutual_info_classif(codes, y, discrete_features=True)
    np.testing.assert_allclose(scored(MutualInfo(), X, y, batch=77)[0], wanted, rtol=1e-9, atol=1e-13)
    for j, p in enumerate(scored(ChiSquare(), X, y, batch=77)[1]):
        table = scipy.stats.contingency.crosstab(y, codes[:, j]).count
        assert p == pytest.approx(mutual_info.p_value_of(table.tolist(), table.sum()), rel=1e-9)


def test_what_means_cannot_see_information_can():
    rng = np.random.default_rng(9)
    y = np.arange(600) % 2
    X = np.c_[rng.normal(size=600) * (1 + 3 * y), rng.normal(size=600)]  # the same mean, another spread
    for criterion in TABLE_CRITERIA.values():
        scores, p = scored(criterion, X, y)
        assert scores[0] > scores[1]
        assert p[0] < 1e-10
        assert p[1] > 1e-3


def categories(rng, n=200):
    """Small whole numbers, with zeros, some of which go with the class."""
    y = rng.integers(0, 3, n)
    X = rng.integers(0, 4, (n, 5)) * 1.0
    X[:, 0] = (y + rng.integers(0, 2, n)) % 4
    X[:, 1] = np.where(rng.random(n) < 0.9, 0, y)
    return X, y


@pytest.mark.parametrize("form", ["C", "F", "float32", "csr_array"])
def test_levels_score_as_scipy_and_scikit_learn_score_values(form):
    rng = np.random.default_rng(10)
    X, y = categories(rng)
    if form in ("C", "F"):
        X[rng.random(X.shape) < 0.2] = np.nan
    information = scored(MutualInfo(discrete=True), X, y, form=form, batch=31)[0]
    chi2, p = scored(ChiSquare(discrete=True), X, y, form=form, batch=31)
    su = scored(SymmetricUncertainty(discrete=True), X, y, form=form, batch=31)[0]
    gini = scored(Gini(discrete=True), X, y, form=form, batch=31)[0]
    for j in range(X.shape[1]):
        there = ~np.isnan(X[:, j])
        x, c = X[there, j], y[there]
        nats = mutual_info_score(x, c)
        assert information[j] == pytest.approx(nats, rel=1e-9)
        table = scipy.stats.contingency.crosstab(c, x).count
        assert chi2[j] == pytest.approx(
            scipy.stats.chi2_contingency(table, correction=False).statistic, rel=1e-9
        )
        assert p[j] == pytest.approx(mutual_info.p_value_of(table.tolist(), len(x)), rel=1e-9)
        entropies = sum(scipy.stats.entropy(table.sum(axis=axis)) for axis in (0, 1))
        assert su[j] == pytest.approx(2 * nats / entropies, rel=1e-9)
        tree = DecisionTreeClassifier(max_depth=1).fit(x[:, None], c).tree_
        leaves = tree.children_left < 0
        share = tree.weighted_n_node_samples[leaves] / tree.weighted_n_node_samples[0]
        assert gini[j] == pytest.approx(-(share @ tree.impurity[leaves]), rel=1e-9)


def test_levels_without_an_order_are_all_split():
    X = np.array([["red"], ["blue"], ["red"], ["green"]], dtype=object)
    y = np.array([0, 1, 0, 1])
    table = Contingency()
    table.update(X, y)
    assert Gini(discrete=True)(table).tolist() == [0]
    assert MutualInfo(discrete=True)(table)[0] == pytest.approx(np.log(2))


@each
def test_few_levels_score_alike_as_levels_and_as_fine_bins(name):
    X, y = categories(np.random.default_rng(11))
    levels = scored(dataclasses.replace(TABLE_CRITERIA[name], discrete=True), X, y)
    bins = scored(dataclasses.replace(TABLE_CRITERIA[name], bins=len(y)), X, y)
    np.testing.assert_allclose(levels, bins, rtol=1e-10, atol=1e-13)


@each
def test_each_criterion_knows_its_summary(name):
    binned = TABLE_CRITERIA[name]
    levels = dataclasses.replace(binned, discrete=True)
    assert isinstance(binned.new_summary(), Quantiles)
    assert isinstance(levels.new_summary(), Contingency)
    summary = binned.new_summary(half_life=50.0, max_rank_error=0.01)
    assert (summary.half_life, summary.max_rank_error) == (50.0, 0.01)
    assert levels.new_summary(half_life=50.0).half_life == 50.0
    assert serves(binned, Quantiles())
    assert serves(levels, Contingency())
    for stranger in (Contingency(), Moments(), None):
        assert not serves(binned, stranger)
    assert not serves(levels, Quantiles())
    for form in FORMS:
        empty = binned.new_summary()
        empty.update(FORMS[form](np.zeros((0, 3))), np.zeros(0))
        assert binned(empty).size == 0


def test_scores_over_values_that_were_counted_together_are_announced():
    table = Contingency(cap=2)
    X = np.arange(8.0).reshape(4, 2)
    X[:, 1] = [1, 2, 1, 2]
    table.update(X, np.arange(4) % 2)
    assert table.overflowed.tolist() == [True, False]
    with pytest.warns(UserWarning, match="column 0 has more than 2 different values: later ones"):
        MutualInfo(discrete=True)(table)
    table.update(X[:, ::-1] + 3, np.arange(4) % 2)
    with pytest.warns(UserWarning, match="column 0, and 1 more has more than 2 different values"):
        MutualInfo(discrete=True).p_values(table)
