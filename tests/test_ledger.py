"""The ledger: every decision in order, by name, in columns, on disk, and only as much as was asked for."""

import csv

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamsieve.columns import SAOLA
from streamsieve.decisions import REASON_CODE, Decisions, Eviction, Outcome
from streamsieve.exceptions import ParameterError, SchemaError
from streamsieve.feature_names import LONGEST_NAME, FeatureNames
from streamsieve.lazy_p_values import PValues
from streamsieve.ledger import COLUMNS, KEEP, Ledger
from streamsieve.protocols import Decision, Event, Reason

SIGNS = {"+": Reason.RELEVANT, "-": Reason.IRRELEVANT, "r": Reason.REDUNDANT, "c": Reason.CONSTANT}


def block(start, signs, *, names=None, p_value=None, **more):
    """Return the decisions on a block, one sign per column: + kept, - irrelevant, r redundant, c constant."""
    reason = np.array([REASON_CODE[SIGNS[sign]] for sign in signs], np.uint8)
    statistic = start + np.arange(len(signs)) / 10
    p_value = PValues(halves, statistic) if p_value is None else p_value
    return Decisions(Outcome(reason, statistic, p_value, start=start, **more), names or FeatureNames())


def halves(statistic):
    """Stand in for a distribution: p-values from statistics."""
    return statistic / 2


def filled(keep="all"):
    """Return a ledger of 9 decisions: two blocks, a note between them, an eviction and names."""
    ledger, names = Ledger(keep), FeatureNames()
    names.claim(["age", "height"], 0)
    ledger.record(block(0, "+-r", names=names, by={2: (0, 1)}))
    ledger.note(Decision(3, "x3", Event.REJECTED, Reason.CONSTANT, 0.0, 1.0))
    evictions = [Eviction(5, 0, Reason.REDUNDANT, 8.0, 0.5, (5,))]
    ledger.record(block(4, "-++c", names=names, evictions=evictions))
    return ledger


def test_names_are_made_up_until_given():
    names = FeatureNames()
    assert [names[0], names[7]] == ["x0", "x7"]
    names.claim(["age", "height"], 5)
    assert [names[4], names[5], names[6], names[7]] == ["x4", "age", "height", "x7"]
    assert [names.index_of(name) for name in ("age", "height", "x4", "x5", "other")] == [5, 6, 4, None, None]


@pytest.mark.parametrize("name", ["x", "x²", "x-1", "x1.0", "xyz", "", "1"])
def test_text_that_only_looks_like_a_made_up_name_is_unknown(name):
    assert FeatureNames().index_of(name) is None


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (["b", "b"], "the feature name 'b' occurs twice; names must be unique: rename or drop one"),
        (["b", "a"], "the feature name 'a' occurs twice"),
        (["b", 3], "a feature name must be text, got 3: pass names as strings"),
        (["b", None], "a feature name must be text, got None"),
        (["b", "n" * (LONGEST_NAME + 1)], "has 65,537 characters; at most 65,536 are allowed: shorten it"),
    ],
    ids=["twice in a block", "known before", "number", "None", "too long"],
)
def test_a_bad_name_is_refused_with_all_its_block(new, message):
    names = FeatureNames()
    names.claim(["a"], 0)
    with pytest.raises(SchemaError, match=message):
        names.claim(new, 1)
    assert names.known == {0: "a"}
    names.claim(["b"], 1)
    assert names[1] == "b"


def test_the_longest_name_is_still_welcome_and_the_message_about_longer_ones_is_short():
    names = FeatureNames()
    names.claim(["n" * LONGEST_NAME], 0)
    assert names.index_of("n" * LONGEST_NAME) == 0
    with pytest.raises(SchemaError) as caught:
        names.claim(["m" * 10**6], 1)
    assert len(str(caught.value)) < 200


def test_a_forgotten_name_is_free_again():
    names = FeatureNames()
    names.claim(["a", "b"], 0)
    names.forget([0, 17])
    assert (names[0], names[1]) == ("x0", "b")
    names.claim(["a"], 2)
    assert names.index_of("a") == 2


def test_a_block_reads_as_decisions():
    decisions = block(10, "+-r", by={12: (10, 3)})
    assert list(decisions) == [
        Decision(10, "x10", Event.KEPT, Reason.RELEVANT, 10.0, 5.0),
        Decision(11, "x11", Event.REJECTED, Reason.IRRELEVANT, 10.1, 5.05),
        Decision(12, "x12", Event.REJECTED, Reason.REDUNDANT, 10.2, 5.1, ("x10", "x3")),
    ]
    assert decisions.outcome.kept().tolist() == [10]
    assert repr(decisions) == "<3 columns: 1 kept, 2 rejected>"


def test_a_block_counts_what_stays_and_what_leaves():
    evictions = [
        Eviction(11, 3, Reason.REDUNDANT, 0.5, 0.1, (11,)),
        Eviction(12, 11, Reason.REDUNDANT, 0.5, 0.1, (12,)),
    ]
    decisions = block(10, "-++", evictions=evictions)
    assert repr(decisions) == "<3 columns: 1 kept, 1 rejected, 1 evicted, 1 earlier ones evicted>"


