"""The page ``docs/evidence/calibration.md``."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from streamsieve.evaluation import plots
from studies._report import table, wrapped
from studies.calibration.oracles import agreements
from studies.calibration.picture import heat_map
from studies.calibration.plan import EXPERIMENTS, FAMILIES, TESTS
from studies.calibration.rare_levels import section as rare_levels
from studies.calibration.reasons import reason
from studies.calibration.rules import Experiment, Rate, rate
from studies.calibration.sizes import CONFIDENCE, CONSERVATIVE, LIBERAL, Size, sizes

Cells = Mapping[tuple[str, str, int], Sequence[dict[str, Any]]]
PAGE = "evidence/calibration.md"


def write(cells: Cells, docs: Path) -> Path:
    """Write the page and its pictures below ``docs``, and return its path."""
    found = {key: sizes(rounds) for key, rounds in cells.items() if key[0] in TESTS}
    for folder in ("evidence", "images"):
        (docs / folder).mkdir(exist_ok=True)
    sections = [_HEAD.format(**_facts(found, cells)), *_panels(found, docs), *_experiments(cells)]
    sections += [rare_levels(), _explained(cells), *_oracles(), _again()]
    path = docs / PAGE
    path.write_text("\n".join(map(wrapped, sections)), "utf-8")
    return path


_HEAD = """\
# Calibration: do p-values and false discovery rates hold?

Written by `python -m studies.calibration`; do not edit. The *size* of a test is the probability of rejecting
a true null hypothesis: at level .01 it should be .01, and must not be larger. Columns and target are drawn
independently from the families below, {tests:,} tests in all, and rejections are counted at the levels .05,
.01, .001 and .0001. Online procedures test at levels far below .05, so the last two matter most for them.

A cell is called *liberal* if the {confidence:.1%} confidence interval of its size lies entirely above
{liberal} times the level, and *conservative* if it lies entirely below {conservative} times the level.
Columns that share a target are dependent, so the Clopper-Pearson interval is computed with the effective
number of tests, from the variance between targets (Korn and Graubard 1998). A conservative test is valid but
has less power.

- Of {default_cells:,} cells of tests that the library uses by default, {default_liberal} are liberal and
  {default_conservative} conservative.
- Of {other_cells:,} cells of tests that are offered for comparison with papers, {other_liberal} are liberal.
- Families marked † were added after the tests had been written, and were not used to develop them, with two
  exceptions. The confirmation of the rank basis is younger than the families, and sizes over all of them
  (other draws) were seen while it was designed. The confirmation of coefficients (*t in a linear model*)
  was designed to mend the family of heavy residuals; the other families of conditional tests marked † are
  younger than it. The families of 15 and 20 flat levels are younger than the bound below which
  tables with rare levels are confirmed.
"""


def _facts(found: Mapping[Any, list[Size]], cells: Cells) -> dict[str, Any]:
    facts: dict[str, Any] = {"tests": sum(one["tests"] for key in found for one in cells[key])}
    for name, default in (("default", True), ("other", False)):
        some = [s for key, several in found.items() if TESTS[key[0]].default is default for s in several]
        facts[f"{name}_cells"] = len(some)
        for verdict in ("liberal", "conservative"):
            facts[f"{name}_{verdict}"] = sum(one.verdict == verdict for one in some)
    return {**facts, "liberal": LIBERAL, "conservative": CONSERVATIVE, "confidence": CONFIDENCE}


# ------------------------------------------------------------------------------------ sizes


def _panels(found: Mapping[Any, list[Size]], docs: Path) -> Iterator[str]:
    """Draw and tabulate tests that share their families."""
    for panel in dict.fromkeys(subject.panel for subject in TESTS.values()):
        tested = {key: some for key, some in found.items() if TESTS[key[0]].panel == panel}
        subjects = [name for name in TESTS if any(key[0] == name for key in tested)]
        rows = [(f, n) for f, family in FAMILIES.items() for n in family.sizes if {*subjects} & {
            key[0] for key in tested if key[1:] == (f, n)}]  # fmt: skip
        if not rows:
            continue
        image = f"images/calibration_{panel.replace(' ', '_').lower()}.png"
        labels = [_short(subject) for subject in subjects]
        grid = [[tested.get((subject, *row), []) for subject in subjects] for row in rows]
        plots.save(heat_map([(_marked(f), n) for f, n in rows], labels, grid), docs / image)
        caption = f"{panel}: size divided by level; blue conservative, white right, red with a dot liberal"
        yield f"## {panel}\n\n![{caption}](../{image})\n\n*{caption}; gray: no such test.*\n"
        body = [
            [f"{_marked(f)}, n = {n}", *map(_cell, some)] for (f, n), some in zip(rows, grid, strict=True)
        ]
        yield table(["columns and target", *labels], body)


def _marked(family: str) -> str:
    return f"{family} †" if FAMILIES[family].held_back else family


def _short(subject: str) -> str:
    return f"{subject} (default)" if TESTS[subject].default else subject


def _cell(found: list[Size]) -> str:
    if not found:
        return ""
    return " ".join(f"**{_number(s.size)}**" if s.verdict == "liberal" else _number(s.size) for s in found)


def _number(size: float) -> str:
    return (
        "0"
        if size == 0
        else f"{size:.1e}".replace("e-0", "e-")
        if size < 0.001
        else f"{size:.2g}".lstrip("0")
    )


# ------------------------------------------------------------------------------------ rules


def _experiments(cells: Cells) -> Iterator[str]:
    for experiment in EXPERIMENTS.values():
        rates = _rates(experiment, cells)
        if not rates:
            continue
        situations = [s for s in experiment.situations if (experiment.name, s.name, 0) in cells]
        streams = sum(one["streams"] for one in cells[experiment.name, situations[0].name, 0])
        yield f"""\
