"""Student's t for one correlation against scipy, over all sizes of freedom and correlation."""

import numpy as np
import pytest
import scipy.stats
from scipy.special import betaln

from streamsieve._kernels import student_t


@pytest.mark.parametrize("freedom", [1, 2, 3, 7, 30, 999, 12_345, 3_000_000])
def test_p_values_are_those_of_scipy(freedom):
    log_beta = float(betaln(freedom / 2, 0.5))
    for r in (0.0, 1e-200, 1e-12, 1e-4, 0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.97, 1 - 1e-6, 1 - 1e-12):
        t = r * np.sqrt(freedom / ((1 - r) * (1 + r)))
        wanted = 2 * scipy.stats.t.sf(t, freedom)
        assert student_t.p_value(r, freedom, log_beta) == pytest.approx(wanted, rel=1e-9, abs=1e-290)
