"""Tables in files: Parquet, text, Arrow IPC, workbooks, databases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._advice import as_argument, by_interface
from streamsieve._caller import warn
from streamsieve._parameters import check_choice, check_number
from streamsieve._paths import Paths, resolve
from streamsieve._text import shown
from streamsieve.exceptions import DateWarning, SourceError
from streamsieve.sources.checks import check_start, some
from streamsieve.sources.identity import comparing, digest, names_identity, same, same_names
from streamsieve.sources.parts import SourcePart, grouped
from streamsieve.sources.table_source import POSITION, TableSource
from streamsieve.sources.tables import files as table_files
from streamsieve.sources.tables import layout as table_layout
from streamsieve.sources.tables.conditions import Condition, conditions
from streamsieve.sources.tables.dates import DateOrder
from streamsieve.sources.tables.dialect import Dialect
from streamsieve.sources.tables.encoding import Choices, Codes
from streamsieve.sources.tables.files import TableFile
from streamsieve.sources.tables.fingerprint import check_files, check_last_line
from streamsieve.sources.tables.nested import OBJECTS
from streamsieve.sources.tables.reading import Reading, as_list


class ArrowSource(TableSource[TableFile]):
    r"""Stream tables in files by rows or by columns, out of core.

    Parameters
    ----------
    paths : path, pattern, folder, or list of these
        Parquet (.parquet, .pq), text with separators (.csv, .tsv, .txt), JSON lines (.jsonl, .ndjson,
        .json), Arrow IPC (.arrow, .feather, .ipc), workbooks (.xlsx, .xls, .ods), SQLite and DuckDB (.sqlite,
        .db, .duckdb).  Text may be compressed (.gz, .bz2, .xz, .zst).  "-" is standard input.  Several files
        form one stream, in the order given; those of a pattern or a folder in natural order (2 before 10).
        Folders that a pattern finds are columns if they are named so: ``events/**/*.parquet`` gives year and
        region of events/year=2024/region=eu.
        All must have the same columns, in any order.
    target : str, default=None
        The column that holds the target: numbers, or text for class labels.  It may have no missing values.
    weight : str, default=None
        The column that holds the weights of rows, for selectors that take them; it is not a feature.
    skip_text : bool, default=False
        Whether to leave out columns that do not hold numbers (text, dates, nested values) instead of refusing
        them.
    exclude : str or sequence of str, default=()
        Columns that are not features, such as identifiers and times.  They may hold anything; ``column``
        reads them.
    features : str or sequence of str, default=()
        Columns to use as features.  If empty, all except the target and ``exclude``.
    categories : {"refuse", "auto", "drop"}, default="refuse"
        What to do with text.  "auto": one indicator column per category, named ``city=Rome``, by
        scikit-learn's OneHotEncoder; of two categories, the second alone.  A missing text is a category
        ``missing``.  Text of one value, of more than 50, or that differs in every row (of 20 or more), and
        nested values, are left out.
    nominal : str or sequence of str, default=()
        Text columns, of any number of categories, that become one column of codes each, for selectors
        where ``types`` declares them nominal.
    dates : {"refuse", "drop", "number"}, default="refuse"
        What to do with dates.  "number": days since 1970.  Text is a date if all of its values are, as
        2024-12-31, 31.12.2024, 31/12/2024 or 12/31/2024, with or without a time (23:59); not if it is
        ``nominal``, nor where text and dates are dropped alike.
    month_first : bool, default=False
        Where all dates of a column can be read as day/month/year and as month/day/year, read the latter.
    where : str or sequence of str, default=()
        Conditions that a row must satisfy, such as "age>=18" or "city=Rome"; a missing value satisfies none.
    drop_missing_target : bool, default=False
        Leave out rows whose target is missing instead of refusing them.
    missing : {"keep", "impute", "refuse"}, default="keep"
        What to do with missing numbers.  "keep": NaN; "impute": the mean of the column, which takes a pass
        over all rows.
    sep : str, default=None
        Separator of text files, one character.  If None, the comma, semicolon, tab or vertical bar that gives
        most columns.
    decimal : {".", ","}, default=None
        Decimal mark of text files.  If None, a comma where the separator is another character and numbers are
        written so.
    encoding : str, default=None
        Encoding of text files, as Python names it.  If None, UTF-8, or UTF-16 where the file begins so.
    na : str or sequence of str, default=()
        Texts that mean a missing value, besides the empty one, "NA", "NaN", "null" and the like; "99" is also
        about 99.0.
    skip_rows : int, default=0
        Lines of text files, or rows of a sheet, before the one that names the columns: a title, for example.
    sheet : str, default=None
        Sheet of a workbook.  If None, the first.
    sql : str, default=None
        Query whose result is read from a database; it is opened to be read only.

    Attributes
    ----------
    names : names of the features, without the target
    n_rows : int, or None if not known (CSV files)
    n_columns : number of features
    files : paths of the files, in order
    remarks : list of str
        Properties inferred from the files, such as the separator, and files of a folder that were ignored.
    left_out : columns that are not features, by the reason
    encoded : text columns, and the indicators that were made of them
    coded : text columns that are codes

    Notes
    -----
    Numbers and booleans become float64, missing values become NaN.  All whole numbers of a CSV file are
    read as float64, the target's too.  Columns without a name and ``__index_level_0__`` are left out:
    they are the row numbers that pandas writes.

    Text is read up to its last whole line at the moment of opening: what is appended later belongs to the
    next run, see :func:`streamsieve.run`.  Compressed text is read to its end, and may not grow between runs.

    Columns are read by projection: memory is one block of columns and one batch of rows.  Text has no
    columns to project; its files are converted to a temporary Arrow file (8 bytes per value, under
    ``TMPDIR``) on the first access of columns or of the whole target.  Results of queries are written to such
    a file in batches; workbooks and JSON arrays are in memory while they are converted.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from streamsieve.sources import ArrowSource
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "clicks.csv")
    ...     _ = path.write_text("age,visits,bought\n31,2,no\n,7,yes\n45,1,no\n")
    ...     source = ArrowSource(path, target="bought")
    ...     for batch in source.rows(2):
    ...         print(batch.names, batch.X.tolist(), batch.y.tolist())
    ...     [(block.names, block.X.ravel().tolist()) for block in source.columns(1)]
    ['age', 'visits'] [[31.0, 2.0], [nan, 7.0]] ['no', 'yes']
    ['age', 'visits'] [[45.0, 1.0]] ['no']
    [(['age'], [31.0, nan, 45.0]), (['visits'], [2.0, 7.0, 1.0])]
    """

    def __init__(
        self,
        paths: Paths,
        target: str | None = None,
        *,
        weight: str | None = None,
        skip_text: bool = False,
        exclude: str | Sequence[str] = (),
        features: str | Sequence[str] = (),
        categories: str = "refuse",
        nominal: str | Sequence[str] = (),
        dates: str = "refuse",
        month_first: bool = False,
        where: str | Sequence[str] = (),
        drop_missing_target: bool = False,
        missing: str = "keep",
        sep: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        na: str | Sequence[str] = (),
        sheet: str | None = None,
        sql: str | None = None,
        skip_rows: int = 0,
    ) -> None:
        table_files.need_pyarrow()
        check_number("skip_rows", skip_rows, low=0, integer=True)
        self._reading = Reading(sep, decimal, encoding, as_list("na", na), sheet, sql, skip_rows)
        resolved = resolve(paths)
        tables = [self._reading.table(path, self) for path in resolved]
        said = resolved.partitions.values()
        texts = {name for some in said for name, value in some.items() if isinstance(value, str)}
        for file, path in zip(tables, resolved, strict=True):
            file.add_constants(resolved.partitions.get(path, {}), texts)
        self.files = [file.path for file in tables]
        #: What the names of folders say of their files: columns and their values.
        self.constants = {path: some for path, some in resolved.partitions.items() if some}
        self.remarks = list(dict.fromkeys(remark for file in tables for remark in file.remarks))
        if names := list(dict.fromkeys(name for file in tables for name in file.constants)):
            self.remarks.append(f"columns from names of folders: {some(names)}")
        if resolved.ignored:
            self.remarks.append(
                f"{len(resolved.ignored)} other files ignored ({some(p.name for p in resolved.ignored)})"
            )
        choice = table_layout.Choice(
            as_list("features", features),
            as_list("exclude", exclude),
            "drop" if skip_text else check_choice("categories", categories, ("refuse", "auto", "drop")),
            "drop"
            if skip_text and dates == "refuse"
            else check_choice("dates", dates, ("refuse", "drop", "number")),
            conditions(as_list("where", where)),
            drop_missing_target,
            as_list("nominal", nominal),
            month_first,
            weight,
        )
        self._missing = check_choice("missing", missing, ("keep", "impute", "refuse"))
        self._means: npt.NDArray[np.float64] | None = None
        super().__init__(tables, target, choice)
        self.remarks += self._dates_read()

    @property
    def left_out(self) -> dict[str, list[str]]:
        """Columns that are not features, by the reason."""
        return self._layout.left_out

    @property
    def encoded(self) -> dict[str, list[str]]:
        """Names of the indicator columns of each encoded text column."""
        coded = self.coded
        return {name: each.names for name, each in self._layout.encoders.items() if name not in coded}

    @property
    def coded(self) -> list[str]:
        """Text columns that were encoded as codes."""
        return [name for name, each in self._layout.encoders.items() if isinstance(each, Codes)]

    @property
    def choices(self) -> dict[str, Choices]:
        """Text columns whose texts are lists of choices."""
        return self._layout.choices

    @property
    def dates(self) -> list[str]:
        """Features that are dates, as days since 1970."""
        return [name for name in self._layout.raw if name in self._layout.dates]

    @property
    def date_orders(self) -> dict[str, DateOrder]:
        """The order of day and month in columns of text."""
        return {name: order for name, order in self._layout.dates.items() if order is not None}

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Conditions that every row fulfills."""
        return self._layout.choice.where

    @property
    def has_objects(self) -> bool:
        """Whether objects within rows of JSON became columns."""
        return any(remark.startswith(OBJECTS) for remark in self.remarks)

    @property
    def dialect(self) -> Dialect | None:
        """How the first file is written, if it is text with separators."""
        return getattr(self._tables[0], "dialect", None)

    @property
    def rows_filtered(self) -> bool:
        """Whether rows are left out, so that rows of the stream are not numbered as those of the files."""
        return self._layout.filters

    def _dates_read(self) -> list[str]:
        """Return how dates in text were read; warn if month first is as plausible and was not requested."""
        found = []
        for name, order in self.date_orders.items():
            found.append(f"dates of {shown(name)} as {order.words}")
            if order.ambiguous and not order.month_first:
                found[-1] += f" (month first: {by_interface('month_first=True', '--month-first')})"
                warn(
                    f"dates of {name!r} were read as {order.words}, and the month may come first: then say "
                    "month_first=True",
                    DateWarning,
                )
        return found

    def identity(self) -> dict[str, Any]:
        """Return a JSON description that identifies the stream: columns, target, and samples of the files."""
        return {
            "kind": type(self).__name__,
            "names": names_identity(self.names),
            "target": self._layout.target,
            "labels": self._layout.labels,
            "files": [file.lasting().identity() for file in self._tables],
            "reading": self._options(),
        }

    def check_identity(self, known: Mapping[str, Any]) -> None:
        """Raise ``SourceError`` if files differ from an earlier identity; rows may have been appended."""
        with comparing(self, known):
            same_names(known["names"], self.names)
            same("the target", known["target"], self._layout.target)
            same("the target's type", known["labels"], self._layout.labels)
            files = [file.lasting() for file in self._tables]
            check_files(known["files"], files)
            same("the way of reading", known.get("reading", {}), self._options())
            if self._tables[len(known["files"]) - 1].by_lines:
                check_last_line(known["files"], files)

    def _options(self) -> dict[str, Any]:
        """Return the options that determine rows and values; imputed values depend on all rows."""
        imputed = {"imputed": digest(self._imputed_means().tobytes())} if self._missing == "impute" else {}
        written = {name: order.month_first for name, order in self.date_orders.items()}
        dates = {"month_first": written} if written else {}
        return {**self._reading.options(), **self._layout.choice.options(), **imputed, **dates}

    def _without_missing(self, X: npt.NDArray[Any], columns: slice) -> npt.NDArray[Any]:
        """Return values with missing ones treated as the parameter ``missing`` says."""
        if self._missing == "keep":
            return X
        missing = np.isnan(X)
        if self._missing == "impute":
            means = self._imputed_means()[columns]
            return np.where(missing, means, X) if missing.any() else X
        places = np.flatnonzero(missing.any(axis=0))
        if len(places):
            names = self._layout.features[columns]
            raise SourceError(
                f"{self._tables[0].shown}: missing values in {some(names[j] for j in places)}: "
                f"{as_argument('missing', 'impute')} fills in the mean of the column"
            )
        return X

    def _imputed_means(self) -> npt.NDArray[np.float64]:
        """Return the mean of every column over its known values; 0 where there is none."""
        if self._means is None:
            n, total = np.zeros(len(self._layout.features)), np.zeros(len(self._layout.features))
            for pieces, _ in self._batches(self._read_rows(), check_start(self, None, POSITION)):
                for file, batch in pieces:
                    X = table_layout.matrix(batch, self._layout.features, file, row_major=False)
                    n, total = n + np.sum(~np.isnan(X), axis=0), total + np.nansum(X, axis=0)
            self._means = total / np.maximum(n, 1)
        return self._means

    def parts(self, rows: int) -> list[SourcePart]:
        """Cut the stream into consecutive parts of about ``rows`` rows.

        A part is a whole file if the number of rows is not known: for text, and if rows are left out.
        """
        if self._missing == "impute":
            self._imputed_means()  # computed over the whole stream, and passed on to the parts
        sizes = [0 if table.n_rows is None else table.n_rows for table in self._tables]
        if self._layout.filters or any(table.n_rows is None for table in self._tables):
            return [SourcePart(self._only(k, k + 1), str(file)) for k, file in enumerate(self.files)]
        found, first = [], 0
        for low, high, skip, size in grouped(sizes, rows):
            more = f" and {high - low - 1} more files" if high - low > 1 else ""
            inside = f", rows {skip + 1:,} to {skip + size:,}" if size < sizes[low] else ""
            start = {"file": 0, "row_in_file": skip, "row": skip} if skip else None
            shown = f"{self.files[low]}{inside}{more}"
            found.append(SourcePart(self._only(low, high), shown, start, size, first))
            first += size
        return found

    def _only(self, low: int, high: int) -> ArrowSource:
        """Return a source of some of the files, with the same columns."""
        twin = copy(self)
        twin._tables, twin.files = self._tables[low:high], self.files[low:high]  # noqa: SLF001 - a twin
        twin._columnar = twin._y = twin._counted = None  # noqa: SLF001
        twin.n_rows, twin._is_part = None, True  # noqa: SLF001
        return twin
