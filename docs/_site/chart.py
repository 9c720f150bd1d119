"""The chart of methods, as SVG whose boxes are links: what streams in, what is wanted, which method."""

from html import escape
from typing import NamedTuple


class Row(NamedTuple):
    """What is wanted, and the cards to open for it."""

    wanted: str
    methods: tuple[str, ...]


#: What streams in, and the rows below it; the first is where to start.
CHART = {
    "Rows arrive": (
        Row("the best features by a score", ("screen",)),
        Row("relevance that drifts", ("screen", "velocity_screen")),
        Row("a sparse linear classifier", ("ofs", "sofs", "fires", "barda")),
        Row("more features than memory", ("mission",)),
        Row("a linear model of all rows", ("running_averages",)),
        Row("no target", ("fsds",)),
    ),
    "Columns arrive": (
        Row("a small set, without redundancy", ("fast_osfs", "osfs")),
        Row("the same, for millions of columns", ("saola",)),
        Row("few false discoveries", ("online_fdr",)),
        Row("exactly k columns", ("top_k", "online_substitution")),
        Row("pairs that matter together", ("interaction_scan",)),
        Row("groups of columns", ("group_saola", "ogfs", "dofs")),
        Row("a linear model or lasso", ("alpha_investing", "grafting")),
    ),
    "Both arrive": (Row("columns now, rows later", ("two_way",)),),
    "Nothing streams": (
        Row("few features, little redundancy", ("mrmr", "fcbf")),
        Row("interactions", ("relief_f",)),
        Row("parents and children", ("hitonpc",)),
        Row("a path of linear models", ("lars",)),
        Row("no target", ("spec", "inf_fs")),
    ),
}
#: The columns of the chart, from left to right.
COLUMNS = (("Rows arrive",), ("Columns arrive",), ("Nothing streams", "Both arrive"))
WIDTH, GAP, LINE, HEADING = 300, 24, 64, 52


def pages() -> dict[str, str]:
    """Return the chart, and the same as a table."""
    return {"_chart/chart.html": svg(), "_chart/table.md": table()}


def titles() -> dict[str, str]:
    """Return the class names of the methods in the chart."""
    from streamsieve import registry  # noqa: PLC0415 - only while the site is built

    return {name: cls.__name__ for name, cls in registry.selectors().items()}


def table() -> str:
    """Return the chart as a Markdown table."""
    lines = ["| what arrives | what you want | take |", "|---|---|---|"]
    named = titles()
    for arrives, rows in CHART.items():
        for row in rows:
            links = ", ".join(f"[{named[name]}](/methods/{name}.md)" for name in row.methods)
            lines.append(f"| {arrives.lower()} | {row.wanted} | {links} |")
    return "\n".join(lines) + "\n"


def svg() -> str:
    """Return the chart: a drawing per column, so that columns stand below each other on a narrow screen."""
    named, drawings = titles(), []
    for number, axes in enumerate(COLUMNS):
        boxes, y = [], 0
        for arrives in axes:
            y += 0 if y == 0 else GAP
            boxes.append(f'<text class="axis" x="0" y="{y + 30}">{arrives}</text>')
            y += HEADING
            for place, row in enumerate(CHART[arrives]):
                boxes += _box(row, y, named, first=place == 0)
                y += LINE
        title = f'<title id="chart-{number}">{" and ".join(axes)}: which method for what you want</title>'
        opening = f'<svg viewBox="-2 0 {WIDTH + 4} {y}" role="group" aria-labelledby="chart-{number}">'
        drawings += [opening, title, *boxes, "</svg>"]
    return "\n".join(['<div class="chart">', *drawings, "</div>", ""])


def _box(row: Row, y: float, named: dict[str, str], *, first: bool) -> list[str]:
    kind = "box start" if first else "box"
    links = [f'<a href="methods/{name}.html"><tspan>{named[name]}</tspan></a>' for name in row.methods]
    here = [f'<text class="here" x="{WIDTH - 12}" y="{y + 43}">start here</text>'] if first else []
    return [
        f'<rect class="{kind}" x="0" y="{y}" width="{WIDTH}" height="{LINE - 10}" rx="6"/>',
        *here,
        f'<text class="want" x="12" y="{y + 21}">{escape(row.wanted)}</text>',
        f'<text class="take" x="12" y="{y + 43}">{", ".join(links)}</text>',
    ]
