"""States round-trip bit for bit in mid-stream; hostile ones are refused; a failed call changes nothing."""

import numpy as np
import pytest

from streamsieve.exceptions import BadValueError, ParameterError, SchemaError, StateError, TargetError
from streamsieve.summaries import Quantiles
from tests.summaries.quantile_truth import QUICK, WEIGHTS, all_orders, all_tables, check_bound, learnt
from tests.summaries.streams import Stream, assert_same_bits, feed, snapshot

pytestmark = pytest.mark.filterwarnings("ignore:.* encountered in scalar:RuntimeWarning")


def stream_of(weights="none", n=1500, seed=1, dtype=np.float64):
    rng = np.random.default_rng(seed)
    stream = all_orders(rng, n, dtype)
    stream.y[:3] = 0, 1, 2
    stream.weight = None if weights == "none" else WEIGHTS[weights](rng, n)
    return stream


# ------------------------------------------------------------------------------------ round trips


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("half_life", [None, 2.0, 500.0])
@pytest.mark.parametrize("weights", ["none", "pareto"])
def test_a_state_in_mid_stream_goes_on_identically(weights, half_life, dtype):
    stream = stream_of(weights, dtype=dtype)
    for cut in (1, 31, 700, 1472):
        summary = learnt(stream[:cut], half_life=half_life, dtype=dtype)
        saved = snapshot(summary)
        again = Quantiles.from_state(saved)
        assert_same_bits(saved, snapshot(again))
        assert np.array_equal(all_tables(again, 5)[0], all_tables(summary, 5)[0])
        assert np.array_equal(again.rank_error(), summary.rank_error())
        for part in (stream[cut : cut + 40], stream[cut + 40 :]):
            for one in (summary, again):
                feed(one, part, lambda X: X.astype(dtype))
        assert_same_bits(snapshot(summary), snapshot(again))


def test_facts_survive():
    summary = learnt(stream_of("copies"), half_life=77.0)
    again = Quantiles.from_state(summary.state())
    for name in ("max_rank_error", "half_life", "classes", "n_rows", "n_features"):
        assert getattr(again, name) == getattr(summary, name)


def test_an_empty_summary_round_trips():
    for half_life in (None, 3.0):
        saved = Quantiles(0.01, half_life=half_life).state()
        again = Quantiles.from_state(saved)
        assert_same_bits(saved, again.state())
        assert (again.max_rank_error, again.half_life, again.n_features) == (0.01, half_life, 0)


def test_text_labels_survive():
    stream = stream_of()
    summary = Quantiles(QUICK)
    summary.update(stream.X, np.array(["one", "two", "drei"])[stream.y])
    assert Quantiles.from_state(summary.state()).classes == ["drei", "one", "two"]


@pytest.mark.parametrize("weights", ["none", "copies"])
def test_a_state_and_the_summary_share_nothing(weights):
    stream = stream_of(weights)
    stream.X = np.round(stream.X)  # tables of few values stay in use
    summary = learnt(stream)
    state = summary.state()
    kept = {name: array.copy() for name, array in state.items()}
    again = Quantiles.from_state(state)
    summary.update(stream.X, stream.y, stream.weight)
    again.update(stream.X + 0.5, stream.y, stream.weight)
    again.forget([0, 1])
    assert_same_bits(kept, state)


def test_states_after_forgetting_growing_and_moving_are_accepted():
    """Under weights that do not add up the same in every order."""
    for seed in range(30):
        stream = stream_of("exponential", n=60 + 7 * seed, seed=seed)
        summary = Quantiles(QUICK)
        for low in range(0, 50, 7):
            feed(summary, stream[low : low + 7])
        summary.forget([0, 3])
        feed(summary, Stream(np.pad(stream.X[50:], ((0, 0), (0, 2))), stream.y[50:], stream.weight[50:]))
        moved = summary.reindexed(np.arange(13)[::-1], 15)
        for one in (summary, moved):
            saved = snapshot(one)
            assert_same_bits(saved, snapshot(Quantiles.from_state(saved)))


# ------------------------------------------------------------------------------------ hostile states
# What declarations cannot say; the fuzzer (tests/test_state_fuzz.py) damages every array.

PLAIN, HEAVY = (learnt(stream_of(weights, 1900)).state() for weights in ("none", "exponential"))
FEW = learnt(Stream(np.round(stream_of().X[:, :1]), stream_of().y)).state()


def put(name, place, value):
    """Return a damage that writes one value into one array."""

    def damage(state):
        array = state[name].copy()
        array[place] = value
        return {**state, name: array}

    return damage


def wider(state, width):
    """Claim runs of another width without having any."""
    out = {k: a for k, a in state.items() if k.split("/")[-1] not in ("runs", "run_weights", "run_levels")}
    for c in range(3):
        out[f"store/classes/{c}/k"] = np.array(width)
        out[f"store/classes/{c}/run_weights"] = np.empty(0)
        out[f"store/classes/{c}/run_levels"] = np.empty(0, np.int64)
    return out


