"""The page: harmless, self-contained, and good to look at in a real browser, wide and narrow."""

import base64
import io
import re
from html import escape
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.evaluation import prequential, screening_protocol, streaming_protocol
from streamsieve.evaluation.candidates.selectors import as_selectors
from streamsieve.evaluation.engine.problem import Problem
from streamsieve.evaluation.reports.final_fit import Feature, FinalFit, chosen_table, final_fits
from streamsieve.evaluation.reports.html import Facts, check_extra, write_page
from streamsieve.evaluation.reports.recommendation import recommend
from streamsieve.exceptions import CapabilityError, StateError
from tests.helpers.browser import started

HOSTILE = [
    "<script>document.title='taken'</script>", '"><img src=x onerror="document.title=\'taken\'">',
    "{{ 7 * 7 }}", "{% raw %}", "' onmouseover='x", "</style></title><h1>", "&lt;b&gt;", "ä " * 40_000,
]  # fmt: skip
PROTOCOLS = ("screening", "streaming", "prequential")
LARGEST = 3_000_000


class Made:
    """A small comparison by one protocol, and its page."""

    def __init__(self, protocol, folder):
        rng = np.random.default_rng(0)
        n, p = 120, 30
        self.y = np.array(["no", "<i>yes</i>"])[rng.integers(0, 2, n)]
        X = rng.normal(size=(n, p))
        for j, loudness in enumerate((0.5, 2, 1, 1, 0.7, 1, 1.4, 1.4)):
            X[:, j] += loudness * (self.y == "no")
        X[:, 8] = X[:, 1] + 0.1 * rng.normal(size=n)
        names = [*HOSTILE, *(f"x{j}" for j in range(len(HOSTILE), p))]
        problem = Problem.of(X, self.y, names=names)
        selectors = as_selectors({"screening": ["none", "f", "saola"], "streaming": ["none", "saola"],
                                  "prequential": ["none", "f"]}[protocol], problem.task)  # fmt: skip
        given = X, self.y, selectors, ["nb"]
        if protocol == "screening":
            self.report = screening_protocol(*given, sizes=[2, 25], runs=1, folds=3, names=names)
        elif protocol == "streaming":
            self.report = streaming_protocol(*given, orders=2, split=2, checkpoints=3, names=names)
        else:
            follow = {"none": None, "f": ss.Screen("f", k=5, on_drift="reset", drift_every=20)}
            source = ss.open(np.vstack([X, -X]), target=np.tile(self.y, 2), names=names)
            self.report = prequential(source, follow, ["sgd", "no_change"], every=40, batch_size=20)
        self.report.warnings["<b>careful</b>"] = 1200
        self.recommendation = recommend(self.report)
        batch_size = 20 if protocol == "prequential" else None
        self.fits = final_fits(problem, selectors, {"f": 25}, batch_size=batch_size)
        self.facts = Facts(
            "<script>.csv", "/data/<script>.csv", HOSTILE[0], "streamsieve compare '<script>.csv'", 3.25,
            notes=("Columns of text were left out.",),
        )  # fmt: skip
        self.path = folder / f"{protocol}.html"
        write_page(self.path, self.report, self.recommendation, self.fits, self.facts)
        self.text = self.path.read_text("utf-8")
        self.tags = Tags(self.text)


class Tags(HTMLParser):
    """Every tag of a page with its attributes, and the text of headings."""

    def __init__(self, text):
        super().__init__()
        self.found, self.headings, self._within = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if re.fullmatch("h[1-6]", tag):
            self._within = tag
            self.headings.append((tag, ""))

    def handle_endtag(self, tag):
        if tag == self._within:
            self._within = None

    def handle_data(self, data):
        if self._within:
            tag, text = self.headings[-1]
            self.headings[-1] = (tag, text + data)

    def of(self, tag):
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    return {protocol: Made(protocol, folder) for protocol in PROTOCOLS}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_names_are_text_and_nothing_else(pages, protocol):
    page = pages[protocol]
    assert page.tags.of("script") == []
    assert not [name for _, attributes in page.tags.found for name in attributes if name.startswith("on")]
    assert "{{ 7 * 7 }}" in page.text or protocol == "prequential"
    assert "49" not in re.findall(r'class="name">([^<]*)<', page.text)
    assert len(page.tags.of("h1")) == 1
    assert all(image["src"].startswith("data:image/") for image in page.tags.of("img"))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_it_needs_nothing_from_anywhere(pages, protocol):
    page = pages[protocol]
    for _, attributes in page.tags.found:
        for name in ("src", "href", "action", "srcset", "data"):
            if name in attributes:
                assert attributes[name].startswith(("data:", "#"))
    assert "@import" not in page.text
    assert "url(" not in page.text
    assert any("default-src 'none'" in meta.get("content", "") for meta in page.tags.of("meta"))
    assert len(page.text.encode()) <= LARGEST


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_it_says_the_important_first(pages, protocol):
    page = pages[protocol]
    headings = [text for _, text in page.tags.headings]
    scores = {"screening": "Score against", "streaming": "as columns arrive"}.get(protocol, "as rows arrive")
    order = ["Recommendation", "All combinations", scores, "What each selector", "Failures", "Settings"]
    places = [next(i for i, text in enumerate(headings) if part in text) for part in order]
    assert places == sorted(places)
    levels = [int(tag[1]) for tag, _ in page.tags.headings]
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    text = page.text.replace("\N{NO-BREAK SPACE}", " ")
    assert f'<p class="sentence">{escape(page.recommendation.sentence)}</p>' in text
    assert all(image["alt"].strip() for image in page.tags.of("img"))
    assert "1,200 times: &lt;b&gt;careful&lt;/b&gt;" in page.text
    assert "<title>&lt;script&gt;.csv: which features" in page.text
    for name in ("numpy", "scikit-learn", "streamsieve", "3.25 s"):
        assert name in page.text


