"""Relief, ReliefF and RReliefF equal their slow twins, and find what no score of single features finds."""

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.exceptions import ParameterError
from streamsieve.offline.shared.neighbors import sampled_rows
from tests.helpers.tier import cases
from tests.offline.cases import FORMS, features, labels, some_form
from tests.real_data import load_real
from tests.reference.relief import relief
from tests.reference.relieff import relieff
from tests.reference.rrelieff import rrelieff

CASES = cases(250)


def random_ways(rng, n, p):
    """Return parameters of a selector, and the same for its twin."""
    nominal = rng.random(p) < rng.choice([0.0, 0.3, 1.0])
    metric = str(rng.choice(["euclidean", "manhattan"]))
    sample = None if rng.random() < 0.7 else int(rng.integers(1, n + 3))
    ours = {"metric": metric, "nominal": np.flatnonzero(nominal).tolist(), "n_rows_sampled": sample}
    return ours, {"metric": metric, "nominal": nominal}


def sampled(selector, n):
    return sampled_rows(n, selector.n_rows_sampled, selector.random_state).tolist()


def test_relieff_equals_its_twin():
    rng = np.random.default_rng(0)
    for case in range(CASES):
        classes = int(rng.integers(2, 5))
        n, p, k = int(rng.integers(2 * classes, 40)), int(rng.integers(1, 9)), int(rng.integers(1, 13))
        y = labels(rng, n, classes)
        X = features(rng, y, p)
        ours, twin = random_ways(rng, n, p)
        found = ss.ReliefF(n_neighbors=k, **ours).fit(some_form(rng, X), y)
        expected = relieff(X, y, k, rows=sampled(found, n), **twin)
        np.testing.assert_allclose(found.scores_, expected, atol=1e-9, err_msg=f"case {case}")


def test_relief_equals_its_twin_and_relieff_with_one_neighbor():
    rng = np.random.default_rng(1)
    for case in range(CASES):
        n, p = int(rng.integers(4, 30)), int(rng.integers(1, 9))
        y = labels(rng, n, 2)
        X = features(rng, y, p)
        ours, twin = random_ways(rng, n, p)
        found = ss.Relief(**ours).fit(some_form(rng, X), y)
        expected = relief(X, y, rows=sampled(found, n), **twin)
        np.testing.assert_allclose(found.scores_, expected, atol=1e-9, err_msg=f"case {case}")
        if case % 5 == 0:
            np.testing.assert_allclose(
                ss.ReliefF(n_neighbors=1, **ours).fit(X, y).scores_, expected, atol=1e-9
            )


def test_rrelieff_equals_its_twin():
    rng = np.random.default_rng(2)
    for case in range(CASES):
        n, p, k = int(rng.integers(2, 30)), int(rng.integers(1, 9)), int(rng.integers(1, 13))
        y = np.round(rng.normal(size=n), int(rng.integers(0, 3)))
        y[0] = y[1] + 1
        X = features(rng, y, p)
        ours, twin = random_ways(rng, n, p)
        sigma = (None, 0.5, 3.0, 50.0)[rng.integers(4)]
        found = ss.RReliefF(n_neighbors=k, sigma=sigma, **ours).fit(some_form(rng, X), y)
        expected = rrelieff(X, y, k, sigma, rows=sampled(found, n), **twin)
        np.testing.assert_allclose(found.scores_, expected, atol=1e-9, err_msg=f"case {case}")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("selector", [ss.Relief(), ss.ReliefF(n_neighbors=3), ss.RReliefF(n_neighbors=3)])
def test_blocks_of_distances_change_nothing(selector, form, monkeypatch):
    rng = np.random.default_rng(3)
    y = labels(rng, 60, 2)
    X = features(rng, y, 7)
    whole = selector.fit(FORMS[form](X), y).scores_
    monkeypatch.setattr("streamsieve.offline.shared.neighbors.BLOCK_VALUES", 130)
    np.testing.assert_allclose(selector.fit(FORMS[form](X), y).scores_, whole, atol=1e-12)


def exclusive_or(rng, n, noise):
    X = rng.integers(0, 2, (n, noise + 2)).astype(float)
    return X, np.logical_xor(X[:, 3], X[:, 7]).astype(int)


def test_relief_finds_both_parts_of_an_exclusive_or_and_mutual_information_does_not():
    rng = np.random.default_rng(4)
    missed = 0
    for _ in range(10):
        X, y = exclusive_or(rng, 400, 10)
        assert set(ss.Relief(k=2).fit(X, y).ranked_) == {3, 7}
        assert set(ss.ReliefF(k=2).fit(X, y).ranked_) == {3, 7}
        assert set(ss.ReliefF(k=2, nominal="all").fit(X, y).ranked_) == {3, 7}
        assert set(ss.RReliefF(k=2).fit(X, y).ranked_) == {3, 7}
        single = ss.Screen("mutual_info", k=2).fit(X, y)
        assert single.scores_[[3, 7]].max() < 0.02  # of ln 2 = 0.69
        missed += set(single.ranked_) != {3, 7}
    assert missed >= 8


def test_relieff_ranks_the_informative_features_of_madelon_first():
    """Its 5 informative features, their 15 combinations and nothing else; NIPS 2003 names none of them."""
    X, y = load_real("madelon", "train")
    best = set((ss.ReliefF(k=12).fit(X, y).ranked_ + 1).tolist())
    # features whose pairwise correlation marks them as combinations of each other
    related = "29 49 65 106 129 154 242 282 319 337 339 379 434 443 452 454 456 473 476 494"
    assert len(best & set(map(int, related.split()))) >= 11, best


