"""The overview has every study, and adds up what their pages say."""

import json

from studies.__main__ import STUDIES
from studies._columns.cells import Cell, agreement
from studies._overview import PUBLISHED, overview


def test_every_study_is_in_the_overview_once():
    assert sorted(entry.study for entry in PUBLISHED) == sorted(STUDIES)


def figures(equal, near, apart):
    """Return pairs of figures: equal, different within the noise, and beyond it."""
    ours = [0.5] * equal + [0.6] * near + [0.9] * apart
    return [Cell(("1", "data", "method"), theirs=0.5, ours=value, noise=0.2) for value in ours]


def test_figures_and_seconds_are_added_up_and_missing_pages_are_named(tmp_path):
    (tmp_path / "results").mkdir()
    stored = {"a": {"seconds": 1.5, "result": 0}, "b": {"seconds": 1000, "result": 0}}
    (tmp_path / "results" / "saola.json").write_text(json.dumps(stored))
    said = [agreement(figures(5, 4, 1)), agreement(figures(0, 7, 0))]
    (tmp_path / "SAOLA.md").write_text("\n".join(said).replace("last digit", "last\ndigit"))
    (tmp_path / "OSFS.md").write_text("no figures to compare\n")
    lines = overview(tmp_path).splitlines()
    assert next(line for line in lines if "SAOLA.md" in line).endswith("| 17 | 5 | 11 | 1 | 1,002 |")
    assert next(line for line in lines if "OSFS.md" in line).endswith("|  |  |  |  | 0 |")
    assert sum("not written yet" in line for line in lines) == len(PUBLISHED) - 2
