"""Screens on a stream whose relevant features wander (Wang 2021, section 3.4.2)."""

from __future__ import annotations

from studies import _report
from studies._desk import Desk
from studies.drift import criteria, grid, minibatch, over_time, reference
from studies.drift._stream import MINIBATCH, Size

QUICK = Size(n_rows=3_000, n_features=60, n_relevant=6, tops=(30, 12), seeds=2)


def run(desk: Desk) -> str:
    """Compute, draw, and return the page."""
    size = QUICK if desk.quick else Size()
    return _report.page(
        desk,
        "Relevant features that drift",
        _introduction(size),
        reference.section(desk, size),
        minibatch.section(desk, size),
        grid.section(desk, size),
        over_time.section(desk, size),
        criteria.section(desk, size),
    )


def _introduction(size: Size) -> str:
    most, few = size.tops
    return f"""\
The stream of Wang, *Online and Offline Feature Screening and Applications*, 2021, section 3.4.2
(`streamsieve.DriftingStream`): {size.n_rows:,} rows, {size.n_features:,} features, any two correlated by .2,
{size.n_relevant} relevant at a time; every *l* rows one of them is replaced by the next. A relevant feature
correlates with the target by .456 and any other by .438: telling them apart takes thousands of rows, which a
screen that forgets quickly does not have. The *detection rate at k* is the share of the relevant features
among the k best (equation 3.23); guessing gives {most / size.n_features:.2f} at {most} and
{few / size.n_features:.2f} at {few}.

The thesis prints pictures, not numbers. It leaves open how its continuous target becomes a label (here: its
sign), whether the fading factor applies to a row or to a minibatch, and which factor its figure 3.3 used. A
factor of .9 a *row* remembers ten rows and finds hardly more than guessing; so its figures must mean
minibatches, of {MINIBATCH} rows as elsewhere in the chapter. The same speed is
`half_life = {MINIBATCH} log(.5) / log(alpha)` rows.
"""
