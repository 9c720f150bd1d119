"""Source, tests and docs use none of the phrases that have a plain word in the field."""

from pathlib import Path

import pytest

from tools.shape.prose import banned, prose_files

ROOT = Path(__file__).resolve().parents[2]
PARTS = prose_files(ROOT)
#: Where a phrase is a quotation: the studies' pages say how many figures agree within chance.
QUOTED = {("tests/studies/test_overview.py", r"(?<!by\s)chances?")}


@pytest.mark.parametrize("part", PARTS)
def test_no_banned_phrase(part):
    others = [path for path in PARTS[part] if path != Path(__file__).resolve()]
    found = {(path.relative_to(ROOT).as_posix(), line, phrase) for path, line, phrase in banned(others)}
    assert not {use for use in found if (use[0], use[2]) not in QUOTED}


def test_banned_phrases_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("It lasts for\never.\n")
    assert [(line, phrase) for _, line, phrase in banned([page])] == [(1, "for ever")]


def test_pages_that_the_site_writes_do_not_count(tmp_path):
    (tmp_path / ".gitignore").write_text("docs/methods/\n")
    for name in ("docs/methods/saola.md", "docs/written.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("Again.\n")
    assert prose_files(tmp_path)["docs"] == [tmp_path / "docs" / "written.md"]
