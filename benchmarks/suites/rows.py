"""Row streams: Screen against scikit-learn, SciPy, river and a bare sum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_selection import f_classif

import streamsieve as ss
from benchmarks._cases import Race, Size, SkipCase, case
from benchmarks._data import batches, dense, uniform_csr
from benchmarks._measure import interleave
from streamsieve._one_thread import SLOTS, changes, reads

BATCH = 2_000
CSR_BATCH = 4_000
NON_ZEROS_A_ROW = 100


# ------------------------------------------------------------------------------------ dense


@case("Screen fisher, float64", bar="speedup >= 6", memory=True)
def fisher_and_f_classif(size: Size) -> Race:
    return _against_f_classif(size)


@case("Screen fisher, float64, and a bare sum", bar="ours <= 1.8x")
def fisher_and_sum(size: Size) -> Race:
    X, y, shape = _dense(size)
    return Race(_screen(X, y), lambda: X.sum(axis=0), "X.sum(axis=0)", X.size, "values", shape)


@case("Screen fisher, float32")
def fisher_float32(size: Size) -> Race:
    return _against_f_classif(size, dtype=np.float32)


@case("Screen fisher, 20 classes")
def fisher_20_classes(size: Size) -> Race:
    return _against_f_classif(size, classes=20)


@case("Screen fisher, half_life=5000")
def fisher_faded(size: Size) -> Race:
    race = _against_f_classif(size, half_life=5_000)
    race.note = f"{race.note}; f_classif weighs all rows alike"
    return race


def _against_f_classif(
    size: Size, *, classes: int = 2, dtype: Any = np.float64, half_life: float | None = None
) -> Race:
    X, y, shape = _dense(size, classes, dtype)
    peer = "scikit-learn f_classif"
    return Race(_screen(X, y, half_life), lambda: f_classif(X, y), peer, X.size, "values", shape)


def _dense(size: Size, classes: int = 2, dtype: Any = np.float64) -> tuple[Any, Any, str]:
    n, p = size(20_000, 2_000), size(2_000, 100)
    X, y = dense(n, p, classes, dtype)
    return X, y, f"{n:,} x {p:,} in batches of {BATCH:,}, incl. get_support; the peer has it whole"


def _screen(X: Any, y: Any, half_life: float | None = None) -> Callable[[], Any]:
    def run() -> Any:
        screen = ss.Screen("fisher", half_life=half_life)
        for low in range(0, len(y), BATCH):
            screen.partial_fit(X[low : low + BATCH], y[low : low + BATCH])
        return screen.get_support()

    return run


# ------------------------------------------------------------------------------------ sparse


@case("Screen fisher, CSR, a million features", bar="rate >= 60,000,000/s and speedup >= 1", memory=True)
def csr_million(size: Size) -> Race:
    return _csr(size, size(1_000_000, 20_000))


@case("Screen fisher, CSR, ten million features", bar="rate >= 50,000,000/s and speedup >= 1", memory=True)
def csr_ten_million(size: Size) -> Race:
    return _csr(size, size(10_000_000, 50_000))


def _csr(size: Size, p: int) -> Race:
    X, y = uniform_csr(size(16_000, 800), p, NON_ZEROS_A_ROW)
    stream = batches(X, y, size(CSR_BATCH, 200))
    hot = [sp.csr_array(np.eye(2)[labels]) for _, labels in stream]
    screen = ss.Screen("fisher")  # one for all passes: see the note

    def ours() -> None:
        for rows, labels in stream:
            screen.partial_fit(rows, labels)

    def peer() -> None:
        for (rows, _), one_hot in zip(stream, hot, strict=True):
            one_hot.T @ rows
            one_hot.T @ rows.multiply(rows)

    note = (
        f"{X.shape[0]:,} rows x {p:,}, {NON_ZEROS_A_ROW} uniform ids a row, batches of {hot[0].shape[0]:,}; "
        "updates only, later passes over the same batches: the first pass is page faults of the new table, "
        "not work, and is left out; the peer makes class sums and sums of squares and does not add them up"
    )
    return Race(ours, peer, "SciPy one-hot products", X.nnz, "non-zeros", note)


# ------------------------------------------------------------------------------------ dict rows


@case("Screen correlation, rows of an array", bar="speedup >= 500")
def river_in_a_batch(size: Size) -> Race:
    X, y, rows, labels = _dicts(size)

    def ours() -> Any:
        return ss.Screen("correlation").partial_fit(X, y).get_support()

    note = f"the same {X.shape[0]:,} x {X.shape[1]} rows: one array here, one dict a row there"
    return Race(ours, _river(rows, labels), "river SelectKBest, Pearson", len(y), "rows", note, rounds=15)


@case("Screen correlation, learn_one", bar="speedup >= 20")
def river_one_by_one(size: Size) -> Race:
    _, y, rows, labels = _dicts(size)
    note = "one dict of 100 features a row in both, always the same features"
    return Race(
        _one_by_one(rows, labels), _river(rows, labels), "river SelectKBest, Pearson", len(y), "rows", note
    )


@case("Screen correlation, learn_one, sparse", bar="speedup >= 20")
def river_sparse(size: Size) -> Race:
    rng = np.random.default_rng(0)
    names = np.array([f"f{j}" for j in range(5_000)])
    rows = [
        dict(zip(rng.choice(names, 100, replace=False).tolist(), rng.normal(size=100).tolist(), strict=True))
        for _ in range(size(2_000, 100))
    ]
    labels = rng.integers(0, 2, len(rows)).tolist()
    note = "one dict of 100 features a row in both, other ones of 5,000 in every row"
    return Race(
        _one_by_one(rows, labels), _river(rows, labels), "river SelectKBest, Pearson", len(rows), "rows", note
    )


@case("learn_one and transform_one, 10 features", bar="speedup >= 1")
def river_row_by_row_10(size: Size) -> Race:
    return _row_by_row(size(2_000, 200), 10)


@case("learn_one and transform_one, 100 features", bar="speedup >= 1")
def river_row_by_row_100(size: Size) -> Race:
    return _row_by_row(size(2_000, 200), 100)


@case("learn_one and transform_one, 1,000 features", bar="speedup >= 1")
def river_row_by_row_1000(size: Size) -> Race:
    return _row_by_row(size(500, 50), 1_000)


def _row_by_row(n: int, p: int) -> Race:
    X, y = dense(n, p)
    names = [f"f{j}" for j in range(p)]
    rows = [dict(zip(names, row, strict=True)) for row in X.tolist()]
    labels, k = y.tolist(), p // 2 if p < 20 else 10

    def through(make: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> Any:
            selector = make()
            for row, label in zip(rows, labels, strict=True):
                selector.learn_one(row, label)
                selector.transform_one(row)
            return selector

        return run

    note = (
        f"{n:,} dicts of {p:,} features, k = {k}; ours reviews its selection every 50 rows, theirs every row"
    )
    peer = "river SelectKBest, Pearson"
    return Race(
        through(lambda: ss.Screen("correlation", k=k)),
        through(lambda: _select_k_best(k)),
        peer,
        n,
        "rows",
        note,
    )


def _one_by_one(rows: list[dict[str, float]], labels: list[int]) -> Callable[[], Any]:
    def run() -> Any:
        screen = ss.Screen("correlation")
        for row, label in zip(rows, labels, strict=True):
            screen.learn_one(row, label)
        return screen.get_support()

    return run


def _dicts(size: Size) -> tuple[Any, Any, list[dict[str, float]], list[int]]:
    X, y = dense(size(2_000, 200), 100)
    names = [f"f{j}" for j in range(X.shape[1])]
    return X, y, [dict(zip(names, row, strict=True)) for row in X.tolist()], y.tolist()


def _river(rows: list[dict[str, float]], labels: list[int]) -> Callable[[], Any]:
    _select_k_best(10)  # says at once if there is no river

    def run() -> Any:
        selector = _select_k_best(10)
        for row, label in zip(rows, labels, strict=True):
            selector.learn_one(row, label)
        return selector

    return run


def _select_k_best(k: int) -> Any:
    try:
        from river import feature_selection, stats  # noqa: PLC0415 - the others run without it
    except ImportError as error:
        raise SkipCase("river is not installed: pip install streamsieve[bench]") from error
    return feature_selection.SelectKBest(stats.PearsonCorr(), k=k, use_abs=True)


# ------------------------------------------------------------------------------------ one call


class _Plain:
    """An object with a method that does nothing, and the same method behind the guards against threads."""

    __slots__ = SLOTS

    def method(self, X: Any) -> Any:
        return X

    changing, reading = changes(method), reads(method)


@case("the guard against threads, a million calls", bar="ours <= 0.1 s")
def changing_guard(size: Size) -> Race:
    one = _Plain()
    return _guard(size, one.changing, one.method)


@case("the guard against threads, a million reads", bar="ours <= 0.1 s")
def reading_guard(size: Size) -> Race:
    one = _Plain()
    return _guard(size, one.reading, one.method)


def _guard(size: Size, guarded: Callable[[Any], Any], bare: Callable[[Any], Any]) -> Race:
    calls, rounds = size(20_000, 1_000), size(200, 20)
    note = "what the guard adds to a call that does nothing, the peer; the best of many rounds in turn"

    def measured() -> tuple[float, float]:
        behind, plain = interleave(_calling(guarded, calls), _calling(bare, calls), rounds=rounds)
        return (behind - plain) * 1e6 / calls, plain * 1e6 / calls

    return Race(lambda: None, None, "a million calls without it", note=note, measured=measured)


def _calling(method: Callable[[Any], Any], times: int) -> Callable[[], None]:
    def run() -> None:
        for _ in range(times):
            method(None)

    return run
