"""Rules: false discovery rate and power of whole selectors, over streams with a known truth."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.stats

import streamsieve as ss
from streamsieve.independence.online_fdr import RULES
from streamsieve.protocols import BoolArray
from studies.calibration.families import Generator, bernoulli, gaussian, lognormal
from studies.calibration.sizes import proportion_interval
from studies.calibration.streams import Situation, Stream, dependent, noise, patients, rare, series

ALPHA = 0.05
Procedure = Callable[[Stream], BoolArray]


@dataclass(frozen=True)
class Experiment:
    """Procedures over situations.

    Attributes
    ----------
    name, text : title and introduction on the page
    situations : kinds of streams
    procedures : by name, functions of a stream that return which columns they select
    streams : number of streams in a round
    bound : what procedures promise, in situations that their promise covers
    form : changes when a procedure does, so that stored results do not count any more
    """

    name: str
    text: str
    situations: tuple[Situation, ...]
    procedures: Mapping[str, Procedure]
    streams: int
    bound: float = ALPHA
    form: int = 1


@dataclass(frozen=True)
class Rate:
    """False discovery rate with its interval, and power."""

    fdr: float
    low: float
    high: float
    power: float | None


def simulate(experiment: Experiment, situation: Situation, seed: Sequence[int]) -> dict[str, Any]:
    """Return sums over streams, for every procedure; all see the same streams."""
    name = zlib.crc32(situation.name.encode())
    sums = {procedure: np.zeros(3) for procedure in experiment.procedures}
    signals = 0
    for s in range(experiment.streams):
        stream = situation.draw(np.random.default_rng([*seed, name, s]))
        signals += bool(stream.signal.any())
        for procedure, select in experiment.procedures.items():
            found = select(stream)
            false, true = int((found & ~stream.signal).sum()), int((found & stream.signal).sum())
            share = false / max(1, false + true)
            sums[procedure] += (share, share**2, true / max(1, int(stream.signal.sum())))
    rates = {procedure: some.tolist() for procedure, some in sums.items()}
    return {"streams": experiment.streams, "with signals": signals, "sums": rates}


def rate(procedure: str, rounds: Sequence[Mapping[str, Any]]) -> Rate:
    """Return the false discovery rate and the power of a procedure from the sums of some rounds."""
    streams, signals = (sum(one[key] for one in rounds) for key in ("streams", "with signals"))
    share, square, power = np.sum([one["sums"][procedure] for one in rounds], axis=0).tolist()
    mean = share / streams
    variance = (square / streams - mean**2) / (streams - 1)
    low, high = proportion_interval(mean, variance, streams)
    return Rate(mean, low, high, power / signals if signals else None)


# ------------------------------------------------------------------------------------ procedures


def kept(make: Callable[[], Any], stream: Stream, *, rows: bool = False) -> BoolArray:
    """Return the columns that a selector keeps; ``rows``: say how rows depend."""
    selector = make().begin(stream.y, **stream.begin if rows else {"serial": False})
    selector.offer(stream.X)
    chosen = np.zeros(stream.X.shape[1], bool)
    chosen[selector.selected_] = True
    return chosen


def all_at_once(stream: Stream) -> BoolArray:
    """Return the discoveries of Benjamini and Hochberg's procedure, over the p-values of all columns."""
    measured = ss.OnlineFDR(test="fisher_z").begin(stream.y, serial=False).measure_block(stream.X).relevance
    p_values = np.asarray(measured.p_value[np.arange(stream.X.shape[1])], float)
    found: BoolArray = scipy.stats.false_discovery_control(np.minimum(p_values, 1.0)) <= ALPHA
    return found


def online(rule: str, *, rows: bool = False, **options: Any) -> Procedure:
    """Return a rule over marginal tests; ``rows``: say how rows depend."""
    return partial(
        kept, lambda: ss.OnlineFDR(rule, alpha=ALPHA, ledger="none", **options, test="fisher_z"), rows=rows
    )


EVERY_RULE = {rule: online(rule) for rule in RULES}
#: Rules whose promise holds, or was observed to hold, for dependent columns.
ROBUST = frozenset({"lond", "lond_any", "alpha_spending"} & {*RULES})

# ------------------------------------------------------------------------------------ experiments


def only_noise(name: str, n: int, x: Any, y: Any) -> Situation:
    """Return a situation in which every discovery is false."""
    return Situation(f"{name}, n = {n}", noise(n, x, y), frozenset(RULES))


NOISE = Experiment(
    "Nothing to find",
    "1,000 columns that are independent of y and of each other given y: the probability that any is kept, "
    "which is the false discovery rate where there is nothing to find.",
    (
        *(only_noise("Gaussian", n, gaussian, gaussian) for n in (8, 12, 20, 50, 100, 1000)),
        only_noise("lognormal, class of 5 %", 100, lognormal, lambda _, n: rare(n, 0.05)),
        only_noise("lognormal x and y", 100, lognormal, lognormal),
        only_noise("ones (10 %), equal classes", 50, bernoulli(0.1), lambda _, n: rare(n, 0.5)),
    ),
    EVERY_RULE,
    100,
)

