"""Contracts of selectors over columns."""

from __future__ import annotations

import tempfile
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from streamsieve.base import Stop
from streamsieve.exceptions import CapabilityError, ManyColumnsWarning, NotBegunError, SchemaError
from streamsieve.protocols import Event
from streamsieve.testing._data import assert_same, decisions, fresh, sample, task_for


def check_any_block_size(selector: Any) -> None:
    """Blocks of any size, dense or sparse, give the decisions of ``fit``, one by one."""
    X, y, _ = sample(task_for(selector), p=40)
    expected = fresh(selector).fit(X, y)
    statistics = _statistics(expected)
    dense = np.ascontiguousarray, np.asfortranarray
    for form in (*dense, sp.csc_array) if selector.traits.sparse else dense:
        for size in (1, 3, 40):
            streamed = _offered(fresh(selector).begin(y), form(X), size)
            assert_same(expected, streamed, f"{form.__name__} in blocks of {size}")
            assert decisions(streamed) == decisions(expected), (
                f"{form.__name__} in blocks of {size}: other decisions than in one block"
            )
            assert np.allclose(_statistics(streamed), statistics, rtol=1e-6, atol=1e-9, equal_nan=True), (
                f"{form.__name__} in blocks of {size}: other statistics in the ledger than in one block"
            )
    single = fresh(selector).begin(y)
    for j in range(X.shape[1]):
        single.offer(X[:, j].copy())
    assert_same(expected, single, "single columns")
    assert decisions(single) == decisions(expected), "single columns: other ledger"


def check_resume(selector: Any) -> None:
    """Saved between blocks, loaded and continued: as if nothing had happened."""
    X, y, _ = sample(task_for(selector), p=40)
    expected = _offered(fresh(selector).begin(y), X, 8)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "half.sieve"
        _offered(fresh(selector).begin(y), X[:, :16], 8).save(path)
        resumed = _offered(type(selector).load(path), X[:, 16:], 8)
    assert_same(expected, resumed, "resumed")
    assert decisions(resumed) == decisions(expected), "resumed: other ledger"


def check_ledger_accounts_for_all(selector: Any) -> None:
    """One verdict per column, and what was kept and not evicted is what is selected."""
    X, y, names = sample(task_for(selector))
    fitted = _offered(fresh(selector).begin(y), X, 5, names)
    verdicts = [d for d in fitted.ledger_ if d.event is not Event.EVICTED]
    assert [d.feature for d in verdicts] == names, "the ledger does not have one verdict per column, in order"
    assert [d.step for d in verdicts] == list(range(len(names))), "the steps are not the arrival numbers"
    kept = [d.feature for d in verdicts if d.event is Event.KEPT]
    gone = {d.feature for d in fitted.ledger_ if d.event is Event.EVICTED}
    left, selected = [name for name in kept if name not in gone], fitted.get_feature_names_out().tolist()
    assert left == selected, (
        f"the ledger keeps {left}, but {selected} are selected: `_selected` must return the columns "
        "with reason RELEVANT, without those of evictions"
    )
    counted = fitted.ledger_.counts().get("kept", 0)
    assert counted == len(selected), f"the ledger counts {counted} as kept, but {len(selected)} are selected"


def check_found_and_kept_are_counted(selector: Any) -> None:
    """No more columns are kept than found, and none is found that was not offered."""
    X, y, _ = sample(task_for(selector), p=40)
    sieve = fresh(selector).begin(y)
    assert (sieve.n_found_, sieve.n_kept_) == (0, 0)
    for low in range(0, X.shape[1], 8):
        sieve.offer(X[:, low : low + 8])
        assert len(sieve.selected_) == sieve.n_kept_ <= sieve.n_found_ <= sieve.n_features_in_
    assert type(selector).from_bytes(sieve.to_bytes()).n_found_ == sieve.n_found_, "loaded: other counts"