def test_evictions_stand_before_the_decision_on_their_newcomer():
    evictions = [
        Eviction(6, 0, Reason.REDUNDANT, 1.0, 0.5, (6,)),
        Eviction(6, 1, Reason.REDUNDANT, 2.0, 0.5, (6,)),
        Eviction(7, 6, Reason.REDUNDANT, 3.0, 0.5, (7, 2)),
    ]
    decisions = block(5, "-++", evictions=evictions)
    assert [f"{d.feature} {d.event}" for d in decisions] == [
        "x5 rejected", "x0 evicted", "x1 evicted", "x6 kept", "x6 evicted", "x7 kept"
    ]  # fmt: skip
    assert decisions[4].by == ("x7", "x2")
    assert decisions[4].p_value == 0.5
    assert decisions.outcome.kept().tolist() == [6, 7]


@pytest.mark.parametrize("evictions", [(), [Eviction(6, 0, Reason.REDUNDANT, 1.0, 0.5, (6,))]])
def test_indices_and_slices_of_decisions_are_those_of_a_list(evictions):
    decisions = block(5, "-+c", evictions=evictions, p_value=np.zeros(3))
    whole = list(decisions)
    n = len(whole)
    assert len(decisions) == n
    for i in range(-n, n):
        assert decisions[i]._replace(p_value=0) == whole[i]._replace(p_value=0)
    assert [d.feature for d in decisions[1:]] == [d.feature for d in whole[1:]]
    with pytest.raises(IndexError):
        decisions[n]


def test_p_values_may_be_numbers():
    assert [d.p_value for d in block(0, "+-", p_value=np.array([0.25, 0.75]))] == [0.25, 0.75]


def test_p_values_are_computed_when_read_not_when_recorded():
    calls = []

    def counting(statistic):
        calls.append(len(statistic))
        return statistic

    ledger = Ledger()
    ledger.record(block(0, "-" * 1000, p_value=PValues(counting, np.arange(1000) / 10)))
    assert calls == []
    assert ledger[3].p_value == ledger[3].statistic
    assert set(calls) == {1}


def test_decisions_come_in_order_from_blocks_and_notes():
    ledger = filled()
    assert len(ledger) == len(list(ledger)) == 9
    assert [f"{d.step} {d.feature} {d.event} {d.reason}" for d in ledger] == [
        "0 age kept relevant", "1 height rejected irrelevant", "2 x2 rejected redundant",
        "3 x3 rejected constant", "4 x4 rejected irrelevant", "5 age evicted redundant", "5 x5 kept relevant",
        "6 x6 kept relevant", "7 x7 rejected constant",
    ]  # fmt: skip
    assert ledger[2].by == ("age", "height")
    assert repr(ledger) == "<ledger of 9 decisions, keep='all'>"


def test_indices_and_slices_are_those_of_a_list():
    ledger = filled()
    whole = list(ledger)
    assert [ledger[i] for i in range(-9, 9)] == whole + whole
    assert ledger[2:7:2] == whole[2:7:2]
    for i in (9, -10):
        with pytest.raises(IndexError):
            ledger[i]


def test_keep_bounds_what_is_remembered():
    whole = list(filled("all"))
    assert list(filled("kept")) == [d for d in whole if d.event is not Event.REJECTED]
    assert len(filled("kept")) == 4
    assert len(filled("none")) == 0
    assert list(filled("none")) == []


def test_an_unknown_mode_is_refused():
    with pytest.raises(ParameterError, match="ledger must be one of 'all', 'kept', 'none', got 'some'"):
        Ledger("some")


def test_why_gives_the_last_decision_on_a_feature():
    ledger = filled()
    for feature in {d.feature for d in ledger}:
        assert ledger.why(feature) == [d for d in ledger if d.feature == feature][-1]
    assert ledger.why("age").event is Event.EVICTED


@pytest.mark.parametrize("feature", ["other", "x0", "x8", "x99", ""])
def test_why_of_an_unknown_feature_says_so(feature):
    with pytest.raises(KeyError, match=f"no feature named '{feature}' in the ledger"):
        filled().why(feature)


def test_counts_add_up_by_event_and_reason():
    counts = filled().counts()
    assert counts == {"kept": 2, "irrelevant": 2, "redundant": 1, "constant": 2, "evicted": 1}
    assert sum(counts.values()) == len({decision.feature for decision in filled()})
    assert Ledger().counts() == {}


def test_columns_hold_every_decision():
    ledger = filled()
    table = ledger.columns()
    assert list(table) == list(COLUMNS)
    rebuilt = [
        Decision(step, feature, Event(event), Reason(reason), statistic, p_value, tuple(by))
        for step, feature, event, reason, statistic, p_value, by in zip(*table.values(), strict=True)
    ]
    assert rebuilt == list(ledger)


