"""Each fault that documentation can have is planted, and found by the check that `make docs-check` runs."""

from types import ModuleType

import pytest

import streamsieve as ss
from tests.docs.checks import dead_links, run_examples, without_card, without_docstring


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import streamsieve as ss\nprint(ss.NoSuchSelector())", AttributeError),
        ("assert 1 == 2", AssertionError),
        ("silent = 1", AssertionError),
        ("print(", SyntaxError),
    ],
)
def test_a_broken_example(tmp_path, code, error):
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\n```python\nprint(1)\n```\n\n```python\n{code}\n```\n")
    with pytest.raises(error):
        run_examples(page)


def test_an_output_that_the_code_does_not_print(tmp_path):
    page = tmp_path / "page.md"
    text = "```python\nprint('found', 3, 0.52)\n```\n\n```text\n{}\n```\n"
    page.write_text(text.format("found 3 0.521"))
    run_examples(page)
    for wrong in ("found 4 0.52", "found 3 0.55", "kept 3 0.52", "found 3"):
        page.write_text(text.format(wrong))
        with pytest.raises(AssertionError, match=r"tools\.outputs"):
            run_examples(page)


def test_a_dead_link(tmp_path):
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "page.md"
    page.write_text("[a](page.md) [b](gone.md#part) [c](/lost.md) [d](methods/saola.md) [e](https://x.org/f)")
    assert dead_links(page, tmp_path, ("docs/methods/",)) == ["gone.md", "/lost.md"]


class Bare(ss.SAOLA):
    def offer(self, block):  # its words are those of the base class
        pass

    def planted(self):
        pass


def test_a_missing_docstring():
    module = ModuleType("streamsieve.planted", "A module.")
    module.with_words, module.without = len, lambda: None
    assert without_docstring(module, ["with_words", "without"]) == ["without"]
    module.Bare = Bare
    assert without_docstring(module, ["Bare"]) == ["Bare", "Bare.planted"]
    module.__doc__ = None
    assert without_docstring(module, ["with_words"]) == ["streamsieve.planted"]


def test_a_method_without_a_card():
    class Planted(ss.SAOLA):
        pass

    assert without_card([ss.SAOLA, Planted], {ss.SAOLA}) == ["Planted"]
