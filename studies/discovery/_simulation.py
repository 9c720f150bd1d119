"""Streams of tests with a known truth, and how often a rule errs on them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy.stats
from scipy.signal import lfilter
from scipy.special import ndtr

from streamsieve.independence.online_fdr import RULES, OnlineFDRProcedure
from streamsieve.protocols import BoolArray, FloatArray
from studies._desk import HERE

ALPHA = 0.05
N_TESTS = 1000
#: Mean of a signal, in standard errors.
SIGNAL = 3.0
FILE = HERE / "published" / "online_fdr_simulation.csv"


# ------------------------------------------------------------------------------------ streams


@dataclass(frozen=True)
class Situation:
    """What a stream of tests is like.

    Attributes
    ----------
    share : of tests that are signals, where there are any
    where : from which test to which there are signals
    noise : "independent", "equicorrelated" by 0.3, or "autocorrelated" by 0.8
    lowest_null : means of the nulls are drawn between this and 0, and the tests are one-sided
    """

    share: float
    where: tuple[int, int] = (0, N_TESTS)
    noise: str = "independent"
    lowest_null: float = 0.0


#: The earlier simulation names its situations without describing them.  Where signals stand in "early" and
#: "late", and what nulls are "conservative", was found by trying variants until the rates agreed: there the
#: agreement is by construction.
RECONSTRUCTED = ("early", "late", "conservative")
SITUATIONS = {
    "a tenth": Situation(0.1),
    "four tenths": Situation(0.4),
    "a fiftieth": Situation(0.02),
    "early": Situation(0.5, where=(0, 200)),
    "late": Situation(0.5, where=(800, 1000)),
    "conservative": Situation(0.2, lowest_null=-1.5),
    "equicorrelated": Situation(0.1, noise="equicorrelated"),
    "autocorrelated": Situation(0.1, noise="autocorrelated"),
}
#: No signal at all; the false discovery rate is then the chance that there is any discovery.
NOTHING = Situation(0.0)


def stream(rng: np.random.Generator, situation: Situation) -> tuple[FloatArray, BoolArray]:
    """Return the p-values of a stream of z tests, and which of them are signals."""
    signal = np.zeros(N_TESTS, bool)
    first, last = situation.where
    signal[first:last] = rng.random(last - first) < situation.share
    z = _noise(rng, situation.noise)
    if situation.lowest_null < 0:
        null = rng.uniform(situation.lowest_null, 0, N_TESTS)
        return ndtr(-z - np.where(signal, SIGNAL, null)), signal
    return 2 * ndtr(-np.abs(z + SIGNAL * signal)), signal


def _noise(rng: np.random.Generator, kind: str) -> FloatArray:
    z = rng.normal(size=N_TESTS)
    if kind == "equicorrelated":
        z = np.sqrt(0.7) * z + np.sqrt(0.3) * rng.normal()
    elif kind == "autocorrelated":
        z[1:] *= 0.6
        z = lfilter([1.0], [1.0, -0.8], z)
    return z


# ------------------------------------------------------------------------------------ rules


def _bids(wealth: float) -> Callable[[FloatArray], BoolArray]:
    """Return alpha-investing as its first paper has it and ``AlphaInvesting`` does, for p-values."""

    def found(p_values: FloatArray) -> BoolArray:
        left, out = wealth, []
        for i, p in enumerate(p_values.tolist(), start=1):
            level = left / (2 * i)
            out.append(p < level)
            left += (wealth if p < level else 0.0) - level
        return np.array(out)

    return found


def _lond_with_max(p_values: FloatArray) -> BoolArray:
    """Return LOND with max(1, discoveries) and the weights of LORD, as the earlier simulation had it."""
    i = np.arange(1, len(p_values) + 1)
    weights = 0.07720838 * np.log(np.maximum(i, 2)) / (i * np.exp(np.sqrt(np.log(i))))
    found = np.zeros(len(p_values), bool)
    for t, p in enumerate(p_values.tolist()):
        found[t] = p <= ALPHA * weights[t] * max(1, found[:t].sum())
    return found


#: What is not a rule of ours: LOND of another form, the bids of ``AlphaInvesting``, Benjamini-Hochberg over
#: all tests, one level.
OTHERS: dict[str, Callable[[FloatArray], BoolArray]] = {
    "lond with max": _lond_with_max,
    "bids of 0.05": _bids(0.05),
    "bids of 0.5": _bids(0.5),
    "offline": lambda p_values: scipy.stats.false_discovery_control(p_values) <= ALPHA,
    "fixed": lambda p_values: p_values <= 0.01,
}
EVERY = (*RULES, *OTHERS)


def found_by(rule: str, p_values: FloatArray, lag: int = 0) -> BoolArray:
    """Return which tests of a stream a rule calls discoveries."""
    return (
        OTHERS[rule](p_values) if rule in OTHERS else OnlineFDRProcedure(rule, ALPHA, lag).decide(p_values)[0]
    )


# ------------------------------------------------------------------------------------ rates


@dataclass(frozen=True)
class Rates:
    """False discovery rate and power over many streams, and their standard errors."""

    fdr: float
    power: float
    fdr_error: float
    power_error: float

    @classmethod
    def over(cls, pairs: Sequence[tuple[float, float]]) -> Rates:
        """Return the rates from what :func:`shares` says about every stream."""
        values = np.array(pairs)
        errors = values.std(axis=0, ddof=1) / len(values) ** 0.5
        return cls(*values.mean(axis=0).tolist(), *errors.tolist())


def shares(found: BoolArray, signal: BoolArray) -> tuple[float, float]:
    """Return the share of false ones among discoveries, and of discoveries among signals."""
    false, true = int((found & ~signal).sum()), int((found & signal).sum())
    return false / max(1, false + true), true / max(1, int(signal.sum()))


def simulate(
    rules: Sequence[str], situation: Situation, *, lag: int = 0, streams: int = 200, seed: int = 0
) -> dict[str, Rates]:
    """Return the rates of rules in a situation, all over the same streams."""
    rng = np.random.default_rng(seed)
    pairs: dict[str, list[tuple[float, float]]] = {rule: [] for rule in rules}
    for _ in range(streams):
        p_values, signal = stream(rng, situation)
        for rule, some in pairs.items():
            some.append(shares(found_by(rule, p_values, lag), signal))
    return {rule: Rates.over(some) for rule, some in pairs.items()}


# ------------------------------------------------------------------------------------ what is known


@dataclass(frozen=True)
class Known:
    """Rates of an earlier simulation; None where it gives none."""

    fdr: float | None = None
    power: float | None = None


def known(rule: str, situation: str, lag: int | None = None) -> Known:
    """Return the rates of the earlier simulation, 200 streams a cell."""
    return _known().get((rule, situation, lag), Known())


@cache
def _known() -> dict[tuple[str, str, int | None], Known]:
    with FILE.open(newline="", encoding="utf-8") as file:
        return {
            (row["rule"], row["situation"], int(row["lag"]) if row["lag"] else None): Known(
                float(row["fdr"]), float(row["power"]) if row["power"] else None
            )
            for row in csv.DictReader(file)
        }
