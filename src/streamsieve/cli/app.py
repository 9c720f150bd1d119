"""The commands and their options.  Heavy imports happen inside, so that --help is instant."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from streamsieve._exports import CRITERIA
from streamsieve._text import shown
from streamsieve._version import __version__
from streamsieve.cli import plot_commands
from streamsieve.cli.interrupts import INTERRUPTED, say_interrupted
from streamsieve.cli.options import (
    Data,
    Engine,
    HalfLife,
    Json,
    Output,
    Overwrite,
    PlainCommand,
    Quiet,
    Raw,
    Reading,
    Window,
    check_data,
    check_reading,
    examples,
    shared_options,
)
from streamsieve.exceptions import StreamSieveError

# base class of errors about options; typer has its own copy of click and does not export it
_UsageError: Any = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name="streamsieve",
    help="Feature selection while the data is still arriving.",
    epilog=examples(
        "streamsieve select patients.csv --target outcome",
        "streamsieve compare patients.csv --target outcome --out report",
        "streamsieve select -h",
    ),
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def invoke(arguments: Sequence[str] | None = None) -> int:
    """Run a command; errors become one line on standard error and an exit code."""
    try:
        given = sys.argv[1:] if arguments is None else list(arguments)
        code = app(args=given or ["--help"], standalone_mode=False, obj=given)  # a report shows the command
    except (StreamSieveError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            sys.stderr.close()  # the reader of the output has exited, as `| head` does
            return 0
        print(f"error: {shown(error)}", file=sys.stderr)  # noqa: T201
        return 2
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except _UsageError as error:
        error.message = shown(error.message)
        _about_parameters(error)
        error.show()
        return int(error.exit_code)
    if code == INTERRUPTED:  # typer may turn Ctrl-C into this exit code itself
        say_interrupted()
    return code if isinstance(code, int) else 0


def _about_parameters(error: Any) -> None:
    """Say how the parameters of a method are given, where an option that a command lacks may be one."""
    name, command = getattr(error, "option_name", ""), error.ctx and error.ctx.command
    options = [option for each in getattr(command, "params", ()) for option in each.opts]
    if "--param" in options and name and not get_close_matches(name, options, cutoff=0.8):
        error.possibilities = None
        error.message += f". A parameter of the method is given by --param {name.lstrip('-')}=VALUE"


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"streamsieve {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Feature selection while the data is still arriving."""


@app.command(
    cls=PlainCommand,
    short_help="List the methods, or explain one.",
    epilog=examples("streamsieve methods --columns --task regression", "streamsieve methods fast_osfs"),
)
def methods(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Explain this method.")] = None,
    rows: Annotated[bool, typer.Option("--rows", help="Methods for rows that stream in.")] = False,
    columns: Annotated[bool, typer.Option("--columns", help="Methods for columns that stream in.")] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Methods for the whole matrix.")] = False,
    task: Annotated[
        str | None, typer.Option(metavar="TASK", help="binary, multiclass or regression targets.")
    ] = None,
    json: Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the table of docs/methods.md.")] = False,
) -> None:
    """List every method: what streams into it, which targets it takes, what it can do."""
    from streamsieve.cli import methods as implementation  # noqa: PLC0415

    axes = [axis for axis, wanted in (("rows", rows), ("columns", columns), ("offline", offline)) if wanted]
    if name is not None:
        implementation.explain(name, as_json=json)
    else:
        implementation.show(axes, task, as_json=json, as_markdown=markdown)


