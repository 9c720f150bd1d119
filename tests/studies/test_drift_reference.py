"""A part of the drift study at full size: the T-score against reference values of an independent program.

Two rates of drift, four fading factors, at 500 and at 200: 16 of the 40 values, each to .03.  The other two
rates would take as long again.  Without forgetting a single stream scatters by more than the tolerance; the
study itself has those values, as means of many streams.
"""

import numpy as np
import pytest

from studies.drift._stream import ALPHAS, Size, half_life, rates, screens
from studies.drift.reference import REFERENCE, TOLERANCE

SEEDS = 2


@pytest.mark.parametrize("shift", [250, 1000])
def test_detection_rates_are_those_of_the_reference(shift):
    size, fading = Size(), ALPHAS[:-1]
    # once old rows are forgotten nothing depends on time, so half of the stream may count, not a quarter
    found = [
        list(rates(size.stream(shift, seed), screens(fading, 500), size.tops, share=0.5).values())
        for seed in range(SEEDS)
    ]
    np.testing.assert_allclose(np.mean(found, axis=0), REFERENCE[shift][:-1], atol=TOLERANCE)


def test_half_lives_fade_like_factors():
    for alpha in ALPHAS[:-1]:
        assert 0.5 ** (250 / half_life(alpha)) == pytest.approx(alpha)
    assert half_life(1.0) is None
