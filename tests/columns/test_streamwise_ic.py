"""Streamwise regression decides as its slow twin does: who joins, who leaves, and what each was worth."""

import math
from functools import partial

import numpy as np
import pytest

from streamsieve.columns.models.linear import DowndatableLinearModel
from streamsieve.columns.streamwise_ic import StreamwiseIC
from streamsieve.exceptions import StateError
from tests.columns.streams import FORMS, columns, equal_twin, equal_twins, lines, offered, reloaded
from tests.reference.streamwise_ic import streamwise_ic

TASKS = ("binary", "regression")
CRITERIA = ("aic", "bic", "ric")


def without_task(X, y, task, **parameters):
    return streamwise_ic(X, y, **parameters)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("information_criterion", CRITERIA)
def test_random_streams_in_mixed_blocks_equal_the_twin(information_criterion, task):
    def drawn(rng):
        """Return no round numbers: with few rows a gain could equal a penalty."""
        return {"n_candidates": int(rng.choice([37, 1009])), "remove": bool(rng.random() < 0.8)}

    make, twin = (
        partial(f, information_criterion=information_criterion) for f in (StreamwiseIC, without_task)
    )
    seen = equal_twins(make, twin, [task], 70, (1, 15), drawn, p_values=False)
    assert len(seen) == 7, seen
    assert min(seen.values()) >= 2, seen


@pytest.mark.parametrize("form", FORMS)
def test_one_form_of_blocks_equals_the_twin(form):
    equal_twins(
        StreamwiseIC, without_task, TASKS, 6, (20, 21), lambda rng: {"information_criterion": "aic"}, seed=1,
        forms=(form,), far=False, n_rows=lambda rng, task: int(rng.integers(10, 40)), p_values=False,
    )  # fmt: skip


def test_a_model_of_many_columns_that_come_and_go_equals_the_twin():
    rng = np.random.default_rng(2)
    truth = rng.normal(size=(150, 30))
    y = truth @ 0.9 ** np.arange(30) + 0.3 * rng.normal(size=150)
    proxies = truth + 0.7 * rng.normal(size=(150, 30))  # proxies first; then what they stand for
    X = np.column_stack([proxies, truth, proxies[:, ::-1] + truth[:, :30]])
    twin = streamwise_ic(X, y, information_criterion="bic")
    gone = sum(line.event == "evicted" for line in twin[1])
    assert gone >= 8
    assert len(twin[0]) > 16
    for form in ("row by row", "csc_array", "one by one"):
        sieve = offered(StreamwiseIC("bic").begin(y), X, rng, (form,))
        equal_twin(sieve, twin, what=form, p_values=False)


def test_a_block_of_thousands_of_columns_equals_the_twin():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 1300)) * (rng.random((40, 1300)) < 0.5)
    X[:, 1100] = X[:, 900] + 0.2 * rng.normal(size=40)
    y = X[:, [1100, 1023, 1024, 1200]] @ [64.0, -16.0, 4.0, 1.0] + 0.1 * rng.normal(size=40)
    twin = streamwise_ic(X, y)
    assert any(line.event == "evicted" for line in twin[1])
    sieve = StreamwiseIC().begin(y)
    sieve.offer(X)
    equal_twin(sieve, twin, what="dense", p_values=False)


def test_the_statistic_is_the_gain_in_twice_the_likelihood():
    rng = np.random.default_rng(4)
    x, noise = rng.normal(size=(2, 80))
    y = x + noise
    (decision,) = StreamwiseIC("aic").begin(y).offer(x)
    assert decision.statistic == pytest.approx(-80 * math.log(1 - np.corrcoef(x, y)[0, 1] ** 2), rel=1e-9)


@pytest.mark.parametrize("information_criterion", CRITERIA)
def test_every_column_that_stays_is_worth_its_price_when_it_comes_or_another_joins(information_criterion):
    rng = np.random.default_rng(5)
    for _ in range(10):
        y = rng.normal(size=80)
        X = columns(rng, y + rng.normal(size=80), 60, far=False)
        sieve = StreamwiseIC(information_criterion, n_candidates=60).fit(X, y)
        price = {"aic": 2.0, "bic": math.log(80), "ric": 2 * math.log(60)}[information_criterion]
        for decision in sieve.ledger_:
            assert (decision.statistic > price) == (decision.event == "kept") or decision.event == "evicted"
            assert decision.event != "evicted" or decision.statistic < price
        kept = [X[:, j] for j in sieve.selected_]
        whole = _rss(kept, y)
        worth = [80 * math.log(_rss(kept[:i] + kept[i + 1 :], y) / whole) for i in range(len(kept))]
        assert all(w >= price * (1 - 1e-9) for w in worth)


