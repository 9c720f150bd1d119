"""Answers name the statistic in the words of the field, and the class that a positive one goes with."""

import re

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.base.effects import _SIGNED, effect_name

LABELS = np.array(["no", "yes"])


def columns(n=300):
    """Return a binary target, one column against it, one with it, noise, and a near-copy of the first."""
    rng = np.random.default_rng(0)
    yes = rng.integers(0, 2, n)
    X = np.c_[-1.5 * yes, 1.2 * yes, 0 * yes] + rng.normal(size=(n, 3))
    return np.c_[X, X[:, 0] + 0.1 * rng.normal(size=n)], yes


def whys(selector, X, y):
    selector.fit(X, y)
    return {d.feature: str(selector.ledger_.why(d.feature)) for d in selector.ledger_}


@pytest.mark.parametrize(
    ("selector", "named", "pattern"),
    [
        (ss.TopK(2), "x0", r"x0: evicted, redundant given {x3} \(correlation -0\.\d+ with yes, p "),
        (ss.SAOLA(), "x0", r"x0: evicted, redundant given {x3} \(correlation 0\.99\d* with x3, p "),
        (ss.SAOLA(measure="su"), "x1", r"x1: kept, relevant \(symmetric uncertainty 0\.\d+\)"),
        (ss.FastOSFS(), "x1", r"x1: kept, relevant \(absolute correlation 0\.\d+, p "),
        (ss.FastOSFS(), "x3", r"x3: rejected, redundant given {x0} \(partial correlation 0\.\d+, p "),
        (ss.FastOSFS(test="g2"), "x1", r"x1: kept, relevant \(G2 \d+\.?\d*, p "),
        (ss.FastOSFS(test="g2"), "x3", r"x3: .*redundant given {x0, x1} \(G2 \d+\.?\d*, p "),
        (ss.AlphaInvesting(), "x0", r"x0: kept, relevant \(t -\d+\.\d+ with yes, p "),
        (ss.Grafting(), "x1", r"x1: kept, relevant \(gradient 0\.\d+ with yes\)"),
        (ss.OnlineFDR(), "x0", r"x0: kept, relevant \(correlation -0\.\d+ with yes, p "),
        (ss.HITONPC(), "x1", r"x1: kept, relevant \(absolute correlation 0\.\d+, p "),
        (ss.FCBF(), "x1", r"x1: kept, relevant \(symmetric uncertainty 0\.\d+\)"),
        (ss.Screen("t", k=4), "x1", r"x1: kept, entered the top set \(t \d+\.?\d*\)"),
        (ss.TwoWay(), "x0", r"x0: evicted, redundant given {x3} \(correlation 0\.99\d* with x3, p "),
        (ss.SPFS(k=2), "x1", r"x1: \w+, \w+$"),
    ],
    ids=str,
)
def test_an_answer_names_its_statistic(selector, named, pattern):
    X, yes = columns()
    assert re.match(pattern, whys(selector, X, LABELS[yes])[named])


def test_several_classes_numbers_and_levels_have_their_own_words():
    X, yes = columns()
    classes = yes + (X[:, 2] > 0)
    assert "(eta 0." in whys(ss.TopK(2), X, classes)["x0"]
    assert "(partial eta 0." in whys(ss.FastOSFS(), X, classes)["x3"]
    assert re.search(r"\(correlation -0\.\d+, p", whys(ss.TopK(2), X, yes + X[:, 2])["x0"])
    levels = np.c_[X, yes + np.random.default_rng(1).integers(0, 3, len(X))]
    found = whys(ss.FastOSFS(), levels, yes)
    assert found["x4"].startswith("x4 (ordinal): kept, relevant (G2 ")
    assert "(absolute correlation 0." in found["x1"]


def test_numbers_and_truth_values_are_called_classes():
    X, yes = columns()
    assert "with class 1, p" in whys(ss.TopK(2), X, yes.astype(float))["x0"]
    assert "with class True, p" in whys(ss.TopK(2), X, yes == 1)["x0"]


@pytest.mark.parametrize(
    "selector",
    [ss.TopK(2), ss.SAOLA(), ss.OnlineFDR(), ss.OGFS(), ss.AlphaInvesting(), ss.Grafting(), ss.OSSFSDD()],
    ids=str,
)
def test_what_names_a_class_has_the_sign_of_its_effect(selector):
    """Larger values of x0 go with "no", of x1 with "yes"; the words that promise a sign keep it."""
    X, yes = columns()
    selector.fit(X[:, :3], LABELS[yes])
    assert effect_name(selector) in _SIGNED
    assert [np.sign(selector.ledger_.why(name).statistic) for name in ("x0", "x1")] == [-1, 1]


def test_measures_of_ones_own_are_statistics():
    class Measure:
        def dependence(self, x, z):
            return abs(np.corrcoef(x, z)[0, 1])

        def p_value(self, dependence, n):
            return float(dependence < 0.2)

    X, yes = columns()
    assert "x1: kept, relevant (statistic 0." in whys(ss.TopK(2, measure=Measure()), X, yes)["x1"]


def test_a_loaded_selector_names_its_statistic(tmp_path):
    X, yes = columns()
    for selector in (ss.TopK(2), ss.FCBF(), ss.Screen("f", k=4)):
        word = effect_name(selector.fit(X, yes))
        selector.save(tmp_path / "s.sieve")
        assert f"({word} " in str(ss.load(tmp_path / "s.sieve").ledger_.why("x1"))


def test_pictures_and_pages_name_the_effect():
    X, yes = columns()
    sieve = ss.TopK(2).fit(X, yes)
    assert sieve.plot().get_xlabel() == "correlation"
    assert "<th>correlation</th>" in sieve._repr_html_()
