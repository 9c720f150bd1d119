"""The T-score at four rates of drift and five fading factors, against reference values."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from streamsieve.protocols import FloatArray
from studies import _report
from studies._desk import Desk
from studies.drift._stream import ALPHAS, SHIFTS, Size, half_life, rates, screens

TOPS = (500, 200)
TOLERANCE = 0.03
#: Detection rates at 500 and at 200, by rate of drift and fading factor: one run of an independent program in
#: plain NumPy that fades by minibatch.
REFERENCE: dict[int, tuple[tuple[float, float], ...]] = {
    250: ((0.839, 0.544), (0.885, 0.636), (0.875, 0.640), (0.826, 0.552), (0.564, 0.219)),
    500: ((0.836, 0.530), (0.907, 0.653), (0.936, 0.755), (0.912, 0.726), (0.763, 0.475)),
    1000: ((0.848, 0.556), (0.931, 0.690), (0.968, 0.871), (0.964, 0.880), (0.915, 0.769)),
    2000: ((0.837, 0.543), (0.926, 0.695), (0.987, 0.893), (0.990, 0.941), (0.965, 0.888)),
}


def section(desk: Desk, size: Size) -> str:
    """Compute and compare."""
    cells = {shift: _cells(desk, size, shift) for shift in SHIFTS}
    ours = np.array([values.mean(axis=0) for values in cells.values()])
    spread = np.array([values.std(axis=0, ddof=1) for values in cells.values()])
    difference = ours - np.array([REFERENCE[shift] for shift in SHIFTS])
    return f"""\
## The T-score against reference values

*reference* is one run of an independent program in plain NumPy that fades by minibatch. *ours* is
`Screen("t", half_life=...)`, which fades by row, the mean over {size.seeds} streams; *spread* is the standard
deviation of a single stream. Rates are means over the last quarter of the stream.

{_table(ours, difference, spread)}
{_verdict(difference, spread, size.seeds)}"""


def _cells(desk: Desk, size: Size, shift: int) -> FloatArray:
    """Return the detection rates, (seed, alpha, top)."""

    def compute(seed: int) -> list[list[float]]:
        return list(rates(size.stream(shift, seed), screens(ALPHAS, size.tops[0]), size.tops).values())

    settings = {"size": asdict(size), "alphas": ALPHAS}
    names = [f"reference, a shift every {shift} rows, seed {seed}" for seed in range(size.seeds)]
    return np.array(desk.together([(name, settings, compute, seed) for seed, name in enumerate(names)]))


def _table(ours: FloatArray, difference: FloatArray, spread: FloatArray) -> str:
    headings = ["l", "alpha", "half-life"]
    for top in TOPS:
        headings += [f"@{top} reference", "ours", "difference", "spread"]
    lines = []
    for i, shift in enumerate(SHIFTS):
        for j, alpha in enumerate(ALPHAS):
            life = half_life(alpha)
            line = [f"{shift:,}", f"{alpha:g}", "never forgets" if life is None else f"{life:,.0f}"]
            for k in range(len(TOPS)):
                line += [f"{REFERENCE[shift][j][k]:.3f}", f"{ours[i, j, k]:.3f}"]
                line += [f"{difference[i, j, k]:+.3f}", f"{spread[i, j, k]:.3f}"]
            lines.append(line)
    return _report.table(headings, lines)


def _verdict(difference: FloatArray, spread: FloatArray, seeds: int) -> str:
    # the reference is one stream and ours the mean of several: both scatter
    apart = np.abs(difference) / np.maximum(spread * np.sqrt(1 + 1 / seeds), 1e-12)
    far = [
        f"l = {SHIFTS[i]:,}, alpha = {ALPHAS[j]:g}, at {TOPS[k]}: {difference[i, j, k]:+.3f}, which is "
        f"{apart[i, j, k]:.1f} spreads"
        for i, j, k in np.argwhere(np.abs(difference) > TOLERANCE).tolist()
    ]
    outside = f" Outside: {'; '.join(far)}." if far else ""
    return f"""\
{difference.size - len(far)} of {difference.size} differ by at most {TOLERANCE}.{outside} The reference is a
single stream, so differences of a spread or two are what chance gives. The largest is {apart.max():.1f}
spreads, the root mean square {np.sqrt(np.mean(apart**2)):.2f}; two programs that do the same would give
about 1.
"""
