"""Screens of the literature: a dynamic threshold in a window, incremental counts, sums that grow and fade."""

import math
from collections import Counter, deque

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from streamsieve import exceptions as ex
from streamsieve.base.choose import above_mean
from streamsieve.criteria import ChiSquare, Gini, MutualInfo
from streamsieve.criteria.criterion import LARGEST
from streamsieve.rows import Screen
from tests.rows.toys import table, table_for

CRITERIA = ["t", "fisher", "f", "correlation", "mutual_info", "chi2", "gini", "su"]


def above(scores, threshold, worst, k=None):
    """Return the columns that stand out, in a few slow lines."""
    measured = [s for s in scores if worst < s < LARGEST]
    mean = math.fsum(measured) / max(1, len(measured))
    deviation = math.sqrt(math.fsum((s - mean) ** 2 for s in measured) / max(1, len(measured)))
    slack = 1e-9 * max((abs(s) for s in measured), default=0.0)
    limit = max(worst, mean + threshold * deviation + slack)
    kept = [j for j, s in enumerate(scores) if s >= LARGEST or s > limit]
    return sorted(sorted(kept, key=lambda j: (-scores[j], j))[:k])


SCORES = st.lists(
    st.floats(0, 10) | st.sampled_from([0.0, 0.0, 1.0, 1.0, 2.5, LARGEST]), min_size=0, max_size=15
)  # fmt: skip


@given(SCORES, st.floats(-3, 3) | st.sampled_from([0.0, 1.0]), st.none() | st.integers(1, 5))
def test_what_stands_out_is_what_a_few_lines_say(scores, threshold, k):
    mask = above_mean(np.array(scores), threshold, 0.0, k)
    assert np.flatnonzero(mask).tolist() == above(scores, threshold, 0.0, k)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    "way", [{"min_zscore": 1.0}, {"min_zscore": 0.0}, {"min_zscore": 0.5, "k": 2}], ids=str
)
@pytest.mark.parametrize("window", [None, 40])
def test_any_criterion_with_or_without_a_window(criterion, way, window):
    for seed in range(3):
        X, y = table_for(criterion, seed=seed)
        for form in (np.asarray, sp.csr_array):
            screen = Screen(criterion, window=window, **way)
            for low in range(0, len(y), 17):
                screen.partial_fit(form(X[low : low + 17]), y[low : low + 17])
            wanted = above(screen.scores_.tolist(), way["min_zscore"], screen._criterion.worst, way.get("k"))
            assert np.flatnonzero(screen.get_support()).tolist() == wanted
            assert sorted(screen.ranked_.tolist()) == wanted
            last = slice(None) if window is None else slice(-window, None)
            assert np.array_equal(
                screen.get_support(), Screen(criterion, **way).fit(form(X[last]), y[last]).get_support()
            )


def test_features_that_say_nothing_do_not_move_the_threshold():
    X, y = table(p=12)
    plain = Screen("mutual_info", min_zscore=1.0).fit(X, y)
    assert 0 < plain.get_support().sum() < 6
    crowded = np.hstack([X, np.ones((60, 500)), np.full((60, 20), np.nan)])
    for form in (np.asarray, sp.csr_array):
        many = Screen("mutual_info", min_zscore=1.0).fit(form(crowded), y)
        assert np.array_equal(many.get_support()[:12], plain.get_support())
        assert not many.get_support()[12:].any()


def test_perfect_features_are_kept_and_do_not_hide_the_others():
    X, y = table(p=12, classes=2)
    for perfect in (1, 3):
        both = np.hstack([X, np.tile(y[:, None] * 1.0, (1, perfect))])
        screen = Screen("fisher", min_zscore=1.0).fit(both, y)
        assert screen.scores_[-1] == LARGEST
        assert screen.get_support()[12:].all()
        assert np.array_equal(
            screen.get_support()[:12], Screen("fisher", min_zscore=1.0).fit(X, y).get_support()
        )
    alone = Screen("fisher", min_zscore=1.0).fit(np.c_[y, np.ones(60)], y)
    assert alone.get_support().tolist() == [True, False]


def test_huge_scores_do_not_overflow():
    scores = np.array([1e300, 1.5e308, 2e300, 1e-300, 0.0])
    assert np.flatnonzero(above_mean(scores, 1.0, 0.0)).tolist() == [1]
    assert not above_mean(scores, 1e308, 0.0).any()


