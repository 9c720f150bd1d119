"""The overview: which table of which paper is where, and how far ours is from it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from studies._report import table, wrapped

PAGE = "RESULTS.md"
THESIS = "Wang, *Online and Offline Feature Screening and Applications*, 2021"
OSFS = "Wu et al., *Online feature selection with streaming features*, 2013"
SAOLA = "Yu et al., *Towards scalable and accurate online feature selection for big data*, 2014"
DOFS = "Siu, Xu, *Diverse online feature selection*, 2018"
LATER = "Methods since, and questions the papers leave open"


class Printed(NamedTuple):
    """Something that was published, and the study that has it again."""

    paper: str
    what: str
    study: str


PUBLISHED = (
    Printed(THESIS, "tables 2.2-2.9: screens and learners by cross-validation", "screens_and_learners"),
    Printed(THESIS, "tables 3.2-3.6: quantile screens, online and offline", "screening"),
    Printed(THESIS, "figures 3.2, 3.3: relevant features that drift", "drift"),
    Printed(THESIS, "tables 3.8, 3.9: screen, then learn, in the order of time", "adaptation"),
    Printed(SAOLA, "tables II-V, XII-XIV: size, accuracy, time", "saola"),
    Printed(OSFS, "tables 1-5, figures 5-9: accuracy, size, time", "osfs"),
    Printed(OSFS, "figure 10: as columns stream in", "arrival"),
    Printed(OSFS, "figures 11-13, and SAOLA's 6 and 7: the order of columns", "order"),
    Printed(DOFS, "all tables", "dofs"),
    Printed(LATER, "a ranking of column selectors", "ranking"),
    Printed(LATER, "false discoveries of online rules", "discovery"),
    Printed(LATER, "Markov blankets of known networks", "markov_blankets"),
    Printed(LATER, "row selectors that learn", "learning"),
    Printed(LATER, "planted features, by annealing and by baselines", "recovery"),
    Printed(LATER, "pairs and symmetric shapes by width", "interactions"),
    Printed(LATER, "parents, children and spouses of public networks", "networks"),
    Printed(LATER, "limits on the size of conditioning sets", "conditioning"),
    Printed(LATER, "drift monitors: delay, false alarms, what is right at the end", "monitors"),
    Printed(LATER, "OFS: how many weights to keep", "ofs"),
    Printed(LATER, "the rule behind method auto, against fixed choices", "defaults"),
)
TALLY = re.compile(
    r"(\d+) figures, (\d+) equal to the last digit printed, (\d+) more within chance, (\d+) apart"
)


def overview(folder: Path) -> str:
    """Return the page, from the pages and stored parts that are there.

    Parameters
    ----------
    folder : where the studies were written
    """
    sections = []
    for paper in dict.fromkeys(entry.paper for entry in PUBLISHED):
        rows = [_row(entry, folder) for entry in PUBLISHED if entry.paper == paper]
        headings = ["", "page", "figures", "equal", "within chance", "apart", "seconds"]
        sections.append(f"## {paper}\n\n{table(headings, rows)}")
    return "\n".join([wrapped(_HEAD), *sections])


_HEAD = """\
# The papers' tables, and ours

Every page has the published figures next to ours, with the difference and, where we know it, the reason.
Figures that can be compared one by one are counted below: equal to the last printed digit, within sampling
error (the page says how it is estimated), or apart. For a paper that shows curves without numbers, the
page checks what its text says. *Seconds* is the total computing time when the results were stored. The
pictures of craters in the OSFS paper (tables 6 to 10, figures 14 to 19) are not available;
`examples/craters.py` uses synthetic terrain instead. [Findings](../docs/findings.md) draws the conclusions.

`python -m studies` computes what is missing and writes this page; `--fresh` computes everything, `--quick`
tries everything at a tiny size.
"""


def _row(entry: Printed, folder: Path) -> Sequence[str]:
    page, stored = folder / f"{entry.study.upper()}.md", folder / "results" / f"{entry.study}.json"
    if not page.exists():
        return [entry.what, "not written yet", "", "", "", "", ""]
    text = " ".join(page.read_text("utf-8").split())
    tallies = [list(map(int, found)) for found in TALLY.findall(text)]
    counts = [str(sum(column)) for column in zip(*tallies, strict=True)] if tallies else [""] * 4
    parts = json.loads(stored.read_text("utf-8")).values() if stored.exists() else ()
    seconds = f"{sum(part['seconds'] for part in parts):,.0f}"
    return [entry.what, f"[{page.stem.lower()}]({page.name})", *counts, seconds]
