"""Every selector, fitted once to all rows: what it chooses, why, and how much memory that takes."""

from __future__ import annotations

import math
import os
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from streamsieve._files import refuse_foreign
from streamsieve._text import write_csv
from streamsieve.base import ColumnSelector
from streamsieve.base.effects import effect_name
from streamsieve.base.showing import types_of
from streamsieve.evaluation.candidates.selectors import (
    chosen,
    in_layout,
    seeded,
    size_parameter,
    wants_raw,
    with_types,
)
from streamsieve.evaluation.engine.problem import Problem
from streamsieve.evaluation.engine.scaling import Scaler
from streamsieve.evaluation.engine.settings import seed_of
from streamsieve.evaluation.reports.table import Table
from streamsieve.ledger import COLUMNS
from streamsieve.protocols import Decision, IntArray, Matrix
from streamsieve.state import replacing

#: Features left out that are listed: the ones that came nearest.
NEAREST = 20
CHOSEN = {
    "selector": "text", "rank": "int", "feature": "text", "column": "int", "number": "float",
    "p_value": "float", "replaced": "text",
}  # fmt: skip


class Feature(NamedTuple):
    """A feature that a selector chose, or left out."""

    name: str
    column: int  #: its place in the data; -1 where a ledger has something else, such as a product
    number: float  #: the ledger's statistic, or the score; NaN if there is none
    p_value: float  #: NaN if there is none
    why: str  #: the ledger's reason
    others: tuple[str, ...]  #: features whose place it took, or that made it redundant


@dataclass(frozen=True)
class FinalFit:
    """What a selector chose from all rows."""

    selector: str
    size: int  #: number of features asked for; 0 where it decides itself
    #: Those chosen, best first: as the selector ranks them, or by the absolute statistic of the ledger.
    features: list[Feature] = field(default_factory=list)
    #: Of those left out, the ones with the largest numbers; empty where there is no ledger.
    nearest: list[Feature] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)  #: columns found, and decisions by what happened
    measure: str = ""  #: what ``number`` is, such as "correlation" or "score", or nothing
    seconds: float = math.nan
    peak_bytes: int = 0  #: peak of the allocated memory, without the data
    error: str = ""  #: why it failed
    decisions: list[Decision] = field(default_factory=list)  #: the ledger, with the names of the features

    def write_ledger(
        self, path: str | os.PathLike[str], *, raw: bool = False, overwrite: bool = False
    ) -> None:
        """Write all decisions as CSV; several names in ``by`` are joined with semicolons.

        ``raw``: names that a spreadsheet would evaluate are written as they are.  ``overwrite``: a file that
        streamsieve did not write may be replaced.
        """
        refuse_foreign([path], overwrite=overwrite)
        with replacing(path) as file:
            lines = ((*row[:-2], ";".join(row.by)) for row in self.decisions)
            write_csv(file, chain([COLUMNS], lines), raw=raw)


def final_fits(
    problem: Problem,
    selectors: Mapping[str, Any],
    sizes: Mapping[str, int],
    *,
    random_state: int = 0,
    scale: bool = True,
    batch_size: int | None = None,
    progress: Callable[[int], Any] | None = None,
) -> dict[str, FinalFit]:
    """Fit every selector to all rows, twice: once to know what it chooses, once to measure its memory.

    A selector None, which keeps all features, is left out.  ``sizes`` has the number of features by name; 0
    leaves that of the selector.  ``scale`` standardizes features as the protocols do, ``batch_size=None``
    fits all rows at once, and ``progress`` is called with 1 after each selector.  Memory is what Python's
    ``tracemalloc`` sees: NumPy's arrays and Python's objects, but not what compiled code allocates.
    """
    rows = Scaler(problem.X)(problem.X) if scale else problem.X
    names = problem.column_names
    found = {}
    for name, selector in selectors.items():
        if selector is not None:
            parameter = size_parameter(selector)
            size = 0 if parameter is None else min(sizes.get(name, 0), len(names))
            sized = {parameter: size} if parameter is not None and size else {}
            copy = seeded(with_types(selector, problem), seed_of(random_state, "final", name), sized)
            X = problem.X if wants_raw(selector) else rows
            found[name] = _fit(name, copy, size, X, problem.y, names, batch_size)
        if progress is not None:
            progress(1)
    return found


