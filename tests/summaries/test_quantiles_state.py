"""States round-trip bit for bit in mid-stream; hostile ones are refused; a failed call changes nothing."""

from functools import cache

import numpy as np
import pytest

from streamsieve.exceptions import ParameterError, StateError
from streamsieve.summaries import Quantiles
from tests.summaries.quantile_truth import QUICK, WEIGHTS, all_orders, all_tables, learnt
from tests.summaries.streams import Stream, assert_same_bits, feed, snapshot

pytestmark = pytest.mark.filterwarnings("ignore:.* encountered in scalar:RuntimeWarning")


def stream_of(weights="none", n=1500, seed=1, dtype=np.float64):
    rng = np.random.default_rng(seed)
    stream = all_orders(rng, n, dtype)
    stream.y[:3] = 0, 1, 2
    stream.weight = None if weights == "none" else WEIGHTS[weights](rng, n)
    return stream


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


@cache
def state_of(weights):
    """Return the state of a stream, or ("few") of one whose only column has few values."""
    if weights == "few":
        return learnt(Stream(np.round(stream_of().X[:, :1]), stream_of().y)).state()
    return learnt(stream_of(weights, 1900)).state()


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
    for state in (state_of("none"), state_of("exponential")):
        assert len(state[RUNS]) >= 2
        with pytest.raises(StateError, match="state"):
            Quantiles.from_state(HOSTILE[name](state))


@pytest.mark.parametrize(
    ("name", "place", "value"), [("few/values", (0, 1), -1e9), ("few/masses", (0, 0), -1.0)]
)
def test_hostile_tables_of_few_values_are_refused(name, place, value):
    with pytest.raises(StateError, match="not in order|counted less than 0 times"):
        Quantiles.from_state(put(f"store/classes/0/{name}", place, value)(state_of("few")))


def test_a_state_without_its_tables_of_few_values_is_refused():
    hostile = {
        key: array
        for key, array in state_of("few").items()
        if not key.startswith(("store/classes/0/few/values", "store/classes/0/few/masses"))
    }
    with pytest.raises(StateError, match="its values or their masses are missing"):
        Quantiles.from_state(hostile)


def test_two_runs_of_one_level_are_refused_where_weights_are_equal():
    state, name = dict(state_of("none")), "store/classes/0/"
    for key in ("runs", "run_weights", "run_levels"):
        state[name + key] = np.concatenate([state[name + key][:1], state[name + key]])
    state[name + "in_runs"] = np.array(state[name + "in_runs"] + state[RUNS].shape[2])
    state["mass"] = state["mass"] + [state[RUNS].shape[2], 0, 0]
    with pytest.raises(StateError, match="do not add up"):
        Quantiles.from_state(state)


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 1e-7, -1, np.nan, "small", None, True])
def test_parameters_out_of_range(epsilon):
    with pytest.raises(ParameterError, match="max_rank_error must be a number at least 1e-06 and below 1"):
        Quantiles(epsilon)


@pytest.mark.parametrize("bins", [1, 0, 2.5, "five", None])
def test_bins_out_of_range(bins):
    with pytest.raises(ParameterError, match="bins must be a whole number at least 2"):
        next(learnt(stream_of()).tables(bins))