@app.command(
    cls=PlainCommand,
    short_help="Select features of a table with any method, and say why.",
    epilog=examples(
        "streamsieve select patients.csv --target diagnosis",
        "streamsieve select churn.csv.gz --target churned --id user --missing impute",
        "streamsieve select genes.parquet --target type --method saola",
        "streamsieve select sales.xlsx --target price --write-data small.parquet",
        "streamsieve select shop.db --sql 'select * from orders' --target paid",
    ),
)
@shared_options
def select(
    *,
    data: Data,
    method: Annotated[
        str | None, typer.Option(metavar="NAME", help="See `streamsieve methods`; default: by the data.")
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option(metavar="GOAL", help="Purpose: accurate (default), smallest, fdr or explain."),
    ] = None,
    task: Annotated[
        str | None, typer.Option(metavar="TASK", help="What the target is: classification, regression.")
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option("--param", metavar="NAME=VALUE", help="A parameter, as alpha=0.05.")
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Column of subjects (not a feature): their rows may be dependent."
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of times (not a feature): sorted rows of a series."),
    ] = None,
    holdout: Annotated[
        float | None,
        typer.Option(metavar="P", help="Hold out this proportion of rows; test kept columns on them."),
    ] = None,
    block: Annotated[int, typer.Option(metavar="N", help="Columns (or rows) read at a time.", min=1)] = 1024,
    engine: Engine,
    reading: Reading,
    output: Output,
) -> None:
    """Stream the columns (or rows) of a table through a method; print what it keeps, and why."""
    check_reading(reading, task)
    check_data(data)
    from streamsieve.cli import select as implementation  # noqa: PLC0415
    from streamsieve.cli.dependent_rows import DependentRows  # noqa: PLC0415

    rows = DependentRows(groups, time)
    request = implementation.Request(
        data=data, reading=reading, output=output, size=block, rows=rows, engine=engine, holdout=holdout,
        task=task,
    )  # fmt: skip
    raise typer.Exit(implementation.select(request, method, goal, param or []))


@app.command(
    cls=PlainCommand,
    short_help="Rank the features of streaming rows by a score.",
    epilog=examples(
        "streamsieve screen clicks.csv --target bought --k 20",
        "streamsieve screen 'clicks/*.parquet' --target bought --half-life 1e6",
        "streamsieve screen log.csv --target y --checkpoint log.sieve --resume",
        "streamsieve screen 'clicks/*.parquet' --target bought --engine local",
    ),
)
@shared_options
def screen(
    *,
    data: Data,
    criterion: Annotated[
        str, typer.Option(metavar="NAME", help=f"{', '.join(CRITERIA)}; auto: by the target.")
    ] = "auto",
    k: Annotated[int | None, typer.Option(metavar="K", help="Keep the k best.")] = None,
    percentile: Annotated[
        float | None, typer.Option(metavar="P", help="Keep this percentage of features.")
    ] = None,
    alpha: Annotated[float | None, typer.Option(metavar="P", help="Keep features with p <= ALPHA.")] = None,
    correction: Annotated[
        str, typer.Option(metavar="NAME", help="With --alpha: none, bonferroni, bh.")
    ] = "none",
    looks: Annotated[
        str, typer.Option(metavar="WHEN", help="With --alpha, when p-values hold: once (at the end), any.")
    ] = "once",
    half_life: HalfLife = None,
    window: Window = None,
    on_drift: Annotated[
        str | None, typer.Option(metavar="HOW", help="When relevance changes: reset, reweigh.")
    ] = None,
    max_rank_error: Annotated[
        float, typer.Option(metavar="E", help="Largest rank error of quantiles, in (0, 1).")
    ] = 1e-3,
    task: Annotated[str, typer.Option(metavar="TASK", help="auto, classification, regression.")] = "auto",
    review_every: Annotated[
        int | None, typer.Option(metavar="ROWS", help="Record changes of the selection every N rows.")
    ] = None,
    batch: Annotated[int, typer.Option(metavar="N", help="Rows read at a time.", min=1)] = 4096,
    engine: Engine,
    reading: Reading,
    output: Output,
) -> None:
    """Stream the rows of a table through a screen; print the best features."""
    check_reading(reading, task)
    check_data(data)
    from streamsieve.cli import select as implementation  # noqa: PLC0415

    request = implementation.Request(data=data, reading=reading, output=output, size=batch, engine=engine)
    parameters = {
        "criterion": criterion, "k": k, "percentile": percentile, "alpha": alpha,
        "correction": correction, "looks": looks, "half_life": half_life, "window": window,
        "on_drift": on_drift,
        "max_rank_error": max_rank_error, "task": task, "review_every": review_every,
    }  # fmt: skip
    raise typer.Exit(implementation.screen(request, parameters))


