"""Selectors that fit a model, draw or wait: against scikit-learn's models, a bare product, and the clock."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import Lasso, LogisticRegression
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

import streamsieve as ss
from benchmarks._cases import Race, Size, case
from benchmarks._data import real

SETS = ("leukemia_golub_raw", "dexter")
#: Penalty, as a share of the least one that selects nothing.
SHARES = (0.5, 0.1)
#: Iterations after which saga is stopped, converged or not.
MOST_ITERATIONS = 300


# ------------------------------------------------------------------------------------ Grafting


def _penalties(_: Size) -> dict[str, tuple[str, float]]:
    return {f"{name}, {share:g} of the largest penalty": (name, share) for name in SETS for share in SHARES}


def _columns(name: str, share: float) -> tuple[Any, npt.NDArray[np.int64], float]:
    """Return columns of about unit size, labels, and a penalty."""
    X, y = real(name)
    if isinstance(X, np.ndarray):
        X = np.asfortranarray((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9))
    else:
        X.data /= 1000.0
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y, share * float(np.abs(X.T @ (y - y.mean())).max()) / len(y)


@case("Grafting to the end against Lasso, ", bar="speedup >= 5", over=_penalties)
def grafting_lasso(size: Size, which: tuple[str, float]) -> Race:
    X, y, penalty = _columns(*which)
    X, numbers = X[:, : size(X.shape[1], 500)], y.astype(float)
    found: dict[str, Any] = {}

    def ours() -> None:
        found["ours"] = ss.Grafting(penalty, loss="squared", standardize=False, sweeps=None).fit(X, y)

    def peer() -> None:
        found["peer"] = Lasso(penalty, max_iter=100_000).fit(X, numbers)

    def note() -> str:
        same = np.array_equal(found["ours"].selected_, np.flatnonzero(found["peer"].coef_))
        if not same:
            raise AssertionError(f"Grafting and Lasso differ on {which}")
        return (
            f"{X.shape[0]:,} rows x {X.shape[1]:,} columns, the same {len(found['ours'].selected_)} columns, "
            f"coefficients within {np.abs(found['ours'].coef_ - found['peer'].coef_).max():.0e}; "
            f"{found['ours'].n_sweeps_} sweeps"
        )

    return Race(ours, peer, "scikit-learn Lasso", note=note, rounds=25)


@case("Grafting to the end against logistic regression, ", bar="speedup >= 5", over=_penalties)
def grafting_logistic(size: Size, which: tuple[str, float]) -> Race:
    X, y, penalty = _columns(*which)
    X = X[:, : size(X.shape[1], 500)]
    found: dict[str, Any] = {}

    def ours() -> None:
        found["ours"] = ss.Grafting(penalty, standardize=False, sweeps=None).fit(X, y)

    def peer() -> None:
        model = LogisticRegression(
            C=1 / (penalty * len(y)), l1_ratio=1.0, solver="saga", max_iter=MOST_ITERATIONS
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says that it has not converged; so does the note
            found["peer"] = model.fit(X, y)

    def objective(model: Any) -> float:
        scores = X @ model.coef_[0] + model.intercept_[0]
        return float(np.mean(np.logaddexp(0, scores) - y * scores) + penalty * np.abs(model.coef_).sum())

    def note() -> str:
        selected, support = found["ours"].selected_, np.flatnonzero(found["peer"].coef_[0])
        better = objective(found["peer"]) - objective(found["ours"])
        converged = found["peer"].n_iter_[0] < MOST_ITERATIONS
        if (converged and not np.array_equal(selected, support)) or better < -1e-6:
            raise AssertionError(f"Grafting and LogisticRegression differ on {which}")
        outcome = f"the same {len(selected)} columns" if converged else (
            f"{len(selected)} columns; saga, not converged, has {len(support)}, and would take longer"
        )  # fmt: skip
        return f"{X.shape[0]:,} rows x {X.shape[1]:,} columns, {outcome}; our objective is {better:.0e} lower"

    return Race(ours, peer, "scikit-learn LogisticRegression, saga", note=note, rounds=3)


# ------------------------------------------------------------------------------------ OnlineSubstitution

BUDGET = 50
BLOCK = 100


def _tall(size: Size) -> tuple[npt.NDArray[Any], npt.NDArray[Any], set[int]]:
    """Noise, column by column, of which as many as the budget make up y."""
    rng = np.random.default_rng(0)
    n, p = size(100_000, 2_000), size(1_000, 200)
    X = np.asfortranarray(rng.standard_normal((n, p)))
    true = rng.choice(p, BUDGET, replace=False)
    effects = rng.choice([-1, 1], BUDGET) * rng.uniform(0.5, 1.5, BUDGET)
    return X, X[:, true] @ effects + 3 * rng.standard_normal(n), set(true.tolist())


def _stream(X: npt.NDArray[Any], y: npt.NDArray[Any], n_jobs: int) -> ss.OnlineSubstitution:
    sieve = ss.OnlineSubstitution(BUDGET, n_jobs=n_jobs).begin(y)
    for low in range(0, X.shape[1], BLOCK):
        sieve.offer(X[:, low : low + BLOCK])
    return sieve


@case("OnlineSubstitution, budget 50", bar="ours <= 3x", memory=True)
def online_substitution(size: Size) -> Race:
    X, y, true = _tall(size)
    last: list[ss.OnlineSubstitution] = []

    def ours() -> None:
        last[:] = [_stream(X, y, 1)]

    def note() -> str:
        counts = last[0].ledger_.counts()
        return (
            f"{X.shape[0]:,} rows x {X.shape[1]:,} dense columns in blocks of {BLOCK}; "
            f"{counts['kept']} kept, {counts.get('evicted', 0)} evicted, "
            f"{len(true & set(last[0].selected_.tolist()))} of {len(true)} found"
        )

    centred, libraries = y - y.mean(), ThreadpoolController()

    def peer() -> None:
        with libraries.limit(limits=1):  # as ours
            X.T @ centred

    return Race(ours, peer, "one X.T @ r, one thread", X.shape[1], "columns", note)


@case("OnlineSubstitution, two threads", bar="speedup >= 1.5")
def online_substitution_threads(size: Size) -> Race:
    X, y, _ = _tall(size)
    last: dict[int, ss.OnlineSubstitution] = {}

    def run(n_jobs: int) -> None:
        last[n_jobs] = _stream(X, y, n_jobs)

    def note() -> str:
        one, two = (set(last[n_jobs].selected_.tolist()) for n_jobs in (1, 2))
        if len(one & two) < BUDGET - 1:
            raise AssertionError(f"threads keep {two - one} in the place of {one - two}")
        return f"{X.shape[0]:,} rows x {X.shape[1]:,} dense columns, {len(one & two)} of {BUDGET} the same"

    return Race(lambda: run(2), lambda: run(1), "one thread", X.shape[1], "columns", note)


# ------------------------------------------------------------------------------------ groups


@case("OGFS, leukemia_golub_raw, groups of 10", bar="ours <= 3 s", memory=True)
def ogfs(size: Size) -> Race:
    return _groups(size, ss.OGFS())


@case("DOFS, leukemia_golub_raw, groups of 10", bar="ours <= 5 s", memory=True)
def dofs(size: Size) -> Race:
    return _groups(size, ss.DOFS())


def _groups(size: Size, sieve: ss.OGFS | ss.DOFS) -> Race:
    X, y = real("leukemia_golub_raw")
    X = X[:, : size(X.shape[1], 200)]

    def note() -> str:
        counts = ", ".join(f"{number:,} {what}" for what, number in sieve.ledger_.counts().items())
        return (
            f"{X.shape[0]} rows x {X.shape[1]:,} columns in groups of {sieve.group_size}, "
            f"{len(sieve.selected_)} selected of {sieve.n_groups_} groups: {counts}"
        )

    return Race(lambda: sieve.fit(X, y), work=X.shape[1], unit="columns", note=note)


# ------------------------------------------------------------------------------------ columns that wait


@case("OSSFSDD, ", bar="ours <= 0.5 s", over=lambda _: {name: name for name in ("dexter", "arcene")})
def ossfs_dd(size: Size, name: str) -> Race:
    X, y = real(name)
    X = X[:, : size(X.shape[1], 500)]
    sieve = ss.OSSFSDD()

    def note() -> str:
        return f"{X.shape[0]} rows x {X.shape[1]:,} columns, {len(sieve.selected_)} selected"

    return Race(lambda: sieve.fit(X, y), work=X.shape[1], unit="columns", note=note)


@case("InteractionScan, pool 500, n = 500 binary", bar="rate >= 500,000/s", memory=True)
def interaction_scan(size: Size) -> Race:
    """Bits, two of which make up y together: every other column meets a full pool."""
    n, p, pool = 500, size(5_000, 60), size(500, 50)
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (n, p)).astype(np.float64)
    one, other = p // 2, p // 2 + pool // 3
    y = (X[:, one] != X[:, other]) ^ (rng.random(n) < 0.1)
    sieve = ss.InteractionScan(pool=pool).fit(X, y)

    def note() -> str:
        if not {one, other} <= set(sieve.selected_.tolist()):
            raise AssertionError(f"the pair {one}, {other} was not found")
        return f"{n} rows x {p:,} columns, {sieve.n_pairs_:,} pairs; the pair that makes up y was found"

    return Race(lambda: sieve.fit(X, y), work=sieve.n_pairs_, unit="pairs", note=note)
