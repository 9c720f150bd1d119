"""TopK decides as its slow twin does, is the top k of any order without redundancy, and keeps its laws."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.columns.top_k import MEASURES, TopK
from streamsieve.exceptions import CapabilityError, MergeError, ParameterError, StateError
from tests.columns.streams import FORMS, TASKS, columns, equal_twin, lines, offered, rows, target
from tests.real_data import load_real
from tests.reference.top_k import Codes, Correlations, top_k


def has_freedom(y, task):
    """Whether the test has degrees of freedom, so that its p-value has a meaning."""
    return len(y) > (len(set(y)) if task == "multiclass" else 3)


def random_parameters(rng, measure):
    return {
        "measure": measure,
        "k": int(rng.choice([1, 2, 3, 5, 20])),
        "redundancy": float(rng.choice([0.0, 0.3, 1.0])),
        "alpha": [None, 0.05, 0.3, 0.9][rng.integers(4)],
        "bins": int(rng.choice([2, 3, 5, 7])),
    }


# ------------------------------------------------------------------------------------ equal to the twin


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("measure", MEASURES)
def test_random_streams_in_mixed_blocks_equal_the_twin(measure, task):
    rng = np.random.default_rng(0)
    seen = Counter()
    for case in range(120):
        y = target(rng, task, rows(rng, task))
        X = columns(rng, y, int(rng.integers(1, 20)), far=False)
        parameters = random_parameters(rng, measure)
        twin = top_k(X, y, task, **parameters)
        sieve = offered(TopK(**parameters).begin(y), X, rng)
        equal_twin(sieve, twin, what=(case, parameters), p_values=has_freedom(y, task))
        seen.update((line.event, line.reason) for line in twin[1])
    # the streams had something to say: every kind of decision fell, many times
    assert min(seen.values()) >= 5, seen
    assert len(seen) == (8 if measure == "fisher_z" else 7), seen  # codes are never untestable


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("measure", MEASURES)
def test_one_form_of_blocks_equals_the_twin(measure, form):
    rng = np.random.default_rng(1)
    for case in range(10):
        task = TASKS[case % 3]
        y = target(rng, task, rows(rng, task))
        X = columns(rng, y, 15, far=False)
        parameters = random_parameters(rng, measure)
        sieve = offered(TopK(**parameters).begin(y), X, rng, (form,))
        twin = top_k(X, y, task, **parameters)
        equal_twin(sieve, twin, what=(case, parameters), p_values=has_freedom(y, task))


@pytest.mark.parametrize("measure", MEASURES)
def test_a_buffer_of_many_members_grows_and_swaps_as_the_twin_says(measure):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 80)
    X = rng.normal(size=(80, 60)) + y[:, None] * rng.random(60)
    parameters = {"k": 35, "measure": measure, "alpha": None}
    twin = top_k(X, y, "binary", **parameters)
    assert sum(line.event == "evicted" for line in twin[1]) > 5
    for form in ("row by row", "all stored", "one by one"):
        sieve = offered(TopK(**parameters).begin(y), X, rng, (form,))
        equal_twin(sieve, twin, what=form)


# ------------------------------------------------------------------------------------ laws


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("redundancy", [0.3, 1.0])
def test_never_more_than_k_and_row_sums_are_those_of_all_pairs(measure, redundancy):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 60)
    judge = Correlations(y, "multiclass") if measure == "fisher_z" else Codes(y, "multiclass", measure, 5)
    X = rng.normal(size=(60, 120)) + y[:, None] * rng.random(120) + rng.normal(size=(60, 1))
    sieve = TopK(k=6, redundancy=redundancy, measure=measure).begin(y)
    for low in range(0, 120, 9):
        sieve.offer(X[:, low : low + 9])
        assert len(sieve.selected_) <= 6
        kept = sieve._kept_
        members = [judge.prepare(X[:, f]) for f in kept._feature[: kept._q]]
        expected = [sum(judge.pair(a, b) for b in members if b is not a) for a in members]
        np.testing.assert_allclose(kept._sums[: kept._q], expected, atol=1e-9)
    assert sum(d.event == "evicted" for d in sieve.ledger_) > 5


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("k", [3, 10])
def test_copies_of_members_are_dropped_at_once_when_redundancy_counts(measure, k):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 100)
    X = np.round(rng.normal(size=(100, 5)) + y[:, None])  # so few values that codes are names
    first = TopK(k=k, measure=measure).begin(y)
    first.offer(X)
    kept = first.selected_.tolist()
    for copy in (X[:, kept], -X[:, kept], 4 * X[:, kept]):
        for decision, original in zip(first.offer(copy), kept, strict=True):
            assert (decision.event, decision.reason) == ("rejected", "redundant")
            assert decision.by == (f"x{original}",)
    assert first.selected_.tolist() == kept
    assert len(TopK(k=10, redundancy=0).fit(np.repeat(X[:, :1], 6, axis=1), y).selected_) == 6


def test_redundancy_swaps_an_echo_for_something_new():
    rng = np.random.default_rng(5)
    y = rng.normal(size=400)
    strong, other = y + rng.normal(size=(2, 400))
    X = np.column_stack([strong, strong + 0.05 * rng.normal(size=400), other + rng.normal(size=400)])
    assert TopK(k=2).fit(X, y).selected_.tolist()[-1] == 2
    assert TopK(k=2, redundancy=0).fit(X, y).selected_.tolist() == [0, 1]


@pytest.mark.parametrize("measure", MEASURES)
def test_alpha_keeps_noise_out_and_none_lets_it_in(measure):
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 300))
    for redundancy in (0, 1):
        gated = TopK(k=300, redundancy=redundancy, measure=measure, alpha=0.01).fit(X, y)
        assert len(gated.selected_) < 12
        assert all(d.p_value <= 0.01 for d in gated.ledger_ if d.event == "kept")
        assert all(d.p_value > 0.01 for d in gated.ledger_ if d.event == "rejected")
        free = TopK(k=300, redundancy=redundancy, measure=measure, alpha=None).fit(X, y)
        assert len(free.selected_) == 300


def offline(X, y, k):
    """Return the k columns with the largest |r|, the first of equals."""
    centred = X - X.mean(axis=0)
    length = np.linalg.norm(centred, axis=0)
    r = np.abs((y - y.mean()) @ centred) / np.where(length > 0, length, 1) / np.linalg.norm(y - y.mean())
    return np.argsort(-np.round(r, 11), kind="stable")[:k]


@pytest.mark.parametrize(
    ("name", "split"),
    [("spambase", "all"), ("madelon", "train"), ("wdbc", "all"), ("colon_raw", "all"), ("arcene", "train")],
)
def test_without_redundancy_ten_orders_of_columns_give_the_offline_top_k(name, split):
    X, y = load_real(name, split)
    rng = np.random.default_rng(7)
    for _ in range(10):
        order = rng.permutation(X.shape[1])
        shuffled = np.asfortranarray(X[:, order])
        best = offline(shuffled, y.astype(float), 15)
        sieve = TopK(redundancy=0).fit(shuffled, y)
        assert sieve.selected_.tolist() == sorted(best.tolist())
        cut = shuffled.shape[1] // 3
        parts = TopK(redundancy=0).fit(shuffled[:, :cut], y), TopK(redundancy=0).fit(shuffled[:, cut:], y)
        assert parts[0].merge(parts[1]).selected_.tolist() == sieve.selected_.tolist()


# ------------------------------------------------------------------------------------ merging


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("task", TASKS)
def test_merged_parts_are_the_whole(measure, task):
    rng = np.random.default_rng(8)
    for _ in range(20):
        y = target(rng, task, 40)
        X = columns(rng, y, 24, far=False)
        sieve = {"k": int(rng.choice([1, 4, 30])), "redundancy": 0, "measure": measure, "alpha": 0.5}
        whole = offered(TopK(**sieve).begin(y), X, rng)
        edges = [0, *sorted(rng.integers(0, 25, 2)), 24]
        parts = []
        for low, high in pairwise(edges):
            parts.append(TopK(**sieve).begin(y))
            if high > low:
                parts[-1].offer(X[:, low:high])
        left = parts[0].merge(parts[1]).merge(parts[2])
        assert left.selected_.tolist() == whole.selected_.tolist()
        assert left.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
        assert left.n_features_in_ == 24
        kept = [d.feature for d in left.ledger_ if d.event == "kept"]
        gone = [d.feature for d in left.ledger_ if d.event == "evicted"]
        assert sorted(set(kept) - set(gone)) == sorted(left.get_feature_names_out())


def test_a_merged_selector_goes_on_is_saved_and_knows_all_names(tmp_path):
    rng = np.random.default_rng(9)
    y = rng.integers(0, 2, 80)
    X = rng.normal(size=(80, 9)) + y[:, None] * rng.random(9)
    names = [f"gene {j}" for j in range(9)]
    one, two = TopK(k=3, redundancy=0).begin(y), TopK(k=3, redundancy=0).begin(y)
    one.offer(X[:, :3], names[:3])
    two.offer(X[:, 3:6], names[3:6])
    before = lines_of(two)
    one.merge(two)
    assert lines_of(two) == before
    one.save(tmp_path / "both.sieve")
    again = TopK.load(tmp_path / "both.sieve")
    again.offer(X[:, 6:], names[6:])
    whole = TopK(k=3, redundancy=0).begin(y)
    whole.offer(X, names)
    assert again.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
    with pytest.raises(MergeError, match="gene 3"):
        again.merge(two)


def lines_of(sieve):
    return [(d.step, d.feature, d.event, d.reason, d.by) for d in sieve.ledger_]


def test_what_does_not_belong_together_is_not_merged():
    rng = np.random.default_rng(10)
    y, X = rng.integers(0, 2, 30), rng.normal(size=(30, 4))
    with pytest.raises(CapabilityError, match="redundancy=0"):
        TopK().fit(X, y).merge(TopK().fit(X, y))
    sieve = TopK(redundancy=0).fit(X, y)
    before = lines_of(sieve)
    for other, text in (
        (TopK(redundancy=0).fit(X, 1 - y), "rows or labels"),
        (TopK(redundancy=0).fit(X[::-1], y[::-1]), "rows or labels"),
        (TopK(redundancy=0).fit(X[:20], y[:20]), "rows or labels"),
        (TopK(redundancy=0).fit(X, y.astype(float) + 0.5), "rows or labels"),
        (TopK(redundancy=0, k=3).fit(X, y), "k is 15"),
        (ss.SAOLA().fit(X, y), "not a SAOLA"),
    ):
        with pytest.raises(MergeError, match=text):
            sieve.merge(other)
    rows_a, rows_b = (
        TopK(redundancy=0).begin(y, rows=range(30)),
        TopK(redundancy=0).begin(y, rows=range(1, 31)),
    )
    with pytest.raises(MergeError, match="identifiers"):
        rows_a.merge(rows_b)
    assert lines_of(sieve) == before


# ------------------------------------------------------------------------------------ resuming, errors


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("redundancy", [0, 1])
def test_a_resumed_run_goes_on_to_the_last_bit(measure, redundancy, tmp_path):
    rng = np.random.default_rng(11)
    y = rng.integers(0, 3, 70)
    X = rng.normal(size=(70, 80)) + y[:, None] * rng.random(80) * 0.6
    sieve = {"k": 20, "redundancy": redundancy, "measure": measure, "alpha": 0.5}
    whole = offered(TopK(**sieve).begin(y), X, rng)
    for half in (0, 10, 50):
        first = TopK(**sieve).begin(y)
        if half:
            first.offer(X[:, :half])
        first.save(tmp_path / "half.sieve")
        resumed = TopK.load(tmp_path / "half.sieve")
        np.testing.assert_array_equal(resumed._kept_._sums[:half], first._kept_._sums[:half])
        resumed.offer(X[:, half:])
        assert lines(resumed) == lines(whole)


@pytest.mark.parametrize(
    ("measure", "key", "change"),
    [
        ("fisher_z", "feature", lambda a: a * 0),
        ("fisher_z", "kept", lambda a: a * np.nan),
        ("fisher_z", "kept", lambda a: a[:, :-1]),
        ("fisher_z", "pairs", lambda a: a + 1),
        ("fisher_z", "pairs", lambda a: np.triu(a)),
        ("fisher_z", "sums", lambda a: a + 1),
        ("fisher_z", "columns", lambda a: a[:, :-1]),
        ("fisher_z", "size", lambda a: np.array([a[0], 1])),
        ("fisher_z", "weight", lambda a: a * np.nan),
        ("su", "codes", lambda a: a + 60_000),
        ("su", "codes", lambda a: a * 0),
        ("su", "coding", lambda a: a * 0),
    ],
)
def test_hostile_states_are_refused(measure, key, change):
    rng = np.random.default_rng(12)
    y = rng.integers(0, 2, 50)
    sieve = TopK(k=4, measure=measure).fit(rng.normal(size=(50, 9)) + y[:, None], y)
    part = sieve._kept_
    state = part.state()
    type(part).from_state(state)
    state[key] = np.ascontiguousarray(change(state[key]))
    with pytest.raises(StateError):
        type(part).from_state(state)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"k": 0}, "k must be"),
        ({"k": 2.5}, "k must be"),
        ({"redundancy": 1.1}, "redundancy must be"),
        ({"alpha": 0}, "alpha must be"),
        ({"missing": "omit", "measure": "su"}, "fisher_z"),
    ],
)
def test_parameters_out_of_range_are_named(parameters, text):
    with pytest.raises(ParameterError, match=text):
        TopK(**parameters).begin([0, 1, 0, 1])


def test_single_columns_of_junk_take_the_fast_way_with_the_same_words():
    rng = np.random.default_rng(13)
    y = rng.integers(0, 2, 90)
    X = rng.normal(size=(90, 60)) + y[:, None] * rng.random(60)
    for parameters in ({"redundancy": 0}, {"redundancy": 0, "alpha": None}, {"redundancy": 0.2}):
        sieve, block = (TopK(k=4, **parameters).begin(y) for _ in range(2))
        for j in range(60):
            sieve.offer(X[:, j].copy())
        block.offer(sp.csc_array(X))
        assert lines(sieve) == lines(block)
        for one, other in zip(sieve.ledger_, block.ledger_, strict=True):
            assert one.p_value == pytest.approx(other.p_value, rel=1e-9)
        assert {"outscored"} <= set(sieve.ledger_.counts())


# ------------------------------------------------------------------------------------ missing values


def with_gaps(rng, X):
    """Return columns of which some miss a few rows, many rows, or all of them."""
    share = rng.choice([0.0, 0.0, 0.1, 0.1, 0.4, 0.9, 1.0], X.shape[1])
    return np.where(rng.random(X.shape) < share, np.nan, X)


@pytest.mark.parametrize("task", TASKS)
def test_streams_with_gaps_equal_the_twin(task):
    rng = np.random.default_rng(14)
    seen = Counter()
    for case in range(80):
        y = target(rng, task, rows(rng, task))
        X = with_gaps(rng, columns(rng, y, int(rng.integers(1, 16)), far=False))
        parameters = random_parameters(rng, "fisher_z") | {"missing": "omit"}
        twin = top_k(X, y, task, **parameters)
        sieve = offered(TopK(**parameters).begin(y), X, rng)
        equal_twin(sieve, twin, what=(case, parameters), p_values=has_freedom(y, task))
        seen.update((line.event, line.reason) for line in twin[1])
    assert min(seen.values()) >= 2, seen
    assert len(seen) == 8, seen


@pytest.mark.parametrize("task", TASKS)
def test_without_gaps_omitting_changes_nothing(task):
    rng = np.random.default_rng(15)
    for _ in range(20):
        y = target(rng, task, rows(rng, task))
        X = columns(rng, y, 15, far=False)
        parameters = random_parameters(rng, "fisher_z")
        plain = offered(TopK(**parameters).begin(y), X, rng)
        careful = offered(TopK(**parameters, missing="omit").begin(y), X, rng)
        assert lines(plain) == lines(careful)


def test_pairs_keep_their_correlation_where_filled_in_means_lose_it():
    rng = np.random.default_rng(16)
    n = 4000
    x = rng.normal(size=n)
    X = np.column_stack([x, 0.949 * x + np.sqrt(1 - 0.949**2) * rng.normal(size=n)])
    y = X.sum(axis=1) + rng.normal(size=n)
    gaps = np.where(rng.random((n, 2)) < 0.3, np.nan, X)
    filled = np.where(np.isnan(gaps), np.nanmean(gaps, axis=0), gaps)

    def shared(values, missing):
        return TopK(k=2, missing=missing).fit(values, y)._kept_._pairs[0, 1]

    assert shared(X, "refuse") == pytest.approx(0.949, abs=0.01)
    assert shared(filled, "refuse") == pytest.approx(0.663, abs=0.03)
    assert shared(gaps, "omit") == pytest.approx(0.950, abs=0.01)


def test_traits_and_errors_speak_of_missing_values():
    rng = np.random.default_rng(17)
    y, X = rng.integers(0, 2, 40), rng.normal(size=(40, 3))
    X[5, 1] = np.nan
    assert TopK(missing="omit").traits.missing
    assert not TopK().traits.missing
    with pytest.raises(ValueError, match="x1"):
        TopK().fit(X, y)
    sieve = TopK(missing="omit", alpha=None).fit(X, y)
    assert sieve.transform(X).shape == (40, 3)
    X[7, 2] = np.inf
    for form in (np.asarray, sp.csc_array):
        with pytest.raises(ValueError, match="'x2' holds inf"):
            TopK(missing="omit").fit(form(X), y)


def test_a_run_with_gaps_is_resumed(tmp_path):
    rng = np.random.default_rng(18)
    for task in TASKS:
        y = target(rng, task, 60)
        X = with_gaps(rng, columns(rng, y, 50, far=False))
        whole = offered(TopK(k=5, missing="omit", alpha=0.5).begin(y), X, rng)
        first = offered(TopK(k=5, missing="omit", alpha=0.5).begin(y), X[:, :25], rng)
        first.save(tmp_path / "half.sieve")
        assert lines(offered(TopK.load(tmp_path / "half.sieve"), X[:, 25:], rng)) == lines(whole)