@app.command(
    cls=PlainCommand,
    short_help="Compare selectors and learners; write a report.",
    epilog=examples(
        "streamsieve compare breast_cancer --out report",
        "streamsieve compare genes.csv --target type --selectors saola,f --out report",
    ),
)
@shared_options
def compare(
    *,
    context: typer.Context,
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Files, patterns or a folder, or the name of a data set such as breast_cancer.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the report and its files.")
    ],
    selectors: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="As saola,fast_osfs,top_k,none; see `streamsieve methods`."),
    ] = None,
    learners: Annotated[str | None, typer.Option(metavar="A,B", help="As knn,logistic,nb,forest.")] = None,
    protocol: Annotated[
        str, typer.Option(metavar="NAME", help="screening (sizes), streaming (columns), prequential (rows).")
    ] = "screening",
    sizes: Annotated[
        str | None, typer.Option(metavar="N,N", help="Numbers of features to try, as 5,10,20.")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(metavar="N", help="Random assignments of rows to folds; default 5.")
    ] = None,
    folds: Annotated[int | None, typer.Option(metavar="N", help="Folds of each run; default 5.")] = None,
    metric: Annotated[
        str | None, typer.Option(metavar="NAME", help="As auc, f1, log_loss, r2, mae; default auc or r2.")
    ] = None,
    task: Annotated[str, typer.Option(metavar="TASK", help="auto, classification, regression.")] = "auto",
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Number of processes; default: by cores and data.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed.", min=0)] = 0,
    groups: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of subjects, whose rows stay in one fold.")
    ] = None,
    time: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of times: train on earlier rows only.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted comparison in --out.")
    ] = False,
    overwrite: Overwrite = False,
    raw: Raw = False,
    quiet: Quiet = False,
    json: Json = False,
    reading: Reading,
) -> None:
    """Compare selectors and learners on your data; write a report that says what to use."""
    check_reading(reading, task)
    check_data(data, names=True)
    from streamsieve.cli import compare as implementation  # noqa: PLC0415
    from streamsieve.cli import compare_plan  # noqa: PLC0415

    options = compare_plan.Options(
        protocol, selectors, learners, sizes, runs, folds, metric, task, jobs, seed, groups, time
    )
    command = shlex.join(["streamsieve", *(context.obj or [])])
    request = implementation.Request(
        data, reading, out, options, resume, overwrite, raw, quiet, json, command
    )
    raise typer.Exit(implementation.compare(request))


@app.command(
    cls=PlainCommand,
    short_help="Merge saved row selectors of parts of a stream.",
    epilog=examples("streamsieve merge monday.sieve tuesday.sieve --out week.sieve"),
)
def merge(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Saved selectors or checkpoints, in order of their rows."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Write the merged selector here.")],
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Merge saved row selectors into one that has learned the rows of all."""
    from streamsieve.cli import merge as implementation  # noqa: PLC0415

    implementation.merge(files, out, overwrite=overwrite, quiet=quiet, as_json=json)


@app.command(
    cls=PlainCommand,
    short_help="Show what a saved selector or a checkpoint holds.",
    epilog=examples("streamsieve show week.sieve --top 20"),
)
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A saved selector or a checkpoint.")],
    top: Annotated[int, typer.Option(metavar="N", help="Number of best features to show.", min=0)] = 10,
    ledger: Annotated[int, typer.Option(metavar="N", help="Number of latest decisions to show.", min=0)] = 10,
    json: Json = False,
) -> None:
    """Show what a file holds: the selector, its best features, its latest decisions."""
    from streamsieve.cli import show as implementation  # noqa: PLC0415

    implementation.show(file, top=top, tail=ledger, as_json=json)


@app.command(
    cls=PlainCommand,
    short_help="Run both kinds of selectors on embedded data.",
    epilog=examples("streamsieve demo --out demo"),
)
def demo(
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder for the picture and the ledger.")
    ] = Path("demo"),
    raw: Raw = False,
    overwrite: Overwrite = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars.")] = False,
) -> None:
    """Stream embedded data through a column selector and a row screen, within seconds."""
    from streamsieve.cli import demo as implementation  # noqa: PLC0415

    implementation.run(out, raw=raw, overwrite=overwrite, quiet=quiet)


app.add_typer(plot_commands.plot, name="plot", short_help="Draw how selections change over time.")
