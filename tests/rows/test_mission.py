"""MISSION is gradient descent in a sketch, as in its slow twin; where there is room, plain descent."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve import state
from streamsieve.exceptions import MergeError, ParameterError, SchemaError, StateError, TargetError
from streamsieve.rows.mission import MISSION
from tests.helpers.tier import cases
from tests.reference import mission as twin


def rows(rng, n, p, density=0.5, classes=2):
    """Random rows, and labels in random order."""
    X = np.round(rng.normal(size=(n, p)), 3) * (rng.random((n, p)) < density)
    return X, rng.integers(0, classes, n)


def streamed(mission, X, y, cut):
    for low in range(0, len(y), cut):
        mission.partial_fit(X[low : low + cut], y[low : low + cut])
    return mission


def learnt_by_twin(peer, X, y):
    for row, label in zip(X, y.tolist(), strict=True):
        peer.learn(dict(enumerate(row.tolist())), label)
    return peer


def assert_like(mission, peer):
    p = mission.n_features_in_
    np.testing.assert_allclose(mission.scores_, [peer.score(j) for j in range(p)], rtol=1e-9, atol=1e-12)
    assert mission.ranked_.tolist() == peer.selected
    assert mission.mistakes_ == peer.mistakes
    np.testing.assert_allclose(mission.selected_scores_, mission.scores_[mission.ranked_], rtol=1e-15)


# ------------------------------------------------------------------------------------ the algorithm


@pytest.mark.parametrize("width", [1, 3, 8, 50, 5000])
@pytest.mark.parametrize("depth", [1, 3, 5, 7])
def test_every_result_is_the_twins(width, depth):
    """Crowded sketches and roomy ones, one to four labels that come late, any cut, dense and sparse."""
    for case in range(cases(40)):
        rng = np.random.default_rng([width, depth, case])
        n, p = int(rng.integers(1, 30)), int(rng.integers(1, 20))
        X, y = rows(rng, n, p, rng.choice([0.1, 0.5, 1]), int(rng.integers(1, 5)))
        # in a single bucket all features tie, and only exact fading keeps ties
        k, half_life = int(rng.integers(1, p + 1)), rng.choice([None, 1, 3.7, 20] if width > 1 else [None, 1])
        rate, cut = float(rng.choice([0.05, 0.5, 3])), int(rng.integers(1, n + 1))
        form = sp.csr_array if case % 2 else np.asarray
        mission = MISSION(
            k, width=width, depth=depth, learning_rate=rate, half_life=half_life, random_state=case
        )
        streamed(mission, form(X), y, cut)
        peer = twin.sketched(k, width, depth, case, learning_rate=rate, half_life=half_life)
        assert_like(mission, learnt_by_twin(peer, X, y))


@pytest.mark.parametrize("k", [1, 4, 30])
@pytest.mark.parametrize("classes", [2, 4])
def test_with_room_it_is_plain_descent_with_truncation(k, classes):
    """Where two rows of the sketch of three are free of neighbors, the median is the weight itself."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rows(rng, 60, 30, 0.4, classes)
        mission = MISSION(k, width=2**14).fit(sp.csr_array(X), y)
        assert_like(mission, learnt_by_twin(twin.truncated_descent(k), X, y))


def test_fading_forgets_what_was_so():
    rng = np.random.default_rng(0)
    X, y = rows(rng, 2000, 20, 1.0)
    X[:, 3], X[:, 8] = 2 * y - 1, 2 * y - 1
    X[:1000, 8] = X[1000:, 3] = 0
    fading, lasting = (MISSION(2, half_life=h, learning_rate=0.05).fit(X, y) for h in (100, None))
    assert sorted(lasting.ranked_.tolist()) == [3, 8]
    assert fading.ranked_[0] == 8
    assert fading.scores_[3] < 0.01 * fading.scores_[8]


