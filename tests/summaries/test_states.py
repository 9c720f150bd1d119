"""States round-trip bit for bit, and arrays that do not fit together are refused."""

import numpy as np
import pytest

from streamsieve.exceptions import StateError
from streamsieve.state.tree import text
from streamsieve.summaries import CoMoments, Moments
from tests.helpers.tier import cases
from tests.summaries.kinds import KINDS, each_kind
from tests.summaries.streams import HALF_LIVES, assert_same_bits, feed, snapshot


def example(kind, form="C", **how):
    stream = KINDS[kind].stream(np.random.default_rng(0), n=12, p=3, **how)
    stream.weight = None
    return snapshot(feed(KINDS[kind](), stream, form))


@each_kind
def test_state_round_trips_bit_for_bit_and_goes_on_identically(kind):
    rng = np.random.default_rng(1)
    for case in range(cases(200)):
        half_life = HALF_LIVES[case % len(HALF_LIVES)]
        before, after = kind.stream(rng, p=3), kind.stream(rng, p=4)
        summary = feed(kind(half_life), before, rng.choice(["C", "csr_array"]))
        saved = snapshot(summary)
        kept = {name: array.copy() for name, array in saved.items()}
        again = kind.from_state(saved)
        assert_same_bits(saved, snapshot(again))
        assert (again.half_life, again.classes) == (half_life, summary.classes)
        form = rng.choice(["C", "csr_array"])
        for one in (summary, again):
            feed(one, after, form)
        assert_same_bits(snapshot(summary), snapshot(again))
        assert_same_bits(kept, saved)  # the arrays of a state are its own


def test_co_moments_of_another_width_are_refused():
    for form in ("C", "csr_array"):
        state = example("CoMoments", form)
        cells = "dense" if "dense" in state else "table"
        turned = {**state, cells: np.ascontiguousarray(state[cells].T)}
        with pytest.raises(StateError, match=f"{cells} should be float64 of shape"):
            CoMoments.from_state(turned)


def test_the_refusal_says_what_was_wanted_and_what_came():
    state = example("Moments")
    classes = len(state["mass"])
    with pytest.raises(
        StateError,
        match=rf"cells/mean should be float64 of shape \(classes={classes}, features\), but is float32",
    ):
        Moments.from_state({**state, "cells/mean": state["cells/mean"].astype(np.float32)})
    with pytest.raises(StateError, match="the state lacks 'mass'"):
        Moments.from_state({key: array for key, array in state.items() if key != "mass"})
    with pytest.raises(StateError, match="labels/values should be int64 or float64 of shape"):
        Moments.from_state({**state, "labels/values": np.zeros(classes, np.uint8)})


@pytest.mark.parametrize("claimed", [2**17, 2**31, 2**48])
def test_an_absurd_number_of_features_is_refused_before_any_memory_is_taken(claimed):
    """An empty array may claim any number of features at no cost; it proves none."""
    state = snapshot(Moments()) | {"cells/$kind": text("streamsieve.SparseMoments")}
    with pytest.raises(StateError, match=f"the state claims {claimed:,} features, but no array of that size"):
        Moments.from_state({**state, "cells/table": np.empty((claimed, 0, 4))})


@pytest.mark.parametrize("ends", [[2, 1], [5, 9], [-1, 5], [4, 4]])
def test_text_labels_whose_ends_do_not_fit_are_refused(ends):
    state = example("Moments", labels=("yes", "no"))
    assert len(state["labels/values/text"]) == 5
    with pytest.raises(StateError, match="labels/values .*(in order|within|fit together)"):
        Moments.from_state({**state, "labels/values/ends": np.array(ends)})
