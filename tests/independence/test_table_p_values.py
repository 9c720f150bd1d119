"""P-values of contingency tables hold their level: moments, Fisher's exact test and confirmation."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import chdtrc
from scipy.stats import fisher_exact, permutation_test

import streamsieve as ss
from streamsieve.decisions import REASON_CODE
from streamsieve.independence import table_p_values as ours
from streamsieve.independence.chi_square import ChiSquareTest
from streamsieve.independence.g_squared import GSquared
from streamsieve.protocols import Reason, Task
from tests.helpers.tier import cases
from tests.reference import table_moments as twin

SKEWED = (0.6, 0.25, 0.1, 0.04, 0.01)
RELEVANT = REASON_CODE[Reason.RELEVANT]


def flat(k):
    return (1 / k,) * k


def counted(x, y):
    table = np.zeros((x.max() + 1, y.max() + 1), int)
    np.add.at(table, (x, y), 1)
    return table


# ------------------------------------------------------------------------------------ moments


def test_mean_and_variance_are_those_of_all_permutations():
    rng = np.random.default_rng(0)
    constant = 0
    for _ in range(cases(60, 25)):
        n = int(rng.integers(4, 8))
        x, y = rng.integers(0, 3, (2, n))
        table = twin.occurring(counted(x, y))
        values = np.array(
            [
                twin.pearson(twin.occurring(counted(x, y[list(order)])))
                for order in itertools.permutations(range(n))
            ]
        )
        statistic, mean, variance = (a[0] for a in ours.moments(table[None])[:3])
        assert (statistic, mean, variance) == pytest.approx(twin.moments(table), abs=1e-12)
        if min(table.shape) < 2 or values.var() < 1e-12:
            assert variance == 0
            constant += 1
        else:
            assert (mean, variance) == pytest.approx((values.mean(), values.var()), rel=1e-9)
    assert constant > 0


def test_mean_and_variance_are_those_of_scipy():
    x, y = np.array([0, 0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 1, 1, 0])
    exact = permutation_test(
        (x,), lambda a: twin.pearson(counted(a, y)), permutation_type="pairings", n_resamples=np.inf
    ).null_distribution
    _, mean, variance = (a[0] for a in ours.moments(counted(x, y)[None])[:3])
    assert (mean, variance) == pytest.approx((exact.mean(), exact.var()), rel=1e-9)


def test_moments_of_many_tables_are_those_of_each():
    rng = np.random.default_rng(1)
    tables = np.array([rng.multinomial(n, rng.dirichlet(np.ones(15))) for n in range(120)]).reshape(-1, 5, 3)
    for j, found in enumerate(zip(*ours.moments(tables)[:3], strict=True)):
        assert found == pytest.approx(twin.moments(tables[j]), rel=1e-9, abs=1e-9)


#: Rows, probabilities of levels and classes, strata, and the size at .05, .01, .001 (6,000 to 12,000 tables).
SIZES = {
    "5 x 5 flat": (80, flat(5), flat(5), 1, (0.045, 0.009, 0.0008)),
    "2 x 2 given 8 strata": (80, flat(2), flat(2), 8, (0.044, 0.008, 0.0003)),
    "2 x 2 given 8 strata, rare": (200, (0.9, 0.1), (0.9, 0.1), 8, (0.049, 0.011, 0.0013)),
    "20 x 5 flat": (100, flat(20), flat(5), 1, (0.047, 0.010, 0.0015)),
    "10 x 2 flat": (45, flat(10), flat(2), 1, (0.049, 0.009, 0.0005)),
    "5 x 5 skewed, 40 rows": (40, SKEWED, SKEWED, 1, (0.054, 0.016, 0.0013)),
    "5 x 5 skewed, 320 rows": (320, SKEWED, SKEWED, 1, (0.042, 0.016, 0.0059)),
    "5 x 2, a rare class": (100, flat(5), (0.95, 0.05), 1, (0.051, 0.014, 0.002)),
    "3 x 3 given 9 strata, 90 rows": (90, flat(3), flat(3), 9, (0.048, 0.010, 0.0012)),
    "3 x 3 given 9 strata, 180 rows": (180, flat(3), flat(3), 9, (0.048, 0.009, 0.0017)),
    "3 x 3 given 27 strata": (270, flat(3), flat(3), 27, (0.053, 0.010, 0.0018)),
    "5 x 2 given 25 strata": (250, flat(5), flat(2), 25, (0.052, 0.010, 0.0010)),
}


@pytest.mark.full
@pytest.mark.parametrize("name", SIZES)
def test_sizes_by_moments_alone_are_those_published(name):
    """The gamma distribution is within a third of its level, but for skewed margins in the far tail."""
    n, x, y, strata, published = SIZES[name]
    draws = 8000
    probability = np.tile(np.outer(x, y).ravel() / strata, strata)
    tables = np.random.default_rng(0).multinomial(n, probability, draws).reshape(-1, len(x), len(y))
    statistic, mean, variance = (a.reshape(draws, strata).sum(axis=1) for a in ours.moments(tables)[:3])
    tested, p = variance > 0, np.ones(draws)  # a table without the rare class is no test
    scale = 2 * mean[tested] / variance[tested]
    p[tested] = chdtrc(mean[tested] * scale, statistic[tested] * scale)
    for level, size in zip((0.05, 0.01, 0.001), published, strict=True):
        error = math.sqrt(max(size, 1e-4) * 2 / draws)
        assert np.mean(p <= level) == pytest.approx(size, abs=3 * error), level


# ------------------------------------------------------------------------------------ levels are held


def null_columns(rng, n, probability, m):
    return rng.choice(len(probability), (n, m), p=probability).astype(float)


#: Where the limiting distribution exceeds the level, although there are five rows per degree of freedom: the
#: test, rows, levels, classes, a level, and the size of the limit there.
LIBERAL = {
    "G2, 5 x 5 flat": (GSquared, 80, flat(5), flat(5), 0.01, 0.029),
    "G2, 10 x 2 flat": (GSquared, 45, flat(10), flat(2), 0.01, 0.028),
    "X2, 5 x 5 skewed, 80 rows": (ChiSquareTest, 80, SKEWED, SKEWED, 0.01, 0.045),
    "X2, 5 x 5 skewed, 320 rows": (ChiSquareTest, 320, SKEWED, SKEWED, 0.001, 0.02),
}


@pytest.mark.parametrize("name", LIBERAL)
def test_sparse_tables_hold_their_level(name):
    cls, n, x, y, alpha, liberal = LIBERAL[name]
    rng = np.random.default_rng(2)
    size, m = {"moments": 0.0, "chi2": 0.0}, 1500
    targets = cases(20, 4)
    for _ in range(targets):
        labels = np.concatenate([np.arange(len(y)), rng.choice(len(y), n - len(y), p=y)])
        X = null_columns(rng, n, x, m)
        for way in size:
            reason = cls(labels, Task.MULTICLASS, alpha, p_value=way).relevance(X).reason
            size[way] += np.mean(reason == RELEVANT) / targets
    error = math.sqrt(alpha / (m * targets))
    assert size["moments"] <= alpha + 3 * error
    assert size["chi2"] > max(1.5 * alpha, liberal / 2)
    default = cls(labels, Task.MULTICLASS, alpha).relevance(X)
    np.testing.assert_array_equal(
        default.reason, cls(labels, Task.MULTICLASS, alpha, p_value="moments").relevance(X).reason
    )


def test_tests_given_strata_hold_their_level():
    rng = np.random.default_rng(3)
    draws, n = cases(1500), 180
    found = {"auto": 0, "chi2": 0}
    for _ in range(draws):
        x, y, z = rng.integers(0, 3, (3, n))
        Z = np.column_stack([z, rng.integers(0, 3, n)])
        for way in found:
            found[way] += GSquared(y, Task.MULTICLASS, 0.05, p_value=way).given(x, Z).p_value <= 0.05
    assert found["auto"] / draws <= 0.05 + 3 * math.sqrt(0.0475 / draws)
    assert found["chi2"] / draws > 0.18


def test_power_is_not_lost_where_there_is_an_effect():
    """5 x 5 flat, n = 80: a weak effect is found by moments as often as by X2 with its limit."""
    rng = np.random.default_rng(4)
    y = np.arange(80) % 5
    follows = rng.random((80, 1000)) < 0.35
    X = np.where(follows, y[:, None], rng.integers(0, 5, (80, 1000))).astype(float)
    power = {
        way: np.mean(ChiSquareTest(y, Task.MULTICLASS, 0.01, p_value=way).relevance(X).reason == RELEVANT)
        for way in ("moments", "chi2")
    }
    assert power["moments"] >= power["chi2"] > 0.3


# ------------------------------------------------------------------------------------ Fisher's exact test


def test_a_column_equal_to_eight_labels_is_no_certainty():
    y = np.repeat([0, 1], 4)
    for cls in (GSquared, ChiSquareTest):
        tested = cls(y, Task.BINARY, 0.05).given(y, np.zeros((8, 0)))
        assert tested.p_value == pytest.approx(2 / 70)
        assert cls(y, Task.BINARY, 1e-6).relevance(y[:, None]).reason[0] != RELEVANT


@pytest.mark.parametrize("exact", [False, True])
def test_two_by_two_tables_have_fishers_p_value(exact):
    rng = np.random.default_rng(5)
    seen = set()
    for n in (6, 20, 60, 200):
        for share in (0.05, 0.2, 0.5):
            y = np.r_[0, 1, rng.random(n - 2) < share].astype(int)
            X = (rng.random((n, 40)) < rng.random(40)).astype(float)
            X[:2] = [[0.0], [1.0]]
            test = GSquared(y, Task.BINARY, 0.1, exact=exact)
            found = test.relevance(X)
            p = test.p_values(found.tested, found.freedom)
            for j in range(40):
                table = counted(X[:, j].astype(int), y)
                smallest = table.sum(axis=0).min() * table.sum(axis=1).min() / n
                if exact or smallest < 5:
                    assert p[j] == pytest.approx(fisher_exact(table).pvalue, rel=1e-9)
                else:
                    assert p[j] == pytest.approx(twin.gamma_p([table]), rel=1e-9)
                assert (found.reason[j] == RELEVANT) == (p[j] <= 0.1)
                seen.add(smallest < 5)
    assert seen == {True, False}


def test_exact_p_values_are_never_below_their_probability():
    """Of every table with given margins, P(p <= u) <= u at every u: what an online rule needs."""
    for n, ones in ((12, 6), (50, 25), (50, 5), (100, 3)):
        lf = ours.log_factorial(n)
        for fewest in range(1, n // 2 + 1):
            corner = np.arange(max(0, ones + fewest - n), min(ones, fewest) + 1)
            p = ours.p_value_or_fisher(n, ones, corner.astype(float), np.full(len(corner), -float(fewest)))
            probability = np.exp(
                lf[ones] - lf[corner] - lf[ones - corner] + lf[n - ones] - lf[fewest - corner]
                - lf[n - ones - fewest + corner] - (lf[n] - lf[fewest] - lf[n - fewest])
            )  # fmt: skip
            for u in p:
                assert probability[p <= u * (1 + 1e-9)].sum() <= u * (1 + 1e-6)


def test_behind_a_gate_two_by_two_tables_are_exact():
    rng = np.random.default_rng(6)
    y, X = np.arange(100) % 2, rng.integers(0, 2, (100, 30)).astype(float)
    wanted = [fisher_exact(counted(x.astype(int), y)).pvalue for x in X.T]
    for sieve in (
        ss.FastOSFS(0.05, test="g2", max_conditioning=0, fdr="lord"),
        ss.TopK(40, measure="su", fdr="lord"),
    ):
        sieve.fit(X, y)
        assert [d.p_value for d in sieve.ledger_] == pytest.approx(wanted, rel=1e-9)
    fixed = [d.p_value for d in ss.FastOSFS(0.05, test="g2", max_conditioning=0).fit(X, y).ledger_]
    assert max(abs(a - b) for a, b in zip(fixed, wanted, strict=True)) > 0.01


# ------------------------------------------------------------------------------------ confirmation


def sparse_tables(rng):
    r, c, strata = rng.integers(2, 5), rng.integers(2, 4), rng.integers(1, 4)
    probability = np.outer(rng.dirichlet(np.full(r, 0.5)), rng.dirichlet(np.full(c, 0.5))).ravel()
    return [
        twin.occurring(rng.multinomial(rng.integers(4, 40), probability).reshape(r, c)) for _ in range(strata)
    ]


def test_confirmed_p_values_are_those_of_the_twin():
    rng = np.random.default_rng(7)
    changed = plain = 0
    for _ in range(cases(60)):
        tables = sparse_tables(rng)
        p = twin.gamma_p(tables)
        rare, sparse = twin.has_rare_level(tables), twin.smallest_expected(tables) < 1
        wanted = max(p, twin.valid_p(tables, 200)) if rare or sparse else p
        assert ours.confirmed(p, tables, 200, tail=True) == pytest.approx(wanted, rel=1e-9)
        skewed = rare or twin.joint_share(tables) > 0.05
        assert ours.confirmed(p, tables, 200) == pytest.approx(wanted if skewed else p, rel=1e-9)
        changed += wanted > p
        plain += not skewed
    assert changed > cases(20)
    assert plain > cases(5)


def test_few_rows_of_a_level_that_meet_in_one_of_many_equal_classes_are_no_evidence():
    """The gamma distribution alone would give 2e-4 to three single values that share a class, 7e-7 to six."""
    y = np.repeat(np.arange(5), 20)
    for single in (3, 5, 6):
        x = np.zeros(100)
        x[:single] = np.arange(1, single + 1)
        ledger = ss.FastOSFS(0.05, test="g2").fit(x[:, None], y).ledger_
        assert ledger[0].p_value > 0.5 * 0.2 ** (single - 1)


@pytest.mark.parametrize(("levels", "rows"), [(5, 5), (3, 4), (5, 7), (8, 6), (5, 6)])
@pytest.mark.parametrize("online", [False, True])
def test_a_class_of_few_rows_in_bins_of_equal_frequency_holds_its_level(levels, rows, online):
    """The gamma distribution alone rejects more than 1.3 times as many at one of the levels."""
    rng, n = np.random.default_rng(3), 20 * levels
    y = (np.arange(n) < rows).astype(int)
    X = rng.permuted(np.tile(np.arange(n) // 20, (4000, 1)), axis=1).T.astype(float)
    liberal = 0
    for alpha in (0.05, 0.01):
        test = GSquared(y, Task.BINARY, alpha, exact=online)
        found = test.relevance(X)
        size = np.mean(test.p_values(found.tested, found.freedom)[:] <= alpha)
        assert size <= alpha + 3 * math.sqrt(alpha / 4000)
        assert np.mean(found.reason == RELEVANT) == size
        counts = [np.bincount(x[:rows].astype(int), minlength=levels) for x in X.T]
        tables = np.stack([counts, 20 - np.array(counts)], axis=1)
        by_moments = ours.moments(tables)
        scale = 2 * by_moments.mean / by_moments.variance
        gamma = chdtrc(by_moments.mean * scale, by_moments.statistic * scale)
        liberal += np.mean(gamma <= alpha) > 1.3 * alpha
    assert liberal


def test_confirmed_p_values_do_not_depend_on_names_or_order():
    rng = np.random.default_rng(8)
    for _ in range(10):
        tables = sparse_tables(rng)
        again = [t[rng.permutation(t.shape[0])][:, rng.permutation(t.shape[1])] for t in tables]
        order = rng.permutation(len(again))
        shuffled, plain = ([again[i] for i in order], tables)
        assert ours.confirmed(1e-9, shuffled, 300, tail=True) == ours.confirmed(1e-9, plain, 300, tail=True)


def test_large_tables_are_drawn_less_often(monkeypatch):
    table = np.array([[40, 1], [3, 1], [1, 0]])
    whole = ours.confirmed(1e-9, [table], 100_000)
    monkeypatch.setattr(ours, "MOST_ROWS", 1)
    monkeypatch.setattr(ours, "STOP", 10**9)
    assert ours.confirmed(1e-9, [table], 100_000) == pytest.approx(2 * whole, rel=0.3)


@pytest.mark.parametrize(("n", "draws"), [(40, 4000), (320, 400)])
def test_confirmed_p_values_hold_every_level(n, draws):
    """Far below and above 10 / draws, where the exact tests of cells and the random tables take turns."""
    rng = np.random.default_rng(9)
    tables = rng.multinomial(n, np.outer(SKEWED, SKEWED).ravel(), cases(6000, 1500)).reshape(-1, 5, 5)
    statistic, mean, variance, _ = ours.moments(tables)
    p = ours.p_value(np.where(variance > 0, 2 * statistic * mean / np.maximum(variance, 1e-9), 1),
                     2 * mean**2 / np.maximum(variance, 1e-9))  # fmt: skip
    small = np.flatnonzero(p <= 0.05)
    p[small] = [ours.confirmed(p[j], [twin.occurring(tables[j])], draws) for j in small]
    for level in (0.05, 0.025, 0.01, 0.005, 0.0025, 0.001):
        assert np.mean(p <= level) <= level + 3 * math.sqrt(level / len(p)), level


def test_a_strong_association_in_a_sparse_table_keeps_a_small_p_value():
    """Random tables alone would leave 1e-5, which no online rule accepts after a few hundred tests."""
    rng = np.random.default_rng(10)
    y = np.r_[np.zeros(270, int), np.ones(28, int), 2, 2]
    x = np.where(rng.random(300) < 0.9, y, rng.integers(0, 3, 300))
    for exact in (False, True):
        tested = GSquared(y, Task.MULTICLASS, 0.05, exact=exact).given(x, np.zeros((300, 0)))
        assert tested.freedom == 0, "it was confirmed"
        assert 0 < tested.p_value < 1e-12


def test_blocks_order_of_rows_and_a_reload_change_no_p_value():
    rng = np.random.default_rng(11)
    n = 120
    y = np.concatenate([np.arange(5), rng.choice(5, n - 5, p=SKEWED)])
    X = null_columns(rng, n, SKEWED, 300)
    X[:, :20] = np.where(rng.random((n, 20)) < 0.3, y[:, None], X[:, :20])
    order = rng.permutation(n)
    for cls in (GSquared, ChiSquareTest):
        test = cls(y, Task.MULTICLASS, 0.2)
        whole = test.measure(X)
        again = cls.from_state(test.state())
        assert (test.relevance(X).freedom == 0).sum() > 20, "some were confirmed"
        for other in (again.measure(X), cls(y[order], Task.MULTICLASS, 0.2).measure(X[order])):
            np.testing.assert_array_equal(other.reason, whole.reason)
            np.testing.assert_allclose(other.p_value[:], whole.p_value[:], rtol=1e-9)
        ones = np.concatenate([test.measure(X[:, [j]]).p_value[:] for j in range(40)])
        np.testing.assert_array_equal(ones, whole.p_value[:40])


@pytest.mark.parametrize("transposed", [False, True])
def test_few_rows_per_level_are_confirmed_also_where_they_are_not_few_altogether(transposed):
    """Sixteen rows in 20 levels: by the gamma distribution alone the size is .003 at .001."""
    rng, n, alpha = np.random.default_rng(4), 600, 0.001
    drawn = rng.multivariate_hypergeometric([30] * 20, 16, 6000)
    tables = np.stack([30 - drawn, drawn], axis=2)
    tables = tables.transpose(0, 2, 1) if transposed else tables
    found = ours.moments(tables)
    scale = 2 * found.mean / found.variance
    gamma = ours.p_value(found.statistic * scale, found.mean * scale)
    some = np.flatnonzero(gamma <= alpha)
    assert len(some) > 2 * alpha * 6000
    p = [ours.confirmed(gamma[j], [tables[j]], ours.draws_for(alpha)) for j in some]
    assert np.sum(np.array(p) <= alpha) <= 1.2 * alpha * 6000 + 3 * math.sqrt(alpha * 6000)
    if not transposed:
        j = some[np.argmax(p)]  # what a selector decides
        x, y = (
            np.repeat(np.tile(codes, 1), tables[j].ravel()) for codes in np.indices((20, 2)).reshape(2, -1)
        )
        test = GSquared(y, Task.BINARY, alpha)
        assert test.relevance(x.astype(float)[:, None]).reason[0] != RELEVANT
        assert n == len(y)
