"""Poisson weights equal the slow twin's, in any cutting, and are distributed as they should be."""

import math

import numpy as np
import pytest

from streamsieve._kernels.poisson import poisson_weights
from tests.reference import bootstrap as twin

#: Known answers of Random123: counter, key, words.
ANSWERS = [
    ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]


@pytest.mark.parametrize(("counter", "key", "words"), ANSWERS)
def test_the_twin_gives_the_known_answers(counter, key, words):
    assert [f"{word:08x}" for word in twin.philox(counter, key)] == words.split()


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**63 - 1])
@pytest.mark.parametrize("first_row", [0, 1000, 2**32 - 3, 2**62])
def test_weights_equal_the_twin(seed, first_row):
    for group in (0, 1, 2499):
        weights = poisson_weights(seed, first_row, 7, group)
        expected = [[twin.weight(seed, first_row + i, 4 * group + j) for i in range(7)] for j in range(4)]
        assert weights.tolist() == expected


def test_any_cutting_gives_the_same_weights():
    whole = poisson_weights(5, 100, 60, 2)
    for cuts in ([1] * 60, [59, 1], [7, 13, 40]):
        starts = np.cumsum([0, *cuts[:-1]])
        parts = [poisson_weights(5, 100 + int(a), n, 2) for a, n in zip(starts, cuts, strict=True)]
        assert np.array_equal(np.concatenate(parts, axis=1), whole)
    assert poisson_weights(5, 100, 0, 2).shape == (4, 0)


def test_counts_are_poisson_and_independent():
    n = 5000
    weights = np.concatenate([poisson_weights(3, 0, n, 0), poisson_weights(4, 0, n, 0)])
    seen = np.bincount(weights.astype(int).ravel(), minlength=6)
    expected = [weights.size * math.exp(-1) / math.factorial(i) for i in range(5)]
    rest = weights.size - sum(expected)
    chi2 = sum((seen[i] - e) ** 2 / e for i, e in enumerate(expected)) + (sum(seen[5:]) - rest) ** 2 / rest
    assert chi2 < 20.5  # the 0.999 quantile for 5 degrees of freedom
    between = np.corrcoef(weights) - np.eye(8)  # replicas, and seeds
    assert np.abs(between).max() < 4.5 / math.sqrt(n)
    in_time = [np.corrcoef(row[:-1], row[1:])[0, 1] for row in weights]
    assert np.abs(in_time).max() < 4.5 / math.sqrt(n)
