"""Promises of methods over families named before the first run: ``python -m studies.calibration.promises``.

Writes docs/evidence/promises.md, and stores its numbers.  All columns are noise, so that a false discovery
rate is the probability of any discovery.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.signal import lfilter
from scipy.special import ndtr

import streamsieve as ss
from streamsieve.independence.online_fdr import RULES, OnlineFDRProcedure
from streamsieve.offline import HITONPC, IAMB
from streamsieve.protocols import FloatArray
from studies._desk import HERE
from studies._report import table, wrapped
from studies.calibration.families import exact_labels
from studies.calibration.sizes import proportion_interval

RESULTS = HERE / "results" / "promises.json"
PAGE = HERE.parent / "docs" / "evidence" / "promises.md"
ALPHA, SIZE, COLUMNS = 0.05, 0.01, 200
#: Streams that end early: tests, mean and shares of signals, and what is barely significant.
TESTS, STOPPED_MEAN, SHARES, BARELY = 1000, 4.5, (0.02, 0.1, 0.4), 0.3

Generator = np.random.Generator


class Noise(NamedTuple):
    """Columns that are independent of a target, and what ``begin`` is told about the rows."""

    X: FloatArray
    y: Any
    begin: dict[str, Any] = {}


# ------------------------------------------------------------------------------------ families


def amounts(rng: Generator) -> Noise:
    """Counts with 85 % zeros more than a negative binomial has, and classes of 80, 15 and 5 %."""
    counts = rng.negative_binomial(0.8, 0.2, (120, COLUMNS)) * (rng.random((120, COLUMNS)) < 0.15)
    return Noise(counts.astype(float), rng.permutation(exact_labels(120, (0.8, 0.15, 0.05))))


def bits_in_blocks(rng: Generator) -> Noise:
    """Blocks of ten bits that share a latent variable and a frequency, and a class of 30 %."""
    latent = np.repeat(rng.standard_normal((80, COLUMNS // 10)), 10, axis=1)
    values = np.sqrt(0.8) * latent + np.sqrt(0.2) * rng.standard_normal((80, COLUMNS))
    cut = np.repeat(np.sort(values, axis=0)[rng.integers(56, 78, COLUMNS), np.arange(COLUMNS)][::10], 10)
    return Noise((values > cut).astype(float), rng.permutation(exact_labels(80, (0.7, 0.3))))


def rounded(rng: Generator) -> Noise:
    """Exponential waiting times in whole units, and a target of small counts, over 30 rows."""
    y = rng.poisson(1.5, 30)
    return Noise(np.ceil(rng.exponential(2.0, (30, COLUMNS))), y + 0.5)


def visits(rng: Generator, target: str) -> Noise:
    """Twelve visits of each of 16 subjects: an effect of the subject, and an AR(1) series within each."""
    series = lfilter([1.0], [1.0, -0.6], rng.standard_normal((16, 40, COLUMNS + 1)), axis=1)[:, 28:]
    both = (series + rng.standard_normal((16, 1, COLUMNS + 1))).reshape(16 * 12, -1)
    subjects, y = np.repeat(np.arange(16), 12), both[:, -1]
    if target == "a state":
        y = (y > np.quantile(y, 0.7)).astype(int)
    elif target == "a label per subject":
        y = rng.permutation(np.arange(16) < 5).astype(int)[subjects]
    return Noise(np.ascontiguousarray(both[:, :-1]), y, {"groups": subjects})


def spread(rng: Generator) -> Noise:
    """Columns with the same mean in both classes, but three times the spread in one of 20 %."""
    y = rng.permutation(exact_labels(100, (0.8, 0.2)))
    return Noise(rng.standard_normal((100, COLUMNS)) * np.where(y == 1, 3.0, 1.0)[:, None], y)


INDEPENDENT = {
    "counts with many zeros, 3 classes": amounts,
    "bits in blocks, 2 classes": bits_in_blocks,
    "rounded times, small counts": rounded,
}
GROUPED = {
    f"visits, {target}": partial(visits, target=target)
    for target in ("a number", "a state", "a label per subject")
}
CLASSES = {name: draw for name, draw in INDEPENDENT.items() if draw is not rounded}
SPREAD = {"a rare class of large spread": spread}

# ------------------------------------------------------------------------------------ methods


def found(make: Callable[[], Any], noise: Noise) -> float:
    """Whether any column is found relevant."""
    selector = make().begin(noise.y, **noise.begin)
    selector.offer(noise.X)
    return float(selector.n_found_ > 0)


def scanned(noise: Noise) -> float:
    """Whether any of 40 columns, or of their pairs, is found."""
    return found(lambda: ss.InteractionScan(alpha=ALPHA), noise._replace(X=noise.X[:, :40]))


def confirmed(noise: Noise) -> float:
    """Whether any of the columns that a generous level keeps is confirmed on held-out rows."""
    sieve = ss.SAOLA(alpha=0.2).fit(noise.X, noise.y, holdout=0.5)
    return float(any(sieve.confirm(ALPHA)["confirmed"]))


def ever(criterion: str, noise: Noise) -> float:
    """Whether any column is selected at any of the readings, one after every ten rows."""
    screen = ss.Screen(criterion, alpha=ALPHA, correction="bonferroni", looks="any")
    return float(any(
        len(screen.partial_fit(noise.X[low : low + 10], noise.y[low : low + 10]).selected_)
        for low in range(0, len(noise.y), 10)
    ))  # fmt: skip


def share(make: Callable[[], Any], noise: Noise) -> float:
    """Return the share of columns with a p-value of at most the level."""
    return float(np.mean(make().fit(noise.X, noise.y).pvalues_ <= SIZE))


def screened(criterion: str, noise: Noise) -> float:
    """Return the share of columns that a screen at a fixed level selects."""
    screen = ss.Screen(criterion, alpha=SIZE).partial_fit(noise.X, noise.y)
    return len(screen.selected_) / COLUMNS


def gate(cls: Any, **options: Any) -> Callable[[Noise], float]:
    """Return whether a selector finds anything."""
    return partial(found, lambda: cls(alpha=ALPHA, **options))


#: Methods, what they promise, and over which families.
METHODS: dict[str, tuple[float, dict[str, Any], Callable[[Noise], float]]] = {
    **{f'`OnlineFDR("{rule}")`': (ALPHA, INDEPENDENT | GROUPED | SPREAD, gate(ss.OnlineFDR, fdr=rule))
       for rule in ("addis", "lond", "alpha_spending")},
    '`OnlineFDR("lond", test="basis")`': (ALPHA, INDEPENDENT, gate(ss.OnlineFDR, fdr="lond", test="basis")),
    '`SAOLA(fdr="addis")`': (ALPHA, INDEPENDENT | GROUPED, gate(ss.SAOLA, fdr="addis")),
    '`FastOSFS(fdr="lond")`': (ALPHA, INDEPENDENT | GROUPED, gate(ss.FastOSFS, fdr="lond")),
    '`TopK(10, fdr="lond")`': (ALPHA, INDEPENDENT | GROUPED, gate(ss.TopK, k=10, fdr="lond")),
    '`GroupSAOLA(fdr="lond")`': (ALPHA, INDEPENDENT, gate(ss.GroupSAOLA, fdr="lond")),
    "`InteractionScan()`": (ALPHA, INDEPENDENT, scanned),
    "`SAOLA(alpha=0.2)` and `confirm()`": (ALPHA, INDEPENDENT, confirmed),
    '`Screen("f", looks="any")`': (ALPHA, CLASSES, partial(ever, "f")),
    '`Screen("chi2", looks="any")`': (ALPHA, CLASSES, partial(ever, "chi2")),
    '`HITONPC("fisher_z")`, p <= .01': (SIZE, INDEPENDENT, partial(share, lambda: HITONPC(test="fisher_z"))),
    '`HITONPC("g2")`, p <= .01': (SIZE, INDEPENDENT, partial(share, lambda: HITONPC(test="g2"))),
    '`IAMB("fisher_z")`, p <= .01': (SIZE, INDEPENDENT, partial(share, lambda: IAMB(test="fisher_z"))),
    **{f'`Screen("{criterion}")`, p <= .01': (SIZE, SPREAD, partial(screened, criterion))
       for criterion in ("t", "f", "chi2")},
}  # fmt: skip


def counted(method: str, family: str, streams: int) -> dict[str, Any]:
    """Return the mean over streams, with its 99.9 % interval."""
    bound, families, measure = METHODS[method]
    at = [*METHODS].index(method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        rates = np.array([
            measure(families[family](np.random.default_rng([at, len(family), s]))) for s in range(streams)
        ])  # fmt: skip
    low, high = proportion_interval(float(rates.mean()), float(rates.var(ddof=1)) / streams, streams)
    return {
        "method": method,
        "family": family,
        "bound": bound,
        "rate": rates.mean(),
        "low": low,
        "high": high,
    }


def stopped(share: float, streams: int) -> dict[str, list[float]]:
    """Return rates of every rule if a stream ends after the first discovery that is barely significant.

    That is one whose p-value is above three tenths of its level.  FDR and mFDR at this time, and the FDR at
    the end of the stream, of independent two-sided z tests of which a share are signals.
    """
    rng, sums = np.random.default_rng(0), {rule: np.zeros(4) for rule in RULES}
    for _ in range(streams):
        signal = rng.random(TESTS) < share
        p = 2 * ndtr(-np.abs(rng.standard_normal(TESTS) + np.where(signal, STOPPED_MEAN, 0.0)))
        for rule in RULES:
            found, levels = OnlineFDRProcedure(rule, ALPHA).decide(p)
            barely = np.flatnonzero(found & (p > BARELY * levels))
            ends = (barely[0] + 1 if len(barely) else TESTS), TESTS
            (false, number), at_end = (
                ((found & ~signal)[:end].sum(), max(1, found[:end].sum())) for end in ends
            )
            sums[rule] += (false / number, false, number, at_end[0] / at_end[1])
    return {
        rule: [float(fdr / streams), float(false / number), float(end / streams)]
        for rule, (fdr, false, number, end) in sums.items()
    }


def page(cells: list[dict[str, Any]], streams: int, at_stop: dict[str, dict[str, list[float]]]) -> str:
    """Return the page."""
    families = [*(INDEPENDENT | GROUPED | SPREAD)]
    above = [cell for cell in cells if cell["low"] > cell["bound"]]
    head = f"""\