def test_the_ledgers_reasons_are_there(pages):
    articles = pages["screening"].text.split("<article>")[1:]
    by_name = {re.search(r"<h3>(\w+)", article)[1]: article for article in articles}
    assert "makes redundant" in by_name["saola"]
    assert re.search(r"\d found relevant · ", by_name["saola"])
    assert "Left out, and why: the 20 that came nearest" in by_name["saola"]
    assert re.search(r'class="wrap">redundant given ', by_name["saola"])
    assert "irrelevant</td>" in by_name["saola"]
    assert ">score</th>" in by_name["f"]
    assert "<summary>5 more" in by_name["f"]  # 25 were asked for, 20 stand open


def test_a_page_stays_small_whatever_is_kept(pages, tmp_path):
    page = pages["screening"]
    many = [Feature("long " * 20 + str(j), j, 1.0, 0.5, "", ("other " * 20,) * 9) for j in range(4_000)]
    names = ("f", "saola", *"abcdefg")
    fits = {name: FinalFit(name, 0, many, many[:20], {"kept": 4_000}, "score") for name in names}
    path = tmp_path / "large.html"
    write_page(path, page.report, page.recommendation, fits, page.facts)
    assert path.stat().st_size <= LARGEST
    assert "in chosen.csv" in path.read_text("utf-8")


def test_failures_and_empty_choices_are_shown(pages, tmp_path):
    page = pages["screening"]
    fits = {"f": FinalFit("f", 0, error="ValueError: <b>no</b>"), "saola": FinalFit("saola", 0)}
    kept = page.report.extras["selections"]["n_selected"]
    before = kept.copy()
    kept[:] = 0
    try:
        write_page(tmp_path / "empty.html", page.report, page.recommendation, fits, page.facts)
    finally:
        kept[:] = before
    text = (tmp_path / "empty.html").read_text("utf-8")
    assert "It failed: ValueError: &lt;b&gt;no&lt;/b&gt;" in text
    assert "f, fitted to all rows: ValueError" in text
    assert "It keeps nothing." in text
    assert "saola kept nothing every time; learners then predict the most frequent class" in text


def test_it_is_complete_or_not_there(pages, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("before")
    page = pages["screening"]
    given = path, page.report, page.recommendation, {"f": None}, page.facts
    with pytest.raises(AttributeError):
        write_page(*given, overwrite=True)
    for write in (lambda: write_page(*given), lambda: FinalFit("f", 1).write_ledger(path)):
        with pytest.raises(
            StateError, match="streamsieve may not have written it; overwrite=True replaces it"
        ):
            write()
    assert path.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "jinja2" else name)
    with pytest.raises(
        CapabilityError, match=r"needs jinja2, which is not here: pip install 'streamsieve\[cli\]'"
    ):
        check_extra()


def test_final_fits_are_those_of_the_selectors():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 150)
    X = rng.normal(size=(150, 12))
    X[:, 3] += 2 * y
    X[:, 5] = X[:, 3] + 0.05 * rng.normal(size=150)
    names = [f"gene {j}" for j in range(12)]
    problem = Problem.of(X, y, names=names)
    seen = []
    selectors = as_selectors(["none", "f", "saola", "random"], problem.task)
    fits = final_fits(problem, selectors, {"f": 4, "saola": 0, "random": 2}, progress=seen.append)
    assert list(fits) == ["f", "saola", "random"]
    assert seen == [1] * 4
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    screen = ss.Screen("f", k=4).fit(scaled, y)
    assert [each.column for each in fits["f"].features] == screen.ranked_.tolist()
    np.testing.assert_allclose([each.number for each in fits["f"].features], screen.scores_[screen.ranked_])
    sieve = ss.SAOLA().fit(np.asfortranarray(scaled), y)
    assert {each.column for each in fits["saola"].features} == set(sieve.selected_.tolist())
    assert fits["saola"].features[0].name in ("gene 3", "gene 5")
    assert fits["saola"].features[0].others in (("gene 5",), ("gene 3",))
    assert len(fits["saola"].decisions) == len(sieve.ledger_)
    assert all(fit.peak_bytes > 0 for fit in fits.values())
    table = chosen_table(fits)
    assert table.where(selector="f")["column"].tolist() == screen.ranked_.tolist()
    assert table.n_rows == sum(len(fit.features) for fit in fits.values())
    assert all(each.name == names[each.column] for each in fits["random"].features)


