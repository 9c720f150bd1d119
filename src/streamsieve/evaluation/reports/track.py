"""Scores and selections of screens over a stream, recorded at regular intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from streamsieve._files import refuse_foreign
from streamsieve._parameters import check_number, did_you_mean
from streamsieve._text import write_csv
from streamsieve.evaluation.engine.sources import cut
from streamsieve.exceptions import ParameterError, SourceError
from streamsieve.protocols import FloatArray, IntArray, RowSource
from streamsieve.state import replacing

if TYPE_CHECKING:
    import os


@dataclass(frozen=True)
class ScreenTrack:
    """Scores and selections of one screen at every evaluation point.

    Attributes
    ----------
    selected : for every look the selected columns, best first
    columns : the columns that were ever selected, in the order of their first appearance
    names : their names, x0, x1, ... where the stream has none
    scores : (look, column) the scores of those columns; NaN before a column's first appearance, because
        it could not be known then that it would matter
    """

    selected: list[IntArray]
    columns: IntArray
    names: list[str]
    scores: FloatArray


@dataclass(frozen=True)
class Track:
    """Scores and selections of several screens over a stream.

    Attributes
    ----------
    rows : rows that had passed at every look
    screens : for every screen, by name, what it showed
    """

    rows: IntArray
    screens: dict[str, ScreenTrack]

    def __getitem__(self, name: str) -> ScreenTrack:
        try:
            return self.screens[name]
        except KeyError:
            known = ", ".join(map(repr, self.screens))
            raise ParameterError(
                f"no screen {name!r} was tracked{did_you_mean(name, self.screens)}; there is {known}"
            ) from None

    def to_csv(self, path: str | os.PathLike[str], *, raw: bool = False, overwrite: bool = False) -> None:
        """Write a tidy table: one line for every look, screen and feature known by then.

        Parameters
        ----------
        path : file to write; ``place`` is 1 for the best feature, and empty for one that is not selected
        raw : bool, default=False
            Whether names that a spreadsheet would evaluate are written as they are, instead of with a single
            quote before them.
        overwrite : bool, default=False
            Whether a file that streamsieve did not write may be replaced.
        """
        refuse_foreign([path], overwrite=overwrite)
        with replacing(path) as file:
            write_csv(file, [("rows", "screen", "feature", "column", "score", "place")])
            for look, rows in enumerate(self.rows.tolist()):
                for screen, shown in self.screens.items():
                    write_csv(file, ((rows, screen, *line) for line in _lines(shown, look)), raw=raw)


def _lines(shown: ScreenTrack, look: int) -> Iterator[tuple[str, int, float, int | str]]:
    places = {column: place for place, column in enumerate(shown.selected[look].tolist(), start=1)}
    scores = shown.scores[look].tolist()
    for name, column, score in zip(shown.names, shown.columns.tolist(), scores, strict=True):
        if not math.isnan(score):
            yield name, column, score, places.get(column, "")


def track(
    source: RowSource,
    screens: Any,
    every: int = 1000,
    *,
    batch: int = 4096,
    progress: Callable[[int], None] | None = None,
) -> Track:
    """Train screens on a stream in one pass, and record their scores at regular intervals.

    The evaluation points do not depend on the batch size, and the last one is the last row.  Only features
    that were ever selected are stored, so memory grows with these and the number of evaluation points, not
    with the width of the stream.  Afterward the screens have learned all rows, and their ledgers show which
    features entered and left.

    Parameters
    ----------
    source : where rows come from
    screens : a screen, or several by name
    every : int, default=1000
        Rows between two looks.
    batch : int, default=4096
        Rows read at a time.
    progress : function, default=None
        Called with the number of rows of every batch that was learned.

    Examples
    --------
    >>> import streamsieve as ss
    >>> from streamsieve.evaluation import track
    >>> stream = ss.DriftingStream(n_rows=2_500, n_features=20, n_relevant=2, shift_every=500)
    >>> seen = track(stream, {"forgets": ss.Screen("t", k=2, half_life=300)}, every=1_000)
    >>> seen.rows
    array([1000, 2000, 2500])
    >>> [sorted(top.tolist()) for top in seen["forgets"].selected]
    [[1, 2], [3, 4], [4, 5]]
    """
    check_number("every", every, low=1, integer=True)
    named = _named(screens)
    notes = {name: _Notes() for name in named}
    rows: list[int] = []
    seen = 0
    for part in cut(source.rows(batch), every):
        for screen in named.values():
            screen.learn(part)
        n = part.X.shape[0]
        seen += n
        if seen % every == 0:
            rows.append(seen)
            _look(named, notes)
        if progress is not None:
            progress(n)
    if not seen:
        raise SourceError("the source has no rows: there is nothing to track")
    if seen % every:
        rows.append(seen)
        _look(named, notes)
    shown = {name: notes[name].collected(screen) for name, screen in named.items()}
    return Track(np.array(rows, np.int64), shown)


def detection_curve(tops: Sequence[IntArray], truths: Sequence[IntArray], k: int | None = None) -> FloatArray:
    """Return the proportion of the relevant features that were found at every evaluation point.

    Parameters
    ----------
    tops : for every look the selected features, best first, as :class:`ScreenTrack` has them
    truths : for every look the relevant features
    k : int or None, default=None
        Number of best ones that count; None for all.

    Returns
    -------
    float64 array
        One entry per evaluation point: the detection rate at k of Wang 2021, equation 3.23.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.evaluation import detection_curve
    >>> tops, truths = [np.array([3, 1, 2])], [np.array([1, 2, 4, 5])]
    >>> detection_curve(tops, truths), detection_curve(tops, truths, k=2)
    (array([0.5]), array([0.25]))
    """
    pairs = zip(tops, truths, strict=True)
    return np.array([np.isin(truth, top[:k]).mean() if len(truth) else np.nan for top, truth in pairs])


class _Notes:
    """What is noted of one screen, look by look."""

    def __init__(self) -> None:
        self.selected: list[IntArray] = []
        self.columns: list[int] = []
        self.known: set[int] = set()
        self.scores: list[FloatArray] = []

    def look(self, screen: Any) -> None:
        top = np.array(screen.ranked_, np.int64)
        new = [column for column in top.tolist() if column not in self.known]
        self.known.update(new)
        self.columns += new
        self.selected.append(top)
        self.scores.append(screen.scores_[np.array(self.columns, np.int64)])

    def collected(self, screen: Any) -> ScreenTrack:
        scores = np.full((len(self.scores), len(self.columns)), np.nan)
        for look, values in enumerate(self.scores):
            scores[look, : len(values)] = values
        given = getattr(screen, "feature_names_in_", None)
        names = [f"x{column}" if given is None else str(given[column]) for column in self.columns]
        return ScreenTrack(self.selected, np.array(self.columns, np.int64), names, scores)


def _look(screens: Mapping[str, Any], notes: Mapping[str, _Notes]) -> None:
    for name, screen in screens.items():
        notes[name].look(screen)


def _named(screens: Any) -> dict[str, Any]:
    named = dict(screens) if isinstance(screens, Mapping) else {"screen": screens}
    if not named:
        raise ParameterError("screens is empty: give a screen, or several by name")
    if len({id(screen) for screen in named.values()}) < len(named):
        raise ParameterError(
            f"one screen is given under two names ({', '.join(map(repr, named))}) and would learn every row "
            "twice: make one for each name"
        )
    return named
