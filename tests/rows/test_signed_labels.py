"""Labels as signs do not depend on how rows are cut into batches."""

import numpy as np
import pytest

from streamsieve.exceptions import StateError, TargetError
from streamsieve.rows.linear.signed_labels import SignedLabels


@pytest.mark.parametrize(
    ("labels", "signs"),
    [
        ([0, 1, 1, 0], [-1, 1, 1, -1]),
        ([1, 0, 0, 1], [1, -1, -1, 1]),
        ([-1, 1], [-1, 1]),
        ([1, -1], [1, -1]),
        ([2, 1, 2], [1, -1, 1]),
        (["spam", "ham"], [-1, 1]),
        ([0.0, 0.5], [-1, 1]),
        ([True, False], [1, -1]),
    ],
)
def test_signs_follow_the_order_of_rows(labels, signs):
    whole = SignedLabels().encode(np.array(labels), "X")
    assert whole.tolist() == signs
    one_by_one = SignedLabels()
    assert [one_by_one.encode(np.array([v]), "X")[0] for v in labels] == signs
    again = SignedLabels.from_state(one_by_one.state())
    assert again.encode(np.array(labels), "X").tolist() == signs
    assert again.classes == one_by_one.classes


def test_a_third_label_is_refused_and_forgotten():
    signs = SignedLabels()
    signs.encode(np.array([0, 1]), "OFS")
    with pytest.raises(TargetError, match=r"OFS separates 2 classes, but y holds 3 .*RunningAverages"):
        signs.encode(np.array([2]), "OFS")
    assert signs.classes == [0, 1]
    with pytest.raises(TargetError, match="use text or numbers throughout"):
        SignedLabels(0).encode(np.array(["a"]), "OFS")


def test_damaged_states_are_refused():
    state = SignedLabels(0, 1).state()
    for damage in ({"given": np.array([True, False])}, {"labels": np.array([1, 1])}, {"labels": np.zeros(3)}):
        with pytest.raises(StateError):
            SignedLabels.from_state({**state, **damage})