def test_the_error_of_a_weight_is_bounded_by_the_norm_of_the_others():
    """One row from nothing steps by rate / 2 along itself, so its sketch is that of a known vector."""
    rng = np.random.default_rng(0)
    x = rng.standard_t(2, 20_000)
    for seed in range(5):
        mission = MISSION(10, width=512, random_state=seed).fit(x[None, :], [1])
        bound = 0.25 * np.linalg.norm(x) * (8 / 512) ** 0.5
        wrong = np.abs(mission.scores_ - np.abs(0.25 * x)) > bound
        assert np.mean(wrong) < 0.046  # Chebyshev for two rows of three; in fact far fewer


def test_planted_words_are_found_among_a_million():
    rng = np.random.default_rng(0)
    n, per_row = 3000, 50
    planted = np.sort(rng.choice(10**6, 8, replace=False))
    indices = rng.integers(0, 10**6, (n, per_row))
    y = rng.integers(0, 2, n)
    for j, column in enumerate(planted):  # a planted word is likelier in one class
        there = rng.random(n) < np.where(y == j % 2, 0.3, 0.02)
        indices[there, j] = column
    X = sp.csr_array(
        (np.full(n * per_row, per_row**-0.5), indices.ravel(), np.arange(n + 1) * per_row), (n, 10**6)
    )
    mission = MISSION(8).fit(X, y)
    assert np.sort(mission.ranked_).tolist() == planted.tolist()
    speaks = dict(zip(mission.ranked_.tolist(), np.sign(mission.coef_[0]).tolist(), strict=True))
    assert [speaks[j] for j in planted.tolist()] == [-1, 1] * 4


# ------------------------------------------------------------------------------------ bugs of others


def test_bug_three_quarters_of_the_sketch_are_not_cleared():
    """The authors' constructor clears SIZE bytes instead of SIZE numbers."""
    dirty = [np.full((3, 2**18, 1), 1e9) for _ in range(4)]
    del dirty
    mission = MISSION(1).fit(sp.csr_array(([1.0], ([0], [5])), (1, 2000)), [0])
    assert np.flatnonzero(mission.scores_).tolist() == [5]


def test_bug_weights_in_the_heap_go_stale():
    """In one bucket for all, a step of one feature moves the others' weights, too."""
    mission = MISSION(2, width=1, depth=1, learning_rate=1.0)
    mission.partial_fit(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), [1, 1])
    before = mission.selected_scores_.tolist()
    mission.partial_fit(np.array([[0.0, 0.0, 4.0]]), [1])  # does not mention those of the heap
    assert mission.selected_scores_.tolist() == mission.scores_[mission.ranked_].tolist() != before


def test_bug_a_stale_feature_is_never_let_go():
    """A neighbor lifts feature 0 and takes it back when 0 is not there; 0 must not live on that."""
    sketch = twin.Sketch(4, 1, 0)
    bucket = {j: next(iter(sketch.places(j)))[0] for j in range(40)}
    other = next(j for j in range(1, 40) if bucket[j] == bucket[0])
    third = next(j for j in range(1, 40) if bucket[j] != bucket[0])
    mission = MISSION(1, width=4, depth=1, learning_rate=1.0)
    X = sp.lil_array((5, 40))
    X[0, other] = X[1, other] = 9.0
    X[1, 0] = 10.0  # the heap takes 0 at the weight of the other
    X[2, other] = X[3, other] = 9.0
    X[4, third] = 1.0
    y = np.array([1, 1, 0, 0, 1])
    streamed(mission, sp.csr_array(X), y, 2)
    peer = learnt_by_twin(twin.sketched(1, 4, 1, learning_rate=1.0), X.toarray(), y)
    assert mission.ranked_.tolist() == peer.selected
    assert mission.selected_scores_.tolist() == mission.scores_[mission.ranked_].tolist()


# ------------------------------------------------------------------------------------ labels


