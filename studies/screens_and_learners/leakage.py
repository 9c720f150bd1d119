"""What knowing the test rows beforehand does to the figures, on sets of few rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

import streamsieve as ss
from streamsieve.evaluation import screening_protocol
from streamsieve.exceptions import SourceError
from studies import _report
from studies._desk import Desk
from studies.screens_and_learners._cases import CASES, Case, Limits, read
from studies.screens_and_learners._methods import NONE
from studies.screens_and_learners._runs import LITERAL, RIGHT, limits_of
from studies.screens_and_learners._tiers import Found

SETS = ("colon_raw", "leukemia_golub_raw", "prostate_spls6033")
LEARNERS = ("nb", "svm")
SCREEN = "t"
RUNS = 10
#: What is done, by its name in the table.
RIGHT_WAY, POOLED, THESIS, OUTSIDE = "right", "pooled", "thesis", "selected from all rows"


def compute(desk: Desk) -> list[str]:
    """Compute; return the data sets that are there."""
    done = []
    limits = limits_of(desk)
    for name in SETS:
        case = replace(CASES[name], runs=limits.runs or RUNS)
        settings = {
            "form": 1, "runs": case.runs, "folds": limits.folds, "steps": case.steps, "tau": case.tau,
            "quick": desk.quick,
        }  # fmt: skip
        try:
            desk.part(f"{name}: leakage", settings, on_data, case, limits)
        except SourceError as error:
            desk.skip(f"leakage on {name}", str(error))
        else:
            done.append(name)
    return done


def on_data(case: Case, limits: Limits) -> dict[str, dict[str, list[float]]]:
    """Return the AUC of each run, mean over sizes and learners, with true labels and with shuffled ones."""
    X, y = read(case, limits)
    sizes = case.sizes(X.shape[1])
    given: dict[str, Any] = {"folds": limits.folds, "n_jobs": 1}
    true: dict[str, list[float]] = {way: [] for way in (RIGHT_WAY, POOLED, THESIS, OUTSIDE)}
    shuffled: dict[str, list[float]] = {way: [] for way in (RIGHT_WAY, OUTSIDE)}
    for run in range(case.runs):
        given["random_state"] = run
        mixed = np.random.default_rng(run).permutation(y)
        true[RIGHT_WAY].append(inside(X, y, sizes, given))
        true[POOLED].append(inside(X, y, sizes, given | {"auc": "pooled"}))
        true[THESIS].append(inside(X, y, sizes, given | {"literal": True}))
        true[OUTSIDE].append(outside(X, y, sizes, given))
        shuffled[RIGHT_WAY].append(inside(X, mixed, sizes, given))
        shuffled[OUTSIDE].append(outside(X, mixed, sizes, given))
    return {"true": true, "shuffled": shuffled}


def inside(X: npt.NDArray[Any], y: npt.NDArray[Any], sizes: Sequence[int], given: Mapping[str, Any]) -> float:
    """Return the mean AUC of one run where features are selected inside the folds."""
    screen = {SCREEN: ss.Screen(SCREEN, ledger="none")}
    report = screening_protocol(X, y, screen, list(LEARNERS), sizes=sizes, runs=1, **given)
    return float(report.table["score"].mean())


def outside(
    X: npt.NDArray[Any], y: npt.NDArray[Any], sizes: Sequence[int], given: Mapping[str, Any]
) -> float:
    """Return the same where they are selected once, from all rows, those to be tested on among them."""
    order = ss.Screen(SCREEN, k=max(sizes), ledger="none").fit(X, y).ranked_
    found = [
        screening_protocol(X[:, order[:size]], y, NONE, list(LEARNERS), runs=1, **given).table["score"]
        for size in sizes
    ]
    return float(np.mean(found))


# ------------------------------------------------------------------------------------ the page


def section(desk: Desk, compared: Sequence[str], names: Sequence[str]) -> str:
    """Return what leaks, and what it changes.

    Parameters
    ----------
    desk : with the stored parts
    compared : data sets that were gone through in both ways
    names : data sets of few rows
    """
    parts = ["## What leakage changes\n"]
    if compared:
        parts.append(_both_ways(desk, compared))
    if names:
        parts.append(_few_rows(desk, names))
    return "\n".join(parts)


def _both_ways(desk: Desk, names: Sequence[str]) -> str:
    lines = []
    for name in names:
        right, literal = Found(desk, name, RIGHT), Found(desk, name, LITERAL)
        apart = {
            pair: np.subtract(literal.by_pair[pair]["curve"], right.by_pair[pair]["curve"])
            for pair in right.by_pair
        }
        every = np.concatenate([*apart.values()])
        farthest = max(apart, key=lambda pair: float(np.abs(apart[pair]).max()))
        most = apart[farthest][np.abs(apart[farthest]).argmax()]
        tops = [max(map(found.peak, found.by_pair)) for found in (right, literal)]
        lines.append(
            [
                name,
                f"{every.mean():+.4f}",
                f"{np.median(np.abs(every)):.4f}",
                f"{most:+.4f} ({' + '.join(farthest)})",
                f"{tops[0]:.4f} / {tops[1]:.4f}",
            ]
        )
    headings = ["data", "mean", "median size", "largest", "best peak, right / its way"]
    return f"""\
The thesis's way less the right way, over all screens, learners and numbers of features: rows are dealt anew,
features are scaled by all rows instead of the training rows, and the predictions of all folds have one AUC or
R2 together.

{_report.table(headings, lines)}
It hardly matters, with one exception: dexter without a screen. A word that is rare among the training rows is
divided by a tiny deviation, and if it is frequent in a row to be tested, that row's score is nothing but this
word. Scaled by all rows, the test row's own value is in the deviation, and that cannot happen. So the leak
flatters linear learners without screening, and hides how much they gain by it.
"""


def _few_rows(desk: Desk, names: Sequence[str]) -> str:
    lines = []
    for name in names:
        found = desk.part.result(f"{name}: leakage")
        cells = [found["true"][way] for way in (RIGHT_WAY, POOLED, THESIS, OUTSIDE)]
        cells += [found["shuffled"][way] for way in (RIGHT_WAY, OUTSIDE)]
        lines.append([name, *(f"{np.mean(cell):.3f} ± {_error(cell):.3f}" for cell in cells)])
    headings = [
        "data", RIGHT_WAY, POOLED, f"{THESIS}'s way", OUTSIDE, "labels shuffled, right",
        f"labels shuffled, {OUTSIDE}",
    ]  # fmt: skip
    return f"""\
With few rows one can look closer. AUC of `{SCREEN}` with {" and ".join(f"`{name}`" for name in LEARNERS)},
mean over the numbers of features and {RUNS} runs, ± its standard error over the runs. *Pooled* is the right
way but for one AUC of all folds' predictions, the *thesis's way* scales by all rows besides; in both,
features are selected inside the folds. *Selected from all rows* is what the thesis does not do, and many do:
the screen sees the rows that are then tested on. With labels shuffled, anew in every run, there is nothing to
be found and an honest AUC is about .5.

{_report.table(headings, lines)}"""


def _error(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))
