"""Rules over bare p-values, beside an earlier simulation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

from studies import _report
from studies._desk import Desk
from studies.discovery._simulation import (
    EVERY,
    NOTHING,
    RECONSTRUCTED,
    SITUATIONS,
    Known,
    Rates,
    Situation,
    known,
    simulate,
)

#: Streams of the earlier simulation; its errors are not printed, so ours tell them.
EARLIER = 200
LAGS = (0, 5, 10)
LAGGED = ("saffron", "addis", "lord")
#: Differences that are more than chance: so many standard errors.
MANY_ERRORS = 3


def section(desk: Desk) -> str:
    """Compute and compare."""
    streams = 20 if desk.quick else 1000
    found = {
        name: _part(desk, f"levels, {name}", EVERY, situation, streams)
        for name, situation in SITUATIONS.items()
    }
    lagged = {
        lag: _part(desk, f"levels, lag {lag}", LAGGED, SITUATIONS["autocorrelated"], streams, lag)
        for lag in LAGS
    }
    nothing = _part(desk, "levels, nothing", EVERY, NOTHING, 2 * streams)
    return f"""\
## The rules

1,000 two-sided z tests, signals with a mean of 3, {streams:,} streams. Signals are *a tenth*, *four tenths*
or *a fiftieth* of all tests at random places, half of the first or of the last 200 tests (*early*, *late*),
or a fifth of one-sided tests whose nulls have a mean between -1.5 and 0 (*conservative*); a tenth again, with
a correlation of 0.3 between all tests or of 0.8 between neighbours. Cells are ours, the earlier simulation's
({EARLIER} streams), and the difference. *Bids* are `AlphaInvesting`'s, with wealth and payout of 0.05 or 0.5;
*lond with max* has the level alpha w_t max(1, found) and the weights of LORD, as the earlier simulation;
*offline* is Benjamini-Hochberg over all 1,000 tests at once, which no stream can have; *fixed* is p <= 0.01.

False discovery rate:

{_table(found, _fdr)}
Power:

{_table(found, _power)}
{_verdict(found, streams)}

### A lag for neighbours that are alike

Neighbours correlated by 0.8, as in the last column above; the outcome of the last *lag* tests does not
influence a level.

{_lag_table(lagged)}
### Nothing to find

How often there is any discovery among 1,000 tests without a signal ({2 * streams:,} streams).

{_nothing_table(nothing)}"""


def _part(
    desk: Desk, name: str, rules: Sequence[str], situation: Situation, streams: int, lag: int = 0
) -> dict[str, Rates]:
    settings = {"rules": rules, "situation": asdict(situation), "streams": streams, "lag": lag, "form": 2}
    stored = desk.part(name, settings, _compute, rules, situation, streams, lag)
    return {rule: Rates(**stored[rule]) for rule in rules}


def _compute(
    rules: Sequence[str], situation: Situation, streams: int, lag: int
) -> dict[str, dict[str, float]]:
    rates = simulate(rules, situation, lag=lag, streams=streams, seed=1)
    return {rule: asdict(some) for rule, some in rates.items()}


# ------------------------------------------------------------------------------------ tables


def _fdr(rates: Rates | Known) -> float | None:
    return rates.fdr


def _power(rates: Rates | Known) -> float | None:
    return rates.power


def _table(found: dict[str, dict[str, Rates]], of: Callable[[Rates | Known], float | None]) -> str:
    rows = [
        [rule, *(_cell(of(found[name][rule]), of(known(rule, name))) for name in SITUATIONS)]
        for rule in EVERY
    ]
    return _report.table(["rule", *SITUATIONS], rows)


def _cell(ours: float | None, theirs: float | None) -> str:
    if ours is None:
        return ""
    return f"{ours:.3f}" if theirs is None else f"{ours:.3f}, {theirs:.3f}, {ours - theirs:+.3f}"


def _lag_table(lagged: dict[int, dict[str, Rates]]) -> str:
    rows = [
        [
            f"{rule}, lag {lag}",
            _cell(lagged[lag][rule].fdr, known(rule, "autocorrelated", lag).fdr),
            _cell(lagged[lag][rule].power, known(rule, "autocorrelated", lag).power),
        ]
        for rule in LAGGED
        for lag in LAGS
    ]
    return _report.table(["rule", "FDR", "power"], rows)


def _nothing_table(nothing: dict[str, Rates]) -> str:
    rows = [[rule, _cell(nothing[rule].fdr, known(rule, "nothing").fdr)] for rule in EVERY]
    return _report.table(["rule", "share of streams"], rows)


def _verdict(found: dict[str, dict[str, Rates]], streams: int) -> str:
    """Say how many cells differ by more than chance."""
    wide = MANY_ERRORS * (1 + streams / EARLIER) ** 0.5
    cells, far = 0, []
    for name in SITUATIONS:
        for rule in EVERY:
            ours, theirs = found[name][rule], known(rule, name)
            pairs = (
                ("FDR", ours.fdr, theirs.fdr, max(ours.fdr_error, 0.0005), 0.0005),
                ("power", ours.power, theirs.power, ours.power_error, 0.005),
            )
            for what, mine, other, error, rounding in pairs:
                if other is not None:
                    cells += 1
                    if abs(mine - other) > wide * error + rounding:
                        far.append(f"{what} of {rule}, {name}")
    differing = f"these {len(far)} do: {'; '.join(far)}" if far else "none does"
    names = " and ".join([", ".join(RECONSTRUCTED[:-1]), RECONSTRUCTED[-1]])
    return (
        f"Of {cells} cells that the earlier simulation has, a difference of more than {MANY_ERRORS} standard "
        f"errors of both would be more than chance; {differing}. The earlier simulation does not describe "
        f"its situations: {names} were made so that the rates agree, a few variants of each having been "
        "tried, and agreement there confirms the rules only in so far as one choice fits them all at once. "
        "The other situations follow from their names."
    )