def test_equal_scores_do_not_stand_out_by_rounding():
    for value in (0.1, 1 / 3, 1e-17, 7e9):
        for n in range(1, 30):
            for threshold in (0.0, 1.0):
                assert not above_mean(np.full(n, value), threshold, 0.0).any()
    # of two, the better one is exactly one deviation above the mean
    assert not above_mean(np.array([0.1, 0.7]), 1.0, 0.0).any()
    assert above_mean(np.array([0.1, 0.7]), 0.9, 0.0).tolist() == [False, True]


def test_gini_whose_scores_are_negative():
    X, y = table(p=12)
    X = np.c_[X, np.full(60, np.nan)]
    screen = Screen("gini", min_zscore=0.5).fit(X, y)
    assert screen.scores_[12] == -1
    measured = screen.scores_[:12]
    wanted = measured > measured.mean() + 0.5 * measured.std()
    assert np.array_equal(screen.get_support()[:12], wanted)
    assert 0 < wanted.sum() < 12


def test_nothing_stands_out_as_nothing_may_be_significant():
    X, y = table(p=4)
    X = np.repeat(X[:, :1], 4, axis=1)
    for way in ({"min_zscore": 1.0}, {"alpha": 1e-12}):
        screen = Screen("f", **way).fit(X, y)
        assert screen.ranked_.tolist() == []
        with pytest.warns(UserWarning, match="No features were selected"):
            assert screen.transform(X).shape == (60, 0)


def test_threshold_goes_with_k_only():
    X, y = table(p=4)
    for way in ({"percentile": 50}, {"alpha": 0.1}, {"percentile": 50, "k": 2}):
        with pytest.raises(
            ex.ParameterError, match=r"min_zscore can be combined with k only, not with .*min_zscore=1\.0"
        ):
            Screen(min_zscore=1.0, **way).fit(X, y)
    with pytest.raises(
        ex.ParameterError, match=r"give one of k, percentile and alpha, not k=1 and alpha=0\.1"
    ):
        Screen(k=1, alpha=0.1).fit(X, y)
    for bad in ("high", float("nan"), float("inf"), True):
        with pytest.raises(ex.ParameterError, match="min_zscore must be a number; got"):
            Screen(min_zscore=bad).fit(X, y)


def test_the_ledger_sees_features_cross_the_threshold():
    rng = np.random.default_rng(0)
    screen = Screen("f", min_zscore=2.0, window=200, review_every=200)
    for relevant in (3, 3, 8, 8):
        y = rng.integers(0, 2, 200)
        X = rng.normal(size=(200, 20))
        X[:, relevant] += 2 * y
        screen.partial_fit(X, y)
    assert screen.ranked_.tolist() == [8]
    lines = [(d.step, d.feature, str(d.event)) for d in screen.ledger_ if d.feature in ("x3", "x8")]
    assert lines == [(200, "x3", "kept"), (600, "x3", "evicted"), (600, "x8", "kept")]


# ------------------------------------------------------------------------------------ Gomes 2013