## {experiment.name}

{experiment.text} {streams} streams; the bound is {experiment.bound:g}. Bold: above the bound by the whole
interval. In brackets: what the procedure does not promise.
"""
        rows = [
            [
                f"{s.name}",
                *(
                    _rate_cell(rates[s.name, p], experiment.bound, p in s.promised)
                    for p in experiment.procedures
                ),
            ]
            for s in situations
        ]
        yield table(["", *experiment.procedures], rows)


def _rates(experiment: Experiment, cells: Cells) -> dict[tuple[str, str], Rate]:
    return {
        (situation.name, procedure): rate(procedure, rounds)
        for situation in experiment.situations
        if (rounds := cells.get((experiment.name, situation.name, 0)))
        for procedure in experiment.procedures
    }


def _rate_cell(one: Rate, bound: float, promised: bool) -> str:  # noqa: FBT001
    text = f"{one.fdr:.3f}" if one.power is None else f"{one.fdr:.3f} / {one.power:.2f}"
    text = f"**{text}**" if one.low > bound else text
    return text if promised else f"({text})"


# ------------------------------------------------------------------------------------ red cells


def liberal(cells: Cells) -> Iterator[tuple[str, str, str]]:
    """Yield subject, data and figures of every liberal cell; of rules, where their promise is not kept."""
    for (subject, data, n), rounds in cells.items():
        if subject in TESTS:
            found = sizes(rounds)
            if any(size.verdict == "liberal" for size in found):
                yield subject, data, f"n = {n}: {_cell(found)}"
    for experiment in EXPERIMENTS.values():
        for (situation, procedure), one in _rates(experiment, cells).items():
            promised = next(s.promised for s in experiment.situations if s.name == situation)
            if one.low > experiment.bound and procedure in promised:
                yield procedure, situation, f"{one.fdr:.3f}"


def unexplained(cells: Cells) -> list[str]:
    """Return the liberal cells for which there is no sentence."""
    return [f"{s}, {d}, {text}" for s, d, text in liberal(cells) if reason(s, d) is None]


def _explained(cells: Cells) -> str:
    """Return the sentences with the cells that they are about."""
    about: dict[str, dict[str, list[str]]] = {}
    for subject, data, _ in liberal(cells):
        sentence = reason(subject, data) or "Not explained yet."
        where = about.setdefault(sentence, {}).setdefault(subject, [])
        where += [data] if data not in where else []
    items = []
    for sentence, subjects in about.items():
        where = ". ".join(f"*{subject}*: {'; '.join(data)}" for subject, data in subjects.items())
        items.append(f"- {sentence} ({where})")
    none = "No cell is liberal."
    return "## Liberal cells: why, and what to do\n\n" + ("\n".join(items) if items else none) + "\n"


def _oracles() -> Iterator[str]:
    yield """\
## Oracles

P-values and decisions of other libraries on the same data: the largest relative difference of p-values, or
the number of different decisions.
"""
    rows = [
        [one.what, one.oracle, f"{one.compared:,}", f"{one.apart:.1g}" if one.apart else "0"]
        for one in agreements()
    ]
    yield table(["ours", "oracle", "compared", "difference"], rows)


def _again() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("streamsieve", "numpy", "scipy", "numba"))
    return f"""\
## Reproduce this page

`python -m studies.calibration` computes what is missing; `--minutes N` adds draws; `--only NAME` computes
the tests or experiments of this name (a pattern) and takes all others as they are stored; `--check N` counts
N cells of every test again and says which differ from those stored; `--quick` checks the defaults in seconds
and fails if a test is liberal and no sentence above says why.

Written {datetime.now(UTC):%Y-%m-%d} with Python {platform.python_version()}, {packages}. Stored counts:
`studies/results/calibration.jsonl`.
"""
