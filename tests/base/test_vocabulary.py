"""Names become ids: each its own in order of arrival, or one of a fixed number of slots."""

import contextlib
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import murmurhash3_32

from streamsieve.base.forgetful_vocabulary import hashed
from streamsieve.base.vocabulary import HashedVocabulary, Vocabulary
from streamsieve.exceptions import MergeError, ParameterError, SchemaError

NAMES = st.text(st.characters(codec=None), max_size=3)
ROWS = st.lists(st.lists(NAMES, unique=True, max_size=6), max_size=12)


def met(vocabulary, rows):
    """Let rows of names come one after the other; return the ids each had."""
    ids = []
    for names in rows:
        arrival = vocabulary.meet(names)
        with vocabulary.adding(arrival):
            ids.append(arrival.ids.tolist())
        if isinstance(vocabulary, HashedVocabulary):
            vocabulary.share(arrival, 0)
    return ids


# ---------------------------------------------------------------- ids of their own


@given(rows=ROWS)
def test_ids_count_names_in_order_of_arrival(rows):
    vocabulary, seen = Vocabulary(), []
    for names, ids in zip(rows, met(vocabulary, rows), strict=True):
        seen += [name for name in names if name not in seen]
        assert ids == [seen.index(name) for name in names]
    assert vocabulary.names == list(vocabulary) == seen
    assert vocabulary.width == len(vocabulary) == len(seen)
    assert [vocabulary[name] for name in seen] == list(range(len(seen)))


@given(rows=ROWS, more=ROWS)
def test_joined_vocabularies_are_those_of_one_stream(rows, more):
    left, right, whole = Vocabulary(), Vocabulary(), Vocabulary()
    met(left, rows)
    met(right, more)
    met(whole, rows + more)
    before = left.names
    joined, columns = left.joined(right)
    assert joined.names == whole.names
    assert left.names == before
    wanted = [joined[name] for name in right]
    assert (list(range(len(right))) if columns is None else columns.tolist()) == wanted
    assert (columns is None) == (wanted == list(range(len(right))))


@pytest.mark.parametrize("make", [Vocabulary, lambda: HashedVocabulary(1000)])
def test_names_whose_row_is_refused_leave_no_trace(make):
    vocabulary = make()
    met(vocabulary, [["a", "b"]])
    before = {key: array.tobytes() for key, array in vocabulary.state().items()}
    for _ in range(2):
        arrival = vocabulary.meet(["c", "a", "d"])
        assert list(arrival.new) == ["c", "d"]
        seen = []
        with contextlib.suppress(SchemaError), vocabulary.adding(arrival):
            seen = vocabulary.names  # known for the time being
            raise SchemaError
        assert {"c", "d"} <= set(seen)
    assert {key: array.tobytes() for key, array in vocabulary.state().items()} == before
    assert vocabulary.get("c") is None
    assert "c" not in vocabulary


def test_the_row_before_is_remembered_but_never_wrongly():
    vocabulary = Vocabulary(["a", "b"])
    assert vocabulary.meet(["a", "b"]).width == 2
    met(vocabulary, [["c"]])
    arrival = vocabulary.meet(["a", "b"])
    assert (arrival.width, arrival.ids.tolist(), arrival.ordered) == (3, [0, 1], True)
    assert not vocabulary.meet(["b", "a"]).ordered


@pytest.mark.parametrize("make", [Vocabulary, lambda: HashedVocabulary(1000)])
def test_a_name_comes_once_in_a_row(make):
    with pytest.raises(SchemaError, match="the feature 'b' occurs twice in one row"):
        make().meet(["a", "b", "b"])


def test_two_features_of_one_name_are_refused():
    with pytest.raises(SchemaError, match="two features are called 'a'"):
        Vocabulary(["a", "b", "a"])


# ---------------------------------------------------------------- slots


class Slots:
    """Slow twin: everything that ever came to a slot, in order."""

    def __init__(self, slots):
        self.met = [[] for _ in range(slots)]

    def add(self, rows):
        for names in rows:
            for name in names:
                self.met[self.of(name)].append(name)

    def of(self, name):
        return murmurhash3_32(name.encode("utf-8", "surrogatepass"), positive=True) % len(self.met)

    def check(self, vocabulary):
        names = [met[0] if met else f"slot {i}" for i, met in enumerate(self.met)]
        assert vocabulary.names == names
        assert vocabulary.width == len(names)
        assert len(vocabulary) == sum(1 for met in self.met if met)
        assert vocabulary.collisions == sum(1 for met in self.met if len(set(met)) > 1)


