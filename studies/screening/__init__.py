"""Quantile screens online and offline (Wang 2021, section 3.4.1, tables 3.2-3.6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from studies import _report
from studies._data import MissingDataError, RealData
from studies._desk import Desk
from studies.screening import accuracy, times
from studies.screening._published import MINIBATCHES, NAMES

#: Rows in the files of the thesis, where ours has fewer.
PUBLISHED_ROWS = {"gisette_valid": 7000}


def run(desk: Desk) -> str | None:
    """Compute, and return the page; None if no data set is there."""
    part = (120, 40) if desk.quick else (None, None)
    minibatches = MINIBATCHES[5:9] if desk.quick else MINIBATCHES
    done: list[str] = []
    for name in NAMES:
        data = RealData(name, *part)
        try:
            desk.part(f"{name}: shape", {"part": part}, _shape, data)
            times.compute(desk, data, minibatches)
            accuracy.compute(desk, data)
        except MissingDataError as error:
            desk.skip(name, str(error))
        else:
            done.append(name)
    if not done:
        return None
    return _report.page(
        desk,
        "Quantile screens, online and offline",
        _introduction(desk, done),
        times.section(desk, done, minibatches),
        accuracy.section(desk, done),
    )


def _shape(data: RealData) -> dict[str, float]:
    X, y = data.matrices
    X = sp.csc_array(X) if sp.issparse(X) else X
    n, p = X.shape
    if sp.issparse(X):
        stored = [X.data[low:high] for low, high in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
        distinct = [len(np.unique(values)) + (len(values) < n) for values in stored]
    else:
        distinct = [len(np.unique(column)) for column in X.T]
    return {
        "rows": n,
        "features": p,
        "largest_class": int(np.bincount(y).max()),
        "distinct": int(np.max(distinct)),
        "median_distinct": float(np.median(distinct)),
    }


def _introduction(desk: Desk, names: Sequence[str]) -> str:
    headings = [
        "data",
        "rows",
        "features",
        "rows of the largest class",
        "distinct values a column, most",
        "median",
    ]
    lines = []
    for name in names:
        shape = desk.part.result(f"{name}: shape")
        all_rows = PUBLISHED_ROWS.get(name)
        of = "" if all_rows is None else f" of {all_rows:,}"
        lines.append(
            [name, f"{shape['rows']:,}{of}", f"{shape['features']:,}", f"{shape['largest_class']:,}",
             f"{shape['distinct']:,}", f"{shape['median_distinct']:,.0f}"]
        )  # fmt: skip
    return f"""\
Wang, *Online and Offline Feature Screening and Applications*, 2021, section 3.4.1, compares bins of equal
frequency (K = 5) from a one-pass quantile summary of precision epsilon with those from sorting all data, and
the chi-squared score, the Gini index and the mutual information over them. Here the summary is
`streamsieve.summaries.Quantiles`, which `Screen("chi2", max_rank_error=...)`, `"gini"` and `"mutual_info"`
keep; the offline side sorts every column (`studies/screening/_offline.py`). Training and validation rows
together, as there.

{_report.table(headings, lines)}
Of gisette only the validation part is at hand, so its numbers stand beside, not against, the printed ones.
"""
