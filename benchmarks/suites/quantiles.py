"""Criteria over quantiles: Screen("mutual_info") against other sketches, a full sort, and itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_selection import mutual_info_classif

import streamsieve as ss
from benchmarks._cases import Race, Size, SkipCase, case
from benchmarks._data import batches, dense, url_like
from benchmarks._measure import Seconds, peak_mb

BATCH = 2_000
EPSILON = 1e-3
THREADS = 2


def _screen(
    X: Any, y: Any, batch: int = BATCH, criterion: str = "mutual_info", weight: Any = None, **parameters: Any
) -> Callable[[], Any]:
    def run() -> Any:
        screen = ss.Screen(criterion, max_rank_error=EPSILON, **parameters)
        for low in range(0, len(y), batch):
            part = slice(low, low + batch)
            screen.partial_fit(X[part], y[part], sample_weight=None if weight is None else weight[part])
        screen.get_support()
        return screen

    return run


def _rows(size: Size, dtype: Any = np.float32, classes: int = 2) -> tuple[Any, Any, str]:
    n, p = size(20_000, 2_000), size(500, 50)
    X, y = dense(n, p, classes, dtype)
    return X, y, f"{n:,} x {p}, {np.dtype(dtype)}, {classes} classes, batches of {BATCH:,}, scores included"


# ------------------------------------------------------------------------------------ peers


@case("mutual_info and DataSketches KLL", bar="speedup >= 6", memory=True)
def kll(size: Size) -> Race:
    try:
        import datasketches  # noqa: PLC0415 - the others run without it
    except ImportError as error:
        raise SkipCase("datasketches is not installed: pip install streamsieve[bench]") from error
    X, y, shape = _rows(size)
    ours = _screen(X, y)

    def peer() -> Any:
        sketches = datasketches.vector_of_kll_floats_sketches(200, X.shape[1])
        for low in range(0, len(y), BATCH):
            sketches.update(X[low : low + BATCH])
        return sketches

    def note() -> str:
        certified = float(ours().summary_.rank_error().max())
        theirs = datasketches.kll_floats_sketch(200).normalized_rank_error(False)  # noqa: FBT003
        return (
            f"{shape}; rank error {certified:.1e} of the rows, always, here and {theirs:.1e} with 99 % "
            f"confidence there ({theirs / certified:.0f}x); the peer keeps one sketch a feature, no classes "
            "and no scores"
        )

    return Race(ours, peer, "vector of KLL sketches, k=200", X.size, "values", note, rounds=15)


@case("mutual_info and XGBoost's quantiles", bar="speedup >= 15")
def xgboost(size: Size) -> Race:
    try:
        import xgboost as xgb  # noqa: PLC0415 - the others run without it
    except ImportError as error:
        raise SkipCase("xgboost is not installed: pip install streamsieve[bench]") from error
    X, y, shape = _rows(size)

    class Batches(xgb.DataIter):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.low = 0

        def next(self, input_data: Callable[..., None]) -> int:
            if self.low >= len(y):
                return 0
            part = slice(self.low, self.low + BATCH)
            input_data(data=X[part], label=y[part])
            self.low += BATCH
            return 1

        def reset(self) -> None:
            self.low = 0

    def peer() -> Any:
        return xgb.QuantileDMatrix(Batches(), max_bin=256, nthread=THREADS)

    note = f"{shape}; the peer also bins the data"
    return Race(_screen(X, y), peer, f"QuantileDMatrix, {THREADS} threads", X.size, "values", note)


@case("mutual_info, float32, and a full sort", bar="ours <= 1.6x")
def full_sort(size: Size) -> Race:
    return _against_sort(size)


@case("mutual_info, float64, and a full sort")
def full_sort_float64(size: Size) -> Race:
    return _against_sort(size, dtype=np.float64)


@case("mutual_info, 20 classes, and a full sort")
def full_sort_20_classes(size: Size) -> Race:
    return _against_sort(size, classes=20)


def _against_sort(size: Size, dtype: Any = np.float32, classes: int = 2) -> Race:
    X, y, shape = _rows(size, dtype, classes)

    def peer() -> None:
        with ThreadPoolExecutor(THREADS) as pool:
            edges = np.linspace(0, X.shape[1], THREADS + 1).astype(int)
            list(
                pool.map(
                    lambda t: np.ascontiguousarray(X[:, edges[t] : edges[t + 1]].T).sort(axis=1),
                    range(THREADS),
                )
            )

    note = f"{shape}; the peer has all rows at hand and keeps nothing"
    return Race(
        _screen(X, y), peer, f"transpose and np.sort, {THREADS} threads", X.size, "values", note, rounds=15
    )


@case("mutual_info and mutual_info_classif", bar="speedup >= 1000")
def scikit_learn(size: Size) -> Race:
    X, y = dense(size(20_000, 500), 20, dtype=np.float32)
    note = f"{X.shape[0]:,} x {X.shape[1]}, float32, all at hand; the peer estimates by nearest neighbours"
    peer = lambda: mutual_info_classif(X, y, random_state=0)  # noqa: E731
    return Race(
        _screen(X, y, len(y)), peer, "scikit-learn mutual_info_classif", X.size, "values", note, rounds=3
    )


# ------------------------------------------------------------------------------------ against itself


@case("mutual_info, batches of 250 rows", bar="ours <= 1.3x")
def batches_250(size: Size) -> Race:
    return _small_batches(size, 250)


@case("mutual_info, batches of 32 rows", bar="ours <= 1.5x")
def batches_32(size: Size) -> Race:
    return _small_batches(size, 32)


@case("mutual_info, batches of 1 row", bar="ours <= 2.5x")
def batches_1(size: Size) -> Race:
    return _small_batches(size, 1)


def _small_batches(size: Size, batch: int) -> Race:
    X, y, shape = _rows(size)
    return Race(
        _screen(X, y, batch), _screen(X, y), f"batches of {BATCH:,}", X.size, "values", shape, rounds=9
    )


@case("fisher, half_life=5000, and none", bar="ours <= 1.3x")
def fading_moments(size: Size) -> Race:
    return _against_plain(size, "fisher", half_life=5_000)


@case("fisher, sample weights, and none", bar="ours <= 1.3x")
def weighted_moments(size: Size) -> Race:
    return _against_plain(size, "fisher", weighted=True)


@case("mutual_info, half_life=5000, and none", bar="ours <= 2.5x")
def fading_quantiles(size: Size) -> Race:
    return _against_plain(size, "mutual_info", half_life=5_000)


@case("mutual_info, sample weights, and none", bar="ours <= 2.5x")
def weighted_quantiles(size: Size) -> Race:
    return _against_plain(size, "mutual_info", weighted=True)


@case("mutual_info, sample weights, float64, and none", bar="ours <= 2.5x")
def weighted_quantiles_float64(size: Size) -> Race:
    return _against_plain(size, "mutual_info", weighted=True, dtype=np.float64)


@case("mutual_info, half_life=500, asked every 50 rows, and none", bar="ours <= 1.3x")
def fading_and_asked(size: Size) -> Race:
    return _asked(size, {"half_life": 500}, "mutual_info", "without a half-life")


@case("mutual_info, asked every 50 rows, and f", bar="ours <= 10x")
def asked(size: Size) -> Race:
    return _asked(size, {}, "f", "Screen f")


def _asked(size: Size, parameters: dict[str, Any], rival: str, peer: str) -> Race:
    X, y = dense(size(5_000, 500), 100)

    def screen(criterion: str, **parameters: Any) -> Callable[[], None]:
        def run() -> None:
            made = ss.Screen(criterion, k=10, **parameters)
            for low in range(0, len(y), 50):
                made.partial_fit(X[low : low + 50], y[low : low + 50])
                made.get_support()

        return run

    note = f"{X.shape[0]:,} rows x {X.shape[1]} features, 50 at a time"
    return Race(screen("mutual_info", **parameters), screen(rival), peer, len(y), "rows", note)


def _against_plain(
    size: Size, criterion: str, *, weighted: bool = False, dtype: Any = np.float32, **parameters: Any
) -> Race:
    X, y, shape = _rows(size, dtype)
    weight = np.random.default_rng(1).exponential(size=len(y)) if weighted else None
    ours = _screen(X, y, criterion=criterion, weight=weight, **parameters)
    plain = _screen(X, y, criterion=criterion)
    return Race(ours, plain, "all rows alike", X.size, "values", shape, rounds=15)


# ------------------------------------------------------------------------------------ sparse


@case("mutual_info, sparse, 98 % binary", bar="rate >= 40,000,000/s")
def sparse_binary(size: Size) -> Race:
    return _sparse(size, real_every=50)


@case("mutual_info, sparse, all values real", bar="rate >= 12,000,000/s")
def sparse_real(size: Size) -> Race:
    return _sparse(size, real_every=1)


def _sparse(size: Size, real_every: int) -> Race:
    n, p = size(16_000, 800), size(74_110, 2_000)
    X, y = url_like(np.random.default_rng(0), n, p, real_every=real_every)
    stream = batches(X, y, BATCH)

    def ours() -> Any:
        screen = ss.Screen("mutual_info", max_rank_error=EPSILON)
        for rows, labels in stream:
            screen.partial_fit(rows, labels)
        return screen

    def note() -> str:
        screen = ours()
        start = time.perf_counter()
        screen.get_support()
        return (
            f"{n:,} rows x {p:,} like the url set's first day, {X.nnz / n:.0f} non-zeros a row, float64; "
            f"updates; the scores of all features take {1e3 * (time.perf_counter() - start):.0f} ms more"
        )

    return Race(ours, None, None, X.nnz, "non-zeros", note, rounds=15)


@case("mutual_info and fisher in one pass, 3.2 million features", bar="ours <= 25 s")
def url(size: Size) -> Race:
    chunks, rows, p = size(150, 2), size(16_000, 500), size(3_200_000, 20_000)
    screens = [ss.Screen("mutual_info", k=1_000, max_rank_error=EPSILON), ss.Screen("fisher", k=1_000)]
    facts: dict[str, float] = {}

    def ours() -> Seconds:
        spent, non_zeros = 0.0, 0
        for X, y in _url_stream(chunks, rows, p):
            start = time.perf_counter()
            for screen in screens:
                screen.partial_fit(X, y)
            spent += time.perf_counter() - start
            non_zeros += X.nnz
        start = time.perf_counter()
        for screen in screens:
            screen.get_support()
        facts.update(query=time.perf_counter() - start, non_zeros=non_zeros)
        facts["state"] = sum(screen.summary_.nbytes for screen in screens) / 1e6
        facts["quantiles"] = screens[0].summary_.nbytes / 1e6
        return Seconds(spent)

    def note() -> str:
        return (
            f"{chunks * rows:,} rows x {p:,}, {facts['non_zeros'] / 1e6:,.0f} million non-zeros; state "
            f"{facts['state']:.0f} MB ({facts['quantiles']:.0f} MB of it quantiles), peak of the process "
            f"{peak_mb():,.0f} MB with the generator; both queries {facts['query']:.1f} s"
        )

    return Race(ours, None, None, 0, "", note, rounds=1, warm_up=False)


def _url_stream(chunks: int, rows: int, p: int) -> Iterable[tuple[sp.csr_array, Any]]:
    rng = np.random.default_rng(0)
    for _ in range(chunks):
        yield url_like(rng, rows, p)