def test_gomes_sliding_contingency_with_a_dynamic_threshold():
    """A ring of (codes, label): add the new row, subtract the old one, score, compare with mean + sd."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    X = rng.integers(0, 3, (400, 10)) * 1.0
    X[:200, 2] = np.where(rng.random(200) < 0.7, y[:200], X[:200, 2])
    X[200:, 7] = np.where(rng.random(200) < 0.7, y[200:], X[200:, 7])
    screen = Screen(ChiSquare(discrete=True), window=100, min_zscore=1.0)
    ring, counts = deque(), [Counter() for _ in range(10)]
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        ring.append((row, label))
        for j, value in enumerate(row):
            counts[j][value, label] += 1
        if len(ring) > 100:
            old, its_label = ring.popleft()
            for j, value in enumerate(old):
                counts[j][value, its_label] -= 1
        screen.partial_fit(row[None], np.array([label]))
        if i % 50 == 49:
            tables = [np.array([[c[v, k] for v in range(3)] for k in range(2)]) for c in counts]
            scores = [scipy.stats.chi2_contingency(t, correction=False).statistic for t in tables]
            np.testing.assert_allclose(screen.scores_, scores, rtol=1e-10)
            assert np.flatnonzero(screen.get_support()).tolist() == above(scores, 1.0, 0.0)
    assert screen.ranked_[0] == 7


# ------------------------------------------------------------------------------------ Katakis 2005


def test_katakis_incremental_counts_give_the_scores_of_all_rows():
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 2, (300, 8)) * 1.0, rng.integers(0, 3, 300)
    X[:, 5] = np.where(rng.random(300) < 0.5, y == 1, X[:, 5])
    for form in (np.asarray, sp.csr_array):
        chi2, information = Screen(ChiSquare(discrete=True), k=1), Screen(MutualInfo(discrete=True), k=1)
        for low in range(0, 300, 30):
            part = slice(low, low + 30)
            for screen in (chi2, information):
                screen.partial_fit(form(X[part]), y[part])
            for j in (0, 5):
                t = np.array([[np.sum((X[: part.stop, j] == v) & (y[: part.stop] == c)) for v in (0, 1)]
                              for c in range(3)])  # fmt: skip
                oracle = scipy.stats.chi2_contingency(t, correction=False).statistic
                assert chi2.scores_[j] == pytest.approx(oracle, rel=1e-9)
                G = scipy.stats.chi2_contingency(t, correction=False, lambda_="log-likelihood").statistic
                assert information.scores_[j] == pytest.approx(G / (2 * part.stop), rel=1e-9)
        assert chi2.ranked_.tolist() == information.ranked_.tolist() == [5]


# ------------------------------------------------------------------------------------ Sovdat 2014


class Sums:
    """Sovdat's sums of one variable: n_k, n, A = sum n_k log n_k and Q = sum n_k^2, each changed in O(1)."""

    def __init__(self):
        self.counts, self.n, self.A, self.Q = {}, 0.0, 0.0, 0.0

    def add(self, value, weight=1.0):
        old = self.counts.get(value, 0.0)
        new = old + weight
        self.counts[value] = new
        self.A += (new * math.log(new) if new > 1e-12 else 0.0) - (
            old * math.log(old) if old > 1e-12 else 0.0
        )
        self.Q += new * new - old * old
        self.n += weight

    def remove(self, value):
        self.add(value, -1.0)

    def fade(self, alpha):
        """A <- alpha A + alpha n log alpha, Q <- alpha^2 Q, n <- alpha n."""
        self.A = alpha * self.A + alpha * self.n * math.log(alpha)
        self.Q *= alpha**2
        self.n *= alpha
        self.counts = {value: alpha * count for value, count in self.counts.items()}

    @property
    def entropy(self):
        return math.log(self.n) - self.A / self.n

    @property
    def gini(self):
        return 1 - self.Q / self.n**2


class Pair:
    """The sums of a binary feature, of the label, of both, and of the label on either side of the feature."""

    def __init__(self):
        self.x, self.y, self.both, self.sides = Sums(), Sums(), Sums(), {0.0: Sums(), 1.0: Sums()}

    def parts(self):
        return (self.x, self.y, self.both, *self.sides.values())

    def change(self, x, y, how):
        for sums, value in ((self.x, x), (self.y, y), (self.both, (x, y)), (self.sides[x], y)):
            getattr(sums, how)(value)

    @property
    def information(self):
        return self.x.entropy + self.y.entropy - self.both.entropy

    @property
    def impurity(self):
        return sum(side.n / self.x.n * side.gini for side in self.sides.values() if side.n > 0)


@pytest.mark.parametrize("way", [{}, {"window": 60}, {"half_life": 40.0}], ids=str)
def test_sovdats_incremental_sums_give_the_entropies_and_gini_of_window_and_half_life(way):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 300)
    X = (rng.random((300, 5)) < 0.2 + 0.2 * np.outer(y, np.linspace(0, 1, 5))) * 1.0
    information, gini = Screen(MutualInfo(discrete=True), **way), Screen(Gini(discrete=True), **way)
    pairs = [Pair() for _ in range(5)]
    for i in range(300):
        for j, pair in enumerate(pairs):
            if "half_life" in way:
                for sums in pair.parts():
                    sums.fade(2 ** (-1 / way["half_life"]))
            pair.change(X[i, j], y[i], "add")
            if i >= way.get("window", 300):
                pair.change(X[i - way["window"], j], y[i - way["window"]], "remove")
        information.partial_fit(X[i : i + 1], y[i : i + 1])
        gini.partial_fit(X[i : i + 1], y[i : i + 1])
        if i % 60 == 59:
            np.testing.assert_allclose(information.scores_, [p.information for p in pairs], atol=1e-9)
            np.testing.assert_allclose(gini.scores_, [-p.impurity for p in pairs], atol=1e-9)