def test_two_classes_have_one_model_and_three_have_three():
    rng = np.random.default_rng(0)
    X, y = rows(rng, 100, 6, 1.0)
    mission = MISSION(3).partial_fit(X[:1], ["b"])
    assert (mission.classes_.tolist(), mission.coef_.shape) == (["b"], (1, 3))
    mission.partial_fit(X, np.array(["b", "a"])[y])
    assert (mission.classes_.tolist(), mission.coef_.shape) == (["a", "b"], (1, 3))
    mission.partial_fit(X[:1], ["aa"])
    assert (mission.classes_.tolist(), mission.coef_.shape) == (["a", "aa", "b"], (3, 3))
    np.testing.assert_allclose(np.abs(mission.coef_).sum(axis=0), mission.selected_scores_, rtol=1e-15)


def test_the_coefficients_speak_for_the_last_class():
    rng = np.random.default_rng(0)
    X, y = rows(rng, 300, 4, 1.0)
    X[:, 2] += np.where(y == 1, 1, -1)
    for labels in (y, y[::-1]):
        flipped = X if labels is y else X[::-1]
        for shown in (labels, labels * 2.0 - 1, np.array(["no", "yes"])[labels]):
            mission = MISSION(1).fit(flipped, shown)
            assert mission.ranked_.tolist() == [2]
            assert mission.coef_[0, 0] > 0
    y = rng.integers(0, 3, 300)
    X[:, 2] = (y == 1) - 0.5
    mission = MISSION(1).fit(X, y)
    assert np.sign(mission.coef_[:, 0]).tolist() == [-1, 1, -1]


def test_mistakes_are_few_once_it_has_learned():
    rng = np.random.default_rng(0)
    X, y = rows(rng, 1000, 10, 1.0, 3)
    X[:, :3] = 3 * np.eye(3)[y]
    mission = MISSION(3)
    early = mission.partial_fit(X[:500], y[:500]).mistakes_
    assert 0 < early < 60
    assert mission.partial_fit(X[500:], y[500:]).mistakes_ - early < 5


# ------------------------------------------------------------------------------------ a billion columns


def test_a_billion_columns_take_the_memory_of_the_sketch():
    rng = np.random.default_rng(0)
    n, p = 200, 10**9
    indices = np.sort(rng.integers(0, p, (n, 50), np.int32), axis=1)
    y = rng.integers(0, 2, n)
    indices[:, -1] = np.where(y == 1, 999_999_999, 999_999_998)
    X = sp.csr_array(
        (np.full(n * 50, 0.1), indices.ravel(), np.arange(0, n * 50 + 1, 50, dtype=np.int32)), (n, p)
    )
    warm = MISSION(2).fit(X, y)
    tracemalloc.start()
    mission = MISSION(2, output="frozen")
    streamed(mission, X, y, 50)
    assert sorted(mission.ranked_.tolist()) == [999_999_998, 999_999_999] == sorted(warm.ranked_.tolist())
    assert [d.feature for d in mission.ledger_] == ["x999999998", "x999999999"]
    assert mission.get_feature_names_out().tolist() == ["x999999998", "x999999999"]
    assert mission.transform(X).toarray()[:, 1].tolist() == (0.1 * y).tolist()
    assert mission.selected_scores_.shape == (2,)
    mission.merge(warm.set_params(output="frozen"))
    zeroed = MISSION(2, output="zero").fit(X, y).transform(X)
    assert zeroed.shape == X.shape
    assert zeroed.nnz == n
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60e6


def test_output_is_that_of_indexing():
    rng = np.random.default_rng(0)
    X, y = rows(rng, 60, 12)
    for output in ("drop", "zero", "frozen"):
        mission = MISSION(4, output=output).fit(X, y)
        mask = mission.get_support()
        wanted = np.where(mask, X, 0) if output == "zero" else X[:, mask]
        assert np.array_equal(mission.transform(X), wanted)
        assert np.array_equal(mission.transform(sp.csr_array(X)).toarray(), wanted)
        names = [f"x{j}" for j in range(12) if mask[j] or output == "zero"]
        assert mission.get_feature_names_out().tolist() == names
    nothing = MISSION(4).fit(np.zeros((2, 5)), [0, 1])
    with pytest.warns(UserWarning, match="No features were selected"):
        assert nothing.transform(sp.csr_array((3, 5))).shape == (3, 0)
    assert nothing.ranked_.tolist() == []