def _rss(kept, y):
    model = np.column_stack([np.ones(len(y)), *kept])
    return float(np.sum((y - model @ np.linalg.lstsq(model, y, rcond=None)[0]) ** 2))


def test_a_dearer_criterion_keeps_less_noise():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(300, 400)), rng.normal(size=300)
    kept = [len(StreamwiseIC(c, remove=False).fit(X, y).selected_) for c in ("ric", "bic", "aic")]
    assert kept[0] < kept[1] < kept[2]
    assert kept[0] <= 4
    assert 30 < kept[2] < 130  # P(chi2_1 > 2) is 0.157


def test_the_price_of_ric_follows_the_columns_seen_or_declared():
    """Columns at right angles, of which the second and the last explain the same small part of y."""
    rng = np.random.default_rng(7)
    Q = np.linalg.qr(rng.normal(size=(500, 151)))[0]
    Q = np.linalg.qr(Q - Q.mean(axis=0))[0]
    X, noise = Q[:, :150], Q[:, 150]

    def kept(gain, **parameters):
        share = 1 - math.exp(-gain / 500)  # of what is left, first by one and then by the other
        y = share**0.5 * (X[:, 1] + (1 - share) ** 0.5 * X[:, 149]) + (1 - share) * noise
        return StreamwiseIC("ric", **parameters).fit(X, y).selected_.tolist()

    dear = 2 * math.log(150)
    assert kept(1.9) == []
    assert kept(2.1) == kept(dear - 0.1) == [1]
    assert kept(dear + 0.1) == kept(dear + 0.1, n_candidates=10) == [1, 149]
    assert kept(dear + 0.1, n_candidates=500) == kept(2 * math.log(500) - 0.1, n_candidates=500) == []
    assert kept(2 * math.log(500) + 0.1, n_candidates=500) == [1, 149]


def test_nothing_leaves_a_model_that_only_grows():
    rng = np.random.default_rng(8)
    y = rng.normal(size=50)
    X = columns(rng, y, 60, far=False)
    sieve = StreamwiseIC("aic", remove=False).fit(X, y)
    assert not any(event == "evicted" for _, event, _, _ in lines(sieve))
    assert sieve.selected_.tolist() == [j for j, event, _, _ in lines(sieve) if event == "kept"]


def test_columns_leave_the_model_as_if_they_had_never_come():
    rng = np.random.default_rng(9)
    for _ in range(30):
        n, q = 60, int(rng.integers(1, 12))
        X, y = rng.normal(size=(n, q)) + 5, rng.normal(size=n)
        model = DowndatableLinearModel(y)
        for j in range(q):
            model.add(X[:, j], j)
        left = list(range(q))
        for _ in range(int(rng.integers(1, q + 1))):
            place = int(rng.integers(len(left)))
            wanted = _rss([X[:, j] for j in left if j != left[place]], y) - model.rss
            assert model.losses()[place] == pytest.approx(wanted, rel=1e-8, abs=1e-10)
            model.remove(place)
            del left[place]
            assert model.features.tolist() == left
            assert model.rss == pytest.approx(_rss([X[:, j] for j in left], y), rel=1e-10)
            basis = model.basis[: model.size]
            np.testing.assert_allclose(basis @ basis.T, np.eye(len(left)), atol=1e-12)
        again = DowndatableLinearModel.from_state(model.state())
        np.testing.assert_allclose(again.losses(), model.losses(), rtol=1e-12)


def test_a_state_whose_columns_do_not_span_its_basis_is_refused():
    model = DowndatableLinearModel(np.array([0.5, 1.0, 4.0, 2.0]))
    model.add(np.array([1.0, 2.0, 4.0, 7.0]), 0)
    with pytest.raises(StateError, match="do not span the basis"):
        DowndatableLinearModel.from_state({**model.state(), "triangle": np.zeros((1, 1))})


def test_a_run_resumed_goes_on_as_before():
    rng = np.random.default_rng(10)
    y = rng.normal(size=60)
    X = columns(rng, y, 50, far=False)
    whole = offered(StreamwiseIC("aic").begin(y), X, rng)
    assert any(event == "evicted" for _, event, _, _ in lines(whole))
    for half in (10, 30):
        first = offered(StreamwiseIC("aic").begin(y), X[:, :half], rng)
        assert lines(offered(reloaded(first), X[:, half:], rng)) == lines(whole)
