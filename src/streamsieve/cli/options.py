"""Options that several commands share, declared once, and a decorator that gives them to a command."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand


class PlainCommand(TyperCommand):
    """A command whose help says FILE... for its arguments, without braces and types of Python."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for parameter in self.params:
            if isinstance(parameter, TyperArgument):
                parameter.display_type_rich = lambda ctx: None  # type: ignore[method-assign]  # noqa: ARG005

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]


Data = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="Files, patterns ('*.csv'), a folder, or - for standard input; several form one stream.",
    ),
]
Raw = Annotated[
    bool,
    typer.Option(
        "--raw",
        help="Write text to CSV files as it is. Otherwise text that a spreadsheet would evaluate (it begins "
        "with = + - @, tab or carriage return) gets a single quote before it.",
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace files that streamsieve did not write, too.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no table.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
HalfLife = Annotated[
    float | None,
    typer.Option(metavar="ROWS", help="Number of rows after which the weight of a row has halved."),
]
Window = Annotated[int | None, typer.Option(metavar="ROWS", help="Use only the last N rows.", min=1)]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reading:
    """How the data is read, and which of its columns and rows are used."""

    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column to predict (not needed for svmlight files).")
    ] = None
    weight: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Column of the weights of rows, for methods that take them; no feature."
        ),
    ] = None
    features: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="Use only these columns as features.")
    ] = None
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="Columns not to use as features.")
    ] = None
    id: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Columns that identify rows, not used as features."),
    ] = None
    categories: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="Text columns: auto (an indicator column per category, such as city=Rome; text of more "
            "than 50 values is left out), drop, refuse.",
        ),
    ] = "auto"
    nominal: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Categorical columns, for methods with a parameter `types`."),
    ] = None
    ordinal: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="Columns whose numbers are ordered categories.")
    ] = None
    numeric: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Columns of whole numbers that are quantities, not codes."),
    ] = None
    dates: Annotated[
        bool, typer.Option("--dates", help="Use dates as numbers (days since 1970); otherwise left out.")
    ] = False
    month_first: Annotated[
        bool,
        typer.Option(
            "--month-first", help="Read 03/04/2024 as 4 March where it could also be 3 April, the default."
        ),
    ] = False
    missing: Annotated[
        str | None,
        typer.Option(
            metavar="HOW",
            help="Missing numbers: omit (each test uses the rows that are complete; methods with a parameter "
            "missing, and screens), impute (the mean of the column; any method), refuse. A missing text is a "
            "category of its own.",
        ),
    ] = None
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEST", help="Use only rows with this condition, as 'age>=18'; may be repeated."
        ),
    ] = None
    drop_missing_target: Annotated[
        bool, typer.Option("--drop-missing-target", help="Leave out rows whose target is missing.")
    ] = False
    skip_text: Annotated[bool, typer.Option("--skip-text", help="The same as --categories drop.")] = False
    sep: Annotated[
        str | None, typer.Option(metavar="CHAR", help="Separator of text files; default: detected.")
    ] = None
    decimal: Annotated[
        str | None, typer.Option(metavar="CHAR", help="Decimal mark, . or ,; default: detected.")
    ] = None
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="Encoding of text files, as latin-1; default utf-8.")
    ] = None
    na: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Texts that mean a missing value, as '?' or 99,999."),
    ] = None
    skip_rows: Annotated[
        int, typer.Option(metavar="N", min=0, help="Lines (rows of a sheet) before the names of columns.")
    ] = 0
    sheet: Annotated[
        str | None, typer.Option(metavar="NAME", help="Sheet of a workbook; default the first.")
    ] = None
    sql: Annotated[str | None, typer.Option(metavar="QUERY", help="Query to an SQLite or DuckDB file.")] = (
        None
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Output:
    """What is written and printed of a selection, and how an interrupted run goes on."""

    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the kept features here (.csv, .json, .parquet; .txt for names only)."
        ),
    ] = None
    write_data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the table with --id, kept features and target (.parquet, .csv, .arrow).",
        ),
    ] = None
    ledger: Annotated[
        Path | None, typer.Option("--ledger", metavar="FILE", help="Write every decision here, as CSV.")
    ] = None
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the selector here, for ss.load in Python.")
    ] = None
    explain: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="Say why these features were kept or not.")
    ] = None
    code: Annotated[
        bool, typer.Option("--code", help="Print a scikit-learn pipeline that makes the same selection.")
    ] = False
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File for the state and the position in the stream, to resume."),
    ] = None
    every: Annotated[
        str | None,
        typer.Option(
            "--every", metavar="TIME", help="With --checkpoint: how often, as 10s, 2min or 5000 (rows)."
        ),
    ] = None
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue from the checkpoint, if there is one.")
    ] = False
    verify: Annotated[
        str | None,
        typer.Option(
            metavar="HOW",
            help="With --checkpoint: how --resume checks that the data are the same. sample (default): "
            "columns, names and sizes of files, and about 200 kB of each; other changes are not detected. "
            "full: a digest of every value learned, all of which are read again.",
        ),
    ] = None
    raw: Raw = False
    overwrite: Overwrite = False
    quiet: Quiet = False
    json: Json = False

    @property
    def silent(self) -> bool:
        """Whether only the result may be printed."""
        return self.quiet or self.json


@dataclasses.dataclass(frozen=True, kw_only=True)
class Engine:
    """Where rows are learned: in this process, by workers of this machine, or by a Dask cluster."""

    engine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Learn rows in parts: local (this machine: processes, or threads where rows are few) or "
            "dask (a cluster; without --scheduler, threads).",
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", help="With --engine: processes or threads; default one per core.", min=1),
    ] = None
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="With --engine dask: its scheduler, as tcp://host:8786."),
    ] = None
    rows_per_task: Annotated[
        int | None, typer.Option(metavar="N", help="With --engine: rows per part; default: by size.", min=1)
    ] = None


def shared_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of each parameter that is annotated with a class of options."""
    hints = typing.get_type_hints(command, include_extras=True)
    parameters, groups = [], dict[str, list[str]]()
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if not dataclasses.is_dataclass(kind):
            parameters.append(parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        types = typing.get_type_hints(kind, include_extras=True)
        groups[name] = [field.name for field in dataclasses.fields(kind)]
        parameters += [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=types[field.name],
            )
            for field in dataclasses.fields(kind)
        ]

    @wraps(command)
    def with_groups(**given: Any) -> Any:
        made = {
            name: hints[name](**{option: given.pop(option) for option in options})
            for name, options in groups.items()
        }
        return command(**given, **made)

    with_groups.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_groups.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return with_groups


def examples(*lines: str) -> str:
    """Return examples for the end of a help text, each on a line of its own."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def check_reading(reading: Reading, task: str | None = None) -> None:
    """Refuse options that make no sense, before anything heavy is imported."""
    from streamsieve._parameters import check_choice  # noqa: PLC0415

    check_choice("--categories", reading.categories, ("auto", "drop", "refuse"))
    if reading.missing is not None:
        check_choice("--missing", reading.missing, ("omit", "impute", "refuse"))
    if task is not None:
        check_choice("--task", task, ("auto", "classification", "regression"))


def check_data(data: list[str], *, names: bool = False) -> None:
    """Refuse files that are not there, before anything heavy is imported; ``names`` of data sets are none."""
    from streamsieve._paths import format_of, resolve  # noqa: PLC0415

    files = [path for path in data if "://" not in path]
    if names and len(data) == 1 and "." not in data[0] and not Path(data[0]).exists():
        return
    for file in resolve(files) if files else ():
        format_of(file)
