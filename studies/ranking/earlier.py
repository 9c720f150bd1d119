"""The figures of the earlier ranking beside ours, and what it concluded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from studies import _report
from studies._columns import cells
from studies.ranking._judge import CLASSIFIERS
from studies.ranking._methods import ALL, EARLIER, RANKED, RIVAL
from studies.ranking._results import Results, printed
from studies.ranking._statistics import agreement, signed_rank, won_and_lost

#: Sets with fewer columns are narrow: the floor is for them.
NARROW = 100


def section(found: Results) -> str:
    """Return both comparisons."""
    return f"{_figures(found)}\n{_conclusions(found)}"


def _figures(found: Results) -> str:
    """Return the printed figures beside those in the order of the file."""
    theirs, sizes, seconds, rows = printed(), found.of("size"), found.of("seconds"), {}
    ranks = found.ranks(order=0)
    ours = {method: float(found.accuracy[method][:, 0].mean()) for method in found.methods}
    methods = [*(method for method in found.ranked if method in EARLIER), ALL]
    pairs = []
    for method in methods:
        was, gain = theirs[method, "", "accuracy"], ours[method] - ours[RIVAL]
        gained = was - theirs[RIVAL, "", "accuracy"]
        if method != RIVAL:
            pairs.append((100 * gained, 100 * gain))
        by_set = (found.accuracy[method] - found.accuracy[RIVAL])[:, 0]
        rows[method] = [
            f"{was:.3f} / {ours[method]:.3f}",
            f"{100 * (ours[method] - was):+.1f}",
            f"{100 * gained:+.1f} / {100 * gain:+.1f}",
            f"{100 * (gain - gained):+.1f}",
            f"{theirs[method, '', 'size']:,.0f} / {np.median(sizes[method][:, 0]):,.0f}",
            f"{theirs[method, '', 'rank']:.1f} / {ranks[method]:.1f}"
            if (method, "", "rank") in theirs
            else "-",
            _contest(method, by_set),
            _time(method, float(seconds[method].mean())),
        ]
    columns = [
        "accuracy", "points apart", f"points over {RIVAL}", "points apart", "columns", "mean rank",
        "won / lost; p", "time",
    ]  # fmt: skip
    return f"""\
## Beside the earlier ranking

Earlier / here, the columns in the order of the file, as there. Its figures are means over 17 sets, of which
{len(found.names)} are here, so accuracies need not be equal; what can be compared is by how much a method is
better than {RIVAL}. Mean ranks are of 18 methods there and of {len(RANKED)} here.

{cells.table("method", columns, rows)}
{_agreement(pairs)}
{_by_classifier(found, methods)}
{_by_set(found)}"""


def _contest(method: str, gains: Sequence[float]) -> str:
    theirs = printed()
    if (method, "", "won") not in theirs:
        return "-"
    won, lost = won_and_lost(gains)
    was = f"{theirs[method, '', 'won']:.0f} / {theirs[method, '', 'lost']:.0f}; {theirs[method, '', 'p']:.2f}"
    return f"{was} and {won} / {lost}; {signed_rank(gains):.2f}"


def _time(method: str, seconds: float) -> str:
    was = printed().get((method, "", "seconds"))
    return "-" if was is None else f"{cells.seconds(was)} / {cells.seconds(seconds)}"


def _by_classifier(found: Results, methods: Sequence[str]) -> str:
    theirs, rows = printed(), {}
    measured = {key: found.of(key) for key in CLASSIFIERS}
    for method in methods:
        if (method, "", CLASSIFIERS[0]) in theirs:
            pairs = [(theirs[method, "", key], measured[key][method][:, 0].mean()) for key in CLASSIFIERS]
            rows[method] = [f"{was:.3f} / {ours:.3f} ({100 * (ours - was):+.1f})" for was, ours in pairs]
    return f"""\
By classifier, earlier / here, and points apart:

{cells.table("method", ["3-NN", "logistic", "forest"], rows)}"""


def _agreement(pairs: Sequence[tuple[float, float]]) -> str:
    then, now = np.transpose(pairs)
    same = int(np.sum((then > 0) == (now > 0)))
    return f"""\
