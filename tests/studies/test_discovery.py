"""The study of false discoveries: simulated truths are true, and its page is whole."""

import numpy as np
import pytest

from studies.__main__ import main
from studies.discovery._simulation import EVERY, NOTHING, SITUATIONS, known, shares, stream
from studies.discovery.columns import draw, false_ones
from tests.studies.test_studies import check_page, check_published


def test_it_runs_and_goes_on_where_it_stopped(tmp_path, capsys):
    assert main(["discovery", "--quick", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out.splitlines()
    text = check_page(tmp_path / "DISCOVERY.md")
    assert "the figures mean nothing" in text
    assert all(f"| {rule} |" in text for rule in EVERY)
    assert sum(line.startswith("discovery: levels, ") for line in said) == len(SITUATIONS) + 4
    assert main(["discovery", "--quick", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [f"discovery: wrote {tmp_path / 'DISCOVERY.md'}"]
    assert check_page(tmp_path / "DISCOVERY.md") == text


def test_the_published_page_says_that_no_rule_exceeds_its_level():
    text = check_published("discovery")
    assert "; none does." in " ".join(text.split())
    assert text.count("10 of 10") == 8  # chunks change the selection of no rule


def test_every_printed_number_is_there():
    for rule in EVERY:
        for situation in SITUATIONS:
            unknown = ("dlord", "lond", "lond_any", "alpha_spending")  # LOND there is another one
            assert (known(rule, situation).fdr is None) == (rule in unknown)
    assert known("addis", "a fiftieth").fdr == 0.010
    assert known("lord", "autocorrelated", 5).power == 0.17
    assert known("bids of 0.5", "nothing").fdr == 0.45


@pytest.mark.parametrize("situation", [*SITUATIONS.values(), NOTHING])
def test_streams_have_the_signals_that_they_are_said_to_have(situation):
    rng = np.random.default_rng(0)
    drawn = [stream(rng, situation) for _ in range(50)]
    first, last = situation.where
    signal = np.array([signal for _, signal in drawn])
    assert signal[:, first:last].mean() == pytest.approx(situation.share, abs=0.02)
    assert not signal[:, :first].any()
    assert not signal[:, last:].any()
    nulls = np.concatenate([p_values[~signal] for p_values, signal in drawn])
    if situation.lowest_null < 0:
        assert nulls.mean() > 0.6
    else:
        assert np.mean(nulls <= 0.05) == pytest.approx(0.05, abs=0.02)
        assert nulls.mean() == pytest.approx(0.5, abs=0.03)


def test_shares_of_nothing_are_nothing():
    none, some = np.zeros(4, bool), np.array([True, True, False, False])
    assert shares(none, some) == (0.0, 0.0)
    assert shares(some, none) == (1.0, 0.0)
    assert shares(some, np.array([True, False, True, True])) == (0.5, 1 / 3)


def test_columns_are_what_they_are_said_to_be():
    data = draw(0, 4000, 60, 5, copies=2, strength=20.0)
    correlation = np.corrcoef(data.X.T, data.y)
    for cause in range(5):
        (place,) = np.flatnonzero((data.origin == cause) & data.cause)
        copies = np.flatnonzero((data.origin == cause) & ~data.cause)
        np.testing.assert_allclose(correlation[place, copies], 0.8, atol=0.04)
        assert abs(correlation[place, -1]) == pytest.approx(20 / 4000**0.5, abs=0.06)
        kept = np.array([place, *copies])
        assert false_ones(data, kept, "conditional") == 2  # its cause is in
        assert false_ones(data, kept[::-1], "conditional") == 0  # its cause comes after it
        assert false_ones(data, kept, "marginal") == 0
    noise = np.flatnonzero(data.origin < 0)
    assert np.abs(correlation[noise, -1]).max() < 0.1
    assert false_ones(data, noise, "marginal") == false_ones(data, noise, "conditional") == len(noise) == 45