def check_rows_held_out_do_not_matter(selector: Any) -> None:
    """Selection is that of the other rows, and the kept columns are confirmed on those held out."""
    X, y, _ = sample(task_for(selector), p=40)
    mask = np.arange(len(y)) % 3 == 0
    try:
        sieve = fresh(selector).begin(y, holdout=mask)
    except CapabilityError:  # refused with a reason
        return
    sieve = _offered(sieve, np.where(mask[:, None], -X, X), 8)
    expected = _offered(fresh(selector).begin(y[~mask]), X[~mask], 8)
    assert_same(expected, sieve, "rows held out")
    assert decisions(sieve) == decisions(expected), "rows held out: other ledger"
    table = sieve.confirm()
    assert table["feature"] == sieve.get_feature_names_out().tolist()
    assert all(
        0 <= p <= adjusted <= 1 for p, adjusted in zip(table["p_value"], table["adjusted"], strict=True)
    )


def check_memory_follows_kept(selector: Any) -> None:
    """Memory grows with the columns kept, not with the columns seen."""
    rng = np.random.default_rng(0)
    n, width = 200, 256
    y = rng.integers(0, 2, n)
    pool = {"pool": width} if selector.get_params(deep=False).get("pool") == "auto" else {}  # bounded
    sieve = fresh(selector, ledger="kept", **pool).begin(y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ManyColumnsWarning)  # noise may be kept, and more of it than rows
        for _ in range(2):
            sieve.offer(rng.normal(size=(n, width)))
        kept_before = len(sieve.selected_)
        tracemalloc.start()
        try:
            for _ in range(12):
                sieve.offer(rng.normal(size=(n, width)))
            grown = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
    seen = 12 * width * n * 8
    kept = max(len(sieve.selected_) - kept_before, 0)
    # stores double, so allow four columns for each one kept
    assert grown < 4 * (kept + 32) * n * 8 + 200_000, f"{grown:,} bytes for {kept} more columns kept"
    assert grown < seen / 4, "the columns seen seem to be remembered"


def check_stop_is_exact(selector: Any) -> None:
    """Stop rules hold to the column, whatever the size of the blocks."""
    X, y, _ = sample(task_for(selector), p=40)
    for stop in (Stop(max_offers=10), Stop(max_features=1)):
        expected = _offered(fresh(selector, stop=stop).begin(y), X, 1)
        for size in (7, 40):
            stopped = _offered(fresh(selector, stop=stop).begin(y), X, size)
            assert_same(expected, stopped, f"{stop} in blocks of {size}")
            assert stopped.stopped_ == expected.stopped_, f"{stop} in blocks of {size}: other stopped_"
    most = len(fresh(selector, stop=Stop(max_features=1)).fit(X, y).selected_)
    assert most <= 1, f"Stop(max_features=1) keeps {most} columns"


def check_wrong_offers_are_refused(selector: Any) -> None:
    """Offering too early, other rows, or a name twice is refused and changes nothing."""
    X, y, names = sample(task_for(selector))
    _refuses(NotBegunError, "begin", lambda: fresh(selector).offer(X))
    sieve = _offered(fresh(selector).begin(y), X, 20, names)
    before = decisions(sieve)
    _refuses(SchemaError, "rows", lambda: sieve.offer(X[:-1]))
    _refuses(SchemaError, "twice", lambda: sieve.offer(X[:, :1], names=[names[3]]))
    _refuses(SchemaError, "names has", lambda: sieve.offer(X[:, :2], names=["a"]))
    _refuses(ValueError, "infinity", lambda: sieve.offer(np.full((len(y), 1), np.inf), names=["b"]))
    _refuses(ValueError, "infinity", lambda: sieve.offer(np.full(len(y), np.inf), names=["b"]))
    assert decisions(sieve) == before, "a refused block left a trace"
    sieve.offer(X[:, :1] + 1, names=["b"])


def _refuses(kind: type[Exception], text: str, call: Any) -> None:
    try:
        call()
    except kind as error:
        assert text in str(error), f"the message should speak of {text!r}: {error}"  # noqa: PT017
    else:
        raise AssertionError(f"{kind.__name__} was expected")


def _statistics(sieve: Any) -> list[float]:
    return [line.statistic for line in sieve.ledger_]


def _offered(sieve: Any, X: Any, size: int, names: list[str] | None = None) -> Any:
    for low in range(0, X.shape[1], size):
        part = slice(low, low + size)
        sieve.offer(X[:, part], None if names is None else names[part])
    return sieve
