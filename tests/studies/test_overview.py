"""The overview has every study, and adds up what their pages say."""

import json

from studies.__main__ import STUDIES
from studies._overview import PUBLISHED, overview


def test_every_study_is_in_the_overview_once():
    assert sorted(entry.study for entry in PUBLISHED) == sorted(STUDIES)


def test_figures_and_seconds_are_added_up_and_missing_pages_are_named(tmp_path):
    (tmp_path / "results").mkdir()
    stored = {"a": {"seconds": 1.5, "result": 0}, "b": {"seconds": 1000, "result": 0}}
    (tmp_path / "results" / "saola.json").write_text(json.dumps(stored))
    sentence = "{} figures, {} equal to the last\ndigit printed, {} more within chance, {} apart.\n"
    (tmp_path / "SAOLA.md").write_text(sentence.format(10, 5, 4, 1) + sentence.format(7, 0, 7, 0))
    (tmp_path / "OSFS.md").write_text("no figures to compare\n")
    lines = overview(tmp_path).splitlines()
    assert next(line for line in lines if "SAOLA.md" in line).endswith("| 17 | 5 | 11 | 1 | 1,002 |")
    assert next(line for line in lines if "OSFS.md" in line).endswith("|  |  |  |  | 0 |")
    assert sum("not written yet" in line for line in lines) == len(PUBLISHED) - 2