RUNS, LEVELS = "store/classes/0/runs", "store/classes/0/run_levels"
HOSTILE = {
    "inf in the buffer": put("store/classes/0/rows", (0, 0), np.inf),
    "heavier run": put("store/classes/0/run_weights", -1, 1e9),
    "level that is not there": put(LEVELS, -1, 99),
    "error beyond epsilon": put("store/classes/0/error", (), 1e6),
    "shift beyond the error": put("store/classes/0/shift", (), 1e6),
    "negative missing": put("store/classes/0/missing", 0, -1.0),
    "huge k": lambda state: wider(state, 2**40),
    "k that is no power of two": lambda state: wider(state, 48),
    "k of 0": lambda state: wider(state, 0),
    "k too small for epsilon": lambda state: {**wider(state, 32), "max_rank_error": np.array(1e-4)},
    "other mass": put("mass", 0, 1e6),
    "no store": lambda state: {k: a for k, a in state.items() if not k.startswith("store/")},
    "other number of features": put("store/n_features", (), 12),
    "endless levels": lambda state: {**state, "store/classes/0/parity": np.zeros(10_000, np.int64)},
    "mixed types": lambda state: {
        key: a.astype(np.float32) if key in ("store/classes/1/rows", "store/classes/1/runs") else a
        for key, a in state.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_values_are_refused(name):
    for state in (PLAIN, HEAVY):
        assert len(state[RUNS]) >= 2
        with pytest.raises(StateError, match="state"):
            Quantiles.from_state(HOSTILE[name](state))


@pytest.mark.parametrize(
    ("name", "place", "value"), [("few/values", (0, 1), -1e9), ("few/masses", (0, 0), -1.0)]
)
def test_hostile_tables_of_few_values_are_refused(name, place, value):
    with pytest.raises(StateError, match="not in order|counted less than 0 times"):
        Quantiles.from_state(put(f"store/classes/0/{name}", place, value)(FEW))


def test_a_state_without_its_tables_of_few_values_is_refused():
    hostile = {
        key: array
        for key, array in FEW.items()
        if not key.startswith(("store/classes/0/few/values", "store/classes/0/few/masses"))
    }
    with pytest.raises(StateError, match="its values or their masses are missing"):
        Quantiles.from_state(hostile)


def test_two_runs_of_one_level_are_refused_where_weights_are_equal():
    state, name = dict(PLAIN), "store/classes/0/"
    for key in ("runs", "run_weights", "run_levels"):
        state[name + key] = np.concatenate([state[name + key][:1], state[name + key]])
    state[name + "in_runs"] = np.array(state[name + "in_runs"] + state[RUNS].shape[2])
    state["mass"] = state["mass"] + [state[RUNS].shape[2], 0, 0]
    with pytest.raises(StateError, match="do not add up"):
        Quantiles.from_state(state)


# ------------------------------------------------------------------------------------ failed calls


def refused(summary, error, message, X, y, weight=None):
    before = snapshot(summary)
    nbytes = summary.nbytes
    with pytest.raises(error, match=message):
        summary.update(X, y, weight)
    assert_same_bits(before, snapshot(summary))
    assert summary.nbytes == nbytes


@pytest.mark.parametrize("half_life", [None, 3.0])
@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (np.inf, np.float32),
        (-np.inf, np.float32),
        (np.inf, np.float64),
        (1e101, np.float64),
        (-1e308, np.float64),
    ],
)
def test_a_bad_value_in_the_last_row_changes_nothing(value, dtype, half_life):
    stream = stream_of()
    summary = learnt(stream, half_life=half_life, dtype=dtype)
    X = np.pad(stream.X, ((0, 0), (0, 2))).astype(dtype)  # with new features
    X[-1, 4] = value
    for y in (stream.y, stream.y + 5):  # and with new labels
        refused(summary, BadValueError, "feature 'x4' holds", X, y, np.linspace(0.5, 2, 1500))
    weight = np.full(1500, 2.0)
    weight[-1] = 0.0  # such a row does not exist
    summary.update(X, stream.y, weight)
    assert summary.n_rows == 2999


def test_a_bad_first_batch_leaves_an_empty_summary():
    summary = Quantiles(QUICK)
    X = np.zeros((3, 2))
    X[2, 1] = np.inf
    refused(summary, BadValueError, "feature 'x1' holds inf", X, np.arange(3))
    assert (summary.n_features, summary.classes, summary.nbytes) == (0, [], 0)


def test_labels_of_another_type_change_nothing():
    stream = stream_of()
    summary = learnt(stream)
    refused(
        summary, TargetError, "keep to text or to numbers",
        np.pad(stream.X, ((0, 0), (0, 2))), np.where(stream.y > 0, "yes", "no"), np.full(1500, 0.5),
    )  # fmt: skip
    check_bound(summary, stream)


def test_columns_that_are_not_there_change_nothing():
    summary = learnt(stream_of())
    before = snapshot(summary)
    for columns, message in (([0, 11], "there is no feature 11"), ([-1], "no feature -1"), ([2, 2], "twice")):
        with pytest.raises(SchemaError, match=message):
            summary.forget(columns)
        with pytest.raises(SchemaError, match=message):
            summary.reindexed(columns + list(range(len(columns), 11)), 11)
    assert_same_bits(before, snapshot(summary))


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 1e-7, -1, np.nan, "small", None, True])
def test_parameters_out_of_range(epsilon):
    with pytest.raises(ParameterError, match="max_rank_error must be a number at least 1e-06 and below 1"):
        Quantiles(epsilon)


@pytest.mark.parametrize("bins", [1, 0, 2.5, "five", None])
def test_bins_out_of_range(bins):
    with pytest.raises(ParameterError, match="bins must be a whole number at least 2"):
        next(learnt(stream_of()).tables(bins))
