"""Five criteria, with and without forgetting, as more features are selected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from streamsieve import criteria
from streamsieve.criteria import Criterion
from streamsieve.evaluation import detection_curve, plots, track
from streamsieve.protocols import FloatArray, IntArray, RowBatch
from streamsieve.rows import Screen
from studies import _report
from studies._desk import Desk
from studies.drift._stream import Size, half_life, truths

#: For each rate of drift the fading factor that serves the T-score best.
FACTORS = {250: 0.95, 1000: 0.98}
LOOKS = 40
SHARES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
#: Criteria by the summary they read: one screen of each kind learns for all.
MOMENTS: dict[str, Criterion] = {"t": criteria.WelchT(), "fisher": criteria.Fisher()}
BINS: dict[str, Criterion] = {
    "mutual_info": criteria.MutualInfo(), "chi2": criteria.ChiSquare(), "gini": criteria.Gini(),
}  # fmt: skip
NAMES = (*MOMENTS, *BINS)
WAYS = ("forgetting", "remembering")


class Reading:
    """A criterion over the summary of a screen that learns elsewhere; it ranks all features."""

    def __init__(self, screen: Screen, formula: Criterion) -> None:
        self.screen, self.formula = screen, formula

    def learn(self, batch: RowBatch) -> None:
        """Learn nothing: the screen does."""

    @property
    def scores_(self) -> FloatArray:
        """One score a feature."""
        return self.formula(self.screen.summary_)

    @property
    def ranked_(self) -> IntArray:
        """All columns, best first."""
        return np.argsort(-self.scores_, kind="stable").astype(np.int64)


def section(desk: Desk, size: Size) -> str:
    """Compute, draw and compare."""
    results = {shift: _part(desk, size, shift) for shift in FACTORS}
    sizes = [round(share * size.n_features) for share in SHARES]
    panels = {
        f"a shift every {shift:,} rows, half-life {half_life(FACTORS[shift]):,.0f}": {
            name: (np.array(result[name]["forgetting"]), np.array(result[name]["remembering"]))
            for name in NAMES
        }
        for shift, result in results.items()
    }
    figure = plots.by_size(sizes, panels, size.n_features)
    caption = (
        "Share of the relevant features found as more are selected, mean over the last quarter of one "
        "stream. After figure 3.3 of the thesis."
    )
    lines = [
        [
            f"{name}, l = {shift:,}",
            *(
                f"{result[name]['forgetting'][place]:.3f} / {result[name]['remembering'][place]:.3f}"
                for place in _places(size, sizes)
            ),
            *(f"{rate:.2f}" for rate in result[name]["start"]),
        ]
        for shift, result in results.items()
        for name in NAMES
    ]
    headings = ["", *(f"@{top}, forgetting / not" for top in size.tops)]
    rows = [f"after {row:,} rows" for row in _first_rows(size)]
    return f"""\
## Five criteria

{desk.picture("drift_criteria", figure, caption)}
{_report.table([*headings, *rows], lines)}
The last columns are the rate at {size.tops[0]} early in the stream, with forgetting.
{_verdict(results, _places(size, sizes)[0])}
"""


def _verdict(results: Mapping[int, Any], place: int) -> str:
    rates = np.array(
        [[[result[name][way][place] for name in NAMES] for way in WAYS] for result in results.values()]
    )
    lowest = sorted({NAMES[i] for i in rates[:, 0].argmin(axis=1).tolist()})
    wins = rates[:, 0] > rates[:, 1]
    return f"""\
The thesis finds that the five perform alike, and that the Gini index needs more rows at first. Here the
largest and the smallest rate differ by {np.ptp(rates[:, 0], axis=1).max():.3f} at most, and the smallest is
that of {" or ".join(lowest)}. Forgetting, at the half-life that suits the rate of drift, is better in
{wins.sum()} of {wins.size} cases."""


def _places(size: Size, sizes: list[int]) -> list[int]:
    return [sizes.index(top) for top in size.tops]


def _first_rows(size: Size) -> list[int]:
    """Return the rows of the first looks."""
    return [look * (size.n_rows // LOOKS) for look in (1, 2, 4)]


def _part(desk: Desk, size: Size, shift: int) -> Any:
    settings = {"size": asdict(size), "alpha": FACTORS[shift], "shares": SHARES, "looks": LOOKS}
    return desk.part(f"five criteria, a shift every {shift} rows", settings, _compute, size, shift)


def _compute(size: Size, shift: int) -> dict[str, dict[str, list[float]]]:
    stream = size.stream(shift, seed=0)
    screens: dict[str, Any] = {}
    for way, life in zip(WAYS, (half_life(FACTORS[shift]), None), strict=True):
        for kind in (MOMENTS, BINS):
            screen = Screen(next(iter(kind)), k=size.n_features, half_life=life, ledger="none")
            for name, formula in kind.items():
                # the screen itself stands first, so it has learnt when the others are asked
                screens[f"{way} {name}"] = (
                    screen if formula is kind[next(iter(kind))] else Reading(screen, formula)
                )
    seen = track(stream, screens, every=size.n_rows // LOOKS)
    relevant = truths(stream, seen.rows)
    last = np.flatnonzero(seen.rows > 0.75 * seen.rows[-1])
    sizes = [round(share * size.n_features) for share in SHARES]

    def rate(screen: str, looks: Any, k: int) -> float:
        tops = [seen[screen].selected[i] for i in looks]
        return float(detection_curve(tops, [relevant[i] for i in looks], k).mean())

    first = [seen.rows.tolist().index(row) for row in _first_rows(size)]
    return {
        name: {
            **{way: [rate(f"{way} {name}", last, k) for k in sizes] for way in WAYS},
            "start": [rate(f"forgetting {name}", [look], size.tops[0]) for look in first],
        }
        for name in NAMES
    }