def chosen_table(fits: Mapping[str, FinalFit]) -> Table:
    """Return what all selectors chose as one table."""
    rows = [
        (name, rank, each.name, each.column, each.number, each.p_value, ";".join(each.others))
        for name, fit in fits.items()
        for rank, each in enumerate(fit.features, 1)
    ]
    return Table.of(rows, CHOSEN)


def _fit(
    name: str, selector: Any, size: int, X: Matrix, y: Any, names: list[str], batch_size: int | None
) -> FinalFit:
    X = in_layout(selector, X)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the protocol has heard them
            started = time.perf_counter()
            fitted = _learned(seeded(selector, 0), X, y, batch_size)
            columns = chosen(fitted)
            seconds = time.perf_counter() - started
            # again, now that compiled code is loaded: that takes more memory than most selectors do
            peak = _peak_of(lambda: chosen(_learned(selector, X, y, batch_size)))
    except Exception as error:  # noqa: BLE001 - shown in the report; the other selectors go on
        return FinalFit(name, size, error=f"{type(error).__name__}: {error}")
    found = (_from_ledger if isinstance(fitted, ColumnSelector) else _from_scores)(fitted, columns, names)
    return FinalFit(name, size, seconds=seconds, peak_bytes=peak, **found)


def _learned(selector: Any, X: Matrix, y: Any, batch_size: int | None) -> Any:
    if batch_size is None:
        return selector.fit(X, y)
    for low in range(0, X.shape[0], batch_size):
        selector.partial_fit(X[low : low + batch_size], y[low : low + batch_size])
    return selector


def _peak_of(work: Callable[[], Any]) -> int:
    """Return the most bytes that were allocated at a time."""
    nested = tracemalloc.is_tracing()
    if not nested:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        work()
        return max(0, tracemalloc.get_traced_memory()[1] - before)
    finally:
        if not nested:
            tracemalloc.stop()


def _from_scores(selector: Any, columns: IntArray, names: list[str]) -> dict[str, Any]:
    scores, p_values = (_numbers(selector, name, len(names)) for name in ("scores_", "pvalues_"))
    features = [Feature(names[j], j, float(scores[j]), float(p_values[j]), "", ()) for j in columns.tolist()]
    return {"features": features, "measure": "" if np.all(np.isnan(scores)) else "score"}


def _numbers(selector: Any, name: str, width: int) -> Any:
    found = getattr(selector, name, None)
    known = found is not None and np.shape(found) == (width,)
    return np.asarray(found, np.float64) if known else np.full(width, np.nan)


def _from_ledger(selector: Any, columns: IntArray, names: list[str]) -> dict[str, Any]:
    column_of = {f"x{j}": j for j in range(len(names))}  # as a selector calls columns that have no names
    decisions = list(_renamed(selector.ledger_, column_of, names))
    place = {name: j for j, name in enumerate(names)}
    latest = {decision.feature: decision for decision in decisions}
    took: dict[str, list[str]] = {}
    for decision in latest.values():
        for by in decision.by:
            took.setdefault(by, []).append(decision.feature)
    kept = {names[j] for j in columns.tolist()}
    features = []
    for j in columns.tolist():
        last = latest.get(names[j])
        known = (math.nan, math.nan, "") if last is None else (last.statistic, last.p_value, str(last.reason))
        features.append(Feature(names[j], j, *known, tuple(took.get(names[j], ()))))
    features.sort(key=lambda each: -abs(each.number) if math.isfinite(each.number) else math.inf)
    out = [decision for name, decision in latest.items() if name not in kept]
    out.sort(key=lambda d: -abs(d.statistic) if math.isfinite(d.statistic) else math.inf)
    nearest = [
        Feature(d.feature, place.get(d.feature, -1), d.statistic, d.p_value, str(d.reason), d.by)
        for d in out[:NEAREST]
    ]
    counts = {"found relevant": selector.n_found_, **selector.ledger_.counts(), "kept": len(columns)}
    return {
        "features": features, "nearest": nearest, "counts": counts,
        "measure": effect_name(selector, [*types_of(selector).values()]),
        "decisions": decisions,
    }  # fmt: skip


def _renamed(ledger: Any, column_of: Mapping[str, int], names: list[str]) -> Iterator[Decision]:
    for decision in ledger:
        column = column_of.get(decision.feature)
        by = tuple(names[column_of[name]] if name in column_of else name for name in decision.by)
        feature = decision.feature if column is None else names[column]
        yield decision._replace(feature=feature, by=by)


def ledger_path(folder: Path, selector: str) -> Path:
    """Return where the ledger of a selector goes."""
    return folder / f"ledger_{selector}.csv"
