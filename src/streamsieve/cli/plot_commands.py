"""The commands of ``streamsieve plot`` and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamsieve.cli.options import (
    Data,
    HalfLife,
    Overwrite,
    PlainCommand,
    Quiet,
    Raw,
    Reading,
    Window,
    check_data,
    examples,
    shared_options,
)

plot = typer.Typer(
    help="Draw how selections change over time: scores of your data, or detection under drift.",
    epilog=examples("streamsieve plot scores log.csv --target y --out scores.png"),
    no_args_is_help=True,
    rich_markup_mode=None,
)

Picture = Annotated[
    Path, typer.Option("--out", metavar="FILE", help="File to draw into (.png, .svg or .pdf).")
]
Every = Annotated[int, typer.Option(metavar="ROWS", help="Rows between two looks.", min=1)]
Table = Annotated[
    Path | None, typer.Option("--table", metavar="FILE", help="Write the numbers here as well, as CSV.")
]


@plot.command(
    "scores",
    cls=PlainCommand,
    short_help="Draw how the scores of the best features rose and fell.",
    epilog=examples("streamsieve plot scores log.csv --target y --half-life 5000 --out s.png"),
)
@shared_options
def plot_scores(
    *,
    data: Data,
    out: Picture,
    criterion: Annotated[str, typer.Option(metavar="NAME", help="t, fisher, f, correlation, ...")] = "f",
    k: Annotated[
        int | None, typer.Option(metavar="K", help="Features the screen keeps; default 10.", min=1)
    ] = None,
    half_life: HalfLife = None,
    window: Window = None,
    every: Every = 1000,
    top: Annotated[int, typer.Option(metavar="N", help="Features to draw.", min=1)] = 10,
    table: Table = None,
    batch: Annotated[int, typer.Option(metavar="N", help="Rows read at a time.", min=1)] = 4096,
    raw: Raw = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    reading: Reading,
) -> None:
    """Stream the rows of a table through a screen; draw how the best features' scores rose and fell."""
    check_data(data)
    from streamsieve.cli import plot as implementation  # noqa: PLC0415

    request = implementation.Request(out, table, every, batch, raw, overwrite, quiet)
    parameters = {"criterion": criterion, "k": k, "half_life": half_life, "window": window}
    implementation.scores(request, data, reading, parameters, top=top)


@plot.command(
    "detection",
    cls=PlainCommand,
    short_help="Draw how many drifting features screens find.",
    epilog=examples("streamsieve plot detection --half-life 1000 --out drift.png"),
)
def plot_detection(
    out: Picture,
    shift_every: Annotated[
        int, typer.Option(metavar="ROWS", help="Rows after which a relevant feature changes.")
    ] = 250,
    half_life: Annotated[
        list[float] | None,
        typer.Option(metavar="ROWS", help="Rows after which a row weighs half; several draw several curves."),
    ] = None,
    criterion: Annotated[str, typer.Option(metavar="NAME", help="t, fisher, f, ...")] = "t",
    k: Annotated[int, typer.Option(metavar="K", help="Features the screens keep.", min=1)] = 200,
    rows: Annotated[int, typer.Option(metavar="ROWS", help="Length of the stream.", min=1)] = 100_000,
    features: Annotated[int, typer.Option(metavar="N", help="Number of features.", min=1)] = 1000,
    relevant: Annotated[int, typer.Option(metavar="N", help="How many are relevant at a time.", min=1)] = 100,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed.", min=0)] = 0,
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
