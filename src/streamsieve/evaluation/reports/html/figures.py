"""The pictures of a page: one per learner, small enough to be read on a telephone."""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamsieve._text import plot_name
from streamsieve.evaluation import plots
from streamsieve.evaluation.candidates.stream_learners import BASELINES
from streamsieve.evaluation.measures.stability import Stability
from streamsieve.evaluation.plots.style import bare, count_rows, labeled, new_figure, plain, style
from streamsieve.evaluation.reports.curves import Curve, curves
from streamsieve.evaluation.reports.final_fit import FinalFit
from streamsieve.evaluation.reports.recommendation import Recommendation
from streamsieve.evaluation.reports.report import Report
from streamsieve.evaluation.reports.table import Table
from streamsieve.evaluation.reports.wording import count_text, metric_label
from streamsieve.protocols import FloatArray

#: Inches: as wide as text stays readable when a telephone shows it.
WIDTH, HEIGHT = 5.4, 4.3
#: An SVG with more bytes than this becomes a PNG.
LARGEST_SVG = 250_000
ALL = "all features"
#: Characters of a name at an axis.
LONGEST_LABEL = 24
#: Features whose choice is drawn.
MOST_FEATURES = 20
#: Sizes that can all be named below an axis.
MOST_NAMED = 8
#: Marks of drift that are drawn for a selector at most.
MOST_MARKS = 200


@dataclass(frozen=True)
class Picture:
    """A figure with what is written below it, and what it says to those who cannot see it."""

    name: str
    caption: str
    alt: str
    figure: Any

    def address(self) -> str:
        """Return the whole picture as an address: nothing has to be fetched."""
        import matplotlib as mpl  # noqa: PLC0415 - needs the cli extra

        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")  # what is placed once stays: each file would place it again
        content = io.BytesIO()
        with mpl.rc_context({"svg.hashsalt": "streamsieve", "svg.fonttype": "path"}):
            self.figure.savefig(content, format="svg", metadata={"Date": None})
        kind = "svg+xml"
        if len(content.getvalue()) > LARGEST_SVG:
            kind, content = "png", io.BytesIO()
            self.figure.savefig(content, format="png", dpi=150)
        return f"data:image/{kind};base64,{base64.b64encode(content.getvalue()).decode()}"


def by_size(report: Report) -> list[Picture]:
    """Draw the score against the number of features, one per learner."""
    found = curves(report)
    table, measure = report.table, metric_label(report.metric)
    selectors = [name for name in table.unique("selector") if name != "none"]
    sizes = list(report.settings["sizes"])
    pictures = []
    for learner in table.unique("learner"):
        lines, points = {}, {}
        for name in selectors:
            part = table.where(selector=name, learner=learner)
            lines[name] = _by_size(part, sizes)
            if np.all(np.isnan(lines[name])) and (name, learner) in found:
                points[name] = found[name, learner]
        baseline = {learner: float(found["none", learner].mean[0])} if ("none", learner) in found else None
        if not lines:
            lines[ALL] = np.full(len(sizes), np.nan)
        higher = report.higher_is_better
        figure = plots.performance(
            sizes, {learner: lines}, baseline, measure=measure, baseline=ALL, higher_is_better=higher
        )
        _add_points(figure.axes[0], points, selectors)
        _name_sizes(figure.axes[0], sizes)
        alt = f"{measure} of {learner} against the number of features, for {', '.join(selectors)}."
        caption = f"{learner}: {_best_of(found, learner, measure, 1 if higher else -1)}"
        pictures.append(Picture(f"score_{learner}", caption, alt, _compact(figure)))
    _level([picture.figure for picture in pictures])
    return pictures


def _add_points(axes: Any, points: Mapping[str, Curve], selectors: Sequence[str]) -> None:
    """Draw selectors that decide themselves: a mark at the number of features they kept, with its spread."""
    for line in [line for line in axes.lines if line.get_label() in map(plain, points)]:
        line.remove()
    for name, point in points.items():
        look = style(selectors.index(name), 1) | {"linestyle": "none", "markersize": 7, "markevery": None}
        axes.errorbar(
            point.sizes, point.mean, point.std, capsize=3, elinewidth=1, label=plot_name(name), **look
        )