# Promises of whole methods

Written by `python -m studies.calibration.promises`; do not edit. All columns are noise, {streams} streams of
{COLUMNS} columns per cell: the probability that anything is found, kept or confirmed, which is the false
discovery rate and the family-wise error rate, and should be at most {ALPHA:g}; or, in rows that say so, the
share of p-values up to {SIZE:g}. The families were named before the first run, and the methods were written
before them. Bold: the 99.9 % interval lies above the bound; {len(above)} of {len(cells)} cells.

- *Counts with many zeros*: 120 rows, classes of 80, 15 and 5 %. *Bits in blocks*: 80 rows, blocks of ten
  columns that share a latent variable, so that p-values are discrete and dependent; ADDIS promises nothing
  there. *Rounded times*: 30 rows, a target of small counts.
- *Visits*: twelve visits of each of 16 subjects, autocorrelated within a subject, with `groups=` the
  subjects.
- *A rare class of large spread*: the means are equal, but the spread is three times as large in a class of
  20 %. Such columns depend on the target, and the null hypothesis of all tests but Welch's is that they do
  not: that such a column is found is no error by it, but it does not show that means differ. The test of
  means there is `Screen("t")`.
- `Screen("f")` and `IAMB(test="fisher_z")` have the plain F test, whose p-values are too small for counts
  with many zeros and a rare class: the mean of the class rests on a few rows, and is far from normal. The
  smaller the level, the larger the error, so that `looks="any"`, which spreads alpha over many looks, suffers
  most. A row screen stores means and variances, which cannot show that values are skewed, so nothing warns.
  Take `Screen("chi2")` or `Screen("mutual_info")`, and `IAMB(test="g2")` or `HITONPC`.

