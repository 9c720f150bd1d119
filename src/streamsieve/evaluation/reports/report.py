"""Report of a protocol: a tidy table, and the settings that produced it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Self

import numpy as np

from streamsieve._files import refuse_foreign
from streamsieve._parameters import check_number
from streamsieve._text import shown
from streamsieve.evaluation.engine.jobs import Failure, Job, Key, RunConfig, run_jobs
from streamsieve.evaluation.measures.accuracy import LOWER_IS_BETTER
from streamsieve.evaluation.reports.table import Table, text_of
from streamsieve.exceptions import ParameterError, ProtocolError, StateError
from streamsieve.protocols import IntArray
from streamsieve.state import as_state_error, replacing

REPORT, TABLE = "report.json", "table"
#: Rows of a summary that are printed.
PRINTED = 15


def selection_columns(*where: str) -> dict[str, str]:
    """Return the columns of a table of selections, found at these places: runs, folds, rows, ..."""
    places = dict.fromkeys(where, "int")
    selector = {"selector": "text", "size": "int", "nested": "bool"}
    return selector | places | {"n_selected": "int", "features": "text"}


@dataclass
class Report:
    """Results of a protocol: a tidy table, settings, and further tables.

    Attributes
    ----------
    protocol : its name
    table : one row per observation; the protocol documents its columns
    settings : settings of the run, as JSON: methods with their parameters, data, seeds, versions
    extras : further tables by name, such as "selections"
    failures : what went wrong, if failures were to be reported
    warnings : warnings of learners and selectors, with their number
    pictures : matplotlib figures by name; saved as PNG, not loaded again

    Examples
    --------
    >>> import tempfile
    >>> from streamsieve.evaluation import Report, Table
    >>> table = Table({"selector": ["f", "t"], "score": [0.5, 0.75]})
    >>> report = Report("example", table, {"seed": 0})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report.save(folder)
    ...     again = Report.load(folder)
    >>> again.table["score"], again.settings
    (array([0.5 , 0.75]), {'seed': 0})
    """

    protocol: str
    table: Table
    settings: dict[str, Any]
    extras: dict[str, Table] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    warnings: dict[str, int] = field(default_factory=dict)
    pictures: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of_jobs(
        cls,
        cells: Sequence[Key],
        job: Job,
        settings: dict[str, Any],
        config: RunConfig,
        kinds: Mapping[str, Mapping[str, str]],
    ) -> Self:
        """Run the cells of a protocol, and join the rows that they return into tables.

        ``kinds`` has the columns of every table by name, "table" among them.  The report is written to the
        folder of the run; failures are raised, unless they are to be reported.
        """
        outcome = run_jobs(cells, job, settings, config)
        results = [result for result in outcome.results if result is not None]
        tables = {
            name: Table.of([row for result in results for row in result[name]], columns)
            for name, columns in kinds.items()
        }
        report = cls(
            settings["protocol"], tables.pop(TABLE), settings, tables, outcome.failures, outcome.warnings
        )
        if config.folder is not None:
            report.save(config.folder, overwrite=True)  # the store has refused a folder with files of others
        return report if config.errors == "report" else report.check()

    @property
    def metric(self) -> str:
        """Metric in the column "score": "auc", "accuracy", "r2", ..."""
        return str(self.settings.get("metric", "score"))

    @property
    def higher_is_better(self) -> bool:
        """Whether a high score is good; False for errors and losses."""
        return self.metric not in LOWER_IS_BETTER

    @property
    def n_features(self) -> int:
        """Number of features; 0 if the source did not give it."""
        return int(self.settings.get("data", {}).get("features") or 0)

    def keeps_all(self, selector: str) -> bool:
        """Whether a selector of this name stands for all features."""
        return self.settings.get("selectors", {"none": None}).get(selector, "") is None

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the table as a dataframe of pandas, polars or pyarrow; see :meth:`Table.to_frame`."""
        return self.table.to_frame(backend)

    def mean(self, by: Sequence[str] = ("selector", "learner", "size"), column: str = "score") -> Table:
        """Return means over rows that agree in ``by``, as far as it is there; see :meth:`Table.mean`."""
        return self.table.mean(column, [name for name in by if name in self.table])

    def selections(
        self, selector: str, size: int | None = None, columns: int | None = None
    ) -> list[IntArray]:
        """Return the features that a selector chose, for every run and fold, best first where it ranks them.

        Parameters
        ----------
        selector : its name
        size : number of features asked for; None for a selector that decides itself, or the largest
        columns : where columns streamed in, after how many; None for all
        """
        stored = self._extra("selections")
        at = stored.where(selector=selector)
        if not at.n_rows:
            known = ", ".join(map(repr, stored.unique("selector")))
            raise ParameterError(f"no selections of {selector!r} are stored; there are those of {known}")
        if "columns" in at:
            at = at.where(columns=int(at["columns"].max()) if columns is None else columns)
        if size is None:
            size = int(at["size"].max(initial=0))
        check_number("size", size, low=0, integer=True)
        exact = at["size"] == size
        at = at.take(exact if np.any(exact) else at["nested"] & (at["size"] > size))
        if not at.n_rows:
            raise ParameterError(f"{selector!r} was not asked for that: size={size}, columns={columns}")
        return [np.array(text.split(), np.int64)[: size or None] for text in at["features"].tolist()]

    def _extra(self, name: str) -> Table:
        if name not in self.extras:
            raise ParameterError(
                f"a report of {self.protocol} has no table {name!r}; there is {[*self.extras]}"
            )
        return self.extras[name]

    def check(self) -> Self:
        """Raise :class:`ProtocolError` if something failed."""
        if self.failures:
            shown = "; ".join(str(failure) for failure in self.failures[:3])
            more = f"; and {len(self.failures) - 3} more" if len(self.failures) > 3 else ""
            raise ProtocolError(
                f"{self.protocol}: {len(self.failures)} parts failed: {shown}{more}. The error's report "
                "holds all others; errors='report' returns it",
                self.failures,
                self,
            )
        return self

    def save(self, folder: str | os.PathLike[str], *, raw: bool = False, overwrite: bool = False) -> None:
        """Write the report to a folder: tables as CSV, settings as JSON, pictures as PNG.

        Parameters
        ----------
        folder : it is made if it is not there
        raw : bool, default=False
            Whether names that a spreadsheet would evaluate are written to tables as they are, instead of with
            a single quote before them.
        overwrite : bool, default=False
            Whether files that are not of an earlier report in the folder may be replaced.
        """
        where = Path(folder)
        with as_state_error(f"make the folder {where}"):
            where.mkdir(parents=True, exist_ok=True)
        tables = {TABLE: self.table, **self.extras}
        if not overwrite:
            files = [*(f"{_file_name(name)}.csv" for name in tables), REPORT]
            files += [f"{_file_name(name)}.png" for name in self.pictures]
            refuse_foreign(where / name for name in files if name not in _earlier_files(where))
        for name, table in tables.items():
            table.to_csv(where / f"{_file_name(name)}.csv", raw=raw, overwrite=True)
        if self.pictures:
            from streamsieve.evaluation.plots import save  # noqa: PLC0415 - needs the cli extra

            for name, figure in self.pictures.items():
                save(figure, where / f"{_file_name(name)}.png", overwrite=True)
        about = {
            "protocol": self.protocol,
            "settings": self.settings,
            "tables": {name: table.kinds() for name, table in tables.items()},
            "failures": [list(failure) for failure in self.failures],
            "warnings": self.warnings,
            "raw": raw,
        }
        with replacing(where / REPORT) as file:  # last, so that a report that can be read is complete
            json.dump(about, file, indent=1)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read a report that :meth:`save` wrote to a folder."""
        path = Path(folder) / REPORT
        try:
            about = json.loads(path.read_text("utf-8"))
            raw = about["raw"] is True
            tables = {
                name: Table.from_csv(Path(folder) / f"{_file_name(name)}.csv", kinds, raw=raw)
                for name, kinds in about["tables"].items()
            }
            failures = [Failure(*failure) for failure in about["failures"]]
            return cls(
                about["protocol"], tables.pop(TABLE), about["settings"], tables, failures, about["warnings"]
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, StateError):
                raise
            raise StateError(
                f"{folder} does not hold a report ({error}): give the folder it was saved in"
            ) from error

    def __str__(self) -> str:
        lines = [f"{self.protocol}: {self.table.n_rows:,} rows, {_about(self.settings)}"]
        summary = self._summary()
        if summary is not None:
            lines += ["", text_of(summary, PRINTED)]
        if self.failures:
            lines += ["", shown(f"{len(self.failures)} parts failed, the first: {self.failures[0]}")]
        if self.warnings:
            text, count = max(self.warnings.items(), key=lambda item: item[1])
            text = shown(text)
            lines += ["", f"{sum(self.warnings.values()):,} warnings, the most frequent ({count:,}): {text}"]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the same for notebooks."""
        return f"<pre>{escape(str(self))}</pre>"

    def _summary(self) -> Table | None:
        """Return every selector and learner at the end of its stream, or at its best size; best first."""
        column = next((name for name in ("score", "recall", "score_difference") if name in self.table), None)
        if column is None or not self.table.n_rows:
            return None
        table = self.table
        for along in ("columns", "rows", "seen"):
            if along in table:
                table = table.where(**{along: int(table[along].max())})
        by = [name for name in ("selector", "learner", "size") if name in table]
        means = table.mean(column, by)
        pairs = means.groups([name for name in by if name != "size"])
        descending = self.higher_is_better and column != "score_difference"
        best = [_best(means["mean"] * (1 if self.higher_is_better else -1), rows) for rows in pairs.values()]
        return means.take(np.array(best, np.int64)).sorted("mean", descending=descending)


def _best(values: Any, rows: IntArray) -> int:
    known = np.where(np.isnan(values[rows]), -np.inf, values[rows])
    return int(rows[int(np.argmax(known))])


def _about(settings: Mapping[str, Any]) -> str:
    """Say in a line what a report is about."""
    data = settings.get("data", {})
    parts = []
    size = [data.get("rows"), data.get("features", data.get("columns", data.get("n_features")))]
    if None not in size:
        parts.append(" x ".join(f"{number:,}" for number in size))
    parts += [
        f"{what} {', '.join(settings[what])}" for what in ("selectors", "learners") if settings.get(what)
    ]
    if "metric" in settings:
        parts.append(str(settings["metric"]))
    parts.append(f"seed {settings.get('random_state', 'none')}")
    return "; ".join(parts)


def _earlier_files(folder: Path) -> set[str]:
    """Return the names of the tables that a report in a folder has written, and its own."""
    try:
        about = json.loads((folder / REPORT).read_text("utf-8"))
        return {REPORT, *(f"{name}.csv" for name in about["tables"])} if "protocol" in about else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _file_name(name: str) -> str:
    if not name or Path(name).name != name or name.startswith("."):
        raise StateError(f"{name!r} is not a name of a table or picture")
    return name