@given(rows=ROWS, slots=st.integers(1, 9))
def test_slots_remember_their_first_names_and_count_collisions(rows, slots):
    vocabulary, twin = HashedVocabulary(slots), Slots(slots)
    for names, ids in zip(rows, met(vocabulary, rows), strict=True):
        twin.add([names])
        assert ids == [twin.of(name) for name in names]
        assert [vocabulary[name] for name in names] == ids
        assert [vocabulary.get(name) for name in names] == ids
    twin.check(vocabulary)


@given(rows=ROWS, more=ROWS, slots=st.integers(1, 9))
def test_joined_slots_are_those_of_one_stream(rows, more, slots):
    left, right, twin = HashedVocabulary(slots), HashedVocabulary(slots), Slots(slots)
    met(left, rows)
    met(right, more)
    left.collided, right.collided = 3, 4
    twin.add(rows + more)
    joined, columns = left.joined(right)
    assert columns is None
    assert joined.collided == 7
    twin.check(joined)


def test_foreign_names_are_pointed_out():
    vocabulary = HashedVocabulary(1)
    assert vocabulary.meet(["a", "b", "c"]).foreign == [1, 2]
    met(vocabulary, [["a"]])
    assert vocabulary.meet(["b", "a"]).foreign == [0]
    assert vocabulary.collisions == 0
    met(vocabulary, [["b"]])
    assert vocabulary.collisions == 1


@pytest.mark.full
def test_slots_are_the_same_in_every_process():
    """MurmurHash3 of "a" is 0x3c2569b2 = 1009084850, and of nothing 0."""
    code = (
        "from streamsieve.base.vocabulary import HashedVocabulary\n"
        "print(HashedVocabulary(1000).meet(['a', 'price', 'w\\u00f6rter', '']).ids.tolist())"
    )
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        out = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
        assert out.stdout.decode().strip() == "[850, 998, 112, 0]"


@given(st.lists(st.text(max_size=4), min_size=1, max_size=6))
def test_the_lasting_id_of_a_name_does_not_depend_on_the_names_beside_it(names):
    assert hashed(names).tolist() == [int(hashed([name])[0]) for name in names]
    assert hashed(["a", *names, "é", "名"])[1:-2].tolist() == hashed(names).tolist()


def test_memory_is_bounded_by_the_slots():
    vocabulary = HashedVocabulary(64)
    for i in range(5000):
        met(vocabulary, [[f"word {i}", f"other {i}"]])
    assert len(vocabulary) == 64
    assert len(vocabulary._ids) == 64
    assert vocabulary.collisions == 64
    assert sum(array.nbytes for array in vocabulary.state().values()) < 64 * 30


@pytest.mark.parametrize("slots", [0, -3, 1.5, "many", True, 2**31, None])
def test_the_number_of_slots_is_checked_by_the_name_of_the_parameter(slots):
    with pytest.raises(ParameterError, match="hashed must be a whole number at least 1"):
        HashedVocabulary(slots)


# ---------------------------------------------------------------- merging and states


def test_vocabularies_of_different_kinds_do_not_merge():
    with pytest.raises(MergeError, match="known one by one here and hashed into 8 slots there"):
        Vocabulary().joined(HashedVocabulary(8))
    with pytest.raises(MergeError, match="hashed into 8 slots here and known one by one there"):
        HashedVocabulary(8).joined(Vocabulary())
    with pytest.raises(MergeError, match="hashed into 8 slots here and hashed into 9 slots there"):
        HashedVocabulary(8).joined(HashedVocabulary(9))


@given(rows=ROWS, more=ROWS)
def test_states_round_trip_and_go_on_identically(rows, more):
    for vocabulary in (Vocabulary(), HashedVocabulary(5)):
        met(vocabulary, rows)
        again = type(vocabulary).from_state(vocabulary.state())
        for one in (vocabulary, again):
            met(one, more)
        assert again.names == vocabulary.names
        assert list(again) == list(vocabulary)
        assert getattr(again, "collisions", 0) == getattr(vocabulary, "collisions", 0)