"""
    known = {(cell["method"], cell["family"]): cell for cell in cells}
    rows = [[method, *(_rate(known.get((method, family))) for family in families)] for method in METHODS]
    tail = f"""\
## Stopping at a time that depends on the discoveries

Independent two-sided z tests, signals with a mean of {STOPPED_MEAN:g}, {TESTS:,} per stream: the FDR and the
mFDR if the stream ends after the first discovery whose p-value is above {BARELY:g} times its level, and the
FDR if it ends after all tests. Bounds on the FDR hold at times fixed in advance; `"lond"`, `"lond_any"` and
`"alpha_spending"` hold theirs at any time, because the proof adds up all tests. At any time the others bound
the mFDR (optional stopping). If discoveries may end the stream, as with `Stop(max_features=...)`, and the FDR
is to be bounded, take one of these three. Bold: above {ALPHA:g}.

"""
    headings = [
        f"{float(share):.0%} signals: {what}" for share in at_stop for what in ("FDR", "mFDR", "at the end")
    ]
    rates = [
        [f'`"{rule}"`', *(_text(rate, bold=rate > ALPHA) for one in at_stop.values() for rate in one[rule])]
        for rule in RULES
    ]
    return (
        wrapped(head) + "\n" + table(["method", *families], rows) + "\n"
        + wrapped(tail) + "\n" + table(["`fdr=`", *headings], rates)
    )  # fmt: skip


def _rate(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return ""
    return _text(cell["rate"], bold=cell["low"] > cell["bound"])


def _text(rate: float, *, bold: bool) -> str:
    text = f"{rate:.3f}".lstrip("0")
    return f"**{text}**" if bold else text


def main(arguments: list[str] | None = None) -> int:
    """Simulate, store the numbers and write the page."""
    parser = argparse.ArgumentParser(prog="python -m studies.calibration.promises", description=__doc__)
    parser.add_argument("--streams", type=int, default=400, help="streams per method and family (400)")
    parser.add_argument("--page", action="store_true", help="write the page from the stored numbers")
    given = parser.parse_args(arguments)
    if given.page:
        PAGE.write_text(page(**json.loads(RESULTS.read_text())))
        return 0
    streams = given.streams
    cells = [counted(method, family, streams) for method in METHODS for family in METHODS[method][1]]
    at_stop = {f"{share:g}": stopped(share, 4 * streams) for share in SHARES}
    stored = {"cells": cells, "streams": streams, "at_stop": at_stop}
    RESULTS.write_text(json.dumps(stored, indent=0) + "\n")
    PAGE.write_text(page(**stored))
    return 0


if __name__ == "__main__":
    sys.exit(main())