def test_to_arrow_holds_every_decision():
    table = filled().to_arrow()
    assert isinstance(table, pa.Table)
    assert table.num_rows == 9
    assert table.to_pydict() == filled().columns()
    assert table.schema.field("step").type == pa.int64()
    assert table.schema.field("p_value").type == pa.float64()


def test_to_csv_can_be_read_back_digit_for_digit(tmp_path):
    ledger = filled()
    odd = 'a "quoted", name;\nwith a line break'
    ledger.note(Decision(9, odd, Event.REJECTED, Reason.IRRELEVANT, 0.1 + 0.2, float("nan"), ("age", "x1")))
    ledger.to_csv(tmp_path / "ledger.csv")
    with (tmp_path / "ledger.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == list(COLUMNS)
    assert len(rows) == len(ledger) == 10
    for row, d in zip(rows, ledger, strict=True):
        assert row[:4] == [str(d.step), d.feature, str(d.event), str(d.reason)]
        assert float(row[4]) == d.statistic
        assert row[6] == ";".join(d.by)
    assert float(rows[-1][4]) == 0.1 + 0.2
    assert np.isnan(float(rows[-1][5]))


def copied(ledger):
    return Ledger.from_state({name: array.copy() for name, array in ledger.state().items()})


@pytest.mark.parametrize("keep", KEEP)
def test_a_ledger_round_trips_and_goes_on(keep):
    ledger = filled(keep)
    again = copied(ledger)
    assert list(again) == list(ledger)
    assert (len(again), again.keep) == (len(ledger), keep)
    for one in (ledger, again):
        one.record(block(8, "+-"))
    assert list(again) == list(ledger)


def test_names_round_trip_and_stay_taken():
    names = FeatureNames()
    names.claim(["age", "height"], 3)
    names.forget([4])
    again = FeatureNames.from_state(names.state())
    assert (again.known, again.named_ranges) == (names.known, names.named_ranges)
    assert again.index_of("x4") is None  # it had a name
    with pytest.raises(SchemaError, match="'age' occurs twice"):
        again.claim(["age"], 10)


FEATURES = st.text(alphabet="ab;,\n\0äß日\U0001f600", min_size=1, max_size=3)
DECISIONS = st.lists(
    st.builds(
        Decision, st.integers(0, 2**62), FEATURES, st.sampled_from(list(Event)),
        st.sampled_from(list(Reason)), st.floats(), st.floats(), st.lists(FEATURES, max_size=3).map(tuple),
        type=st.none(), effect=st.none(),
    ),
    max_size=8,
)  # fmt: skip


@given(DECISIONS)
def test_any_decisions_round_trip_bit_for_bit(decisions):
    ledger = Ledger()
    for decision in decisions:
        ledger.note(decision)
    again = copied(ledger)
    assert repr(list(again)) == repr(decisions)  # repr, because NaN is not equal to itself
    before, after = ledger.state(), again.state()
    assert before.keys() == after.keys()
    assert all(before[name].tobytes() == after[name].tobytes() for name in before)


def timed(keep="all"):
    ledger = filled(keep)
    ledger.clock([1, 2], [0.5, 0.25])
    ledger.clock(range(5, 7), [2.0, 4.0])
    return ledger


def test_times_are_known_by_arrival_number():
    nan = np.nan
    np.testing.assert_array_equal(timed().seconds, [nan, 0.5, 0.25, nan, nan, 2, 4])
    assert filled().seconds.shape == (0,)
    assert timed("none").seconds.shape == (0,)


def test_times_stand_with_the_verdict_of_their_column_and_add_up(tmp_path):
    table = timed().columns()
    assert list(table) == [*COLUMNS, "seconds"]
    rows = list(zip(table["step"], table["event"], table["seconds"], strict=True))
    assert [row for row in rows if not np.isnan(row[2])] == [
        (1, "rejected", 0.5), (2, "rejected", 0.25), (5, "kept", 2.0), (6, "kept", 4.0)
    ]  # fmt: skip
    assert timed().to_arrow().schema.field("seconds").type == pa.float64()
    timed().to_csv(tmp_path / "ledger.csv")
    with (tmp_path / "ledger.csv").open(newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    assert header == [*COLUMNS, "seconds"]
    assert np.nansum([float(line[-1]) for line in lines]) == 6.75
    assert "seconds" not in filled().columns()


@pytest.mark.parametrize("keep", KEEP)
def test_times_round_trip(keep):
    ledger = timed(keep)
    again = copied(ledger)
    np.testing.assert_array_equal(again.seconds, ledger.seconds)
    again.clock([9], [1.0])
    assert keep == "none" or again.clocked == 10


def test_why_of_a_text_column_names_its_categories():
    selector = SAOLA().begin([0, 1] * 20)
    selector.offer(np.eye(40)[:, :2], names=["city=Oslo", "city=Rome"])
    with pytest.raises(KeyError, match="'city' .*; its categories are features: 'city=Oslo', 'city=Rome'"):
        selector.ledger_.why("city")
