"""``streamsieve plot``: pictures of screens over time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from streamsieve import sources
from streamsieve.base.effects import effect_name
from streamsieve.cli.options import Reading
from streamsieve.cli.output import check_files, say
from streamsieve.cli.progress import progress
from streamsieve.cli.reading import described, opened, take_types
from streamsieve.evaluation import Track, detection_curve, plots, track
from streamsieve.exceptions import ParameterError
from streamsieve.rows import Screen

NEVER = "never forgets"
#: Last share of the stream, over which the printed means are computed, without the beginning.
LAST = 0.25


@dataclass(frozen=True)
class Request:
    """Options common to both pictures."""

    out: Path
    table: Path | None
    every: int
    batch: int
    raw: bool
    overwrite: bool
    quiet: bool

    def check(self, data: list[str]) -> None:
        """Refuse outputs that cannot be written, before any work."""
        plots.check_path(self.out)
        outputs = {"--out": self.out, "--table": self.table}
        check_files(outputs, {"DATA": data}, overwrite=self.overwrite, suffixes={"--table": (".csv",)})


def scores(
    request: Request, data: list[str], reading: Reading, parameters: dict[str, Any], *, top: int
) -> None:
    """Draw the scores of the best features of a file over time."""
    request.check(data)
    source = opened(data, reading)
    screen = Screen(**parameters)
    take_types(screen, reading, source)
    seen = _tracked(request, source, {parameters["criterion"]: screen})
    shown = seen[parameters["criterion"]]
    for line in described(source, reading):
        _say(request, line)
    lives = {"half_life": "half-life {:,g} rows", "window": "the last {:,} rows"}
    how = [text.format(parameters[name]) for name, text in lives.items() if parameters.get(name) is not None]
    title = ", ".join([f"{Path(data[0]).name}: scores by {parameters['criterion']}", *how])
    measure = effect_name(screen)
    _finish(request, plots.scores(seen, top=top, title=title, measure=measure), seen)
    _say(
        request,
        f"{len(seen.rows):,} looks at {int(seen.rows[-1]):,} rows   {len(shown.columns):,} features were "
        f"selected at some time, {len(shown.selected[-1]):,} are now",
    )


def detection(
    request: Request, stream: dict[str, Any], half_lives: list[float], parameters: dict[str, Any]
) -> None:
    """Draw the share of relevant features that screens find in a stream that drifts."""
    request.check([])
    source = sources.DriftingStream(**stream)
    if parameters["k"] > source.n_features:
        raise ParameterError(
            f"k={parameters['k']}, but the stream has {source.n_features} features: choose a smaller --k"
        )
    screens = {f"half-life {life:,g} rows": Screen(**parameters, half_life=life) for life in half_lives}
    screens[NEVER] = Screen(**parameters)
    seen = _tracked(request, source, screens)
    tops = {name: shown.selected for name, shown in seen.screens.items()}
    truths = [source.relevant(row - 1) for row in seen.rows.tolist()]
    shifts = range(source.shift_every, int(seen.rows[-1]), source.shift_every)
    title = (
        f"{source.n_relevant:,} of {source.n_features:,} features are relevant, one changes every "
        f"{source.shift_every:,} rows; {parameters['criterion']}, the {parameters['k']:,} best"
    )
    picture = plots.detection(seen.rows, tops, truths, shifts, n_features=source.n_features, title=title)
    _finish(request, picture, seen)
    last = seen.rows > seen.rows[-1] * (1 - LAST)
    for name, top in tops.items():
        share = float(np.mean(detection_curve(top, truths)[last]))
        _say(request, f"{name:28} found {share:.0%} of the relevant features over the last quarter")


def _tracked(request: Request, source: Any, screens: dict[str, Screen]) -> Track:
    started = time.perf_counter()
    with progress("rows", source.n_rows, "rows", quiet=request.quiet) as advance:
        seen = track(source, screens, request.every, batch=request.batch, progress=advance)
    seconds = time.perf_counter() - started
    many = f"{len(screens)} screens" if len(screens) > 1 else "a screen"
    _say(request, f"{int(seen.rows[-1]):,} rows through {many} in {seconds:.1f} s")
    return seen


def _finish(request: Request, picture: Any, seen: Track) -> None:
    plots.save(picture, request.out, overwrite=True)  # checked before
    if request.table is not None:
        seen.to_csv(request.table, raw=request.raw, overwrite=True)
    for path in (request.out, request.table):
        if path is not None:
            _say(request, f"wrote {path}")


def _say(request: Request, text: str) -> None:
    if not request.quiet:
        say(text)