def _name_sizes(axes: Any, sizes: Sequence[int]) -> None:
    """Write all sizes below the axis where they are few: powers of ten would leave most of them out."""
    from matplotlib.ticker import FixedLocator, NullLocator  # noqa: PLC0415 - needs the cli extra

    if len(sizes) <= MOST_NAMED and sum(len(line.get_xdata()) > 0 for line in axes.lines):
        axes.xaxis.set_major_locator(FixedLocator(list(sizes)))
        axes.xaxis.set_minor_locator(NullLocator())


def _best_of(found: Mapping[tuple[str, str], Curve], learner: str, measure: str, sign: int) -> str:
    """Say where a learner is best, and what it does with all features; ``sign`` is -1 for errors."""
    peaks = {
        name: (sign * float(np.nanmax(sign * curve.mean)), curve.sizes[int(np.nanargmax(sign * curve.mean))])
        for (name, with_learner), curve in found.items()
        if with_learner == learner and name != "none" and not np.all(np.isnan(curve.mean))
    }
    parts = []
    if peaks:
        name, (score, size) = max(peaks.items(), key=lambda item: sign * item[1][0])
        parts.append(f"best with {name} at {count_text(size)} features, {measure} {score:.3f}")
    if ("none", learner) in found:
        parts.append(f"{found['none', learner].mean[0]:.3f} with all features")
    return f"{'; '.join(parts)}."


def _by_size(part: Table, sizes: Sequence[int]) -> FloatArray:
    """Return scores by size and repetition; NaN where a selector was not asked for a size."""
    groups = part.groups("size")
    width = max([len(rows) for rows in groups.values()], default=1)
    values = np.full((len(sizes), width), np.nan)
    for place, size in enumerate(sizes):
        rows = groups.get((size,))
        if rows is not None:
            values[place, : len(rows)] = part["score"][rows]
    return values


def times(made: Recommendation, *, whole: bool = False) -> Picture | None:
    """Draw what selecting and learning take, for every selector with its best learner.

    ``whole`` says that times are those of a whole stream.
    """
    shown = [made.of(name) for name in dict.fromkeys(each.selector for each in made.standings)]
    known = [each for each in shown if each is not None and each.learner not in BASELINES]
    if not known:
        return None
    names = [ALL if each.keeps_all else each.selector for each in known]
    select, learn = (
        np.nan_to_num([getattr(each, what) for each in known]) * 1e3
        for what in ("select_seconds", "learn_seconds")
    )
    figure = new_figure(WIDTH, 1.3 + 0.34 * len(names))
    axes = figure.add_subplot()
    places = np.arange(len(names))
    axes.barh(places, select, height=0.62, color="#0b2545", label="selecting")
    axes.barh(
        places, learn, height=0.62, left=select, color="#c9d3df", edgecolor="#0b2545", linewidth=0.6,
        label="learning and predicting",
    )  # fmt: skip
    for place, total in enumerate((select + learn).tolist()):
        axes.annotate(
            f" {_milliseconds(total)}", (total, place), va="center", fontsize=9, annotation_clip=False
        )
    axes.set(xlabel="milliseconds", ylim=(len(names) - 0.4, -0.6), xlim=(0, 1.15 * max(select + learn) or 1))
    axes.set_yticks(places, [plot_name(name) for name in names])
    axes.xaxis.set_major_formatter("{x:,.6g}")
    axes.locator_params(axis="x", nbins=5)
    bare(axes)
    figure.legend(loc="outside lower center", frameon=False, ncols=2)
    of = "total over the stream" if whole else "median of one fit"
    alt = f"Time of selecting and of learning, {of}, for {', '.join(names)}."
    return Picture("seconds", f"Time: {of}, with the learner that goes best with each.", alt, figure)


def _milliseconds(value: float) -> str:
    return f"{value / 1e3:,.2f} s" if value >= 1000 else f"{value:,.3g} ms"