# ------------------------------------------------------------------------------------ merging


def test_merging_adds_the_sketches_of_all_steps():
    """Linearity: the merged sketch is that of the steps both parts took, in one stream."""
    for case in range(20):
        rng = np.random.default_rng(case)
        X, y = rows(rng, 40, 25, 0.4)
        y[[0, 20]], y[[1, 21]] = 0, 1
        parts = [MISSION(5, width=16).fit(X[part], y[part]) for part in (slice(20), slice(20, None))]
        peers = [learnt_by_twin(twin.sketched(5, 16, 3), X[s], y[s]) for s in (slice(20), slice(20, None))]
        total = twin.Sketch(16, 3, 0)
        for peer in peers:
            for _, j, step in peer.steps:
                total.add(j, step)
        merged = parts[0].merge(parts[1])
        scores = np.array([abs(total[j]) for j in range(25)])
        np.testing.assert_allclose(merged.scores_, scores, rtol=1e-9, atol=1e-12)
        candidates = sorted({*peers[0].keys, *peers[1].keys}, key=lambda j: (-scores[j], j))
        assert merged.ranked_.tolist() == candidates[:5]
        assert merged.n_samples_seen_ == 40
        assert merged.mistakes_ == sum(peer.mistakes for peer in peers)


@pytest.mark.parametrize("half_life", [None, 10])
def test_merging_is_one_pass_where_the_parts_share_no_features(half_life):
    for case in range(10):
        rng = np.random.default_rng(case)
        X, y = rows(rng, 60, 20, 0.6)
        X[:30, 10:] = X[30:, :10] = 0
        y[[0, 30]], y[[1, 31]] = 0, 1
        new = [MISSION(20, half_life=half_life) for _ in range(3)]
        whole, first, second = (
            mission.fit(sp.csr_array(X[part]), y[part])
            for mission, part in zip(new, (slice(60), slice(30), slice(30, 60)), strict=True)
        )
        first.merge(second)
        np.testing.assert_allclose(first.scores_, whole.scores_, rtol=1e-9, atol=1e-12)
        assert first.ranked_.tolist() == whole.ranked_.tolist()
        assert first.mistakes_ == whole.mistakes_


def test_merging_is_addition_in_any_order_and_tree():
    rng = np.random.default_rng(1)
    X, y = rows(rng, 80, 30, 0.3, 3)
    y[::20], y[1::20], y[2::20] = 0, 1, 2

    def parts():
        return [MISSION(30, width=32).fit(X[low : low + 20], y[low : low + 20]) for low in range(0, 80, 20)]

    one, two, three, four = parts()
    chain = one.merge(two).merge(three).merge(four)
    one, two, three, four = parts()
    tree = four.merge(two).merge(three.merge(one))
    np.testing.assert_allclose(chain.scores_, tree.scores_, rtol=1e-9, atol=1e-12)
    assert chain.classes_.tolist() == tree.classes_.tolist() == [0, 1, 2]
    np.testing.assert_allclose(chain.coef_, tree.coef_, rtol=1e-9, atol=1e-12)


def test_merging_parts_with_other_labels():
    x = np.eye(3)
    one, two = MISSION(3).fit(x[:1], ["a"]), MISSION(3).fit(x[1:2], ["b"])
    both = one.merge(two)
    assert both.classes_.tolist() == ["a", "b"]
    assert both.coef_.shape == (1, 2)
    assert dict(zip(both.ranked_.tolist(), both.coef_[0].tolist(), strict=True)) == {0: -0.25, 1: 0.25}
    three = MISSION(3).fit(x[[2, 2]], ["c", "a"])
    both.merge(three)
    assert both.classes_.tolist() == ["a", "b", "c"]
    assert dict(zip(both.ranked_.tolist(), both.coef_.T.tolist(), strict=True))[1] == [-0.25, 0.25, 0.0]
    with pytest.raises(TargetError, match="use text or numbers throughout"):
        both.merge(MISSION(3).fit(x[:1], [3]))


