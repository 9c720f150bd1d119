"""Oracles: p-values and decisions of other libraries next to ours, on the same data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.stats

import streamsieve as ss
from streamsieve.independence.online_fdr import OnlineFDRProcedure
from streamsieve.protocols import FloatArray
from studies.calibration.families import Generator, exact_labels

SEED = 7


class Agreement(NamedTuple):
    """How far our numbers are from those of another library."""

    what: str
    oracle: str
    compared: int
    #: Largest relative difference of p-values, or number of different decisions.
    apart: float
    wanted: float


def p_values(selector: Any, X: FloatArray, y: Any) -> FloatArray:
    """Return the p-values of a selector's test of relevance."""
    found = selector.begin(y, serial=False).measure_block(X).relevance
    return np.asarray(found.p_value[np.arange(X.shape[1])], float)


def compared(what: str, oracle: str, ours: Any, theirs: Any, wanted: float = 1e-8) -> Agreement:
    """Return the largest relative difference."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    apart = np.abs(ours - theirs) / np.maximum(theirs, 1e-300)
    return Agreement(what, oracle, len(ours), float(apart.max()), wanted)


def pearson(rng: Generator) -> Agreement:
    """The t test of a correlation."""
    ours, theirs = [], []
    for n in (5, 8, 20, 100, 1000):
        X, y = rng.standard_normal((n, 40)), rng.standard_normal(n)
        X[:, ::2] += y[:, None] * rng.random(20)
        ours += p_values(ss.OnlineFDR(p_value="t", test="fisher_z"), X, y).tolist()
        theirs += [scipy.stats.pearsonr(x, y).pvalue for x in X.T]
    return compared("t of a correlation", "scipy.stats.pearsonr", ours, theirs)


def fisher(rng: Generator) -> Agreement:
    """Fisher's exact test of two by two tables, as used under an online rule."""
    ours, theirs = [], []
    for n in (8, 20, 50, 300):
        y = rng.permutation(exact_labels(n, (0.7, 0.3)))
        X = (rng.random((n, 60)) < rng.random(60) * 0.6 + 0.2).astype(float)
        X = X[:, np.ptp(X, axis=0) > 0]
        ours += p_values(ss.OnlineFDR(test="fisher_z"), X, y).tolist()
        for x in X.T:
            table = [[int(np.sum((x == a) & (y == b))) for b in (0, 1)] for a in (0, 1)]
            theirs.append(scipy.stats.fisher_exact(table).pvalue)
    return compared("exact test of a 2 x 2 table", "scipy.stats.fisher_exact", ours, theirs)


def chi_squared(test: str, statistic: str) -> Callable[[Generator], Agreement]:
    """Return the comparison of a table test with the limiting distribution of its statistic."""

    def compare(rng: Generator) -> Agreement:
        ours, theirs = [], []
        for n, r, c in ((60, 2, 2), (200, 4, 3), (600, 6, 5)):
            X, y = rng.integers(0, r, (n, 40)).astype(float), rng.integers(0, c, n)
            ours += p_values(ss.FastOSFS(test=test, p_value="chi2"), X, y).tolist()
            for x in X.T:
                table = scipy.stats.contingency.crosstab(x, y).count
                found = scipy.stats.chi2_contingency(table, correction=False, lambda_=statistic)
                theirs.append(found.pvalue)
        return compared(f"{test}, chi2", "scipy.stats.chi2_contingency", ours, theirs)

    return compare


def partial(rng: Generator) -> Agreement:
    """The t test of a coefficient given the columns kept."""
    from statsmodels.api import OLS, add_constant  # noqa: PLC0415 - a test dependency

    ours, theirs = [], []
    for n in (30, 200):
        z = rng.standard_normal(n)
        y, X = 5 * z + rng.standard_normal(n), rng.standard_normal((n, 40)) + z[:, None]
        selector = ss.OnlineFDR(alpha=1e-4, scope="conditional", task="regression")
        ledger = selector.fit(np.column_stack([z, X]), y).ledger_
        ours += [decision.p_value for decision in ledger][1:]
        theirs += [OLS(y, add_constant(np.column_stack([z, x]))).fit().pvalues[2] for x in X.T]
    return compared("t in a linear model", "statsmodels.OLS", ours, theirs)


ONLINE: dict[str, Callable[[Any, float], Any]] = {
    "lord": lambda m, a: m.LordPlusPlus(a, a / 10),
    "dlord": lambda m, a: m.LordDiscard(a, a / 20, 0.5),
    "saffron": lambda m, a: m.Saffron(a, a / 2, 0.5),
    "addis": lambda m, a: m.Addis(a, a / 2, 0.25, 0.5),
    "alpha_investing": lambda m, a: m.Gai(a, a / 2),
}


def online(rng: Generator) -> Agreement:
    """Decisions of online rules whose weights are the same in both libraries."""
    from online_fdr import p_values as other  # noqa: PLC0415 - a test dependency

    different = made = 0
    for rule, make in ONLINE.items():
        for share in (0.0, 0.02, 0.1, 0.4, 0.8):
            z = rng.standard_normal(1000) + 3 * (rng.random(1000) < share)
            p = 2 * scipy.stats.norm.sf(np.abs(z))
            oracle = make(other, 0.05)
            theirs = np.array([bool(oracle.test_one(one)) for one in p.tolist()])
            different += int(np.sum(OnlineFDRProcedure(rule, 0.05).decide(p)[0] != theirs))
            made += len(p)
    return Agreement(f"decisions of {', '.join(ONLINE)}", "online-fdr", made, float(different), 0.0)


ORACLES = (
    pearson,
    fisher,
    chi_squared("g2", "log-likelihood"),
    chi_squared("chi2", "pearson"),
    partial,
    online,
)


def agreements() -> Iterator[Agreement]:
    """Yield the comparisons with libraries that are installed."""
    for oracle in ORACLES:
        try:
            yield oracle(np.random.default_rng(SEED))
        except ModuleNotFoundError:
            continue