def stable(found: Mapping[str, Stability]) -> Picture | None:
    """Draw how stable selectors are."""
    if not found:
        return None
    values = [[getattr(each, what) for each in found.values()] for what in ("value", "low", "high")]
    figure = plots.stability_bars(list(found), *values, measure="stability")
    figure.set_size_inches(WIDTH, 1.1 + 0.34 * len(found))
    alt = "Stability of " + ", ".join(found) + " with 95 % intervals."
    caption = "Stability: 1 is always the same features, 0 is as by chance; 95 % intervals."
    return Picture("stability", caption, alt, figure)


def agreement(fits: Mapping[str, FinalFit]) -> Picture | None:
    """Draw which features the selectors agree on: those that most of them chose, with a mark for each."""
    chosen = {name: [each.name for each in fit.features] for name, fit in fits.items() if fit.features}
    votes = Counter(feature for features in chosen.values() for feature in features)
    if len(chosen) < 2 or not votes:
        return None
    rows = [feature for feature, _ in votes.most_common(MOST_FEATURES)]
    names = list(chosen)
    figure = new_figure(WIDTH, 1.3 + 0.22 * len(rows))
    axes = figure.subplots()
    marks = [(names.index(name), rows.index(f)) for name in names for f in chosen[name] if f in rows]
    axes.scatter(*zip(*marks, strict=True), s=40, color=style(0, 1)["color"])
    axes.set_xticks(range(len(names)), [_brief(name) for name in names], rotation=30, ha="right")
    axes.set_yticks(range(len(rows)), [f"{_brief(each)} ({votes[each]})" for each in rows])
    axes.invert_yaxis()
    axes.margins(x=0.1)
    bare(axes, grid="y")
    shared = sum(count == len(chosen) for count in votes.values())
    caption = (
        f"Agreement: {shared:,} of {len(votes):,} chosen features are chosen by all {len(chosen)} selectors"
        f"{f'; the {len(rows)} most frequent are shown' if len(rows) < len(votes) else ''}."
    )
    alt = (
        f"Which of {len(names)} selectors chose which feature: {', '.join(map(_brief, rows[:5]))} most often."
    )
    return Picture("agreement", caption, alt, figure)


def _brief(name: str) -> str:
    """Return a name as it is drawn at an axis; a long one would leave no room for the picture."""
    return plain(name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 3]}...")


def column_streams(report: Report) -> list[Picture]:
    """Draw score and size as columns arrive, one per learner; and time."""
    table, measure = report.table, metric_label(report.metric)
    looks = sorted(set(table["columns"].tolist()))
    selectors = [name for name in table.unique("selector") if name != "none"]
    pictures = []
    for learner in table.unique("learner") if selectors else []:
        parts = {name: table.where(selector=name, learner=learner) for name in selectors}
        scores = {name: _by_look(part, "score", looks) for name, part in parts.items()}
        sizes = {name: _by_look(part, "n_selected", looks) for name, part in parts.items()}
        without = table.where(selector="none", learner=learner, columns=looks[-1])["score"]
        baseline = float(without.mean()) if len(without) else None
        figure = plots.column_stream(looks, scores, sizes, measure=measure, baseline=baseline)
        figure.axes[0].set_title(plain(learner))
        alt = f"{measure} of {learner}, and features kept, as columns arrive, for {', '.join(selectors)}."
        ends = {name: float(values[:, -1].mean()) for name, values in scores.items()}
        best = max(ends, key=lambda name: -np.inf if np.isnan(ends[name]) else ends[name])
        caption = f"{learner}: in the end highest with {best}, {measure} {ends[best]:.3f}"
        caption += "." if baseline is None else f"; {baseline:.3f} with all columns."
        pictures.append(Picture(f"stream_{learner}", caption, alt, _compact(figure, 5.0)))
    _level([picture.figure for picture in pictures])
    if selectors:
        pictures.append(_time_by_columns(table, selectors, looks))
    return pictures


