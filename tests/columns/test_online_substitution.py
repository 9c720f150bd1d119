"""Online substitution decides as its slow twin does, finds what it should, and never changes by halves."""

import threading
import time
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import hadamard

from streamsieve._kernels import substitution
from streamsieve.base import Stop
from streamsieve.columns.models import substitution as models
from streamsieve.columns.models.substitution import SubstitutionConfig, SubstitutionModel
from streamsieve.columns.models.threads import in_order
from streamsieve.columns.online_substitution import OnlineSubstitution
from streamsieve.exceptions import BadValueError, StateError
from streamsieve.protocols import ColumnBlock
from tests.columns.streams import FORMS, WHOLE, equal_twin, equal_twins, lines, offered, reloaded
from tests.helpers.tier import cases
from tests.reference.online_substitution import online_substitution

LOSSES = {"squared": "regression", "logistic": "binary"}


@pytest.fixture
def small_pieces(monkeypatch):
    """Let threads work on columns of a few rows."""
    monkeypatch.setattr(models, "PIECE", 1)


def planted(seed, n=400, p=200, k=8):
    """Independent columns, k of which make up y."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    true = np.sort(rng.choice(p, k, replace=False))
    y = X[:, true] @ (rng.choice([-1, 1], k) * rng.uniform(1, 2, k)) + rng.normal(size=n)
    return X, y, true


def drawn(rng):
    return {
        "k": int(rng.integers(1, 7)),
        "refresh": int(rng.choice([1, 2, 5, 30])),
        "step_size": float(rng.choice([1.0, 0.7])),
    }


@pytest.mark.parametrize(
    ("loss", "task"), [("squared", "regression"), ("squared", "binary"), ("logistic", "binary")]
)
def test_random_streams_in_mixed_blocks_equal_the_twin(loss, task):
    seen = equal_twins(
        partial(OnlineSubstitution, loss=loss),
        lambda X, y, task, **parameters: online_substitution(X, y, loss=loss, **parameters),
        [task], cases(80), (1, 25), drawn, forms=lambda far: WHOLE if far else tuple(FORMS), p_values=False,
    )  # fmt: skip
    wanted = {
        ("kept", "relevant"),
        ("rejected", "outscored"),
        ("rejected", "constant"),
        ("evicted", "outscored"),
    }
    assert wanted <= set(seen) <= wanted | {("rejected", "irrelevant")}


@pytest.mark.parametrize("loss", LOSSES)
def test_a_model_of_many_columns_equals_the_twin(loss):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 160)) * (rng.random((90, 160)) < 0.5)
    y = X[:, :40].sum(axis=1) + rng.normal(size=90)
    y = y if loss == "squared" else (y > 0).astype(int)
    twin = online_substitution(X, y, loss=loss, k=70, refresh=50)
    for form in ("row by row", "column by column", "csc_array", "one by one"):
        sieve = offered(OnlineSubstitution(70, loss=loss, refresh=50).begin(y), X, rng, (form,))
        equal_twin(sieve, twin, what=form, p_values=False)
    assert len(sieve.selected_) == 70  # more than there is room for at first


def test_sweeps_equal_the_twin():
    for seed in range(10):
        X, y, _ = planted(seed, n=60, p=50)
        sieve = OnlineSubstitution(6, refresh=10, sweeps=3).fit(X, y)
        twin = online_substitution(X, y, loss="squared", k=6, refresh=10, sweeps=3)
        equal_twin(sieve, twin, what=seed, p_values=False)


def test_sweeps_do_not_depend_on_the_size_of_blocks(monkeypatch):
    X, y, _ = planted(2, n=60, p=50)
    whole = OnlineSubstitution(6, refresh=10, sweeps=3).fit(X, y)
    for values in (1, 60, 180, 900):
        monkeypatch.setattr("streamsieve.base.column_lifecycle.BLOCK_VALUES", values)
        for form in (np.ascontiguousarray, sp.csc_array):
            assert lines(OnlineSubstitution(6, refresh=10, sweeps=3).fit(form(X), y)) == lines(whole)


def test_a_step_of_every_coefficient_at_every_arrival_is_what_refresh_of_one_means():
    X, y, _ = planted(3, n=50, p=30)
    one = OnlineSubstitution(5, refresh=1).fit(X, y)
    equal_twin(one, online_substitution(X, y, loss="squared", k=5, refresh=1), what=1, p_values=False)
    assert lines(one) != lines(OnlineSubstitution(5, refresh=25).fit(X, y))


@pytest.mark.parametrize("refresh", [1, 7, None])
@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray, sp.csc_array])
def test_of_orthogonal_columns_it_keeps_those_that_correlate_most(form, refresh):
    rng = np.random.default_rng(4)
    for _ in range(20):
        Z = rng.normal(size=(60, 40))
        X = np.linalg.qr(Z - Z.mean(axis=0))[0]
        y = rng.normal(size=60)
        best = np.argsort(-np.abs(X.T @ y))[:7]
        sieve = OnlineSubstitution(7, refresh=refresh).fit(form(X), y)
        assert sieve.selected_.tolist() == sorted(best.tolist())
        # one step along orthogonal columns is all there is to do
        wanted = np.zeros(40)
        wanted[best] = X[:, best].T @ y
        np.testing.assert_allclose(sieve.coef_, wanted, atol=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
def test_what_made_the_target_is_found_among_independent_columns(loss):
    for seed in range(5):
        X, y, true = planted(seed)
        sieve = OnlineSubstitution(20).fit(X, y if loss == "squared" else (y > 0).astype(int))
        assert set(true) <= set(sieve.selected_)
        assert len(sieve.selected_) == 20


def test_a_second_sweep_finds_what_came_too_early():
    """A column that helps only beside another: x0 hides what x1 undoes."""
    rng = np.random.default_rng(5)
    z, w = rng.normal(size=(2, 300))
    X = np.column_stack([z, rng.normal(size=(300, 9)), z + w])
    y = w + 0.05 * rng.normal(size=300)
    # as long as there is room, anything enters; the two must not find any
    strong = y[:, None] * 0.05 + rng.normal(size=(300, 2)) * 0.1
    X = np.column_stack([strong, X])
    once = OnlineSubstitution(2, refresh=1).fit(X, y)
    again = OnlineSubstitution(2, refresh=1, sweeps=None).fit(X, y)
    assert 2 not in once.selected_
    assert again.n_sweeps_ > 1
    assert np.var(y - X @ again.coef_ - again.intercept_) < np.var(y - X @ once.coef_ - once.intercept_)


@pytest.mark.parametrize("loss", LOSSES)
def test_with_room_for_all_the_coefficients_go_to_the_common_minimum(loss):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(150, 4)) + rng.normal(size=(150, 1))
    score = X @ [1.0, -0.5, 0.8, 0.3] + 1
    y = (
        score + rng.normal(size=150)
        if loss == "squared"
        else (score + rng.logistic(size=150) > 1).astype(int)
    )
    sieve = OnlineSubstitution(4, refresh=1).begin(y)
    sieve.offer(5 - 3 * X)
    for _ in range(500):  # copies never get a coefficient large enough, but bring rounds of steps
        sieve.offer(X[:, 0].copy())
    assert sieve.selected_.tolist() == [0, 1, 2, 3]
    predictor = (5 - 3 * X) @ sieve.coef_[:4] + sieve.intercept_
    rest = y - (predictor if loss == "squared" else 1 / (1 + np.exp(-predictor)))
    np.testing.assert_allclose(np.column_stack([np.ones(150), X]).T @ rest / 150, 0, atol=1e-7)


def test_a_copy_of_a_column_at_rest_does_not_enter_even_if_there_is_room():
    rng = np.random.default_rng(7)
    x = rng.normal(size=60)
    y = x + rng.normal(size=60)
    sieve = OnlineSubstitution(5).begin(y)
    for copy in (x, 3 * x + 7, -x):
        sieve.offer(copy)
    assert [reason for _, _, reason, _ in lines(sieve)] == ["relevant", "irrelevant", "irrelevant"]


def test_of_equal_coefficients_the_last_to_arrive_goes():
    H = hadamard(16).astype(float)
    y = H[:, 1:5].sum(axis=1) + 3 * H[:, 9] + 0.25
    sieve = OnlineSubstitution(2).begin(y)
    sieve.offer(H[:, [1, 2, 3, 4, 9]])
    assert [(f, e) for f, e, _, _ in lines(sieve)] == [
        (0, "kept"), (1, "kept"), (2, "rejected"), (3, "rejected"), (1, "evicted"), (4, "kept"),
    ]  # fmt: skip


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray, sp.csc_array])
@pytest.mark.parametrize("loss", LOSSES)
def test_threads_keep_the_same_columns_where_these_are_well_conditioned(loss, form):
    for seed in range(4):
        X, y, true = planted(seed)
        y = y if loss == "squared" else (y > 0).astype(int)
        one = OnlineSubstitution(8, loss=loss).fit(form(X), y)
        for n_jobs in (2, 3, -1):
            several = OnlineSubstitution(8, loss=loss, n_jobs=n_jobs).begin(y)
            several.offer(form(X))
            assert set(true) <= set(several.selected_) | (set(true) - set(one.selected_))
            assert set(several.selected_) == set(one.selected_)
            verdicts = [f for f, event, _, _ in lines(several) if event != "evicted"]
            assert verdicts == list(range(X.shape[1]))


def test_threads_work_on_tall_columns():
    rng = np.random.default_rng(8)
    X = np.asfortranarray(rng.normal(size=(70_000, 40)))
    y = X[:, [3, 17, 33]] @ [1.0, -1.0, 2.0] + rng.normal(size=70_000)
    sieve = OnlineSubstitution(3, n_jobs=2).begin(y)
    sieve.offer(X)
    assert sieve.selected_.tolist() == [3, 17, 33]
    np.testing.assert_allclose(sieve.coef_[[3, 17, 33]], [1, -1, 2], atol=0.1)


def test_pieces_are_committed_in_order_up_to_an_end_and_not_measured_too_early():
    done, inside, ahead, worst = [], threading.Lock(), [], []

    def measure(piece):
        ahead.append(piece)
        worst.append(piece - len(done))

    def commit(piece):
        assert inside.acquire(blocking=False), "two threads decide at once"
        done.append(piece)
        inside.release()
        return piece < 150

    in_order(200, measure, commit, 4)
    assert done == sorted(ahead)[:151] == list(range(151))
    assert max(worst) <= 4


@pytest.mark.parametrize("where", ["measure", "commit"])
def test_an_error_in_a_thread_ends_the_run_and_is_raised(where):
    done = []

    def fail(piece):
        if piece == 7:
            raise ValueError("piece 7")
        return True

    def commit(piece):
        done.append(piece)
        return fail(piece) if where == "commit" else True

    with pytest.raises(ValueError, match="piece 7"):
        in_order(50, fail if where == "measure" else lambda piece: None, commit, 3)
    assert done == list(range(len(done)))
    assert len(done) <= 8


def test_an_interrupt_waits_for_the_other_threads():
    """Ctrl-C in the thread that decides: the others end after what they are at, before the error leaves."""
    others = []

    def measure(piece):
        if threading.current_thread() is not threading.main_thread():
            others.append(threading.current_thread())
        time.sleep(0.002)

    def commit(piece):
        if piece == 3:
            raise KeyboardInterrupt
        return True

    with pytest.raises(KeyboardInterrupt):
        in_order(50, measure, commit, 3)
    assert others
    assert not any(thread.is_alive() for thread in others)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("form", [np.ascontiguousarray, sp.csc_array])
def test_an_interrupted_offer_changes_nothing(form, monkeypatch):
    X, y, _ = planted(14, n=60, p=90)
    sieve = OnlineSubstitution(4, refresh=3, n_jobs=2).begin(y)
    sieve.offer(form(X[:, :40]))
    before = {name: a.copy() for name, a in sieve._process_.state().items()}
    commit = substitution.commit

    def pressed(*arguments):
        if arguments[5] == 20:  # the first column of the piece
            raise KeyboardInterrupt
        return commit(*arguments)

    monkeypatch.setattr(substitution, "commit", pressed)
    with pytest.raises(KeyboardInterrupt):
        sieve.offer(form(X[:, 40:]))
    for name, a in sieve._process_.state().items():
        np.testing.assert_array_equal(a, before[name], err_msg=name)
    assert sieve.n_features_in_ == 40


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e200])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_block_with_a_bad_value_is_refused_and_changes_nothing(loss, value, n_jobs):
    X, y, _ = planted(9, n=80, p=60)
    y = y if loss == "squared" else (y > 0).astype(int)
    twin, sieve = (OnlineSubstitution(6, loss=loss, refresh=3, n_jobs=n_jobs).begin(y) for _ in range(2))
    for side in (twin, sieve):
        for j in range(20):
            side.offer(X[:, j].copy())
    bad = X[:, 20:].copy()
    bad[3, 31] = value
    before = {name: a.copy() for name, a in sieve._process_.state().items()}
    for _ in range(2):
        with pytest.raises(BadValueError, match="'x31'"):
            sieve.offer(bad)
        for name, a in sieve._process_.state().items():
            np.testing.assert_array_equal(a, before[name], err_msg=name)
    with pytest.raises(BadValueError, match="'thirty-one'"):
        sieve.offer(bad, names=["thirty-one" if j == 31 else f"n{j}" for j in range(40)])
    for side in (twin, sieve):
        side.set_params(n_jobs=1).offer(X[:, 20:])
    assert lines(sieve) == lines(twin)


def test_large_values_that_are_allowed_are_judged():
    X, y, _ = planted(10, n=60, p=20)
    plain, large = (OnlineSubstitution(4).begin(y) for _ in range(2))
    plain.offer(X)
    large.offer(X * 9e98)
    assert lines(plain) == lines(large)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_under_a_rule_to_stop_values_are_looked_at_first(n_jobs):
    X, y, _ = planted(11, n=60, p=20)
    X[2, 9] = np.nan
    sieve = OnlineSubstitution(4, n_jobs=n_jobs, stop=Stop(max_features=4)).begin(y)
    with pytest.raises(BadValueError, match="'x9'"):
        sieve.offer(X)
    assert sieve.n_features_in_ == 0
    assert len(sieve.selected_) == 0


@pytest.mark.parametrize("column", [[1e150] * 60, [1e101, *[1e101 * (1 + 1e-12)] * 59], [np.inf] * 60])
def test_values_beyond_the_limit_are_refused_even_if_they_hardly_vary(column):
    X, y, _ = planted(10, n=60, p=20)
    X[:, 7] = column
    sieve = OnlineSubstitution(4).begin(y)
    with pytest.raises(BadValueError, match="'x7'"):
        sieve.offer(X)
    assert len(sieve.selected_) == 0


@pytest.mark.parametrize("budget", [1, 2, 3])
def test_a_block_may_replace_everything_several_times_over(budget):
    rng = np.random.default_rng(15)
    y = rng.normal(size=80)
    # each better than all before it
    X = y[:, None] + rng.normal(size=(80, 25)) * np.geomspace(50, 0.1, 25)
    whole, single = (OnlineSubstitution(budget, refresh=100).begin(y) for _ in range(2))
    for low, high in ((0, budget), (budget, 25)):
        whole.offer(X[:, low:high])
    for j in range(25):
        single.offer(X[:, j].copy())
    assert lines(whole) == lines(single)
    assert whole.ledger_.counts()["evicted"] > 3 * budget
    model = whole._process_
    rest = y - X @ whole.coef_ - whole.intercept_
    np.testing.assert_allclose(model._residual * y.std(), rest, atol=1e-9)


def test_the_store_does_not_grow_with_the_columns_seen():
    X, y, _ = planted(12, n=50, p=500)
    sieve = OnlineSubstitution(5).begin(y)
    for _ in range(4):
        for low in range(0, 500, 50):
            sieve.offer(X[:, low : low + 50])
    model = sieve._process_
    assert len(model._store) <= 64
    assert sorted([*model._where[:5], *model._free[: model._counts[3]]]) == list(range(len(model._store)))


def test_a_model_without_columns_is_the_prior():
    sieve = OnlineSubstitution().begin([0, 1, 1, 1])
    assert sieve.coef_.shape == (0,)
    assert sieve.intercept_ == pytest.approx(np.log(3))


def model_of(loss):
    X, y, _ = planted(13, n=50, p=40)
    y = y if loss == "squared" else (y > 0).astype(float)
    model = SubstitutionModel(loss, y, SubstitutionConfig(6, 9, 1.0))
    model.offer(ColumnBlock(X[:, :20]), 0)
    return model, X


@pytest.mark.parametrize("loss", LOSSES)
def test_a_model_comes_back_bit_for_bit(loss):
    model, X = model_of(loss)
    again = SubstitutionModel.from_state({name: a.copy() for name, a in model.state().items()})
    for side in (model, again):
        side.offer(ColumnBlock(X[:, 20:]), 20)
    for name, a in model.state().items():
        np.testing.assert_array_equal(again.state()[name], a, err_msg=name)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_state_that_does_not_fit_together_is_refused(loss):
    state = model_of(loss)[0].state()
    other = "logistic" if loss == "squared" else "squared"
    for change, message in (
        ({"loss": np.frombuffer(other.encode(), np.uint8)}, "target or predictor in the state"),
        ({"predictor": state["residual"] if loss == "squared" else None}, "target or predictor in the state"),
        ({"budget": np.array(2)}, "at most 2 are allowed"),
        ({"arrivals": state["refresh"]}, "round of steps"),
    ):
        bad = {name: a for name, a in {**state, **change}.items() if a is not None}
        with pytest.raises(StateError, match=message):
            SubstitutionModel.from_state(bad)


def test_the_largest_budget_comes_back():
    X, y, _ = planted(16, n=50, p=30)
    sieve = OnlineSubstitution(2**31 - 1).fit(X, y)
    assert reloaded(sieve).selected_.tolist() == list(range(30))
    sieve.n_features_in_ = 29
    with pytest.raises(StateError, match=r"more columns are kept|never offered"):
        reloaded(sieve)


@pytest.mark.parametrize("unit", [1e-300, 1e-170, 1e90])
def test_the_unit_of_the_target_does_not_matter(unit):
    X, y, _ = planted(17, n=50, p=30)
    plain, scaled = (OnlineSubstitution(5, task="regression").fit(X, y * by) for by in (1.0, unit))
    assert lines(scaled) == lines(plain)
    np.testing.assert_allclose(scaled.coef_, plain.coef_ * unit)
