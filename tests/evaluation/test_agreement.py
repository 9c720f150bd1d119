"""Agreement with the truth, and of online with offline scores."""

import math

import numpy as np
import pytest

from streamsieve.evaluation import detection_curve
from streamsieve.evaluation.measures.agreement import rank_disagreement, recovered, score_difference
from streamsieve.exceptions import InputError, ParameterError


def test_recovered_counts_out():
    rng = np.random.default_rng(0)
    for _ in range(200):
        chosen, truth = (rng.uniform(size=(2, 12)) < rng.uniform()).tolist()
        true = sum(c and t for c, t in zip(chosen, truth, strict=True))
        false = sum(c and not t for c, t in zip(chosen, truth, strict=True))
        missed = sum(t and not c for c, t in zip(chosen, truth, strict=True))
        result = recovered(np.flatnonzero(chosen), np.flatnonzero(truth))
        if any(chosen):
            assert result.precision == true / (true + false)
        if any(truth):
            assert result.recall == true / (true + missed)
        if true:
            assert result.f1 == pytest.approx(2 / (1 / result.precision + 1 / result.recall))


def test_detection_rate_is_that_of_a_track():
    rng = np.random.default_rng(1)
    for _ in range(100):
        top, truth = rng.permutation(20)[:8], rng.permutation(20)[: rng.integers(1, 9)]
        for k in (0, 1, 5, 8, 30, None):
            assert recovered(top, truth, k).recall == detection_curve([top], [truth], k)[0]


def test_nothing_selected_or_relevant():
    nothing = recovered([], [1, 2])
    assert math.isnan(nothing.precision)
    assert (nothing.recall, nothing.f1) == (0, 0)
    assert math.isnan(recovered([1], []).recall)
    assert recovered([1], []).f1 == 0
    assert math.isnan(recovered([], []).f1)
    assert "0 of 2 relevant features among 0 selected" in str(nothing)


def test_score_difference():
    """Equation 3.19."""
    rng = np.random.default_rng(2)
    on, off = rng.normal(size=(2, 50))
    expected = sum(abs(a - b) / (max(off) - min(off)) for a, b in zip(on, off, strict=True)) / 50
    assert score_difference(on, off) == pytest.approx(expected)
    assert score_difference(off, off) == 0
    assert math.isnan(score_difference(on, np.ones(50)))


def test_misranked():
    """Ranks written out: the share of the offline best whose place differs online."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        p = int(rng.integers(1, 60))
        off = rng.integers(0, 8, p).astype(float)  # ties, by column
        on = off + rng.integers(-1, 2, p) * (rng.uniform(size=p) < 0.3)
        best = rng.uniform(0.05, 1)
        place_on = {j: r for r, j in enumerate(sorted(range(p), key=lambda j: (-on[j], j)))}
        ranked = sorted(range(p), key=lambda j: (-off[j], j))[: max(1, round(best * p))]
        expected = np.mean([place_on[j] != r for r, j in enumerate(ranked)])
        assert rank_disagreement(on, off, best=best) == pytest.approx(expected)
        assert rank_disagreement(-on, -off, best=best, higher_is_better=False) == pytest.approx(expected)


def test_bad_input_is_refused():
    with pytest.raises(InputError, match=r"selected must be columns.*np.flatnonzero"):
        recovered([True, False], [1])
    with pytest.raises(InputError, match="relevant holds a column twice"):
        recovered([1], [2, 2])
    with pytest.raises(ParameterError, match="k must be a whole number at least 0"):
        recovered([1], [2], k=-1)
    with pytest.raises(InputError, match=r"one score per feature; got \(2,\) and \(3,\)"):
        score_difference([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match=r"feature 1 has nan online and 2\.0 offline"):
        rank_disagreement([1, np.nan], [1, 2])
    with pytest.raises(ParameterError, match="best must be a number above 0 and at most 1"):
        rank_disagreement([1], [1], best=0)
