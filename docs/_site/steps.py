"""Stepwise figures on the cards of the most used methods, drawn from real runs over six small columns."""

from collections.abc import Callable, Iterator
from html import escape
from textwrap import wrap
from typing import Any

import numpy as np

import streamsieve as ss

#: The selectors that have a figure, by the name of their card.
SHOWN: dict[str, Callable[[], Any]] = {
    "screen": lambda: ss.Screen("f", k=2),
    "ofs": lambda: ss.OFS(k=2),
    "fires": lambda: ss.FIRES(k=2),
    "fast_osfs": ss.FastOSFS,
    "saola": ss.SAOLA,
    "online_fdr": ss.OnlineFDR,
    "top_k": lambda: ss.TopK(k=2),
    "alpha_investing": ss.AlphaInvesting,
}
ROWS, BATCHES = 240, (30, 60, 120, 240)
WIDTH, GAP = 150, 12
#: Narrower than this a figure scrolls sideways instead of shrinking.
LEAST = 760
#: Height of the parts of a step: heading, line of text, feature in a list.
HEAD, LINE, FEATURE = 26, 17, 26
#: What the drawings mean.
LEGENDS = {
    "columns": "Each step offers one column; the boxes below it are the columns kept so far.",
    "rows": "A bar is the score of a feature after the rows so far; the selected features are blue.",
}
#: Letters that fit into the width of a step.
LETTERS = 22


def figure(name: str) -> str:
    """Return the figure of a method as raw HTML in Markdown; "" if it has none."""
    if name not in SHOWN:
        return ""
    selector = SHOWN[name]()
    columns, y = _data()
    drawn, words = (_columns if hasattr(selector, "offer") else _rows)(selector, columns, y)
    height = max(bottom for _, bottom in drawn) + 8
    width = len(drawn) * (WIDTH + GAP) - GAP
    what = f"{type(selector).__name__}, step by step"
    style = f"max-width:{width}px;min-width:{min(width, LEAST)}px"
    svg = [
        f'<svg viewBox="0 0 {width} {height}" style="{style}" role="img" aria-labelledby="steps-t steps-d">',
        f'<title id="steps-t">{what}</title>',
        f'<desc id="steps-d">{escape(" ".join(words))}</desc>',
        *(part for parts, _ in drawn for part in parts),
        "</svg>",
    ]
    scroll = f'<div class="steps" tabindex="0" role="region" aria-label="{what}">'
    shown = LEGENDS["columns" if hasattr(selector, "offer") else "rows"]
    caption = (
        f"<p class='steps-caption'>A run of <code>{type(selector).__name__}</code> over {ROWS} rows in which "
        f"the class depends on dose and age. {shown} The draw was chosen so that no noise is kept at the "
        "end; in others a noise column may be.</p>"
    )
    return "\n".join(["```{raw} html", scroll, *svg, "</div>", caption, "```"])


def _data() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return six columns, of which two are noise and two repeat others, and the classes."""
    rng = np.random.default_rng(4)  # the first seed from 3 on with which no method keeps noise at the end
    dose, age, first, second = rng.normal(size=(4, ROWS))
    y = (dose + age + 0.7 * rng.normal(size=ROWS) > 0).astype(int)
    rough = dose + 0.5 * rng.normal(size=ROWS)
    both = dose + age + 0.4 * rng.normal(size=ROWS)
    columns = {"rough dose": rough, "noise 1": first, "dose": dose, "age": age, "dose + age": both}
    return {**columns, "noise 2": second}, y


def _columns(selector: Any, columns: dict[str, np.ndarray], y: np.ndarray) -> tuple[list[Any], list[str]]:
    """Return a drawn step per column that is offered, and the same in words."""
    selector.begin(y)
    told, words, seen = [], [], 0
    for number, (name, column) in enumerate(columns.items()):
        selector.offer(column, names=[name])
        lines = list(selector.ledger_)[seen:]
        seen += len(lines)
        own = next(line for line in lines if line.feature == name)
        reason = [_reason(line, name) for line in sorted(lines, key=lambda line: line.feature != name)]
        kept = selector.get_feature_names_out().tolist()
        words.append(f"{number + 1}. {name} arrives: {'; '.join(reason)}. Kept: {', '.join(kept)}.")
        lines_of_text = [(text, own.event if r == 0 else "evicted")
                         for r, each in enumerate(reason) for text in wrap(each, LETTERS)]  # fmt: skip
        told.append((name, lines_of_text, kept))
    top = HEAD + LINE * max(len(text) for _, text, _ in told) + 4
    return [_column_step(number, top, *step) for number, step in enumerate(told)], words


def _reason(line: Any, newcomer: str) -> str:
    given = f" given {', '.join(line.by)}" if line.by else ""
    who = "" if line.feature == newcomer else f"{line.feature}: "
    return f"{who}{line.event}" + ("" if line.event == "kept" else f", {line.reason}{given}")


def _column_step(
    number: int, top: int, name: str, lines: list[tuple[str, str]], kept: list[str]
) -> tuple[Any, int]:
    """Return what became of a column, and below the longest text of all steps the columns that are kept."""
    x = number * (WIDTH + GAP)
    parts = [_text(x, 16, f"{number + 1}. {name}", "step-head")]
    parts += [_text(x, HEAD + 12 + i * LINE, text, f"step-{event}") for i, (text, event) in enumerate(lines)]
    return [*parts, *_listed(x, top, kept, name)], top + FEATURE * max(1, len(kept))


def _listed(x: int, y: int, kept: list[str], newcomer: str) -> Iterator[str]:
    for number, feature in enumerate(kept):
        top = y + number * FEATURE
        kind = "step-box new" if feature == newcomer else "step-box"
        place = f'x="{x + 1}" y="{top}" width="{WIDTH - 2}" height="{FEATURE - 5}"'
        yield f'<rect class="{kind}" {place} rx="4"/>'
        yield _text(x + 9, top + 15, feature, "step-text")


def _rows(selector: Any, columns: dict[str, np.ndarray], y: np.ndarray) -> tuple[list[Any], list[str]]:
    """Return a drawn step per batch of rows, and the same in words."""
    X, names = np.column_stack(list(columns.values())), list(columns)
    drawn, words, low = [], [], 0
    for number, high in enumerate(BATCHES):
        selector.partial_fit(X[low:high], y[low:high])
        low = high
        best = [names[j] for j in selector.ranked_]
        words.append(f"After {high} rows the best are {', '.join(best)}.")
        drawn.append(_row_step(number, high, np.asarray(selector.scores_, float), names, best))
    return drawn, words


def _row_step(
    number: int, rows: int, scores: np.ndarray, names: list[str], best: list[str]
) -> tuple[Any, int]:
    x, y = number * (WIDTH + GAP), HEAD
    parts = [_text(x, 16, f"after {rows} rows", "step-head")]
    above = scores - min(0.0, scores.min())
    for name, size in zip(names, above / max(above.max(), 1e-12), strict=True):
        kind = "step-bar best" if name in best else "step-bar"
        parts.append(_text(x, y + 12, name, "step-kept" if name in best else "step-text"))
        parts.append(
            f'<rect class="{kind}" x="{x}" y="{y + 17}" width="{max(1.0, size * WIDTH):.0f}" height="7"/>'
        )
        y += FEATURE + 6
    return parts, y


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(text)}</text>'
