"""Annealed learners: against L1-regularised logistic regression, on sparse text, and walks over models."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from benchmarks._cases import Race, Size, case
from benchmarks._data import zipf_csc
from streamsieve.learners import RJMCMC, FSAClassifier, FSARegressor

#: By how much the AUC may be below the peer's.
WORSE = 0.005


# ------------------------------------------------------------------------------------ dense


@case("FSAClassifier in 30 epochs, gisette-sized, 100 features", bar="speedup >= 5", memory=True)
def fsa_gisette(size: Size) -> Race:
    train, test, k = _gisette_sized(size)
    strength, searched = _strength_for(*train, k)
    last: dict[str, Any] = {}

    def ours() -> None:
        last["FSA"] = FSAClassifier(k, epochs=30, annealing=100.0).fit(*train)

    def peer() -> None:
        last["L1"] = _l1(strength).fit(*train)

    def note() -> str:
        found = {
            name: roc_auc_score(test[1], model.decision_function(test[0])) for name, model in last.items()
        }
        if not size.quick and found["FSA"] < found["L1"] - WORSE:
            raise AssertionError(f"the AUC is worse than the peer's by more than {WORSE}: {found}")
        features = np.count_nonzero(last["L1"].coef_)
        return (
            f"{_shape(train[0])} standardised values, {k} kept, annealing 100; AUC on other rows "
            f"{found['FSA']:.4f}, L1 {found['L1']:.4f} with {features} features; the peer is one fit at C = "
            f"{strength:.3g}, without the {searched} fits that found this C"
        )

    return Race(ours, peer, "LogisticRegression(l1, liblinear)", train[0].size, "values", note, rounds=5)


@case("FSAClassifier as it comes, gisette-sized, 100 features", bar="speedup >= 5")
def fsa_gisette_defaults(size: Size) -> Race:
    train, test, k = _gisette_sized(size)
    last: dict[str, Any] = {}

    def ours() -> None:
        last["FSA"] = FSAClassifier(k).fit(*train)

    def peer() -> None:
        last["fits"] = _strength_for(*train, k)[1]

    def note() -> str:
        auc = roc_auc_score(test[1], last["FSA"].decision_function(test[0]))
        return (
            f"{_shape(train[0])} standardised values, {k} kept; AUC on other rows {auc:.4f}; the peer needs "
            f"{last['fits']} fits to find the C that leaves as many features"
        )

    return Race(
        ours, peer, "LogisticRegression(l1, liblinear), tuned", train[0].size, "values", note, rounds=3
    )


def _gisette_sized(size: Size) -> tuple[tuple[Any, Any], tuple[Any, Any], int]:
    """Return rows to learn from, other rows, and how many features are planted."""
    n, p, k = size(6_000, 300), size(5_000, 200), size(100, 10)
    X, y = _planted(n + n // 2, p, k)
    return (X[:n].copy(), y[:n]), (X[n:], y[n:]), k


def _shape(X: Any) -> str:
    return f"{X.shape[0]:,} x {X.shape[1]:,}"


def _planted(n: int, p: int, true: int) -> tuple[Any, Any]:
    """Return standardised rows with a common factor, and labels whose log-odds follow some columns."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    X += 0.5 * rng.standard_normal((n, 1))
    weights = np.zeros(p)
    weights[rng.choice(p, true, replace=False)] = rng.choice([-1, 1], true) * (0.5 + rng.random(true))
    odds = X @ weights
    y = (rng.random(n) < 1 / (1 + np.exp(-3 * odds / odds.std()))).astype(np.int64)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def _l1(strength: float) -> LogisticRegression:
    return LogisticRegression(l1_ratio=1, C=strength, solver="liblinear", random_state=0)


def _strength_for(X: Any, y: Any, k: int) -> tuple[float, int]:
    """Return the C whose model has as many features, or nearly, and how many fits it took to find it."""
    low, high = 1e-4, 1.0
    for fits in range(1, 13):
        middle = float(np.sqrt(low * high))
        found = np.count_nonzero(_l1(middle).fit(X, y).coef_)
        if found == k:
            return middle, fits
        low, high = (middle, high) if found < k else (low, middle)
    return high, 12


@case("FSARegressor, 2,000 x 5,000, 50 features", memory=True)
def fsa_regression(size: Size) -> Race:
    n, p, k = size(2_000, 200), size(5_000, 200), size(50, 5)
    X, _ = _planted(n, p, k)
    y = X[:, :k].sum(axis=1) + np.random.default_rng(1).standard_normal(n)
    found: list[float] = []

    def ours() -> None:
        found[:] = [float(np.mean(FSARegressor(k).fit(X, y).selected_ < k))]

    return Race(ours, None, None, X.size, "values", lambda: f"{found[0]:.0%} of the planted features found")


# ------------------------------------------------------------------------------------ sparse


@case("FSAClassifier, sparse text-like rows, 35,000 features", bar="ours <= 40 s", memory=True)
def fsa_sparse(size: Size) -> Race:
    n, p, k = size(11_862, 300), size(723_066, 3_000), size(35_000, 100)
    X, y = zipf_csc(n, p, size(455, 50))
    X = sp.csr_array(X)
    memory = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e6
    learnt: list[Any] = []

    def ours() -> None:
        learnt[:] = [FSAClassifier(k).fit(X, y)]

    def note() -> str:
        return (
            f"{n:,} rows x {p:,} columns, {X.nnz:,} non-zeros, {k:,} kept, {learnt[0].epochs} epochs; CSR of "
            f"{memory:,.0f} MB, three times of which ({3 * memory:,.0f}) is the bar for peak MB; the thesis "
            "(table 3.8) has 37.9 s in native code for such data"
        )

    return Race(ours, None, None, X.nnz, "non-zeros", note, rounds=2, warm_up=False)


# ------------------------------------------------------------------------------------ walks


@case("RJMCMC, moves over 1,000 columns")
def rjmcmc(size: Size) -> Race:
    n, p, moves = size(500, 100), size(1_000, 50), size(200_000, 2_000)
    X, _ = _planted(n, p, 10)
    y = X[:, :10].sum(axis=1) + np.random.default_rng(2).standard_normal(n)
    chain = RJMCMC().begin(y).offer(X)

    def ours() -> None:
        chain.sample(moves)

    def note() -> str:
        return f"{n} rows, {len(chain.model_)} columns in the model, {chain.acceptance_:.1%} accepted"

    return Race(ours, None, None, moves, "moves", note)
