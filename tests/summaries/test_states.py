"""States round-trip bit for bit, and arrays that do not fit together are refused."""

import numpy as np
import pytest

from streamsieve.exceptions import StateError
from streamsieve.state.tree import text
from streamsieve.summaries import CoMoments, Moments
from tests.helpers.tier import cases
from tests.summaries.streams import HALF_LIVES, KINDS, assert_same_bits, feed, random_stream, snapshot

both = pytest.mark.parametrize(("kind", "target"), KINDS.values(), ids=KINDS)


def learnt_examples():
    """Yield a summary of every kind of state there is, by name."""
    rng = np.random.default_rng(0)
    for name, (kind, target) in KINDS.items():
        for form in ("C", "csr_array"):
            for gaps in ("full", "gaps"):
                stream = random_stream(rng, target, n=12, p=3)
                stream.X[np.isnan(stream.X)] = 1.0
                if gaps == "gaps":
                    stream.X[::3] = np.nan
                yield f"{name} {form} {gaps}", feed(kind(7.0), stream, form)
    text = random_stream(rng, "classes", n=12, p=3, labels=("yes", "no"))
    yield "Moments text", feed(Moments(), text, "C")
    floats = random_stream(rng, "classes", n=12, p=3, labels=(0.0, 1.0))
    yield "Moments float labels", feed(Moments(), floats, "C")


EXAMPLES = dict(learnt_examples())


@both
def test_state_round_trips_bit_for_bit_and_goes_on_identically(kind, target):
    rng = np.random.default_rng(1)
    for case in range(cases(200)):
        half_life = HALF_LIVES[case % len(HALF_LIVES)]
        before, after = random_stream(rng, target, p=3), random_stream(rng, target, p=4)
        summary = feed(kind(half_life), before, rng.choice(["C", "csr_array"]))
        saved = snapshot(summary)
        again = kind.from_state(saved)
        assert_same_bits(saved, snapshot(again))
        assert again.half_life == half_life
        form = rng.choice(["C", "csr_array"])
        feed(summary, after, form)
        feed(again, after, form)
        assert_same_bits(snapshot(summary), snapshot(again))


def test_co_moments_of_another_width_are_refused():
    for name in ("CoMoments C full", "CoMoments csr_array full"):
        state = snapshot(EXAMPLES[name])
        cells = "dense" if "dense" in state else "table"
        turned = {**state, cells: np.ascontiguousarray(state[cells].T)}
        with pytest.raises(StateError, match=f"{cells} should be float64 of shape"):
            CoMoments.from_state(turned)


def test_the_refusal_says_what_was_wanted_and_what_came():
    state = snapshot(EXAMPLES["Moments C full"])
    classes = len(EXAMPLES["Moments C full"].classes)
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
    state = snapshot(EXAMPLES["Moments text"])
    assert len(state["labels/values/text"]) == 5
    with pytest.raises(StateError, match="labels/values .*(in order|within|fit together)"):
        Moments.from_state({**state, "labels/values/ends": np.array(ends)})