def test_learning_goes_on_after_a_merge():
    rng = np.random.default_rng(0)
    X, y = rows(rng, 300, 30, 0.5)
    X[:, 7] += 2 * y - 1
    parts = [
        MISSION(3, half_life=50, learning_rate=0.1).fit(X[s], y[s]) for s in (slice(100), slice(100, 200))
    ]
    merged = parts[0].merge(parts[1]).partial_fit(X[200:], y[200:])
    assert merged.n_samples_seen_ == 300
    assert merged.ranked_[0] == 7


def test_only_twins_merge():
    X = np.eye(3)
    mission = MISSION(2).fit(X, [0, 1, 0])
    with pytest.raises(MergeError, match="random_state is 0 here and 1 there"):
        mission.merge(MISSION(2, random_state=1).fit(X, [0, 1, 0]))
    with pytest.raises(MergeError, match="3 here, 2 there"):
        mission.merge(MISSION(2).fit(X[:, :2], [0, 1, 0]))
    by_name = MISSION(2)
    by_name.learn_one({"a": 1.0}, 0)
    with pytest.raises(MergeError, match="one selector has fixed columns"):
        mission.merge(by_name)


# ------------------------------------------------------------------------------------ names


def dict_rows(rng, n, p):
    """Rows as dicts in any order of their features, their labels, and the same as a matrix."""
    X, y = rows(rng, n, p, 0.3)
    order = [rng.permutation(np.flatnonzero(row)).tolist() for row in X]
    return [{f"w{j}": row[j] for j in js} for row, js in zip(X, order, strict=True)], y, X


@pytest.mark.parametrize("width", [8, 2**18])
@pytest.mark.parametrize("k", [1, 3, 50])
def test_dict_rows_are_rows_of_ids(k, width):
    rng = np.random.default_rng(k)
    dicts, y, _ = dict_rows(rng, 150, 25)
    mission, peer = MISSION(k, width=width), twin.sketched(k, width, 3)
    for i, (row, label) in enumerate(zip(dicts, y.tolist(), strict=True)):
        mission.learn_one(row, label)
        peer.learn({twin.name_id(name): x for name, x in row.items()}, label)
        if i % 40 == 0:
            names = {twin.name_id(name): name for row in dicts for name in row}
            assert mission.n_features_in_ == len(peer.keys)
            assert sorted(mission.feature_names_in_) == sorted(names[j] for j in peer.keys)
    assert mission.feature_names_in_[mission.ranked_].tolist() == [names[j] for j in peer.selected]
    np.testing.assert_allclose(mission.selected_scores_, [peer.score(j) for j in peer.selected], rtol=1e-9)
    assert mission.get_support().tolist() == [True] * mission.n_features_in_
    assert mission.n_samples_seen_ == 150
    assert mission.mistakes_ == peer.mistakes


