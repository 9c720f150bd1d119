"""The commands and their options.  Heavy imports happen inside, so that --help is instant."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from streamsieve._text import shown
from streamsieve._version import __version__
from streamsieve.cli.interrupts import INTERRUPTED, say_interrupted
from streamsieve.exceptions import StreamSieveError

# The base of all complaints about options; typer brings its own copy of click and does not export it.
_UsageError: Any = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name="streamsieve",
    help="Feature selection while the data is still arriving.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Data = Annotated[list[str], typer.Argument(help="Files or glob patterns; several form one stream.")]
Target = Annotated[str | None, typer.Option(help="Column to predict (not needed for svmlight files).")]
Out = Annotated[
    Path | None, typer.Option(help="Write the kept features here (.csv, or .txt for names only).")
]
LedgerFile = Annotated[Path | None, typer.Option("--ledger", help="Write every decision here, as CSV.")]
Raw = Annotated[
    bool,
    typer.Option(
        "--raw",
        help="Write names to CSV files as they are. Otherwise names that a spreadsheet would evaluate (those "
        "that begin with = + - @, tab or carriage return) get a single quote before them.",
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace files that streamsieve did not write, too.")
]
Save = Annotated[Path | None, typer.Option(help="Write the selector here, for ss.load in Python.")]
Groups = Annotated[str | None, typer.Option(help="No feature, but whose rows belong together: patient.")]
Time = Annotated[str | None, typer.Option(help="No feature, but the time by which the rows are sorted.")]
SkipText = Annotated[bool, typer.Option("--skip-text", help="Leave text columns out instead of stopping.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no table.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Checkpoint = Annotated[
    Path | None, typer.Option(help="Keep what was learnt of rows, and the place in the stream, in this file.")
]
KeptEvery = Annotated[
    str | None,
    typer.Option("--every", help="With --checkpoint: how often, as 10s, 2min or a number of rows."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint, if there is one.")]
Verify = Annotated[
    str | None,
    typer.Option(
        help="With --checkpoint: how --resume knows the data again. sample (default): columns, names and "
        "sizes of files, and about 200 kB of each; a change elsewhere is not noticed. full: a digest of "
        "every value that was learnt; all of them are read again."
    ),
]


def invoke(arguments: Sequence[str] | None = None) -> int:
    """Run a command; errors become one line on standard error and an exit code."""
    try:
        given = sys.argv[1:] if arguments is None else list(arguments)
        code = app(args=given, standalone_mode=False, obj=given)  # a report shows the command
    except (StreamSieveError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            sys.stderr.close()  # the reader of our output left, as `| head` does
            return 0
        print(f"error: {shown(error)}", file=sys.stderr)  # noqa: T201
        return 2
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except _UsageError as error:
        error.message = shown(error.message)
        error.show()
        return int(error.exit_code)
    if code == INTERRUPTED:  # typer may turn Ctrl-C into this exit code itself
        say_interrupted()
    return code if isinstance(code, int) else 0


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


@app.command()
def methods(
    json: Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the README's table.")] = False,
) -> None:
    """List every method: what streams into it, which targets it takes, what it can do."""
    from streamsieve.cli import methods as implementation  # noqa: PLC0415

    implementation.show(as_json=json, as_markdown=markdown)


@app.command()
def select(
    data: Data,
    target: Target = None,
    method: Annotated[str | None, typer.Option(help="See `streamsieve methods`; default saola.")] = None,
    task: Annotated[str | None, typer.Option(help="What the target is: classification, regression.")] = None,
    param: Annotated[list[str] | None, typer.Option("--param", help="A parameter, as alpha=0.05.")] = None,
    groups: Groups = None,
    time: Time = None,
    out: Out = None,
    ledger: LedgerFile = None,
    save: Save = None,
    explain: Annotated[str | None, typer.Option(help="Say why this feature is in or out.")] = None,
    block: Annotated[int, typer.Option(help="Columns (or rows) read at a time.", min=1)] = 1024,
    checkpoint: Checkpoint = None,
    every: KeptEvery = None,
    resume: Resume = False,
    verify: Verify = None,
    skip_text: SkipText = False,
    raw: Raw = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Stream the columns (or rows) of a file through a method; print what it keeps, and why."""
    from streamsieve.cli import select as implementation  # noqa: PLC0415

    request = implementation.Request(
        data=data, target=target, out=out, ledger=ledger, save=save, explain=explain, size=block,
        checkpoint=checkpoint, every=every, resume=resume, verify=verify, skip_text=skip_text, raw=raw,
        overwrite=overwrite, quiet=quiet, json=json,
    )  # fmt: skip
    parameters = [*(param or []), *([] if task is None else [f"task={task}"])]
    raise typer.Exit(implementation.select(request, method, parameters, groups, time))