@pytest.mark.parametrize("selector", [ss.Relief(), ss.ReliefF(n_neighbors=4), ss.RReliefF(n_neighbors=4)])
def test_scales_offsets_and_signs_of_features_do_not_matter(selector):
    rng = np.random.default_rng(5)
    y = labels(rng, 80, 2)
    X = rng.normal(size=(80, 6)) + y[:, None] * np.arange(6)
    expected = selector.fit(X, y).scores_
    stretched = X * np.array([1e6, 1e-6, 3, -1, 1, -100]) + np.array([5, 0, -1e3, 7, 1e5, 0])
    np.testing.assert_allclose(selector.fit(stretched, y).scores_, expected, atol=1e-8)


@pytest.mark.parametrize("selector", [ss.Relief(), ss.ReliefF(n_neighbors=4), ss.RReliefF(n_neighbors=4)])
def test_a_constant_feature_scores_nothing_and_changes_nothing(selector):
    rng = np.random.default_rng(6)
    y = labels(rng, 50, 2)
    X = rng.normal(size=(50, 4))
    expected = selector.fit(X, y).scores_
    scores = selector.fit(np.column_stack([X, np.full(50, 3.5)]), y).scores_
    assert scores[4] == 0.0
    np.testing.assert_allclose(scores[:4], expected, atol=1e-12)


def test_scores_stay_between_minus_one_and_one():
    rng = np.random.default_rng(7)
    for _ in range(cases(30)):
        y = labels(rng, 20, 3)
        X = features(rng, y, 6)
        for scores in (
            ss.ReliefF(n_neighbors=3).fit(X, y).scores_,
            ss.RReliefF(n_neighbors=3).fit(X, y).scores_,
        ):
            assert np.all(np.abs(scores) <= 1 + 1e-12)


def test_the_target_itself_scores_best():
    rng = np.random.default_rng(8)
    y = rng.normal(size=120)
    X = np.column_stack([rng.normal(size=(120, 5)), y])
    assert ss.RReliefF(k=1).fit(X, y).ranked_.tolist() == [5]
    assert ss.ReliefF(k=1).fit(X, y > 0).ranked_.tolist() == [5]


def test_a_sample_of_all_rows_is_all_rows_and_seeds_draw_differently():
    rng = np.random.default_rng(9)
    y = labels(rng, 60, 2)
    X = rng.normal(size=(60, 4)) + y[:, None]
    scores = ss.ReliefF().fit(X, y).scores_
    assert np.array_equal(ss.ReliefF(n_rows_sampled=60).fit(X, y).scores_, scores)
    drawn = [ss.ReliefF(n_rows_sampled=20, random_state=seed).fit(X, y).scores_ for seed in (0, 0, 1)]
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])


def test_skrebate_gives_the_same_scores_where_features_are_numbers():
    skrebate = pytest.importorskip("skrebate")
    rng = np.random.default_rng(10)
    y = labels(rng, 60, 2)
    X = rng.normal(size=(60, 5)) + y[:, None] * np.arange(5) / 3
    theirs = skrebate.ReliefF(n_neighbors=5).fit(X.copy(), y).feature_importances_
    np.testing.assert_allclose(
        ss.ReliefF(n_neighbors=5, metric="manhattan").fit(X, y).scores_, theirs, atol=1e-12
    )


def test_nominal_features_by_name():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(11)
    y = labels(rng, 60, 2)
    frame = pandas.DataFrame({"age": rng.normal(size=60), "city": rng.integers(0, 9, 60), "dose": y + 0.0})
    named = ss.ReliefF(nominal=["city"]).fit(frame, y)
    assert np.array_equal(named.scores_, ss.ReliefF(nominal=[1]).fit(frame, y).scores_)
    assert not np.array_equal(named.scores_, ss.ReliefF().fit(frame, y).scores_)
    with pytest.raises(ParameterError, match=r"nominal must be .* or their names; got 'town'"):
        ss.ReliefF(nominal=["town"]).fit(frame, y)


def test_names_are_told_apart_to_the_last_digit():
    rng = np.random.default_rng(16)
    y = labels(rng, 40, 2)
    city = np.where(y == 1, 1e18, rng.choice([1.0, 2.0], 40))
    city[0] = 1e18  # a difference from it would make 1 and 2 one name
    X = np.column_stack([city, rng.normal(size=40)])
    selector = ss.ReliefF(n_neighbors=3, nominal=[0])
    expected = relieff(X, y, 3, nominal=[True, False])
    for form in FORMS.values():
        np.testing.assert_allclose(selector.fit(form(X), y).scores_, expected, atol=1e-9)


def test_a_list_of_nominal_features_comes_back_from_a_file(tmp_path):
    rng = np.random.default_rng(17)
    y = labels(rng, 40, 2)
    fitted = ss.ReliefF(k=2, nominal=[0, 2]).fit(rng.integers(0, 3, (40, 4)).astype(float), y)
    fitted.save(tmp_path / "relieff.sieve")
    again = ss.load(tmp_path / "relieff.sieve")
    assert again.nominal == [0, 2]
    assert np.array_equal(again.scores_, fitted.scores_)


def test_a_tiny_sigma_leaves_the_nearest_row():
    X, y = np.random.default_rng(15).normal(size=(8, 3)), np.arange(8) / 3
    tiny = ss.RReliefF(n_neighbors=5, sigma=1e-300).fit(X, y).scores_
    np.testing.assert_allclose(tiny, ss.RReliefF(n_neighbors=1).fit(X, y).scores_, atol=1e-12)