def test_dict_rows_choose_what_a_matrix_chooses():
    rng = np.random.default_rng(0)
    dicts, y, X = dict_rows(rng, 200, 30)
    mission = MISSION(6)
    for row, label in zip(dicts, y, strict=True):
        mission.learn_one(row, label)
    by_matrix = MISSION(6).fit(sp.csr_array(X), y)
    assert mission.feature_names_in_[mission.ranked_].tolist() == [f"w{j}" for j in by_matrix.ranked_]
    row = {"never seen": 1.0, **{f"w{j}": 1.0 for j in range(30)}}
    assert mission.transform_one(row).keys() == {f"w{j}" for j in by_matrix.ranked_}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_dataframes_whose_columns_come_and_go(library):
    frames = pytest.importorskip(library)
    rng = np.random.default_rng(0)
    X, y = rows(rng, 120, 20)
    many, one = MISSION(5), MISSION(5)
    for low in range(0, 120, 12):
        part, there = slice(low, low + 12), rng.permutation(20)[:8].tolist()
        frame = frames.DataFrame({f"w{j}": X[part, j] for j in there})
        many.learn_many(frame, y[part])
        for i in range(low, low + 12):
            one.learn_one({f"w{j}": X[i, j] for j in there}, y[i])
    assert sorted(many.feature_names_in_) == sorted(one.feature_names_in_)
    np.testing.assert_allclose(np.sort(many.scores_), np.sort(one.scores_), rtol=1e-9)
    frame = frames.DataFrame({f"w{j}": X[:, j] for j in range(20)})
    out = many.transform(frame)
    assert list(out.columns) == many.get_feature_names_out().tolist() == many.feature_names_in_.tolist()
    with pytest.raises(SchemaError, match="is not among the columns"):
        many.transform(frame[["w0"]])
    with pytest.raises(SchemaError, match="known by name"):
        many.transform(X)


def test_a_feature_keeps_its_column_until_it_leaves():
    mission = MISSION(2, learning_rate=1.0)
    mission.learn_one({"a": 1.0, "b": 3.0}, 1)
    assert mission.feature_names_in_.tolist() == ["a", "b"]
    assert mission.ranked_.tolist() == [1, 0]
    mission.learn_one({"c": 2.0}, 1)
    assert mission.feature_names_in_.tolist() == ["c", "b"]
    assert mission.ranked_.tolist() == [1, 0]
    assert [str(d).split(" (")[0] for d in mission.ledger_][-2:] == [
        "a: evicted, left the top set",
        "c: kept, entered the top set",
    ]


def test_output_of_dict_rows():
    row = {"a": 1.0, "b": 2.0, "c": 3.0}
    for output, wanted in (("drop", {"c": 3.0}), ("zero", {"a": 0.0, "b": 0.0, "c": 3.0})):
        mission = MISSION(1, output=output)
        mission.learn_one(row, 1)
        assert mission.transform_one(row) == wanted


def test_what_is_frozen_stays_when_its_name_is_gone():
    frames = pytest.importorskip("pandas")
    mission = MISSION(1, output="frozen")
    mission.learn_one({"a": 1.0}, 1)
    frame = frames.DataFrame({"b": [5.0], "a": [7.0]})
    assert mission.transform(frame).to_numpy().tolist() == [[7.0]]
    mission.learn_one({"b": 9.0}, 1)
    assert mission.feature_names_in_.tolist() == ["b"]
    assert mission.transform(frame).to_numpy().tolist() == [[7.0]]
    assert mission.get_feature_names_out().tolist() == ["a"]
    assert mission.transform_one({"a": 1.0, "b": 2.0}) == {"a": 1.0}


def test_dict_rows_merge_by_name():
    rng = np.random.default_rng(0)
    dicts, y, X = dict_rows(rng, 100, 30)
    y[[0, 50]], y[[1, 51]] = 0, 1
    parts, peers = [MISSION(4), MISSION(4)], []
    for mission, part in zip(parts, (slice(50), slice(50, 100)), strict=True):
        for row, label in zip(dicts[part], y[part], strict=True):
            mission.learn_one(row, label)
        peers.append(MISSION(4).fit(sp.csr_array(X[part]), y[part]))
    merged, peer = parts[0].merge(parts[1]), peers[0].merge(peers[1])
    assert merged.feature_names_in_[merged.ranked_].tolist() == [f"w{j}" for j in peer.ranked_]
    np.testing.assert_allclose(merged.coef_, peer.coef_, rtol=1e-9)
    merged.learn_one(dicts[0], y[0])
    assert merged.n_features_in_ == 4