Over these {len(pairs)} methods the points over {RIVAL} correlate by {agreement(then, now):.2f} (Spearman),
{same} have the same sign, and the mean distance is {np.abs(now - then).mean():.1f} points.
"""


def _by_set(found: Results) -> str:
    """Return the few figures that were printed for single sets."""
    theirs, rows = printed(), []
    for (method, name, what), value in theirs.items():
        if name not in found.names or what == "highest":
            continue
        i = found.names.index(name)
        ours = f"{found.accuracy[method][i, 0]:.2f}"
        was = f"{value:.2f}"
        if what == "lowest":  # printed as a range over both forms
            was = f"{value:.2f} to {theirs[method, name, 'highest']:.2f}"
            both = [found.accuracy[form][i, 0] for form in (method, "OSSFS-DD text no floor")]
            ours = f"{min(both):.2f} to {max(both):.2f}"
        rows.append([name, f"{method}, both forms" if what == "lowest" else method, was, ours])
    if not rows:
        return ""
    return f"""\
For single sets it prints these:

{_report.table(["data", "method", "earlier", "here"], rows)}
{_few(found)}"""


def _few(found: Results) -> str:
    """Return how many columns are left without a floor on the narrow sets."""
    names = [name for (_, name, what) in printed() if what == "lowest" and name in found.names]
    sizes = [
        found.of("size")[form][found.names.index(name), 0]
        for name in names
        for form in ("OSSFS-DD no floor", "OSSFS-DD text no floor")
    ]
    if not sizes:
        return ""
    return f"""\
Without a floor 0 to 4 columns of {", ".join(names)} were kept; here {min(sizes):.0f} to {max(sizes):.0f}.
Which rows the earlier ranking drew is not known.
"""


# ------------------------------------------------------------------------------------ conclusions


def _conclusions(found: Results) -> str:
    return f"""\
## What it concluded

{_baseline(found)}
{_redundancy(found)}
{_floor(found)}"""


def _baseline(found: Results) -> str:
    sizes, plain = found.of("size"), "TopK 15 plain"
    others = [method for method in RANKED if method != plain]
    better = [method for method in others if found.mean(method) > found.mean(plain)]
    large = [float(np.median(sizes[method].mean(axis=1))) for method in RANKED]
    relation = agreement(large, [found.mean(method) for method in RANKED])
    wider = [method for method in better if np.median(sizes[method].mean(axis=1)) > 15.5]
    listed = f": {', '.join(better)}" if better else ""
    return f"""\
*Most of the gain over SAOLA is that later methods keep more columns; a streaming top k belongs in every
comparison.* Of {len(others)} other methods {len(better)} have a higher mean accuracy than the plain top
15{listed}. More columns than it are kept by {len(wider)} of these. Over all methods size and accuracy
correlate by {relation:.2f} (Spearman).
"""


def _redundancy(found: Results) -> str:
    mrmr, plain = "TopK 15", "TopK 15 plain"
    points = {
        key: 100 * float((values[mrmr] - values[plain]).mean())
        for key, values in ((key, found.of(key)) for key in ("nearest", "logistic", "forest"))
    }
    text = ""
    if "madelon" in found.names:
        i = found.names.index("madelon")
        few, top = (found.accuracy[method][i].mean() for method in (RIVAL, plain))
        text = f"On madelon {RIVAL} has {few:.2f}, and the plain top 15 has {top:.2f}. "
    return f"""\
*Removal of redundancy hurts where redundant columns carry joint signal, and helps linear models.* {text}At
15 columns mRMR differs from the plain top 15 by {points["nearest"]:+.1f} points for 3-NN,
{points["logistic"]:+.1f} for the logistic regression and {points["forest"]:+.1f} for the forest.
"""


def _floor(found: Results) -> str:
    narrow = [i for i, name in enumerate(found.names) if found.shape(name)[1] < NARROW]
    lines = []
    for title, sets in (("fewer than", narrow), ("at least", sorted({*range(len(found.names))} - {*narrow}))):
        if sets:
            gain, text = (
                100 * found.gains(with_floor, f"{with_floor} no floor")[sets].mean()
                for with_floor in ("OSSFS-DD", "OSSFS-DD text")
            )
            lines.append(
                f"{gain:+.1f} points (text form {text:+.1f}) on the {len(sets)} sets with {title} "
                f"{NARROW} columns"
            )
    return f"""\
*A rule based on the spread of scores needs a floor.* The floor of OSSFS-DD brings {" and ".join(lines)}.
"""