@app.command()
def screen(
    data: Data,
    target: Target = None,
    criterion: Annotated[
        str, typer.Option(help="t, fisher, f, mutual_info, chi2, gini, su, correlation.")
    ] = "f",
    k: Annotated[int | None, typer.Option(help="Keep the k best.")] = None,
    percentile: Annotated[float | None, typer.Option(help="Keep this share, in percent.")] = None,
    alpha: Annotated[float | None, typer.Option(help="Keep p-values at most this.")] = None,
    correction: Annotated[str, typer.Option(help="With --alpha: none, bonferroni, bh.")] = "none",
    half_life: Annotated[float | None, typer.Option(help="Rows after which a row weighs half.")] = None,
    window: Annotated[int | None, typer.Option(help="Score the last rows only, this number of them.")] = None,
    on_drift: Annotated[str | None, typer.Option(help="When relevance changes: reset, reweigh.")] = None,
    max_rank_error: Annotated[float, typer.Option(help="Largest rank error of quantiles, in (0, 1).")] = 1e-3,
    task: Annotated[str, typer.Option(help="auto, classification, regression.")] = "auto",
    review_every: Annotated[int | None, typer.Option(help="Rows between two looks for changes.")] = None,
    out: Out = None,
    ledger: LedgerFile = None,
    save: Save = None,
    explain: Annotated[str | None, typer.Option(help="Say why this feature is in or out.")] = None,
    batch: Annotated[int, typer.Option(help="Rows read at a time.", min=1)] = 4096,
    checkpoint: Checkpoint = None,
    every: KeptEvery = None,
    resume: Resume = False,
    verify: Verify = None,
    skip_text: SkipText = False,
    raw: Raw = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Stream the rows of a file through a screen; print the best features."""
    from streamsieve.cli import select as implementation  # noqa: PLC0415

    request = implementation.Request(
        data=data, target=target, out=out, ledger=ledger, save=save, explain=explain, size=batch,
        checkpoint=checkpoint, every=every, resume=resume, verify=verify, skip_text=skip_text, raw=raw,
        overwrite=overwrite, quiet=quiet, json=json,
    )  # fmt: skip
    parameters = {
        "criterion": criterion, "k": k, "percentile": percentile, "alpha": alpha,
        "correction": correction, "half_life": half_life, "window": window, "on_drift": on_drift,
        "max_rank_error": max_rank_error, "task": task, "review_every": review_every,
    }  # fmt: skip
    raise typer.Exit(implementation.screen(request, parameters))


@app.command()
def compare(
    context: typer.Context,
    data: Annotated[
        list[str],
        typer.Argument(help="Files or glob patterns, or the name of a data set such as breast_cancer."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the report and its files.")],
    target: Target = None,
    selectors: Annotated[
        str | None, typer.Option(help="As saola,fast_osfs,top_k,none; see `streamsieve methods`.")
    ] = None,
    learners: Annotated[str | None, typer.Option(help="As knn,logistic,nb,forest.")] = None,
    protocol: Annotated[
        str, typer.Option(help="screening (sizes), streaming (columns), prequential (rows).")
    ] = "screening",
    sizes: Annotated[str | None, typer.Option(help="Numbers of features to try, as 5,10,20.")] = None,
    runs: Annotated[int | None, typer.Option(help="Random assignments of rows to folds; default 5.")] = None,
    folds: Annotated[int | None, typer.Option(help="Folds of each run; default 5.")] = None,
    metric: Annotated[str | None, typer.Option(help="auc, accuracy, r2; default by the target.")] = None,
    task: Annotated[str, typer.Option(help="auto, classification, regression.")] = "auto",
    jobs: Annotated[int | None, typer.Option(help="Processes; default by the processors.")] = None,
    seed: Annotated[int, typer.Option(help="Another seed, other folds.", min=0)] = 0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the comparison in the folder.")
    ] = False,
    skip_text: SkipText = False,
    raw: Raw = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare selectors and learners on your data; write a report that says what to use."""
    from streamsieve.cli import compare as implementation  # noqa: PLC0415
    from streamsieve.cli import compare_plan  # noqa: PLC0415

    options = compare_plan.Options(
        protocol, selectors, learners, sizes, runs, folds, metric, task, jobs, seed
    )
    command = shlex.join(["streamsieve", *(context.obj or [])])
    request = implementation.Request(data, target, out, options, resume, skip_text, raw, quiet, json, command)
    raise typer.Exit(implementation.compare(request))


@app.command()
def merge(
    files: Annotated[
        list[Path], typer.Argument(help="Saved selectors or checkpoints, in order of their rows.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Write the merged selector here.")],
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Merge saved row selectors into one that has learnt the rows of all."""
    from streamsieve.cli import merge as implementation  # noqa: PLC0415

    implementation.merge(files, out, overwrite=overwrite, quiet=quiet, as_json=json)


@app.command()
def show(
    file: Annotated[Path, typer.Argument(help="A saved selector or a checkpoint.")],
    top: Annotated[int, typer.Option(help="Number of best features to show.", min=0)] = 10,
    ledger: Annotated[int, typer.Option(help="Number of latest decisions to show.", min=0)] = 10,
    json: Json = False,
) -> None:
    """Show what a file holds: the selector, its best features, its latest decisions."""
    from streamsieve.cli import show as implementation  # noqa: PLC0415

    implementation.show(file, top=top, tail=ledger, as_json=json)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture and the ledger.")] = Path("demo"),
    raw: Raw = False,
    overwrite: Overwrite = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars.")] = False,
) -> None:
    """Stream embedded data through a column selector and a row screen, within seconds."""
    from streamsieve.cli import demo as implementation  # noqa: PLC0415

    implementation.run(out, raw=raw, overwrite=overwrite, quiet=quiet)


plot = typer.Typer(
    help="Draw how selections change over time: scores of your data, or detection under drift.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(plot, name="plot")

Picture = Annotated[Path, typer.Option("--out", help="File to draw into (.png, .svg or .pdf).")]
Every = Annotated[int, typer.Option(help="Rows between two looks.", min=1)]
Table = Annotated[Path | None, typer.Option("--table", help="Write the numbers here as well, as CSV.")]


@plot.command("scores")
def plot_scores(
    data: Data,
    out: Picture,
    target: Target = None,
    criterion: Annotated[str, typer.Option(help="t, fisher, f, correlation, ...")] = "f",
    k: Annotated[int | None, typer.Option(help="Features the screen keeps; default 10.", min=1)] = None,
    half_life: Annotated[float | None, typer.Option(help="Rows after which a row weighs half.")] = None,
    window: Annotated[int | None, typer.Option(help="Number of last rows to remember.", min=1)] = None,
    every: Every = 1000,
    top: Annotated[int, typer.Option(help="Features to draw.", min=1)] = 10,
    table: Table = None,
    batch: Annotated[int, typer.Option(help="Rows read at a time.", min=1)] = 4096,
    skip_text: SkipText = False,
    raw: Raw = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Stream the rows of a file through a screen; draw how the best features' scores rose and fell."""
    from streamsieve.cli import plot as implementation  # noqa: PLC0415

    request = implementation.Request(out, table, every, batch, raw, overwrite, quiet)
    parameters = {"criterion": criterion, "k": k, "half_life": half_life, "window": window}
    implementation.scores(request, data, target, parameters, top=top, skip_text=skip_text)


@plot.command("detection")
def plot_detection(
    out: Picture,
    shift_every: Annotated[int, typer.Option(help="Rows after which a relevant feature changes.")] = 250,
    half_life: Annotated[
        list[float] | None,
        typer.Option(help="Rows after which a row weighs half; several draw several curves."),
    ] = None,
    criterion: Annotated[str, typer.Option(help="t, fisher, f, ...")] = "t",
    k: Annotated[int, typer.Option(help="Features the screens keep.", min=1)] = 200,
    rows: Annotated[int, typer.Option(help="Length of the stream.", min=1)] = 100_000,
    features: Annotated[int, typer.Option(help="Number of features.", min=1)] = 1000,
    relevant: Annotated[int, typer.Option(help="How many are relevant at a time.", min=1)] = 100,
    seed: Annotated[int, typer.Option(help="Another seed, another stream.", min=0)] = 0,
    every: Every = 1000,
    table: Table = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Stream simulated rows whose relevant features drift; plot how many each half-life finds."""
    from streamsieve.cli import plot as implementation  # noqa: PLC0415

    request = implementation.Request(out, table, every, 4096, False, overwrite, quiet)
    stream = {
        "n_rows": rows, "n_features": features, "n_relevant": relevant, "shift_every": shift_every,
        "seed": seed,
    }  # fmt: skip
    implementation.detection(request, stream, half_life or [], {"criterion": criterion, "k": k})