@pytest.mark.full
def test_a_million_names_leave_no_trace_but_the_best():
    """Rows of 1,000 names, nearly all of them new: memory stays where it was after the first ones."""
    mission = MISSION(20, width=2**12)
    y = np.random.default_rng(0).integers(0, 2, 1000).tolist()

    def learn(low, high):
        for i in range(low, high):
            row = dict.fromkeys(map(str, range(1000 * i, 1000 * i + 1000)), 0.03)
            row["good" if y[i] else "bad"] = 0.03
            mission.learn_one(row, y[i])

    learn(0, 200)
    learn(200, 850)
    assert mission.feature_names_in_.shape == (20,)
    tracemalloc.start()  # which makes everything slow
    learn(850, 1000)
    assert {"good", "bad"} <= set(mission.feature_names_in_)
    growth, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert growth < 100e3
    assert peak < 60e6  # the rows that wait to be learnt together
    assert mission.n_features_in_ == 20
    _, arrays = mission._saved()
    assert sum(array.nbytes for array in arrays.values()) < 2**12 * 3 * 8 + 20_000


def test_a_refused_dict_row_changes_nothing():
    rng = np.random.default_rng(0)
    dicts, y, _ = dict_rows(rng, 60, 20)
    mission, peer = MISSION(3), MISSION(3)
    for row, label in zip(dicts, y, strict=True):
        mission.learn_one(row, label)
        for bad in ({"w1": np.nan, "new": 1.0}, {"w1": np.inf}, {"w1": "text"}):
            with pytest.raises(ValueError, match="w1"):
                mission.learn_one(bad, label)
        with pytest.raises(TargetError):
            mission.learn_one({"newer": 1.0}, None)
        peer.learn_one(row, label)
    assert mission.feature_names_in_.tolist() == peer.feature_names_in_.tolist()
    assert mission.scores_.tolist() == peer.scores_.tolist()
    assert mission.n_samples_seen_ == 60


def test_an_empty_dict_is_a_row_of_zeros():
    mission = MISSION(3)
    mission.learn_one({}, 1)
    assert (mission.n_features_in_, mission.ranked_.tolist(), mission.mistakes_) == (0, [], 1)
    mission.learn_one({"a": 1.0}, 0)
    assert mission.feature_names_in_.tolist() == ["a"]


# ------------------------------------------------------------------------------------ saving


def test_saved_in_the_midst_of_dict_rows(tmp_path):
    rng = np.random.default_rng(0)
    dicts, y, _ = dict_rows(rng, 200, 30)
    straight, broken = MISSION(4, half_life=30), MISSION(4, half_life=30)
    for i, (row, label) in enumerate(zip(dicts, y, strict=True)):
        straight.learn_one(row, label)
        broken.learn_one(row, label)
        if i in (0, 37, 150):
            broken.save(tmp_path / "state.sieve")
            broken = MISSION.load(tmp_path / "state.sieve")
    assert straight.feature_names_in_.tolist() == broken.feature_names_in_.tolist()
    assert straight.scores_.tolist() == broken.scores_.tolist()
    assert straight.mistakes_ == broken.mistakes_


def test_names_that_are_not_those_of_the_heap_are_refused(tmp_path):
    mission = MISSION(2)
    mission.learn_one({"a": 1.0, "b": 2.0}, 1)
    path = tmp_path / "state.sieve"
    mission.save(path)
    header, arrays = state.read(path)
    arrays["vocabulary_/names/text"] = np.frombuffer(b"ac", np.uint8)
    header = {key: value for key, value in header.items() if key not in ("format", "streamsieve")}
    state.write(path, header, arrays)
    with pytest.raises(StateError, match="names are not those of the heap"):
        MISSION.load(path)


# ------------------------------------------------------------------------------------ errors


def test_with_names_k_has_a_limit_of_its_own():
    mission = MISSION(2**20 + 1)
    with pytest.raises(ParameterError, match="k must be a whole number at least 1 and at most"):
        mission.learn_one({"a": 1.0}, 1)
    assert not hasattr(mission, "n_features_in_")
