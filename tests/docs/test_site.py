"""The site builds without a warning, has every public name and no dead link, needs no network."""

import re
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

import streamsieve as ss
from streamsieve import registry


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors |= {found.get("id"), found.get("name")}
        if tag in ("a", "link") and found.get("href"):
            self.links.append(found["href"])
        if tag in ("img", "script") and found.get("src"):
            self.links.append(found["src"])


@pytest.mark.full
def test_every_method_has_a_card(site):
    cards = {page.stem for page in (site / "methods").glob("*.html")}
    assert set(registry.selectors()) <= cards
    assert {f"criterion_{name}" for name in registry.criteria()} <= cards


@pytest.mark.full
def test_every_public_name_is_in_the_reference(site):
    page = (site / "reference" / "api" / "index.html").read_text()
    for name in dir(ss):
        if not name.startswith("_") and not isinstance(getattr(ss, name), type(ss)):
            assert f"ss.{name}<" in page, name


@pytest.mark.full
def test_the_reference_shows_code_as_it_is_typed(site):
    text = "".join(page.read_text() for page in (site / "reference").rglob("*.html"))
    assert "Alias for field number" not in text
    assert not re.search("[\u201c\u201d\u2013]", text)


@pytest.mark.full
def test_pages_load_nothing_from_a_network(site):
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r"<(?:script|img|link rel=\"stylesheet\")[^>]*(?:src|href)=\"(https?:[^\"]+)", page.read_text()
        )
        assert not loaded, (page.name, loaded)


@pytest.mark.full
def test_no_link_within_the_site_is_dead(site):
    pages = {path.resolve(): Page(path) for path in site.rglob("*.html") if "_static" not in path.parts}
    dead = []
    for path, page in pages.items():
        for link in page.links:
            if "://" in link or link.startswith(("mailto:", "data:", "javascript:")):
                continue
            target, _, anchor = unquote(link).partition("#")
            to = (path.parent / target.partition("?")[0]).resolve() if target else path
            there = to.exists() and (not anchor or to not in pages or anchor in pages[to].anchors)
            dead += [] if there else [(path.name, link)]
    assert len(pages) > 150
    assert dead == []
