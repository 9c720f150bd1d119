"""The site in headless Chromium: every page loads in silence, fits a telephone, can be read and reached."""

import json
from pathlib import Path

import pytest

from tests.helpers.browser import complaints, started

pytestmark = pytest.mark.full
#: What a designer looks at, and what axe checks, in light and dark.
LOOKED_AT = (
    "index.html", "choose.html", "start/installation.html", "guides/index.html", "guides/drift.html",
    "guides/false_discovery_control.html", "methods/index.html", "methods/fast_osfs.html",
    "methods/screen.html", "methods/fdr_addis.html", "methods/criterion_ksg.html", "gallery/index.html",
    "reference/errors.html", "reference/api/criteria.html", "reference/bibliography.html", "faq.html",
    "evidence/studies/ranking.html",
)  # fmt: skip
RULES = (
    "color-contrast", "image-alt", "svg-img-alt", "link-name", "button-name", "document-title",
    "html-has-lang", "scrollable-region-focusable", "heading-order", "label", "aria-valid-attr-value",
)  # fmt: skip
LOOK = """JSON.stringify({
  width: innerWidth,
  content: document.documentElement.scrollWidth,
  unnamed: [...document.querySelectorAll("main img")].filter(i => !i.hasAttribute("alt")).length,
  broken: [...document.images].filter(i => i.complete && !i.naturalWidth && i.currentSrc).map(i => i.src),
})"""
STILL = """document.head.append(Object.assign(document.createElement("style"),
  {textContent: "* { transition: none !important; animation: none !important }"}))"""
THEME = 'document.documentElement.dataset.theme = document.documentElement.dataset.mode = "{}"'
FOCUSED = """JSON.stringify((e => [e.tagName, e.className, e.id])(document.activeElement))"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    opened = started(tmp_path_factory.mktemp("browser"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def searching(site, browser):
    """One tab for all searches: every tab is a process of its own."""
    return browser.open(site / "search.html", 1280)


def resize(browser, session, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.call("Emulation.setDeviceMetricsOverride", session, **size)


def press(browser, session, key, code, modifiers=0):
    for kind in ("keyDown", "keyUp"):
        stroke = {"key": key, "code": code, "windowsVirtualKeyCode": {"Tab": 9}.get(key, ord(key[0].upper()))}
        browser.call("Input.dispatchKeyEvent", session, type=kind, modifiers=modifiers, **stroke)


def test_every_page_loads_in_silence_and_fits_a_telephone(site, browser):
    pages = [page for page in sorted(site.rglob("*.html")) if "_static" not in page.parts]
    session = browser.open(pages[0], 1280)
    wrong = []
    for page in pages:
        name = page.relative_to(site).as_posix()
        browser.go(session, page.as_uri())
        for width in (1280, 390):
            resize(browser, session, width)
            seen = browser.evaluate(session, LOOK)
            if seen["content"] > seen["width"] or seen["unnamed"] or seen["broken"]:
                wrong.append((name, width, seen))
        wrong += [(name, event) for event in complaints(browser.events)]
        asked = [event["params"]["request"]["url"] for event in browser.events
                 if event["method"] == "Network.requestWillBeSent"]  # fmt: skip
        wrong += [(name, url) for url in asked if not url.startswith(("file:///", "data:"))]
    assert wrong == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast_names_and_regions_by_axe(site, browser, theme):
    axe = Path(pytest.importorskip("axe_core_python").__file__).with_name("axe.min.js").read_text()
    session = browser.open(site / "index.html", 1280)
    wrong = []
    for name in LOOKED_AT:
        browser.go(session, (site / name).as_uri())
        browser.call("Runtime.evaluate", session, expression=STILL)  # or a color is caught on its way
        browser.call("Runtime.evaluate", session, expression=THEME.format(theme))
        browser.call("Runtime.evaluate", session, expression=axe)
        found = browser.evaluate(session, f"""
            axe.run(document, {{runOnly: {{type: "rule", values: {json.dumps(RULES)}}}}}).then(result =>
              JSON.stringify(result.violations.map(v => [v.id, v.nodes.map(n => n.html.slice(0, 200))])))
        """)  # fmt: skip
        wrong += [(name, *violation) for violation in found]
    assert wrong == []


def test_keys_reach_search_and_navigation(site, browser):
    session = browser.open(site / "index.html", 1280)
    reached = []
    for _ in range(20):
        press(browser, session, "Tab", "Tab")
        reached.append(browser.evaluate(session, FOCUSED))
    classes = [" ".join(each) for each in reached]
    assert any("search-button" in each for each in classes), classes
    assert sum("nav-link" in each for each in classes) >= 5, classes
    press(browser, session, "k", "KeyK", modifiers=2)
    assert browser.evaluate(session, FOCUSED)[0] == "INPUT"


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("resume crash", "checkpoints_and_kafka"),
        ("redundant given", "the_ledger"),
        ("redundant given", "faq"),
        ("kafka", "checkpoints_and_kafka"),
        ("50,000 genes", "faq"),
        ("time series", "dependent_rows"),
        ("GridSearchCV", "pipelines_and_grid_search"),
        ("promised fdr", "faq"),
        ("merge two machines", "faq"),
        ("text columns", "categorical_and_text"),
        ("SelectKBest speed", "faq"),
        ("choose k", "faq"),
        ("docker", "faq"),
        ("force column kept", "faq"),
        ("imbalanced", "faq"),
        ("larger than memory", "faq"),
        ("multi-label", "faq"),
        ("random seed", "faq"),
        ("export feature names", "faq"),
        ("one hot", "faq"),
        ("sample weights", "faq"),
        ("unlabeled", "faq"),
        ("censored", "faq"),
        ("nested cross-validation", "faq"),
        ("shap", "faq"),
        ("upgrade state file", "faq"),
        ("macos", "faq"),
        ("memory usage", "faq"),
        ("standardize features", "faq"),
        ("outliers", "p_values"),
        ("dates", "faq"),
        ("s3", "faq"),
        ("pandas dataframe", "faq"),
        ("how many rows", "faq"),
        ("time limit", "faq"),
        ("thread safe", "faq"),
        ("unlearn", "faq"),
        ("decisions csv", "faq"),
    ],
)
def test_search_works_without_a_server(site, browser, searching, words, page):
    browser.go(searching, f"{(site / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
    found = browser.evaluate(searching, """new Promise(done => {
        const look = n => {
          const links = [...document.querySelectorAll("#search-results li a")].map(a => a.href);
          const summary = document.querySelector("#search-results .search-summary")?.textContent;
          const over = summary?.match(/finished|did not match/) || n > 100;
          over ? done(JSON.stringify(links)) : setTimeout(() => look(n + 1), 100);
        };
        look(0);
    })""")  # fmt: skip
    assert any(page in link for link in found[:8]), found[:8]