DEPENDENT_COLUMNS = Experiment(
    "Dependent columns",
    "1,000 columns over 300 rows; signals correlate with y by 3.5 standard errors. *AR(1)*: neighboring "
    "columns correlate by 0.9. *Equicorrelated*: all by 0.5. *Copies*: runs of ten columns that correlate by "
    "0.95. False discovery rate and, after the slash, power. The theorems of the procedures with figures in "
    'brackets are about independent columns; among dependent ones take `"lond"`, or a `lag` that reaches the '
    "range of the dependence.",
    tuple(
        Situation(
            f"{structure}, {share:.0%} signals",
            dependent(structure, share),
            frozenset(RULES) if structure == "independent" else ROBUST,
        )
        for structure in ("independent", "AR(1), 0.9", "equicorrelated, 0.5", "copies")
        for share in (0.1, 0.02)
    ),
    {**EVERY_RULE, "addis, lag 10": online("addis", lag=10), "Benjamini-Hochberg, offline": all_at_once},
    50,
)

DECLARED = {f"{rule}, declared": online(rule, rows=True) for rule in ("addis", "lond")}
DEPENDENT_ROWS = Experiment(
    "Dependent rows",
    "1,000 columns, one in twenty depends on y. AR(1) series of 300 rows, where signals correlate with y by "
    "0.45; 30 groups of 10 rows with intraclass correlation 0.3 and one label each. *Declared*: "
    "`begin(y, serial=True)` or `begin(y, groups=...)`. False discovery rate and, after the slash, power.",
    (
        Situation("AR(1) rows, 0.5", series(0.5), frozenset(DECLARED)),
        Situation("AR(1) rows, 0.8", series(0.8), frozenset(DECLARED)),
        Situation("30 groups of 10 rows", patients(30, 10), frozenset(DECLARED)),
    ),
    {**DECLARED, "addis, not declared": online("addis")},
    50,
)


def pairs(n_levels: int, classes: int, n: int) -> Situation:
    """Return 40 columns of category codes that are independent of the classes."""

    def draw(rng: Generator) -> Stream:
        X = rng.integers(0, n_levels, (n, 40)).astype(float)
        return Stream(X, rng.integers(0, classes, n), np.zeros(40, bool))

    name = f"{n_levels} levels, {classes} classes, n = {n}"
    return Situation(name, draw, frozenset({"InteractionScan"}))


INTERACTIONS = Experiment(
    "Pairs",
    "`InteractionScan` over 40 columns that are independent of y; its `alpha` bounds the probability to keep "
    "any column.",
    (pairs(8, 5, 1200), pairs(8, 2, 300), pairs(2, 2, 200)),
    {"InteractionScan": partial(kept, lambda: ss.InteractionScan(alpha=ALPHA, ledger="none"))},
    100,
)


def confirmed(stream: Stream, *, alpha: float) -> BoolArray:
    """Return the columns that SAOLA keeps on 70 % of the rows and the other 30 % confirm."""
    selector = ss.SAOLA(alpha, measure="fisher_z").begin(stream.y, serial=False, holdout=0.3)
    selector.offer(stream.X)
    chosen = np.zeros(stream.X.shape[1], bool)
    chosen[selector.selected_[selector.confirm(ALPHA)["confirmed"]]] = True
    return chosen


HELD_OUT = Experiment(
    "Rows held out",
    "What is left after redundant columns are removed: nothing is promised about it, unless rows that "
    "selection has not seen confirm it. `SAOLA(alpha=0.05)` over the columns of the experiment above.",
    tuple(
        Situation(f"{structure}, {share:.0%} signals", dependent(structure, share), frozenset({"confirmed"}))
        for structure in ("independent", "AR(1), 0.9", "copies")
        for share in (0.1, 0.02)
    ),
    {
        "kept": partial(kept, lambda: ss.SAOLA(ALPHA, ledger="none", measure="fisher_z")),
        "confirmed": partial(confirmed, alpha=ALPHA),
    },
    50,
)


def ever_selected(stream: Stream, *, looks: str, every: int) -> BoolArray:
    """Return the features that a row screen has selected at any of its readings."""
    screen = ss.Screen("f", alpha=ALPHA, correction="bonferroni", looks=looks, ledger="none")
    chosen = np.zeros(stream.X.shape[1], bool)
    for low in range(0, len(stream.y), every):
        screen.partial_fit(stream.X[low : low + every], stream.y[low : low + every])
        chosen[screen.selected_] = True
    return chosen


def rows_of_noise(rng: Generator) -> Stream:
    """Return 50 features of 2,000 rows that are independent of two classes."""
    return Stream(rng.standard_normal((2000, 50)), rng.integers(0, 2, 2000), np.zeros(50, bool))


LOOKS = Experiment(
    "Repeated looks",
    '`Screen("f", alpha=0.05, correction="bonferroni")` over 2,000 rows and 50 features that are '
    'independent of y: the probability that a feature is ever selected. *Any look*: `looks="any"`, which is '
    "for a selection that is read repeatedly.",
    (
        Situation(
            "Gaussian, two classes", rows_of_noise, frozenset({"read at the end", "any look, read 100 times"})
        ),
    ),
    {
        "read at the end": partial(ever_selected, looks="once", every=2000),
        "read 100 times": partial(ever_selected, looks="once", every=20),
        "any look, read 100 times": partial(ever_selected, looks="any", every=20),
    },
    200,
)

EXPERIMENTS = (NOISE, DEPENDENT_COLUMNS, DEPENDENT_ROWS, HELD_OUT, INTERACTIONS, LOOKS)
