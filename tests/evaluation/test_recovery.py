"""Recovery: shares as a plain count gives them, along rows and along columns."""

import math

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.evaluation import online_offline, recovery
from streamsieve.exceptions import CapabilityError, ParameterError, SourceError, StateError
from tests.reference.recovery import recovery as slow_recovery

MEASURES = ("found", "detection", "precision", "recall", "f1")


def check(report, truth_at, k):
    """Compare every row of a report with a plain count over what was stored."""
    stored = report.extras["selections"]
    assert report.table.n_rows == stored.n_rows > 0
    for row in range(stored.n_rows):
        selected = [int(text) for text in stored["features"][row].split()]
        expected = slow_recovery(selected, truth_at(int(stored["seen"][row])), k)
        for name in MEASURES:
            value = float(report.table[name][row])
            assert math.isnan(value) if expected[name] is None else value == pytest.approx(expected[name])


@pytest.mark.parametrize("k", [None, 2])
def test_along_rows_it_is_a_plain_count(k):
    stream = ss.DriftingStream(n_rows=2_300, n_features=25, n_relevant=4, shift_every=300)
    report = recovery(stream, ["t", "fisher"], every=500, k=k)
    assert report.table.where(selector="t")["seen"].tolist() == [500, 1000, 1500, 2000, 2300]
    check(report, lambda seen: stream.relevant(seen - 1).tolist(), k)
    screen = ss.Screen("t").fit(*gathered(stream, 1_500))
    chosen = report.extras["selections"].where(selector="t", seen=1_500)["features"][0]
    assert chosen == " ".join(map(str, screen.ranked_.tolist()))


def gathered(stream, n):
    batch = next(iter(stream.rows(n)))
    return batch.X, batch.y


def test_along_columns_only_those_that_came_can_be_found():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 50))
    truth = [3, 20, 41]
    X[:, truth] += 2 * y[:, None]
    report = recovery(ss.open(X, target=y), ["saola", "alpha_investing"], truth, every=15)
    assert report.table.where(selector="saola")["seen"].tolist() == [15, 30, 45, 50]
    assert report.table.where(selector="saola")["n_relevant"].tolist() == [1, 2, 3, 3]
    check(report, lambda seen: [j for j in truth if j < seen], None)
    for selector in ("saola", "alpha_investing"):
        assert report.table.where(selector=selector)["recall"].tolist() == [1, 1, 1, 1], "all are clear"
    mask = np.isin(np.arange(50), truth)
    masked = recovery(ss.open(X, target=y), ["saola", "alpha_investing"], mask, every=15)
    np.testing.assert_array_equal(masked.table["recall"], report.table["recall"])
    strict = recovery(ss.open(X, target=y), {"s": ss.SAOLA(alpha=1e-60)}, truth, every=50)
    assert math.isnan(strict.table["precision"][0])
    assert strict.table["recall"][0] == 0


def test_a_stop_ends_the_offers():
    y = np.arange(100) % 2
    X = np.random.default_rng(0).normal(size=(100, 20)) + y[:, None]
    sieve = ss.TopK(k=5, stop=ss.Stop(max_offers=4))
    report = recovery(ss.open(X, target=y), {"s": sieve}, [0, 10], every=5)
    assert report.table["n_selected"].max() <= 4


def test_resuming_with_another_truth_is_refused(tmp_path):
    stream = ss.DriftingStream(n_rows=500, n_features=10, n_relevant=2)
    first = recovery(stream, "t", [1, 2], folder=tmp_path)
    again = recovery(stream, "t", [2, 1], folder=tmp_path, resume=True)
    np.testing.assert_array_equal(first.table["recall"], again.table["recall"])
    with pytest.raises(StateError, match="truth was"):
        recovery(stream, "t", [1, 3], folder=tmp_path, resume=True)


def test_exact_screens_agree_with_themselves_and_rough_ones_nearly():
    stream = ss.DriftingStream(n_rows=3_000, n_features=20, n_relevant=3)
    screens = {
        "fisher": ss.Screen("fisher"),
        "fine": ss.Screen("mutual_info", max_rank_error=1e-3),
        "rough": ss.Screen("mutual_info", max_rank_error=0.3),
    }
    report = online_offline(stream, screens, every=1_000)
    assert report.table.where(selector="fisher")["rows"].tolist() == [1000, 2000, 3000]
    assert np.all(report.table.where(selector="fisher")["score_difference"] < 1e-9)
    assert np.all(report.table.where(selector="fisher")["rank_disagreement"] == 0)
    fine, rough = (report.table.where(selector=name)["score_difference"].mean() for name in ("fine", "rough"))
    assert fine < rough
    last = online_offline(stream, screens)
    assert last.table["rows"].tolist() == [3000] * 3
    given = online_offline(stream, {"fisher": ss.Screen("fisher")}, {"fisher": ss.Screen("t")})
    assert given.table["score_difference"][0] > 0
    assert "online_offline" in str(given)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda s: recovery(s, "none"), CapabilityError, "does not follow a stream"),
        (lambda s: recovery(s, "relief"), CapabilityError, r"\(Relief\) does not follow a stream"),
        (lambda s: recovery(s, "saola"), SourceError, "source of columns, but a DriftingStream has none"),
        (lambda s: recovery(s, "t", [1.5]), ParameterError, "truth must be columns"),
        (lambda s: recovery(s, "t", every=0), ParameterError, "every must be"),
        (lambda _: recovery(ss.open(np.eye(4), target=[0, 1, 0, 1]), "t"), ParameterError, "give truth"),
        (lambda s: online_offline(s, "fires"), ParameterError, "offline twin is not known"),
        (lambda s: online_offline(s, "t", {"f": ss.Screen("f")}), ParameterError, "offline has no selector"),
        (lambda s: online_offline(s, "t", best=0), ParameterError, "best must be"),
    ],
)
def test_bad_input_is_named(call, error, match):
    stream = ss.DriftingStream(n_rows=200, n_features=10, n_relevant=2)
    with pytest.raises(error, match=match):
        call(stream)