def _time_by_columns(table: Table, selectors: Sequence[str], looks: Sequence[int]) -> Picture:
    figure = new_figure(WIDTH, HEIGHT)
    axes = figure.add_subplot()
    for i, name in enumerate(selectors):
        part = table.where(selector=name)
        spent = [float(np.median(part["seconds"][part["columns"] == look])) for look in looks]
        axes.plot(looks, 1e3 * np.array(spent), label=plot_name(name), **style(i, len(looks)))
    axes.set(xlabel="columns offered", ylabel="milliseconds")
    axes.set_ylim(bottom=0)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,.6g}")
    bare(axes, grid="y")
    alt = f"Milliseconds spent selecting as columns arrive, for {', '.join(selectors)}."
    caption = (
        "Time spent selecting, as columns arrive, median of folds and orders; what does not take columns as "
        "they come is fitted again at every look."
    )
    return Picture("seconds_by_columns", caption, alt, _compact(figure))


def _by_look(part: Table, column: str, looks: Sequence[int]) -> FloatArray:
    """Return (order, look) values: means over folds, and over learners where there are several."""
    values = np.full((max(1, len(part.unique("order"))), len(looks)), np.nan)
    orders = {order: place for place, order in enumerate(part.unique("order"))}
    means = part.mean(column, by=["order", "columns"])
    rows = [orders[order] for order in means["order"].tolist()]
    values[rows, np.searchsorted(looks, means["columns"])] = means["mean"]
    return values


def row_streams(report: Report) -> list[Picture]:
    """Draw the faded score as rows arrive, one per learner, with marks where drift was noticed."""
    table, drift = report.table, report.extras["drift"]
    measure = report.metric.replace("fading_r2", "faded R²").replace("fading_", "faded ")
    selectors = table.unique("selector")
    known = [name for name in table.unique("learner") if name in BASELINES]
    pictures = []
    for learner in [name for name in table.unique("learner") if name not in BASELINES]:
        figure = new_figure(WIDTH, HEIGHT)
        axes = figure.add_subplot()
        for i, name in enumerate(selectors):
            part = table.where(selector=name, learner=learner)
            axes.plot(part["rows"], part["score"], label=plot_name(name), **style(i, part.n_rows))
            _mark(axes, drift.where(selector=name)["row"].tolist(), style(i, 1)["color"])
        for baseline, line in zip(known, ((0, (1, 1)), (0, (4, 2))), strict=False):
            part = table.where(selector=selectors[0], learner=baseline)
            axes.plot(
                part["rows"], part["score"], color="#999999", linestyle=line, linewidth=1.4, label=baseline
            )
        last = int(table["rows"].max(initial=1))
        count_rows(axes, last)
        axes.set_xlim(0, 1.02 * last)  # so that the last mark is whole
        axes.set(ylabel=measure, title=plain(learner))
        axes.locator_params(axis="x", nbins=5)
        bare(axes, grid="y")
        marked = " Ticks at the foot are changes that selectors noticed." if drift.n_rows else ""
        alt = f"{measure} of {learner} as rows arrive, for {', '.join(selectors)}.{marked}"
        pictures.append(Picture(f"stream_{learner}", f"{learner}.{marked}", alt, _compact(figure)))
    _level([picture.figure for picture in pictures])
    return pictures


def _mark(axes: Any, rows: Sequence[int], color: str) -> None:
    if rows:
        seen = sorted(set(rows))[:MOST_MARKS]
        across = axes.get_xaxis_transform()  # places in rows, heights in shares of the picture
        axes.vlines(seen, 0, 0.04, transform=across, color=color, linewidth=0.9)


def _compact(figure: Any, height: float = HEIGHT) -> Any:
    """Return a figure for a narrow page: as wide as all others, with its legend below."""
    known = labeled(figure)
    for legend in figure.legends[:]:
        legend.remove()
    columns = 2 if max(map(len, known), default=0) > 16 else 3
    figure.legend(
        list(known.values()), list(known), loc="outside lower center", frameon=False, ncols=columns,
        handlelength=2.6, fontsize=9.5,
    )  # fmt: skip
    lines = -(-len(known) // columns)
    figure.set_size_inches(WIDTH, height + 0.2 * max(0, lines - 1))
    return figure


def _level(figures: Sequence[Any]) -> None:
    """Give the scores of several pictures one scale, so that they can be compared."""
    limits = [figure.axes[0].get_ylim() for figure in figures]
    for figure in figures:
        figure.axes[0].set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
