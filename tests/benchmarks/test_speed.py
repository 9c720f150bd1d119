"""Two trees are timed by their own benchmarks, and the page says what became slower, and why."""

from pathlib import Path

import pytest

from tools.compare import speed, speed_page
from tools.compare.speed import Times

ROOT = Path(__file__).resolve().parents[2]
QUICK = ["--quick", "--rounds", "2", "--suite", "blankets", "--only", "one partial correlation"]


def test_a_tree_is_timed_against_itself_and_again_with_the_p_values_of_the_papers(tmp_path, capsys):
    page = tmp_path / "page.md"
    # every case counts as slower, so that it is raced again
    code = speed.main([*QUICK, str(ROOT), str(ROOT), "--allowance", "-0.999", "--write", str(page)])
    said, text = capsys.readouterr().out, page.read_text()
    assert code == 1
    assert "1 of 1" in said
    assert "p-values of the papers" in said
    assert "| blankets | one partial correlation, up to 40 kept |" in text


def test_one_tree_is_refused():
    with pytest.raises(SystemExit, match="two trees are needed"):
        speed.main([str(ROOT)])


def test_the_page_counts_what_is_slower_and_what_the_papers_explain():
    found = [
        Times("rows", "same", "same", 1.0, 1.02),
        Times("rows", "own", "own", 1.0, 1.2),
        Times("columns", "SAOLA, news20", "SAOLA, news20", 1e-3, 2e-3, 1e-3),
        Times("rows", "absent", "absent", not_run="no data"),
    ]
    text = speed_page.page(found, old="abc", allowance=0.03, took=60.0)
    assert "**1 of 3 cases take at most 1.03 times as long as before**; of the other 2, 1 do" in text
    assert "| rows | own | 1.200 |  |  |" in text
    why = "2026-11-17 · Correlations are tested by t, and confirmed where t fails."
    assert f"| columns | SAOLA, news20 | 2.000 | 1.000 | {why} |" in text
    assert "2026" not in speed_page.reason(Times("columns", "other costs", "other costs", 1.0, 1.2, 1.15))
    assert "| SAOLA, news20 | 1 ms | 2 ms | 2.000 |" in text
    assert "| absent | | | no data |" in text


def test_decisions_that_explain_a_slower_case_exist():
    decisions = (ROOT / "docs/decisions.md").read_text()
    assert all(f"**{title}**" in decisions for title in speed_page.REASONS.values())