def test_memory_is_what_was_allocated():
    from sklearn.base import BaseEstimator

    class Greedy(BaseEstimator):
        def fit(self, X, y):
            self.selected_ = np.arange(2)
            np.ones(10**6)  # 8 MB, for a moment
            return self

    problem = Problem.of(np.eye(4), [0, 1, 0, 1])
    fit = final_fits(problem, {"greedy": Greedy()}, {})["greedy"]
    assert 8e6 <= fit.peak_bytes < 9e6
    assert (fit.measure, [each.name for each in fit.features]) == ("", ["x0", "x1"])


LOOK = """JSON.stringify({
  width: innerWidth,
  content: document.documentElement.scrollWidth,
  title: document.title,
  figures: [...document.images].map(i => {
    const box = i.getBoundingClientRect();
    return {natural: i.naturalWidth, width: box.width, height: box.height, left: box.left, right: box.right};
  }),
  outside: [...document.querySelectorAll("main *")].filter(
    e => !e.closest(".scroll, pre") && e.getBoundingClientRect().right > innerWidth + 0.5
  ).map(e => e.tagName),
  small: [...document.querySelectorAll("p, td, th, li, summary, figcaption")].filter(
    e => parseFloat(getComputedStyle(e).fontSize) < 11
  ).length,
  scripts: document.scripts.length,
})"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    opened = started(tmp_path_factory.mktemp("browser"))
    yield opened
    opened.close()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_in_chromium(pages, browser, protocol, width):
    session = browser.open(pages[protocol].path, width)
    seen = browser.evaluate(session, LOOK)
    noise = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
    assert [event for event in browser.events if event["method"] in noise] == []
    asked = [event["params"] for event in browser.events if event["method"] == "Network.requestWillBeSent"]
    assert all(each["request"]["url"].startswith(("file:///", "data:")) for each in asked)
    assert seen["title"].startswith("<script>.csv")
    assert seen["scripts"] == 0
    assert seen["width"] == width
    assert seen["content"] <= width  # nothing makes the page scroll sideways
    assert seen["outside"] == []
    assert seen["small"] == 0
    assert len(seen["figures"]) == len(pages[protocol].tags.of("img")) >= 3
    for figure in seen["figures"]:
        assert figure["natural"] > 0
        assert figure["width"] > 250
        assert figure["height"] > 60
        assert figure["left"] >= 0
        assert figure["right"] <= width


SPACES = """JSON.stringify((() => {
  const box = document.querySelector(".articles");  // more cards, of other heights
  for (const whole of [false, true, false]) box.append(box.children[0].cloneNode(whole));
  const cards = [...document.querySelectorAll("article")].map(e => e.getBoundingClientRect());
  return cards.flatMap((card, i) => cards.slice(i + 1, i + 2).filter(next => next.left === card.left).map(
    next => next.top - card.bottom));
})())"""
HINT = """JSON.stringify({
  shown: getComputedStyle(document.querySelector(".hint")).display !== "none",
  needed: (e => e.scrollWidth > e.clientWidth)(document.querySelector(".scroll")),
  shade: getComputedStyle(document.querySelector(".scroll")).backgroundImage.includes("gradient"),
})"""


@pytest.mark.parametrize("width", [1280, 390])
def test_no_hole_between_cards_and_a_mark_where_a_table_goes_on(pages, browser, width):
    session = browser.open(pages["screening"].path, width)
    spaces = browser.evaluate(session, SPACES)
    assert spaces
    assert max(spaces) <= 20
    hint = browser.evaluate(session, HINT)
    assert hint["shade"]
    assert hint["shown"] == (width == 390)
    assert hint["shown"] or not hint["needed"]


def test_significance_is_no_fainter_and_the_dots_have_a_scale(pages):
    page = pages["screening"]
    low, high = re.search(r'class="scale"><span>([\d.-]+)</span><span>([\d.-]+)</span>', page.text).groups()
    means = [each.mean for each in page.recommendation.standings]
    assert float(low) < min(means) <= max(means) < float(high)
    assert re.search(r"\.apart \{ font-weight: 650; \}", page.text)
    assert "p-values below 0.05 are bold" in page.text
    assert "none +" not in page.text
    assert "all features +" in page.text


def test_figures_are_drawn_and_not_blank(pages, browser):
    """A picture of each figure, as the browser paints it, has dark ink on white."""
    from matplotlib.image import imread

    session = browser.open(pages["screening"].path, 1280)
    top = "JSON.stringify([...document.images].map(i => i.getBoundingClientRect().top + scrollY))"
    boxes = browser.evaluate(session, LOOK)["figures"]
    for box, y in zip(boxes, browser.evaluate(session, top), strict=True):
        clip = {"x": box["left"], "y": y, "width": box["width"], "height": box["height"], "scale": 0.5}
        shot = browser.call("Page.captureScreenshot", session, clip=clip, captureBeyondViewport=True)
        painted = imread(io.BytesIO(base64.b64decode(shot["data"])))[..., :3].mean(axis=2)
        assert np.median(painted) == 1
        assert 0.005 < np.mean(painted < 0.5) < 0.6
